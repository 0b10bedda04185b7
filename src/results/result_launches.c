/* result_launches.c: queues of devices, and what launching costs by stage and by call. */
#include "analyze/launches/launches.h"
#include "analyze/quality/integrity.h"
#include "base/jout.h"
#include "base/stats.h"
#include "results/results.h"

/* ---- queues */

static const struct device_queue *queues_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static struct value queues_window(const struct rows *r, uint32_t i)
{
    return value_int(span_ns(queues_at(r, i)->window));
}

/* Whether CPU or GPU is ahead follows from idle time, which may be unknown. */
static enum ahead launches_ahead(const struct context *cx, const struct device_queue *q)
{
    return integrity_of(cx)->idle_trusted ? q->ahead : AHEAD_UNKNOWN;
}

static struct value queues_ahead(const struct rows *r, uint32_t i)
{
    return value_cstr(ahead_name(launches_ahead(r->cx, queues_at(r, i))));
}

static struct rows queues_bins(const struct rows *r, uint32_t i)
{
    return (struct rows){.list = queues_at(r, i)->bins, .n = LAUNCH_BINS};
}

/* clang-format off */
static const struct field bins_fields[] = {FIELD_BARE(NUM, double, .decimals = 2)};
static const struct result result_bins = RESULT("bins", "mean depth", bins_fields, double);

static const struct field queues_fields[] = {
    FIELD(INT, "device", "", struct device_queue, device, "its number"),
    FIELD(AT, "start_us", "", struct device_queue, window.begin_ns, "start of its first work"),
    FIELD_GET(NS, "window_us", "", queues_window, "to the end of its last work"),
    FIELD_GET(WORD, "ahead", "", queues_ahead, "`cpu`, `device`, `lockstep`, `neither`, `unknown`"),
    FIELD(NUM, "mean_depth", "", struct device_queue, mean, "queue depth over time: work launched and not started, mean", .decimals = 3),
    FIELD(COUNT, "median_depth", "", struct device_queue, median, "the same, median"),
    FIELD(COUNT, "p95_depth", "", struct device_queue, p95, "the same, 95th percentile"),
    FIELD(COUNT, "max_depth", "", struct device_queue, queue.deepest, "the same, most"),
    FIELD(PCT, "empty_pct", "", struct device_queue, zero_pct, "share of the window in which the queue is empty", .decimals = 3),
    FIELD(PCT, "at_most_2_pct", "", struct device_queue, few_pct, "in which it is at most two deep", .decimals = 3),
    FIELD(PCT, "starved_pct", "", struct device_queue, starved_pct, "in which it is empty and the device idle", .decimals = 3),
    FIELD_IN(LIST, "mean_depth_over_time", "", &result_bins, queues_bins, "in 60 equal parts of the window"),
};
const struct result result_queues = RESULT("queues", "one row per device", queues_fields, struct device_queue);
/* clang-format on */

/* ---- groups of launches */

static void groups_by_wait(struct jout *j, const struct rows *r, uint32_t i)
{
    const struct launch_group *g = rows_at(r, i);
    for (int k = 0; k < LAUNCH_WAIT_HOWS; k++)
        jout_uint(j, launch_wait_how_name((enum launch_wait_how)k), g->how[k]);
}

static struct value groups_path(const struct rows *r, uint32_t i)
{
    return value_cstr(stages_of(r->cx)->list[i].path);
}

static struct value groups_idle_start(const struct rows *r, uint32_t i)
{
    const struct launch_group *g = rows_at(r, i);
    if (!g->kernels) return value_none();
    return value_num(stats_pct(g->how[LAUNCH_WAIT_IDLE], g->kernels));
}

static struct value calls_name(const struct rows *r, uint32_t i)
{
    return value_text(trace_str(r->cx->t, ((const struct call_cost *)rows_at(r, i))->name));
}

/* clang-format off */
static const struct field spread_fields[] = {
    FIELD(COUNT, "count", "calls", struct spread, n, "how many"),
    FIELD(NS, "total_us", "total", struct spread, total_ns, "all together"),
    FIELD(NS, "median_us", "median", struct spread, median_ns, "median"),
    FIELD(NS, "p95_us", "p95", struct spread, p95_ns, "95th percentile"),
    FIELD(NS, "max_us", "max", struct spread, max_ns, "longest"),
};
static const struct result result_spread = RESULT("spread", "a distribution of times", spread_fields, struct spread);

#define LAUNCH_FIELDS \
    FIELD(COUNT, "launches", "launches", struct launch_group, launches, "kernels launched by calls of their own"), \
    FIELD(COUNT, "graph_launches", "graph launches", struct launch_group, graph_launches, "launches of CUDA graphs"), \
    FIELD(COUNT, "kernels", "kernels", struct launch_group, kernels, "kernels that ran"), \
    FIELD_PUT(MAP, "kernels_by_wait", "", groups_by_wait, "what kernels waited for: `idle_stream`, `queued`, `behind_other_streams`, `in_graph`, `overhead`, `before_launch` (clocks disagree), `no_launch`"), \
    FIELD_GET(PCT, "idle_start_pct", "idle start", groups_idle_start, "share of the kernels whose stream was idle", .decimals = 2), \
    FIELD_SUB("latency_from_call_start", &result_spread, struct launch_group, from_start, "launches on an idle stream: from the call's start to the start of the kernel, which is the launch delay"), \
    FIELD_SUB("latency_from_call_end", &result_spread, struct launch_group, from_end, "the same from the return of the call; may be negative"), \
    FIELD_SUB("queue_wait", &result_spread, struct launch_group, queued, "launches on a busy stream: time to the start of the kernel"), \
    FIELD_SUB("back_to_back_gap", &result_spread, struct launch_group, back_to_back, "the same: gap to the previous kernel"), \
    FIELD_SUB("kernel", &result_spread, struct launch_group, kernel, "duration of kernels"), \
    FIELD_SUB("launch_interval", &result_spread, struct launch_group, interval, "interval between launches on a thread"), \
    FIELD(COUNT, "median_depth_at_launch", "depth", struct launch_group, median_depth, "work queued at a launch, median", .term = "queue depth"), \
    FIELD(FLAG, "launch_bound", "launch-bound", struct launch_group, launch_bound, "kernels are shorter than the time between launches, and wait for them")

static const struct field launch_fields[] = {LAUNCH_FIELDS};
const struct result result_launches = RESULT("launches", "kernels launched", launch_fields, struct launch_group);

static const struct field launch_stage_fields[] = {
    FIELD_GET(TEXT, "path", "stage", groups_path, "the stage"),
    LAUNCH_FIELDS,
};
const struct result result_launch_stages = RESULT("launch_stages", "kernels launched, by stage", launch_stage_fields, struct launch_group);

static const struct field calls_fields[] = {
    FIELD_GET(TEXT, "name", "CPU cost per call", calls_name, "the call"),
    FIELD(COUNT, "device_records", "", struct call_cost, n_work, "device work that it caused"),
    FIELD_SUB("cost", &result_spread, struct call_cost, cost, "CPU time in the call"),
};
const struct result result_launch_calls = RESULT("calls", "calls that put work on the device", calls_fields, struct call_cost);
/* clang-format on */

struct rows rows_launch_stages(const struct context *cx)
{
    const struct launches *l = launches_of(cx);
    return (struct rows){
        .of = &result_launch_stages, .cx = cx, .list = l->stages, .n = l->n_stages};
}
