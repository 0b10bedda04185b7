/* view_dive.c: see views_dive.h. */
#include "report/dive/views_dive.h"

#include <math.h>

#include "report/cells.h"

/* ---- head ---- */

/* A line that could not be built must not go missing silently. */
static void end_line(const struct screen *s, struct buf *line)
{
    s->out->failed |= !buf_ok(line);
    buf_done(line);
}

/* Whether a kernel works in this precision. */
static bool view_dive_is_used(const struct dive *d, enum precision p)
{
    for (uint32_t i = 0; i < d->n; i++)
        if (d->kernels[i].profile.main == p) return true;
    return false;
}

static void view_dive_say_rate(struct buf *out, const char *what, struct ceiling c,
                               const char *unit)
{
    if (c.from == CEILING_NONE) return;
    buf_printf(out, "%s%s %s%s/s%s", out->n ? ", " : "", what, cell_scaled(c.per_s).s, unit,
               c.from == CEILING_TABLE ? " (table)" : "");
}

static void say_ceilings(const struct screen *s, const struct dive *d)
{
    const struct ceilings *c = &d->ceilings;
    struct buf line;
    buf_init(&line);
    view_dive_say_rate(&line, "memory", c->memory, "B");
    for (int p = PRECISIONS; p-- > 0;)
        if (view_dive_is_used(d, (enum precision)p))
            view_dive_say_rate(&line, precision_name((enum precision)p), c->compute[p], "FLOP");
    if (!line.n) buf_adds(&line, "unknown; set them with --ceilings FILE");
    buf_adds(s->out, "  ceilings  ");
    text_wrap(s->out, buf_c(&line), 12, s->width);
    end_line(s, &line);
}

static void say_head(const struct screen *s, const struct dive *d)
{
    char gpu[64];
    buf_adds(s->out, s->path);
    if (d->ceilings.gpu.n)
        buf_printf(s->out, "   %s", human_cut(d->ceilings.gpu, 40, gpu, sizeof gpu));
    if (d->targets)
        buf_printf(s->out, "   %u of %s kernels, %s of the time that kernels run alone", d->n,
                   human_count(d->targets->n_kernels).s, human_pct(d->targets->covered_pct).s);
    else buf_printf(s->out, "   %s launches", human_count(d->n).s);
    buf_addc(s->out, '\n');
    if (d->trouble) {
        buf_adds(s->out, "  not measured: ");
        text_wrap(s->out, d->trouble, 16, s->width);
        buf_adds(s->out, "  remedy: ");
        text_wrap(s->out, d->remedy, 10, s->width);
        buf_adds(s->out,
                 "  What follows is an estimate from the trace alone: shapes, launch sizes, "
                 "durations.\n");
    }
    say_ceilings(s, d);
    if (d->targets && d->targets->n_unmeasured)
        buf_printf(s->out, "  left out: %u kernel%s that wait%s for other GPUs\n",
                   d->targets->n_unmeasured, d->targets->n_unmeasured > 1 ? "s" : "",
                   d->targets->n_unmeasured > 1 ? "" : "s");
    buf_addc(s->out, '\n');
}

/* ---- the table ---- */

static double largest_time(const struct dive *d)
{
    double most = 0;
    for (uint32_t i = 0; i < d->n; i++)
        if (d->kernels[i].profile.time_ns > most) most = d->kernels[i].profile.time_ns;
    return most;
}

static void view_dive_cell_rate(struct text_table *t, int col, double per_s)
{
    if (isnan(per_s) || per_s <= 0) text_table_cell(t, col, "-");
    else text_table_cell(t, col, cell_number(per_s / 1e12).s);
}

static enum text_style view_dive_style_of(const struct dive_kernel *k)
{
    return k->verdict.limiter == LIMITER_NONE || k->estimated ? TEXT_DIM : TEXT_PLAIN;
}

