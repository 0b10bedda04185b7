/* view_launches.c: see view_launches.h. */
#include "report/view_launches.h"

#include "base/human.h"
#include "base/jout.h"
#include "base/stats.h"
#include "report/view_quality.h"

static void json_spread(struct jout *j, const char *key, const struct spread *s)
{
    jout_obj(j, key);
    jout_uint(j, "count", s->n);
    jout_us(j, "total_us", s->total_ns);
    jout_us(j, "median_us", s->median_ns);
    jout_us(j, "p95_us", s->p95_ns);
    jout_us(j, "max_us", s->max_ns);
    jout_end_obj(j);
}

static void json_group(struct jout *j, const struct launch_group *g)
{
    jout_uint(j, "launches", g->launches);
    jout_uint(j, "graph_launches", g->graph_launches);
    jout_uint(j, "kernels", g->kernels);
    jout_obj(j, "kernels_by_wait");
    for (int i = 0; i < LAUNCH_WAIT_HOWS; i++)
        jout_uint(j, launch_wait_how_name((enum launch_wait_how)i), g->how[i]);
    jout_end_obj(j);
    json_spread(j, "latency_from_call_start", &g->from_start);
    json_spread(j, "latency_from_call_end", &g->from_end);
    json_spread(j, "queue_wait", &g->queued);
    json_spread(j, "back_to_back_gap", &g->back_to_back);
    json_spread(j, "kernel", &g->kernel);
    json_spread(j, "launch_interval", &g->interval);
    jout_uint(j, "median_depth_at_launch", g->median_depth);
    jout_bool(j, "launch_bound", g->launch_bound);
}

/* Whether CPU or GPU is ahead follows from idle time, which may be unknown. */
static enum ahead who(const struct view_launches *v, const struct device_queue *q)
{
    return v->integrity->idle_trusted ? q->ahead : AHEAD_UNKNOWN;
}

static void json_device(struct jout *j, const struct view_launches *v, const struct device_queue *q)
{
    const struct trace *t = v->t;
    jout_obj(j, NULL);
    jout_int(j, "device", q->device);
    jout_us(j, "start_us", trace_since_ns(t, q->window.begin_ns));
    jout_us(j, "window_us", q->window.end_ns - q->window.begin_ns);
    jout_cstr(j, "ahead", ahead_name(who(v, q)));
    jout_num(j, "mean_depth", q->mean, 3);
    jout_uint(j, "median_depth", q->median);
    jout_uint(j, "p95_depth", q->p95);
    jout_uint(j, "max_depth", q->queue.deepest);
    jout_num(j, "empty_pct", q->zero_pct, 3);
    jout_num(j, "at_most_2_pct", q->few_pct, 3);
    jout_num(j, "starved_pct", q->starved_pct, 3);
    jout_arr(j, "mean_depth_over_time");
    for (int i = 0; i < LAUNCH_BINS; i++) jout_num(j, NULL, q->bins[i], 2);
    jout_end_arr(j);
    jout_end_obj(j);
}

void view_launches_json(struct buf *out, const struct view_launches *v)
{
    const struct launches *l = v->launches;
    struct jout j;
    jout_init(&j, out, true);
    jout_obj(&j, NULL);
    jout_arr(&j, "devices");
    for (uint32_t i = 0; i < l->n_devices; i++) json_device(&j, v, &l->devices[i]);
    jout_end_arr(&j);
    jout_obj(&j, "all");
    json_group(&j, &l->all);
    jout_end_obj(&j);
    jout_arr(&j, "stages");
    for (uint32_t i = 0; i < l->n_stages; i++) {
        jout_obj(&j, NULL);
        jout_cstr(&j, "path", v->stages->list[i].path);
        json_group(&j, &l->stages[i]);
        jout_end_obj(&j);
    }
    jout_end_arr(&j);
    jout_arr(&j, "calls");
    for (uint32_t i = 0; i < l->n_calls; i++) {
        jout_obj(&j, NULL);
        jout_str(&j, "name", trace_str(v->t, l->calls[i].name));
        jout_uint(&j, "device_records", l->calls[i].n_work);
        json_spread(&j, "cost", &l->calls[i].cost);
        jout_end_obj(&j);
    }
    jout_end_arr(&j);
    view_quality_json(&j, "trace_quality", v->t, v->integrity);
    jout_end_obj(&j);
}

