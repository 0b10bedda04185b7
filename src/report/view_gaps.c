/* view_gaps.c: see view_gaps.h. Times are relative to the first event, as Perfetto shows them. */
#include "report/view_gaps.h"

#include <ctype.h>
#include <stdio.h>

#include "base/human.h"
#include "base/jout.h"
#include "base/stats.h"
#include "report/source_out.h"
#include "report/view_quality.h"

/* ---- JSON */

static void json_device(struct jout *j, const struct trace *t, const struct gaps_device *d)
{
    jout_obj(j, NULL);
    jout_int(j, "device", d->device);
    jout_us(j, "start_us", trace_since_ns(t, d->window.begin_ns));
    jout_us(j, "window_us", d->window.end_ns - d->window.begin_ns);
    jout_us(j, "busy_us", d->busy_ns);
    jout_us(j, "idle_us", d->idle_ns);
    jout_us(j, "before_us", d->before_ns);
    jout_us(j, "after_us", d->after_ns);
    jout_uint(j, "gaps", d->n_gaps);
    jout_uint(j, "gaps_listed", d->n_listed);
    jout_us(j, "median_us", d->median_ns);
    jout_us(j, "p95_us", d->p95_ns);
    jout_us(j, "mean_kernel_us", d->kernel_ns);
    jout_us(j, "mean_launch_interval_us", d->interval_ns);
    jout_bool(j, "small_shapes", d->small_shapes);
    jout_end_obj(j);
}

static void json_site(struct jout *j, uint32_t site)
{
    if (site == CAUSE_NO_SITE) jout_null(j, "sync_site");
    else jout_uint(j, "sync_site", site + 1);
}

