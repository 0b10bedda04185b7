/* view_launches.c: see views_waits.h. */
#include "report/lists/views_waits.h"

#include "base/human.h"
#include "report/lists/stage_pick.h"
#include "report/lists/views_file.h"
#include "results/result_json.h"
#include "results/results.h"

/* Whether CPU or GPU is ahead follows from idle time, which may be unknown. */
static enum ahead view_launches_who(const struct context *cx, const struct device_queue *q)
{
    return integrity_of(cx)->idle_trusted ? q->ahead : AHEAD_UNKNOWN;
}

static struct rows document_devices(const struct rows *r, uint32_t i)
{
    const struct launches *l = rows_at(r, i);
    return (struct rows){.list = l->devices, .n = l->n_devices};
}

static struct rows document_stages(const struct rows *r, uint32_t i)
{
    (void)i;
    return rows_launch_stages(r->cx);
}

static struct rows document_calls(const struct rows *r, uint32_t i)
{
    const struct launches *l = rows_at(r, i);
    return (struct rows){.list = l->calls, .n = l->n_calls};
}

/* clang-format off */
static const struct field document_fields[] = {
    FIELD_IN(LIST, "devices", "", &result_queues, document_devices, "how deep the queue of each device is"),
    FIELD_SUB("all", &result_launches, struct launches, all, "all kernels launched"),
    FIELD_IN(LIST, "stages", "", &result_launch_stages, document_stages, "the same by stage"),
    FIELD_IN(LIST, "calls", "", &result_launch_calls, document_calls, "calls that put work on the device"),
    FIELD_IN(OBJECT, "trace_quality", "", &result_quality, rows_in_quality, ""),
};
/* clang-format on */

const struct result document_launches =
    RESULT("launches", "what launching costs", document_fields, struct launches);

void view_launches_json(struct jout *j, const char *key, const struct context *cx)
{
    document_json(j, key, cx, &document_launches, launches_of(cx), NULL);
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

static void view_launches_show_device(const struct screen *s, const struct context *cx,
                                      const struct device_queue *q)
{
    enum ahead ahead = view_launches_who(cx, q);
    buf_printf(s->out, "GPU %d: ", q->device);
    text_styled(s->out, ahead == AHEAD_DEVICE ? TEXT_YELLOW : TEXT_PLAIN, s->color,
                ahead_words(ahead));
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
    latency_line(s, "launch latency, stream idle", &g->from_start, "after the call starts");
    latency_line(s, "", &g->from_end, "after it returns");
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

/* The medians of three distributions stand in columns of their own. */
static void show_stages(const struct screen *s, const struct context *cx)
{
    static const char *const keys[] = {
        "path", "launches", "kernels", "idle_start_pct", "median_depth_at_launch", NULL};
    struct rows rows = rows_launch_stages(cx);
    struct result_text t;
    if (!rows.n) return;
    result_text_begin(&t, &result_launch_stages, NULL, keys);
    text_table_col(&t.table, "latency", TEXT_RIGHT);
    text_table_col(&t.table, "kernel", TEXT_RIGHT);
    text_table_col(&t.table, "interval", TEXT_RIGHT);
    text_table_col(&t.table, "", TEXT_LEFT);
    for (uint32_t i = 0; i < rows.n && i < s->limit; i++) {
        const struct launch_group *g = rows_at(&rows, i);
        char label[256];
        if (!g->kernels) continue;
        result_text_add(&t, &rows, i, stage_label(&stages_of(cx)->list[i], label, sizeof label),
                        g->launch_bound ? TEXT_YELLOW : TEXT_PLAIN);
        screen_time(&t.table, 5, g->from_start.median_ns, 1);
        screen_time(&t.table, 6, g->kernel.median_ns, 1);
        screen_time(&t.table, 7, g->interval.median_ns, 1);
        text_table_cell(&t.table, 8, g->launch_bound ? "launch-bound" : "");
    }
    buf_addc(s->out, '\n');
    result_text_print(&t, s);
    result_text_done(&t);
}

static void view_launches_show_calls(const struct screen *s, const struct context *cx)
{
    static const char *const keys[] = {"name",           "cost.count",  "cost.total_us",
                                       "cost.median_us", "cost.p95_us", NULL};
    const struct launches *l = launches_of(cx);
    struct rows rows = {.of = &result_launch_calls, .cx = cx, .list = l->calls, .n = l->n_calls};
    struct result_text t;
    result_text_begin(&t, rows.of, NULL, keys);
    result_text_fit(&t, &rows);
    for (uint32_t i = 0; i < rows.n && i < s->limit; i++) {
        char name[80];
        struct str call = trace_str(cx->t, l->calls[i].name);
        result_text_add(&t, &rows, i, human_cut(call, 40, name, sizeof name), TEXT_PLAIN);
    }
    buf_addc(s->out, '\n');
    result_text_print(&t, s);
    result_text_done(&t);
}

void view_launches_text(const struct screen *s, const struct context *cx)
{
    const struct launches *l = launches_of(cx);
    view_quality_warn(s, integrity_of(cx));
    if (!l->n_devices && !l->n_calls) {
        screen_no_device(s);
        return;
    }
    if (!l->n_devices) buf_adds(s->out, "the trace has no device work\n");
    for (uint32_t i = 0; i < l->n_devices; i++) view_launches_show_device(s, cx, &l->devices[i]);
    if (l->all.kernels) show_latency(s, &l->all);
    show_stages(s, cx);
    if (l->n_calls) view_launches_show_calls(s, cx);
    if (l->all.kernels)
        buf_adds(s->out, "\n"
                         "  idle start: kernels whose stream was idle. latency: from the start of "
                         "the launch call to the\n"
                         "  kernel's start, for these kernels. depth: work queued at the launch. A "
                         "deep queue is healthy.\n");
    buf_addc(s->out, '\n');
    static const struct screen_next next[] = {
        {"gaps %s", "why the GPU was idle"},
        {"whatif %s --cuda-graph STAGE", "what one graph launch would gain"},
    };
    screen_next(s, next, 2);
}
