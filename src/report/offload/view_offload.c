/* view_offload.c: see views_offload.h. */
#include "report/offload/views_offload.h"

#include <math.h>
#include <string.h>

#include "base/human.h"
#include "base/stats.h"

/* ---- what the trace shows ---- */

static void view_offload_say_rate(const struct screen *s, const struct plan *p, enum offload_host h)
{
    const struct facts_rate *r = &p->facts.rate[h];
    buf_printf(s->out, "  %-9s %.1f GB/s", host_name(h), r->bytes_per_ns);
    if (r->low > 0) buf_printf(s->out, " (%.1f to %.1f)", r->low, r->high);
    buf_printf(s->out, ", %s", fact_from_name(r->from));
    if (r->from == FACT_ASSUMED)
        buf_adds(s->out, ": measure it with strata offload calibrate, or set it");
    buf_addc(s->out, '\n');
}

static void say_churn(const struct screen *s, const struct observed *o)
{
    if (o->later.frees + o->later.allocs == 0) return;
    buf_printf(s->out, "  after the first step: %s device allocations and %s frees, %s in total\n",
               human_count(o->later.allocs).s, human_count(o->later.frees).s,
               human_time(o->later.ns).s);
}

static double replay_error(const struct plan *p)
{
    return fabs(undistort_error_pct(p->trial->u));
}

static void view_offload_title(const struct screen *s, const struct plan *p)
{
    const struct streamed *st = p->trial ? p->trial->s : NULL;
    if (!st && p->facts.resident_now)
        buf_printf(s->out, "%s   streams no weights: an estimate from sizes and rates\n", s->path);
    else if (!st) buf_adds(s->out, "no trace: an estimate from sizes and rates\n");
    if (!st) return;
    buf_printf(s->out, "%s   %u step%s   %s module%s in %s block%s%s\n", s->path, st->n_steps,
               st->n_steps == 1 ? "" : "s", human_count(st->n_modules).s,
               st->n_modules == 1 ? "" : "s", human_count(st->n_blocks).s,
               st->n_blocks == 1 ? "" : "s", st->passes > 1 ? ", more than one pass per step" : "");
}

static void say_trace(const struct screen *s, const struct plan *p)
{
    const struct observed *o = &p->observed;
    const struct streamed *st = p->trial->s;
    double exposed = (double)(o->copying_ns - o->overlapped_ns);
    double loop = (double)o->times.first_ns + (double)(st->n_steps - 1) * (double)o->times.step_ns;
    buf_printf(s->out, "  streamed  %s in the first step, %s in each later step, from %s memory\n",
               human_bytes(o->first_bytes).s, human_bytes(o->step_bytes).s,
               host_name(p->facts.host));
    buf_printf(s->out, "  traced    first step %s, later %s (%s to %s)\n",
               human_time(o->times.first_ns).s, human_time(o->times.step_ns).s,
               human_time(o->times.fastest_ns).s, human_time(o->times.slowest_ns).s);
    buf_printf(s->out,
               "  copying   %s, of which %s overlaps with kernels; the rest is %s of the loop\n",
               human_time(o->copying_ns).s, human_time(o->overlapped_ns).s,
               human_pct(stats_pct(exposed, loop)).s);
    if (o->to_host.bytes)
        buf_printf(s->out, "  back      %s copied back to the host, %s\n",
                   human_bytes(o->to_host.bytes).s, human_time(o->to_host.ns).s);
    say_churn(s, o);
    buf_printf(s->out, "  replay    reproduces the trace within %s\n",
               human_pct(replay_error(p)).s);
    if (st->steps_are_guess)
        buf_adds(s->out, "  no loop found: the whole trace counts as one step; set --traced-steps "
                         "N if it has more\n");
    else if (steps_may_be_layers(steps_of(p->trial->cx)) && !st->asked_steps)
        buf_adds(s->out, "  steps were found from kernels alone and might be layers; set "
                         "--traced-steps N to be sure\n");
}

static void say_numbers(const struct screen *s, const struct plan *p)
{
    const struct facts *f = &p->facts;
    buf_printf(s->out, "  model     %s", human_bytes(f->model_bytes).s);
    if (!f->modules_are_pieces) buf_printf(s->out, " in %s modules", human_count(f->n_modules).s);
    buf_printf(s->out, ", in %s memory\n", host_name(f->host));
    if (!f->compute_ns)
        buf_adds(s->out, "  compute   unknown, taken as zero; set --compute-ms or --tokens\n");
    else if (f->compute_from == FACT_ASSUMED)
        buf_printf(s->out,
                   "  compute   %s per step, estimated at %.0f TFLOPS (%s), at least one pass "
                   "over the weights\n",
                   human_time(f->compute_ns).s, f->flops_per_ns / 1e3,
                   fact_from_name(f->flops_from));
}

/* ---- the table ---- */