static const char *verdict(enum ahead a)
{
    switch (a) {
    case AHEAD_CPU: return "the CPU runs ahead: the GPU hardly ever waits for a launch";
    case AHEAD_DEVICE: return "the GPU waits for launches: the CPU does not run ahead";
    case AHEAD_LOCKSTEP:
        return "lockstep: the queue is empty while the GPU is busy, because the CPU waits for it";
    case AHEAD_NEITHER: return "the CPU and the GPU take turns waiting for each other";
    default: return "unknown whether the CPU runs ahead: launches or device records are missing";
    }
}

/* Depth over time as a row of bars, scaled to the deepest part. */
static void show_bars(const struct screen *s, const struct device_queue *q)
{
    static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    double most = 0;
    for (int i = 0; i < LAUNCH_BINS; i++)
        if (q->bins[i] > most) most = q->bins[i];
    if (most <= 0) return;
    buf_adds(s->out, "    over time  ");
    for (int i = 0; i < LAUNCH_BINS; i++) {
        int h = (int)(q->bins[i] / most * 7.999);
        buf_adds(s->out, q->bins[i] <= 0 ? " " : bars[h]);
    }
    buf_printf(s->out, "  (top: %.*f)\n", most < 10 ? 1 : 0, most);
}

static void show_device(const struct screen *s, const struct view_launches *v,
                        const struct device_queue *q)
{
    enum ahead ahead = who(v, q);
    buf_printf(s->out, "GPU %d: ", q->device);
    text_styled(s->out, ahead == AHEAD_DEVICE ? TEXT_YELLOW : TEXT_PLAIN, s->color, verdict(ahead));
    buf_addc(s->out, '\n');
    if (ahead == AHEAD_UNKNOWN) return;
    buf_printf(s->out, "  queue depth  mean %.1f, median %s, p95 %s, deepest %s\n", q->mean,
               human_count(q->median).s, human_count(q->p95).s, human_count(q->queue.deepest).s);
    buf_printf(s->out, "    empty %s of the time, depth 2 or less %s; empty and the GPU idle %s\n",
               human_pct(q->zero_pct).s, human_pct(q->few_pct).s, human_pct(q->starved_pct).s);
    show_bars(s, q);
}

static void latency_line(const struct screen *s, const char *what, const struct spread *v,
                         const char *note)
{
    if (!v->n) return;
    struct human n = human_count(v->n), median = human_time(v->median_ns);
    struct human p95 = human_time(v->p95_ns);
    buf_printf(s->out, "  %-28s %8s   median %9s   p95 %9s%s%s\n", what, n.s, median.s, p95.s,
               *note ? "   " : "", note);
}

static void show_latency(const struct screen *s, const struct launch_group *g)
{
    buf_adds(s->out, "\n");
    latency_line(s, "launch latency, stream idle", &g->from_end, "after the call returns");
    latency_line(s, "", &g->from_start, "after it starts");
    latency_line(s, "queue wait, stream busy", &g->queued, "not latency");
    latency_line(s, "  gap to previous kernel", &g->back_to_back, "");
    latency_line(s, "kernel duration", &g->kernel, "");
    latency_line(s, "interval between launches", &g->interval, "");
    if (g->how[LAUNCH_WAIT_IN_GRAPH])
        buf_printf(s->out, "  %s kernels come from %s graph launches\n",
                   human_count(g->how[LAUNCH_WAIT_IN_GRAPH] + g->graph_launches).s,
                   human_count(g->graph_launches).s);
    if (g->how[LAUNCH_WAIT_BEHIND])
        buf_printf(s->out, "  %s kernels were held back by work on other streams\n",
                   human_count(g->how[LAUNCH_WAIT_BEHIND]).s);
    if (g->how[LAUNCH_WAIT_UNKNOWN])
        buf_printf(s->out, "  %s kernels have no launch in the trace\n",
                   human_count(g->how[LAUNCH_WAIT_UNKNOWN]).s);
}

static double idle_start_pct(const struct launch_group *g)
{
    return stats_pct(g->how[LAUNCH_WAIT_IDLE], g->kernels);
}

