/* integrity_records.c: doubts about what is missing from the trace: records of device work,
 * whole graph replays, launches, steps. */
#include "analyze/quality/integrity.h"
#include "analyze/quality/quality_private.h"

#include "analyze/names/overhead.h"
#include "base/human.h"
#include "base/stats.h"

enum {
    EDGE_LAUNCHES = 3, /* missing at an end of the window: normal, */
    EDGE_PCT = 1,      /* also this share of them */
};

#define WAIT_NS       200000 /* shorter waits say nothing */
#define WAIT_LEAST_NS 1000000

static enum quality by_share(double share, double usable, double doubtful, double unusable)
{
    if (share >= unusable) return QUALITY_UNUSABLE;
    if (share >= doubtful) return QUALITY_DOUBTFUL;
    return share >= usable ? QUALITY_USABLE : QUALITY_GOOD;
}

static const char smaller_window[] =
    "record fewer steps (schedule(wait=1, warmup=1, active=2)) without stacks and shapes, and call "
    "torch.cuda.synchronize() before the profiler stops";

/* Annotations are in the table of operators too, so its size does not say. */
static bool has_operators(const struct trace *t)
{
    for (row_t r = 0; r < t->n_rows; r++)
        if (t->kind[r] == KIND_OP) return true;
    return false;
}

/* Stages that the user named, but nothing of what happened inside them. */
static bool only_stages(struct doubting *c)
{
    struct trace_counts n;
    trace_count(c->t, &n);
    if (n.by_kind[KIND_ANNOTATION] <= n.step_marks) return false;
    struct doubt *d = integrity_doubt(c, "only_stages", QUALITY_USABLE,
                                      "only stages were recorded, no operators or device work");
    d->means = "the trace shows how long each stage takes, but not what makes it slow";
    d->instead = "record with strata run --level timeline, or with torch.profiler";
    return true;
}

/* An empty trace, or calls to the device without any device record. */
void doubt_empty(struct doubting *c)
{
    const struct coverage *v = &c->i->coverage;
    uint64_t rows = 0;
    for (uint32_t l = 0; l < c->t->n_lanes; l++)
        if (c->t->lanes[l].kind == LANE_THREAD || c->t->lanes[l].kind == LANE_STREAM)
            rows += c->t->lanes[l].end - c->t->lanes[l].begin;
    bool something = v->work || v->all.expected || c->t->n_py || has_operators(c->t);
    if (!something && only_stages(c)) return;
    if (!something) {
        struct doubt *d = integrity_doubt(
            c, "empty", QUALITY_UNUSABLE,
            "nothing of the program was recorded (%s events in total)", human_count(rows).s);
        d->means = "there is nothing to analyze";
        d->instead = "call prof.step() at the end of every iteration, and run enough of them for "
                     "the schedule to become active";
    } else if (!v->work && v->all.expected) {
        struct doubt *d =
            integrity_doubt(c, "no_device_records", QUALITY_UNUSABLE,
                            "%s launches, but no device records", human_count(v->all.expected).s);
        d->count = d->of = v->all.expected;
        d->means = "only the CPU side is known: neither busy nor idle device time is";
        d->instead = "record with ProfilerActivity.CUDA; only one profiler can use CUPTI at a time";
        c->i->idle_trusted = c->i->times_trusted = false;
    }
}

/* Launches in the middle of the trace without records. */
void doubt_dropped(struct doubting *c)
{
    const struct coverage *v = &c->i->coverage;
    if (!v->work || !v->missing_mid) return;
    double share = stats_pct(v->missing_mid, v->all.expected);
    enum quality level = by_share(share, 0.5, 2, 25);
    struct doubt *d = integrity_doubt(
        c, "records_dropped", level, "%s of %s launches (%.1f %%) have no device record",
        human_count(v->missing_mid).s, human_count(v->all.expected).s, share);
    d->count = v->missing_mid;
    d->of = v->all.expected;
    d->example = v->first_missing_mid;
    d->means = level == QUALITY_GOOD
                   ? "empty copies and memsets leave none, so nothing is lost"
                   : "device time is too low and idle time too high; idle time cannot be trusted";
    d->instead = level == QUALITY_GOOD ? "" : smaller_window;
    if (level > QUALITY_USABLE) c->i->idle_trusted = false;
}

static void edge(struct doubting *c, uint32_t missing, bool tail)
{
    const struct coverage *v = &c->i->coverage;
    double share = stats_pct(missing, v->all.expected);
    bool normal = missing <= EDGE_LAUNCHES || share < EDGE_PCT;
    int64_t at = trace_since_ns(c->t, tail ? v->tail_begin_ns : v->head_end_ns);
    struct doubt *d = integrity_doubt(
        c, tail ? "records_stop_early" : "records_begin_late",
        normal ? QUALITY_GOOD : by_share(share, 0, 3, 50),
        "device records %s at %s: %s launches %s that (%.1f %%) have none", tail ? "stop" : "begin",
        human_time(at).s, human_count(missing).s, tail ? "after" : "before", share);
    d->count = missing;
    d->of = v->all.expected;
    d->means = normal ? "normal at the edge of the window"
               : tail ? "after that the device looks idle but is not: the profiler's buffers were "
                        "full, or it was stopped without a synchronize"
                      : "before that the device looks idle but is not";
    d->instead = normal ? "" : smaller_window;
    if (!normal) c->i->idle_trusted = false;
}

void doubt_edges(struct doubting *c)
{
    const struct coverage *v = &c->i->coverage;
    if (!v->work || !v->all.recorded) return;
    if (v->missing_head) edge(c, v->missing_head, false);
    if (v->missing_tail) edge(c, v->missing_tail, true);
}