struct columns {
    int first, step, total; /* units */
};

static struct columns view_offload_pick_units(const struct plan *p)
{
    int64_t first = 0, step = 0, total = 0;
    for (uint32_t i = 0; i < p->n_rows; i++) {
        const struct prediction *r = &p->rows[i];
        if (r->times.first_ns > first) first = r->times.first_ns;
        if (r->times.step_ns > step) step = r->times.step_ns;
        if (r->total_ns > total) total = r->total_ns;
    }
    return (struct columns){screen_unit(first), screen_unit(step), screen_unit(total)};
}

static enum text_style view_offload_style_of(const struct plan *p, const struct prediction *r)
{
    if (r == &p->rows[p->base]) return TEXT_BOLD;
    if (!r->fits || r->gain_pct < -p->facts.noise_pct) return TEXT_RED;
    return r->gain_pct > p->facts.noise_pct ? TEXT_GREEN : TEXT_DIM;
}

static void view_offload_add_row(struct text_table *tt, const struct plan *p,
                                 const struct prediction *r, struct columns u)
{
    static const double in_unit[] = {1, 1e3, 1e6, 1e9};
    text_table_row(tt, view_offload_style_of(p, r));
    text_table_cell(tt, 0, r->about);
    screen_bytes(tt, 1, r->resident_bytes);
    screen_time(tt, 2, r->times.first_ns, u.first);
    screen_time(tt, 3, r->times.step_ns, u.step);
    screen_time(tt, 4, r->total_ns, u.total);
    double low = (double)r->low_ns / in_unit[u.total], high = (double)r->high_ns / in_unit[u.total];
    int digits = high < 9.995 ? 2 : high < 99.95 ? 1 : 0;
    text_table_cellf(tt, 5, "%.*f to %.*f", digits, low, digits, high);
    if (r != &p->rows[p->base]) text_table_cellf(tt, 6, "%+.0f %%", -r->gain_pct);
    screen_bytes(tt, 7, r->peak_vram_bytes);
    text_table_cell(tt, 8, r->verdict);
}

static void show_rows(const struct screen *s, const struct plan *p, enum offload_host h,
                      struct columns u)
{
    static const char *const heads[] = {"first", "step", "total", "range", "change", "VRAM"};
    struct text_table tt;
    text_table_init(&tt);
    text_table_col(&tt, h == HOST_PINNED ? "from pinned mem." : "from pageable   ", TEXT_LEFT);
    text_table_col(&tt, "resident", TEXT_RIGHT);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        text_table_col(&tt, heads[i], TEXT_RIGHT);
    text_table_col(&tt, "verdict", TEXT_LEFT);
    for (uint32_t i = 0; i < p->n_rows; i++)
        if (p->rows[i].host == h) view_offload_add_row(&tt, p, &p->rows[i], u);
    screen_table(s, &tt);
    text_table_done(&tt);
}

/* ---- what it means ---- */

static void view_offload_wrap(const struct screen *s, const char *mark, const char *text)
{
    buf_printf(s->out, "  %s ", mark);
    text_wrap(s->out, text, 4, s->width);
}

static void say_ceiling(const struct screen *s, const struct plan *p)
{
    const struct prediction *r = plan_find(p, "largest", p->facts.host);
    buf_printf(s->out,
               "  ceiling: keeping everything resident gains %s over %u steps, %s over very many\n",
               human_pct(p->ceiling_pct).s, p->facts.steps, human_pct(p->ceiling_many_pct).s);
    if (!r || !r->resident_bytes) return;
    if (r->break_even)
        buf_printf(s->out, "  break-even: keeping %s resident gains %.0f %% from %u steps on\n",
                   human_bytes(r->resident_bytes).s, p->wish.target_pct, r->break_even);
    else
        buf_printf(s->out, "  break-even: keeping %s resident never gains %.0f %%\n",
                   human_bytes(r->resident_bytes).s, p->wish.target_pct);
}

static void say_host_memory(const struct screen *s, const struct plan *p)
{
    const struct prediction *ahead = plan_find(p, "prefetch", HOST_PINNED);
    buf_printf(s->out, "  host memory: %s", human_bytes(p->facts.model_bytes).s);
    if (ahead && ahead->host_ram_bytes > p->facts.model_bytes)
        buf_printf(s->out, ", %s if modules or blocks are prefetched",
                   human_bytes(ahead->host_ram_bytes).s);
    buf_addc(s->out, '\n');
}

static void say_runs(const struct screen *s, const struct plan *p)
{
    for (uint32_t i = 0; i < p->n_runs; i++) {
        const struct measured_run *r = &p->runs[i];
        buf_printf(s->out,
                   "  measured: %u steps, %s resident, %s memory: %s; predicted %s (%+.1f %%)\n",
                   r->steps, r->resident_bytes ? human_bytes(r->resident_bytes).s : "nothing",
                   host_name(r->host), human_time(r->total_ns).s, human_time(r->predicted_ns).s,
                   fabs(r->off_pct) < 0.05 ? 0.0 : r->off_pct);
    }
}