static void view_dive_add_row(struct text_table *t, const struct dive_kernel *k, uint32_t number,
                              struct cell_unit unit)
{
    text_table_row(t, view_dive_style_of(k));
    text_table_cellf(t, 0, "%u", number);
    text_table_cell(t, 1, cell_text(k->short_name, 90).s);
    if (k->target) text_table_cellf(t, 2, "%.1f %%", k->target->share_pct);
    else text_table_cell(t, 2, "-");
    text_table_cell(t, 3, cell_time(k->profile.time_ns, unit).s);
    view_dive_cell_rate(t, 4, k->profile.flop_per_s);
    view_dive_cell_rate(t, 5, k->profile.bytes_per_s);
    if (isnan(k->roof_pct)) text_table_cell(t, 6, "-");
    else text_table_cellf(t, 6, "%.0f %%", k->roof_pct);
    text_table_cell(t, 7, limiter_name(k->verdict.limiter));
    if (k->verdict.limiter == LIMITER_NONE) return;
    text_table_cellf(t, 8, "%s%s", confidence_name(k->verdict.confidence),
                     k->estimated ? ", estimate" : "");
}

static void view_dive_show_table(const struct screen *s, const struct dive *d, uint32_t shown)
{
    struct text_table t;
    struct cell_unit unit = cell_unit_each(largest_time(d));
    text_table_init(&t);
    text_table_col(&t, "#", TEXT_RIGHT);
    text_table_col(&t, "kernel", TEXT_LEFT);
    text_table_col(&t, "share", TEXT_RIGHT);
    text_table_col(&t, unit.name, TEXT_RIGHT);
    text_table_col(&t, "TFLOP/s", TEXT_RIGHT);
    text_table_col(&t, "TB/s", TEXT_RIGHT);
    text_table_col(&t, "of roof", TEXT_RIGHT);
    text_table_col(&t, "limited by", TEXT_LEFT);
    text_table_col(&t, "sure", TEXT_LEFT);
    for (uint32_t i = 0; i < shown; i++) view_dive_add_row(&t, &d->kernels[i], i + 1, unit);
    screen_table(s, &t);
    text_table_done(&t);
}

/* ---- each kernel ---- */

static void say_line(const struct screen *s, const char *text)
{
    buf_adds(s->out, "     ");
    text_wrap(s->out, text, 7, s->width);
}

static void say_match(const struct screen *s, const struct dive_kernel *k)
{
    const struct ncu_launch *l = k->launch;
    const struct kernel_config *c = &k->target->config;
    if (k->pairing == PAIRING_OTHER_SIZE)
        buf_printf(s->out,
                   "     ! measured with grid %u,%u,%u and block %u,%u,%u; the trace has %u,%u,%u "
                   "and %u,%u,%u\n",
                   l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2],
                   c->grid[0], c->grid[1], c->grid[2], c->block[0], c->block[1], c->block[2]);
    else if (!l) buf_adds(s->out, "     ! not measured: an estimate from the trace\n");
    else if (k->time_ratio > PAIRING_FAR || k->time_ratio < 1 / PAIRING_FAR)
        buf_printf(
            s->out,
            "     ! took %.1f times as long as in the trace: other work, clocks, or caches\n",
            k->time_ratio);
}

static void say_where(const struct screen *s, const struct dive_kernel *k)
{
    const struct target *t = k->target;
    if (!t) return;
    buf_printf(s->out, "     %s launch%s, %s each in the trace", human_count(t->calls).s,
               t->calls == 1 ? "" : "es", human_time((int64_t)target_mean_ns(t)).s);
    if (t->n_configs > 1) buf_printf(s->out, " in the costliest of %u sizes", t->n_configs);
    if (k->launch) buf_printf(s->out, ", %s alone", human_time((int64_t)k->profile.time_ns).s);
    if (t->graph_calls) buf_adds(s->out, ", in CUDA graphs");
    buf_addc(s->out, '\n');
}

static void say_stalls(const struct screen *s, const struct profile *p)
{
    struct buf b;
    if (!p->n_stalls) return;
    buf_init(&b);
    buf_adds(&b, "a warp ");
    for (int i = 0; i < p->n_stalls && i < 3 && p->stalls[i].pct >= 5; i++)
        buf_printf(&b, "%s%s %.0f %%", i ? ", " : "", ncu_stall_about(p->stalls[i].stall),
                   p->stalls[i].pct);
    buf_adds(&b, " of its time");
    if (p->stalls[0].pct >= 5) say_line(s, buf_c(&b));
    end_line(s, &b);
}