static void show_stages(const struct screen *s, const struct view_launches *v)
{
    static const char *const heads[] = {"launches", "kernels",  "idle start", "latency",
                                        "kernel",   "interval", "depth"};
    if (!v->launches->n_stages) return;
    struct text_table tt;
    text_table_init(&tt);
    text_table_col(&tt, "stage", TEXT_LEFT);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        text_table_col(&tt, heads[i], TEXT_RIGHT);
    text_table_col(&tt, "", TEXT_LEFT);
    for (uint32_t i = 0; i < v->launches->n_stages && i < s->limit; i++) {
        const struct launch_group *g = &v->launches->stages[i];
        char name[160];
        if (!g->kernels) continue;
        text_table_row(&tt, g->launch_bound ? TEXT_YELLOW : TEXT_PLAIN);
        text_table_cellf(&tt, 0, "%*s%s", 2 * (int)v->stages->list[i].depth, "",
                         human_cut(v->stages->list[i].name, 60, name, sizeof name));
        screen_count(&tt, 1, g->launches);
        screen_count(&tt, 2, g->kernels);
        text_table_cell(&tt, 3, human_pct(idle_start_pct(g)).s);
        screen_time(&tt, 4, g->from_end.median_ns, 1);
        screen_time(&tt, 5, g->kernel.median_ns, 1);
        screen_time(&tt, 6, g->interval.median_ns, 1);
        screen_count(&tt, 7, g->median_depth);
        text_table_cell(&tt, 8, g->launch_bound ? "launch-bound" : "");
    }
    buf_addc(s->out, '\n');
    text_table_print(&tt, s->out, 2, s->width, s->color);
    text_table_done(&tt);
}

static void show_calls(const struct screen *s, const struct view_launches *v)
{
    struct text_table tt;
    text_table_init(&tt);
    text_table_col(&tt, "CPU cost per call", TEXT_LEFT);
    text_table_col(&tt, "calls", TEXT_RIGHT);
    text_table_col(&tt, "total", TEXT_RIGHT);
    text_table_col(&tt, "median", TEXT_RIGHT);
    text_table_col(&tt, "p95", TEXT_RIGHT);
    int unit = screen_unit(v->launches->n_calls ? v->launches->calls[0].cost.total_ns : 0);
    for (uint32_t i = 0; i < v->launches->n_calls && i < s->limit; i++) {
        const struct call_cost *c = &v->launches->calls[i];
        char name[80];
        text_table_row(&tt, TEXT_PLAIN);
        text_table_cell(&tt, 0, human_cut(trace_str(v->t, c->name), 40, name, sizeof name));
        screen_count(&tt, 1, c->cost.n);
        screen_time(&tt, 2, c->cost.total_ns, unit);
        screen_time(&tt, 3, c->cost.median_ns, 1);
        screen_time(&tt, 4, c->cost.p95_ns, 1);
    }
    buf_addc(s->out, '\n');
    text_table_print(&tt, s->out, 2, s->width, s->color);
    text_table_done(&tt);
}

void view_launches_text(const struct screen *s, const struct view_launches *v)
{
    const struct launches *l = v->launches;
    view_quality_warn(s, v->integrity);
    if (!l->n_devices && !l->n_calls) {
        screen_no_device(s);
        return;
    }
    if (!l->n_devices) buf_adds(s->out, "the trace has no device work\n");
    for (uint32_t i = 0; i < l->n_devices; i++) show_device(s, v, &l->devices[i]);
    if (l->all.kernels) show_latency(s, &l->all);
    show_stages(s, v);
    if (l->n_calls) show_calls(s, v);
    if (l->all.kernels)
        buf_adds(s->out, "\n  idle start: kernels whose stream was idle; latency: from the return "
                         "of the launch call to the\n"
                         "  kernel's start (may be negative); depth: work queued at the launch. A "
                         "deep queue is healthy.\n");
    buf_addc(s->out, '\n');
    static const struct screen_next next[] = {
        {"gaps %s", "why the GPU was idle"},
        {"whatif %s --cuda-graph STAGE", "what one graph launch would gain"},
    };
    screen_next(s, next, 2);
}