static void say_header(const struct screen *s, const struct plan *p)
{
    buf_printf(
        s->out, "\n  predicted for %u step%s%s, with all weights in host memory at the start;",
        p->facts.steps, p->facts.steps == 1 ? "" : "s", p->trial ? " without the profiler" : "");
    buf_printf(s->out, "\n  changes within %s are noise\n\n", human_pct(p->facts.noise_pct).s);
}

/* What to do comes before what it was concluded from. */
static void view_offload_put_advice(const struct screen *s, const struct plan *p)
{
    if (p->n_advice) buf_adds(s->out, "\n  what to do\n");
    for (uint32_t i = 0; i < p->n_advice; i++) view_offload_wrap(s, "-", p->advice[i]);
    if (p->n_inconsistent) buf_adds(s->out, "\n  inconsistent numbers\n");
    for (uint32_t i = 0; i < p->n_inconsistent; i++) view_offload_wrap(s, "!", p->inconsistent[i]);
}

/* The memory that weights are not in: a table only where a way from there is better than now. */
static void view_offload_put_other(const struct screen *s, const struct plan *p, struct columns u)
{
    enum offload_host other = p->facts.host == HOST_PINNED ? HOST_PAGEABLE : HOST_PINNED;
    double best = INFINITY;
    for (uint32_t i = 0; i < p->n_rows; i++)
        if (p->rows[i].host == other && -p->rows[i].gain_pct < best) best = -p->rows[i].gain_pct;
    if (!isfinite(best)) return;
    buf_addc(s->out, '\n');
    if (best > p->facts.noise_pct)
        buf_printf(s->out, "  from %s memory every way takes longer than now, by %.0f %% or more\n",
                   host_name(other), best);
    else show_rows(s, p, other, u);
}

static void view_offload_put_facts(const struct screen *s, const struct plan *p)
{
    buf_adds(s->out, "\n  what this is based on\n");
    if (p->trial) say_trace(s, p);
    else say_numbers(s, p);
    for (int h = 0; h < HOST_KINDS; h++) view_offload_say_rate(s, p, (enum offload_host)h);
    say_runs(s, p);
}

void view_offload_text(const struct screen *s, const struct plan *p,
                       const struct integrity *quality)
{
    if (quality) view_quality_warn(s, quality);
    view_offload_title(s, p);
    view_offload_put_advice(s, p);
    say_header(s, p);
    struct columns u = view_offload_pick_units(p);
    show_rows(s, p, p->facts.host, u);
    view_offload_put_other(s, p, u);
    buf_addc(s->out, '\n');
    if (!p->facts.resident_now) say_ceiling(s, p);
    say_host_memory(s, p);
    view_offload_put_facts(s, p);
    buf_addc(s->out, '\n');
    static const struct screen_next with_trace[] = {
        {"report %s --html report.html",
         "a chart of time by resident bytes, and what else is slow"},
        {"offload %s --resident 8GB --steps 30", "another size and number of steps"},
    };
    static const struct screen_next without[] = {
        {"offload TRACE --resident SIZE", "the same from a trace, by replaying it"},
        {"help offload", "all options"},
    };
    screen_next(s, p->trial ? with_trace : without, 2);
}

/* ---- calibration ---- */

void view_calibration_text(const struct screen *s, const struct calibration *c)
{
    char name[64];
    bool wide = false;
    buf_printf(s->out, "%s   copies of %s, %u of each kind\n",
               human_cut(str_c(c->device), 60, name, sizeof name), human_bytes(c->bytes).s,
               c->rounds);
    for (int h = 0; h < HOST_KINDS; h++) {
        const struct facts_rate *r = &c->rate[h];
        buf_printf(s->out, "  %-9s %6.2f GB/s  (%.2f to %.2f)\n", host_name((enum offload_host)h),
                   r->bytes_per_ns, r->low, r->high);
        wide |= r->high > 1.2 * r->low;
    }
    buf_printf(s->out, "  %-9s %6.2f GB/s  (%.2f to %.2f)\n", "to host", c->back.bytes_per_ns,
               c->back.low, c->back.high);
    buf_printf(s->out, "  new host memory is first written at %.1f GB/s\n", c->touch_bytes_per_ns);
    buf_printf(s->out, "  a small copy takes %s, a device allocation %s\n",
               human_time(c->call_ns).s, human_time(c->alloc_ns).s);
    if (wide) buf_adds(s->out, "  rates vary: is something else using the machine?\n");
    buf_addc(s->out, '\n');
    static const struct screen_next next[] = {
        {"offload calibrate --json > rates.json", "keep these rates"},
        {"offload TRACE --calibration rates.json", "use them"},
    };
    screen_next(s, next, 2);
}