static void say_use(const struct screen *s, const struct profile *p)
{
    struct buf b;
    buf_init(&b);
    if (!isnan(p->occupancy_pct)) {
        buf_printf(&b, "occupancy %.0f %%", p->occupancy_pct);
        if (p->occupancy_most_pct < 99.5)
            buf_printf(&b, " of %.0f %% that %s allow%s", p->occupancy_most_pct,
                       p->occupancy_limit ? p->occupancy_limit : "the launch",
                       p->occupancy_limit && p->occupancy_limit[0] == 'r' ? "" : "s");
    }
    if (!isnan(p->waves)) buf_printf(&b, "%s%.2f waves", b.n ? "; " : "", p->waves);
    if (p->tensor_known)
        buf_printf(&b, "%stensor cores %s", b.n ? "; " : "", p->tensor_used ? "used" : "not used");
    if (p->flop_per_byte > 0)
        buf_printf(&b, "%s%.3g FLOP per byte", b.n ? "; " : "", p->flop_per_byte);
    if (b.n) say_line(s, buf_c(&b));
    end_line(s, &b);
}

static void say_verdict(const struct screen *s, const struct verdict *v)
{
    char line[SIGN_TEXT + 4];
    if (v->limiter != LIMITER_NONE) {
        buf_printf(s->out, "     limited by %s", limiter_name(v->limiter));
        if (v->limiter == LIMITER_MEMORY || v->limiter == LIMITER_COMPUTE)
            if (v->unit < UNITS) buf_printf(s->out, " (%s)", unit_name(v->unit));
        if (v->factor) buf_printf(s->out, " (%s)", v->factor);
        buf_printf(s->out, ", confidence %s\n", confidence_name(v->confidence));
    } else if (v->nearest != LIMITER_NONE) {
        buf_printf(s->out, "     no verdict: the measurements do not agree; nearest is %s\n",
                   limiter_name(v->nearest));
    } else {
        buf_adds(s->out, "     no verdict: too little was measured\n");
    }
    for (int i = 0; i < v->n_signs; i++) {
        snprintf(line, sizeof line, "%c %s", v->signs[i].agrees ? '+' : '-', v->signs[i].text);
        buf_adds(s->out, "  ");
        say_line(s, line);
    }
}

static void show_kernel(const struct screen *s, const struct dive_kernel *k, uint32_t number)
{
    char name[256];
    buf_printf(s->out, "\n  %u  ", number);
    text_styled(s->out, TEXT_BOLD, s->color,
                human_cut(k->short_name, s->width - 6, name, sizeof name));
    buf_addc(s->out, '\n');
    say_where(s, k);
    if (k->target) say_match(s, k);
    say_verdict(s, &k->verdict);
    say_stalls(s, &k->profile);
    say_use(s, &k->profile);
    if (!k->verdict.advice) return;
    buf_adds(s->out, "     helps: ");
    text_wrap(s->out, k->verdict.advice, 12, s->width);
}

void view_dive_text(const struct screen *s, const struct dive *d)
{
    static const struct screen_next next[] = {
        {"kernels %s --by config", "every kernel and its launch sizes"},
        {"whatif %s --scale-kernel REGEX=0.5", "what doubling a kernel's speed would gain"},
    };
    static const struct screen_next alone[] = {
        {"dive TRACE --ncu %s", "the same kernels with their cost in a trace"},
    };
    uint32_t shown = d->n < s->limit ? d->n : s->limit;
    say_head(s, d);
    view_dive_show_table(s, d, shown);
    screen_more(s, d->n);
    for (uint32_t i = 0; i < shown; i++) show_kernel(s, &d->kernels[i], i + 1);
    buf_addc(s->out, '\n');
    if (d->targets) screen_next(s, next, 2);
    else screen_next(s, alone, 1);
}