static void json_inner(struct jout *j, const struct view_gaps *v, uint32_t cause)
{
    enum { MOST = 5 };
    uint32_t n;
    const struct gap_cause_inner *inner = gaps_inner(v->gaps, cause, &n);
    jout_arr(j, "inside");
    for (uint32_t i = 0; i < n && i < MOST; i++) {
        jout_obj(j, NULL);
        jout_str(j, "name", inner[i].name);
        source_json_frame(j, v->t, inner[i].row);
        jout_us(j, "idle_us", inner[i].idle_ns);
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

static void json_cause(struct jout *j, const struct view_gaps *v, uint32_t i)
{
    const struct gap_cause *c = &v->gaps->causes[i];
    jout_obj(j, NULL);
    jout_int(j, "device", v->gaps->devices[c->device].device);
    jout_cstr(j, "kind", gap_cause_kind_name(c->kind));
    jout_str(j, "name", c->name);
    source_json_frame(j, v->t, c->frame);
    if (c->kind == CAUSE_SYNC) json_site(j, c->site);
    jout_uint(j, "count", c->count);
    jout_us(j, "idle_us", c->idle_ns);
    jout_uint(j, "in_steps", c->in_steps);
    jout_bool(j, "recurs", gaps_recurs(c, steps_of(v->cx)));
    if (c->kind == CAUSE_PYTHON) json_inner(j, v, i);
    jout_end_obj(j);
}

static void json_work(struct jout *j, const struct trace *t, const char *key, row_t r)
{
    if (r == ROW_NONE) jout_null(j, key);
    else jout_str(j, key, trace_name(t, r));
}

static void json_gap(struct jout *j, const struct view_gaps *v, const struct gap *g)
{
    const struct trace *t = v->t;
    jout_obj(j, NULL);
    jout_int(j, "device", v->gaps->devices[g->device].device);
    jout_us(j, "start_us", trace_since_ns(t, g->at->begin_ns));
    jout_us(j, "dur_us", idle_gap_ns(g->at));
    jout_us(j, "late_us", g->at->late_ns - g->at->begin_ns);
    if (g->step == UINT32_MAX) jout_null(j, "step");
    else jout_uint(j, "step", g->step);
    json_site(j, g->site);
    json_work(j, t, "after", g->at->prev);
    json_work(j, t, "before", g->at->next);
    json_work(j, t, "launch", g->at->launch);
    jout_arr(j, "causes");
    for (uint32_t i = 0; i < g->n_parts; i++) {
        const struct gap_cause *c = &v->gaps->causes[g->parts[i].cause];
        jout_obj(j, NULL);
        jout_cstr(j, "kind", gap_cause_kind_name(c->kind));
        jout_str(j, "name", c->name);
        source_json_frame(j, t, c->frame);
        jout_us(j, "idle_us", g->parts[i].ns);
        jout_end_obj(j);
    }
    jout_end_arr(j);
    jout_end_obj(j);
}

void view_gaps_json(struct buf *out, const struct view_gaps *v)
{
    const struct gaps *g = v->gaps;
    struct jout j;
    jout_init(&j, out, true);
    jout_obj(&j, NULL);
    jout_us(&j, "min_us", g->min_ns);
    jout_arr(&j, "devices");
    for (uint32_t i = 0; i < g->n_devices; i++) json_device(&j, v->t, &g->devices[i]);
    jout_end_arr(&j);
    jout_arr(&j, "causes");
    for (uint32_t i = 0; i < g->n_causes; i++) json_cause(&j, v, i);
    jout_end_arr(&j);
    jout_arr(&j, "gaps");
    for (uint32_t i = 0; i < g->n_all; i++) json_gap(&j, v, &g->all[i]);
    jout_end_arr(&j);
    view_quality_json(&j, "trace_quality", v->t, integrity_of(v->cx));
    jout_end_obj(&j);
}

/* ---- text */

static void say_device(const struct screen *s, const struct gaps_device *d, int64_t min_ns)
{
    int64_t window = d->window.end_ns - d->window.begin_ns;
    buf_printf(s->out, "GPU %d: busy %s of %s, idle %s (%s) in %s gap%s", d->device,
               human_time(d->busy_ns).s, human_time(window).s, human_time(d->idle_ns).s,
               human_pct(stats_pct(d->idle_ns, window)).s, human_count(d->n_gaps).s,
               d->n_gaps == 1 ? "" : "s");
    buf_printf(s->out, ", %s of %s or more\n", human_count(d->n_listed).s, human_time(min_ns).s);
    if (d->before_ns || d->after_ns)
        buf_printf(s->out, "  not counted: %s before its first work, %s after its last\n",
                   human_time(d->before_ns).s, human_time(d->after_ns).s);
    if (d->small_shapes)
        buf_printf(
            s->out,
            "  unavoidable at these shapes: a kernel takes %s on average, a launch comes every "
            "%s,\n  and no cause stands out. Fewer, larger kernels (torch.compile) or CUDA "
            "graphs help.\n",
            human_time(d->kernel_ns).s, human_time(d->interval_ns).s);
}

/* Column widths of the two names, so that a line of a full table fills 100 columns. */
enum { NAME_WIDTH = 28, WHERE_WIDTH = 28 };

static void cell_name(struct text_table *tt, int col, const struct view_gaps *v, uint32_t i)
{
    const struct gap_cause *c = &v->gaps->causes[i];
    struct buf text;
    char cut[2 * NAME_WIDTH];
    uint32_t n;
    const struct gap_cause_inner *inner = gaps_inner(v->gaps, i, &n);
    buf_init(&text);
    buf_add_str(&text, c->name);
    if (n && inner[0].idle_ns * 3 > c->idle_ns)
        buf_printf(&text, " (" STR_FMT ")", STR_ARG(inner[0].name));
    bool once = c->kind == CAUSE_PROFILER || c->kind == CAUSE_LOADING;
    if (once && !gaps_recurs(c, steps_of(v->cx))) buf_adds(&text, " (once)");
    text_table_cell(tt, col, human_cut(buf_str(&text), NAME_WIDTH, cut, sizeof cut));
    if (!buf_ok(&text)) tt->failed = true;
    buf_done(&text);
}

static void cell_where(struct text_table *tt, int col, const struct view_gaps *v,
                       const struct gap_cause *c)
{
    struct buf text;
    struct frame f;
    char cut[2 * WHERE_WIDTH];
    buf_init(&text);
    if (c->kind == CAUSE_SYNC && c->site != CAUSE_NO_SITE)
        buf_printf(&text, "site %u  ", c->site + 1);
    if (c->frame != ROW_NONE && frame_parse(trace_name(v->t, c->frame), &f)) {
        buf_add_str(&text, frame_path(f.file));
        frame_print_line(&text, f.line);
    }
    text_table_cell(tt, col, human_cut(buf_str(&text), WHERE_WIDTH, cut, sizeof cut));
    if (!buf_ok(&text)) tt->failed = true;
    buf_done(&text);
}

static void cause_row(struct text_table *tt, const struct view_gaps *v, uint32_t i, int unit)
{
    const struct gap_cause *c = &v->gaps->causes[i];
    const struct gaps_device *d = &v->gaps->devices[c->device];
    bool dim = c->kind == CAUSE_PROFILER || c->kind == CAUSE_SHORT;
    text_table_row(tt, dim ? TEXT_DIM : TEXT_PLAIN);
    screen_time(tt, 0, c->idle_ns, unit);
    text_table_cell(tt, 1, human_pct(stats_pct(c->idle_ns, d->idle_ns)).s);
    screen_count(tt, 2, c->count);
    text_table_cell(tt, 3, gap_cause_kind_words(c->kind));
    cell_name(tt, 4, v, i);
    cell_where(tt, 5, v, c);
}

static void show_causes(const struct screen *s, const struct view_gaps *v, uint32_t device)
{
    const struct gaps *g = v->gaps;
    struct text_table tt;
    text_table_init(&tt);
    text_table_col(&tt, "idle", TEXT_RIGHT);
    text_table_col(&tt, "share", TEXT_RIGHT);
    text_table_col(&tt, "gaps", TEXT_RIGHT);
    text_table_col(&tt, "cause", TEXT_LEFT);
    text_table_col(&tt, "what", TEXT_LEFT);
    text_table_col(&tt, "where", TEXT_LEFT);
    uint32_t n = 0;
    int unit = 0;
    for (uint32_t i = 0; i < g->n_causes; i++) {
        if (g->causes[i].device != device) continue;
        if (n == 0) unit = screen_unit(g->causes[i].idle_ns);
        if (n++ < s->limit) cause_row(&tt, v, i, unit);
    }
    if (n) text_table_print(&tt, s->out, 2, s->width, s->color);
    text_table_done(&tt);
    screen_more(s, n);
}

static void gap_row(struct text_table *tt, const struct view_gaps *v, const struct gap *g, int unit)
{
    char name[64];
    struct buf text;
    buf_init(&text);
    text_table_row(tt, TEXT_PLAIN);
    text_table_cellf(tt, 0, "%.3f ms", (double)trace_since_ns(v->t, g->at->begin_ns) / 1e6);
    screen_time(tt, 1, idle_gap_ns(g->at), unit);
    if (g->step == UINT32_MAX) text_table_cell(tt, 2, "-");
    else text_table_cellf(tt, 2, "%u", g->step);
    for (uint32_t i = 0; i < g->n_parts && i < 3; i++) {
        const struct gap_cause *c = &v->gaps->causes[g->parts[i].cause];
        if (i && g->parts[i].ns * 20 < idle_gap_ns(g->at)) break;
        buf_printf(&text, "%s%s %s", i ? ", " : "", human_cut(c->name, 30, name, sizeof name),
                   human_time(g->parts[i].ns).s);
    }
    if (g->site != CAUSE_NO_SITE) buf_printf(&text, "; after sync site %u", g->site + 1);
    text_table_cell(tt, 3, buf_c(&text));
    buf_done(&text);
}

static void show_longest(const struct screen *s, const struct view_gaps *v)
{
    enum { MOST = 8 };
    struct text_table tt;
    if (!v->gaps->n_all) return;
    text_table_init(&tt);
    text_table_col(&tt, "longest at", TEXT_RIGHT);
    text_table_col(&tt, "idle", TEXT_RIGHT);
    text_table_col(&tt, "step", TEXT_RIGHT);
    text_table_col(&tt, "what the CPU did meanwhile", TEXT_LEFT);
    int unit = screen_unit(idle_gap_ns(v->gaps->all[0].at));
    for (uint32_t i = 0; i < v->gaps->n_all && i < MOST && i < s->limit; i++)
        gap_row(&tt, v, &v->gaps->all[i], unit);
    buf_addc(s->out, '\n');
    text_table_print(&tt, s->out, 2, s->width, s->color);
    text_table_done(&tt);
}

static bool is_plain(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        bool plain = isalnum((unsigned char)s.p[i]) || s.p[i] == '_' || s.p[i] == ':';
        if (!plain) return false;
    }
    return s.n > 0 && s.n < 60;
}

/* The command that replays without the largest cause that is CPU work with a name. */
static bool make_whatif(const struct gaps *g, char *out, size_t cap)
{
    for (uint32_t i = 0; i < g->n_causes; i++) {
        const struct gap_cause *c = &g->causes[i];
        if (c->kind != CAUSE_PYTHON && c->kind != CAUSE_OP && c->kind != CAUSE_LABEL) continue;
        if (!is_plain(c->name)) continue;
        snprintf(out, cap, "whatif %%s --drop-cpu " STR_FMT, STR_ARG(c->name));
        return true;
    }
    return false;
}

void view_gaps_text(const struct screen *s, const struct view_gaps *v)
{
    if (!v->gaps->n_devices) {
        screen_no_device(s);
        return;
    }
    for (uint32_t i = 0; i < v->gaps->n_devices; i++) {
        say_device(s, &v->gaps->devices[i], v->gaps->min_ns);
        show_causes(s, v, i);
    }
    show_longest(s, v);
    buf_addc(s->out, '\n');
    char drop[128];
    struct screen_next next[] = {
        {"syncs %s", "which CPU waits leave the GPU idle"},
        {drop, "what removing it would gain"},
    };
    screen_next(s, next, make_whatif(v->gaps, drop, sizeof drop) ? 2 : 1);
}