void doubt_graphs(struct doubting *c)
{
    const struct coverage *v = &c->i->coverage;
    uint32_t bad = v->graphs_short + v->graphs_empty;
    if (!bad) return;
    double share = stats_pct(bad, v->graph_launches);
    struct doubt *d = integrity_doubt(
        c, "graph_replays_under_recorded", by_share(share, 0, 1, 30),
        "%s of %s graph replays have fewer records than their graph has kernels (%s have none)",
        human_count(bad).s, human_count(v->graph_launches).s, human_count(v->graphs_empty).s);
    d->count = bad;
    d->of = v->graph_launches;
    d->example = v->first_short;
    d->means = "most of the work of these replays is missing: the device looks idle but is not";
    d->instead = "for kernel times record with graphs off, with CUDA 12.6 or later, or with fewer "
                 "replays in the window";
    if (share >= 1) c->i->idle_trusted = false;
}

/* The time a call waits while no device shows any work. */
static int64_t wait_without_work(const struct doubting *c, row_t r)
{
    int64_t begin = c->t->ts_ns[r], end = trace_end_ns(c->t, r), idle = end - begin;
    for (uint32_t i = 0; i < timeline_of(c->cx)->n_devices; i++)
        idle -= timeline_busy_ns(&timeline_of(c->cx)->devices[i], begin, end);
    idle -= overhead_ns(overheads_of(c->cx), OVERHEAD_PROFILER, begin, end);
    return idle > 0 ? idle : 0;
}

/* A CPU that waits long for a device which shows no work: the work was not recorded. The last
 * synchronize is the profiler's own, and the first may be setting up the device. */
void doubt_waits(struct doubting *c)
{
    const struct trace *t = c->t;
    int64_t first_work = INT64_MAX, idle = 0, longest = 0;
    row_t last = ROW_NONE, worst = ROW_NONE;
    for (uint32_t i = 0; i < timeline_of(c->cx)->n_devices; i++)
        if (timeline_of(c->cx)->devices[i].extent.begin_ns < first_work)
            first_work = timeline_of(c->cx)->devices[i].extent.begin_ns;
    for (row_t r = 0; r < t->n_rows; r++)
        if (trace_call(t, r) && (last == ROW_NONE || t->ts_ns[r] >= t->ts_ns[last])) last = r;
    uint32_t n = 0;
    for (row_t r = 0; r < t->n_rows; r++) {
        if (!call_syncs(calls_kind(calls_of(c->cx), t, r)) || t->dur_ns[r] < WAIT_NS) continue;
        if (r == last || t->ts_ns[r] < first_work || t->flags[r] & ROW_PROFILER) continue;
        int64_t w = wait_without_work(c, r);
        if (w < t->dur_ns[r] / 2) continue;
        n++;
        idle += w;
        if (w > longest) longest = w, worst = r;
    }
    double share = stats_pct((uint64_t)idle, (uint64_t)(t->end_ns - t->begin_ns));
    if (!n || idle < WAIT_LEAST_NS || share < 2) return;
    struct doubt *d = integrity_doubt(c, "waits_without_work", by_share(share, 0, 5, 40),
                                      "the CPU waits for the device for %s (%.1f %% of the trace) "
                                      "while no device work is recorded",
                                      human_time(idle).s, share);
    d->count = n;
    d->example = worst;
    d->means = "the device was working on something that was not recorded: idle time cannot be "
               "trusted";
    d->instead = smaller_window;
    c->i->idle_trusted = false;
}

/* Device work whose launch is not in the trace. */
void doubt_links(struct doubting *c)
{
    const struct coverage *v = &c->i->coverage;
    if (!v->work || !v->orphans) return;
    bool none = v->orphans == v->work;
    double share = stats_pct(v->orphans, v->work);
    bool edge_only = !none && v->orphans_mid * 50ull < v->work;
    enum quality level = none        ? QUALITY_DOUBTFUL
                         : edge_only ? (share < 50 ? QUALITY_GOOD : QUALITY_USABLE)
                                     : by_share(stats_pct(v->orphans_mid, v->work), 0, 20, 101);
    struct doubt *d =
        integrity_doubt(c, "work_without_launch", level,
                        "%s of %s device records (%.1f %%) have no launch in the trace",
                        human_count(v->orphans).s, human_count(v->work).s, share);
    d->count = v->orphans;
    d->of = v->work;
    if (edge_only) {
        d->means = "it was launched before the window opened, which is normal, but belongs to no "
                   "step or stage";
        return;
    }
    d->means = "this work belongs to no operator, stage or step, so their device times are too low";
    d->instead = "record CPU and device activities together, in one process";
    if (level > QUALITY_USABLE) c->i->links_trusted = false;
}

void doubt_steps(struct doubting *c)
{
    const struct steps *s = steps_of(c->cx);
    uint32_t n = 0, trailing = 0;
    for (uint32_t i = 0; i < s->n_steps; i++) {
        bool none = s->steps[i].flags & STEP_NO_WORK;
        n += none;
        trailing = none ? trailing + 1 : 0;
    }
    if (!n) return;
    struct doubt *d = integrity_doubt(
        c, "steps_without_work", n * 2 > s->n_steps ? QUALITY_DOUBTFUL : QUALITY_USABLE,
        "%s of %s steps have no device records%s", human_count(n).s, human_count(s->n_steps).s,
        trailing == n ? ", the last ones" : "");
    d->count = n;
    d->of = s->n_steps;
    d->means = trailing == n ? "the device ran them after the window had closed; leave them out"
                             : "averages over steps are too low";
    d->instead = "call torch.cuda.synchronize() before the profiler stops";
}
