/* integrity_records.c: doubts about what is missing from the trace: records of device work,
 * whole graph replays, launches, steps. */
#include "analyze/quality/integrity.h"
#include "analyze/quality/quality_private.h"

#include <stdio.h>

#include "analyze/device/gpu_sharing.h"
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

/* What to do instead, with torch.profiler and with our recorder. */
enum advice { ALL_RECORDS, SOME_WORK, DEVICE_WORK, WHOLE_STEPS, ALONE };

static const char *advise(const struct doubting *c, enum advice which)
{
    static const char *const smaller_window =
        "record fewer steps (schedule(wait=1, warmup=1, active=2)) without stacks and shapes, and "
        "call torch.cuda.synchronize() before the profiler stops";
    static const struct {
        const char *torch, *ours;
    } all[] = {
        [ALL_RECORDS] = {smaller_window,
                         "record a shorter part (strata run --only STAGE) with no other profiler "
                         "in the program, and call torch.cuda.synchronize() before it ends; "
                         "STRATA_BUFFER_MB=512 gives CUPTI more room"},
        [SOME_WORK] = {"call prof.step() at the end of every iteration, and run enough of them for "
                       "the schedule to become active",
                       "strata doctor shows what can be recorded here"},
        [DEVICE_WORK] = {"record with ProfilerActivity.CUDA; only one profiler can use CUPTI at a "
                         "time",
                         "run no other profiler in the program: only one can use CUPTI at a time; "
                         "strata doctor shows what can be recorded here"},
        [WHOLE_STEPS] = {"call torch.cuda.synchronize() before the profiler stops",
                         "call torch.cuda.synchronize() before the program ends"},
        [ALONE] = {smaller_window,
                   "record while no other process uses the GPU (nvidia-smi lists them), and run no "
                   "other profiler in the program"},
    };
    return trace_is_ours(c->t) ? all[which].ours : all[which].torch;
}

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
        d->instead = advise(c, SOME_WORK);
    } else if (!v->work && v->all.expected) {
        struct doubt *d =
            integrity_doubt(c, "no_device_records", QUALITY_UNUSABLE,
                            "%s launches, but no device records", human_count(v->all.expected).s);
        d->count = d->of = v->all.expected;
        d->means = "only the CPU side is known: neither busy nor idle device time is";
        d->instead = advise(c, DEVICE_WORK);
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
    d->instead = level == QUALITY_GOOD ? "" : advise(c, ALL_RECORDS);
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
    d->instead = normal ? "" : advise(c, ALL_RECORDS);
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

/* From when on a wait has to show work: from its begin, or from that of the work it waits for, of
 * which `launch` is the call. Work can begin long after its launch, as a copy after memory was
 * unmapped; on a device that others use it may as well have waited for them. */
static int64_t work_is_due(const struct doubting *c, row_t wait, row_t launch)
{
    const struct gpu_sharing *g = gpu_sharing_of(c->cx);
    int64_t begin = c->t->ts_ns[wait];
    uint32_t n = 0;
    const row_t *work =
        launch != ROW_NONE && g->n && !g->shared ? trace_launched(c->t, launch, &n) : NULL;
    if (!n) return begin;
    int64_t at = c->t->ts_ns[work[n - 1]];
    return at > begin && at < trace_end_ns(c->t, wait) ? at : begin;
}

/* The time a call waits while no device shows any work. */
static int64_t wait_without_work(const struct doubting *c, row_t r, row_t launch)
{
    int64_t begin = work_is_due(c, r, launch), end = trace_end_ns(c->t, r), idle = end - begin;
    for (uint32_t i = 0; i < timeline_of(c->cx)->n_devices; i++)
        idle -= timeline_busy_ns(&timeline_of(c->cx)->devices[i], begin, end);
    idle -= overhead_ns(overheads_of(c->cx), OVERHEAD_PROFILER, begin, end);
    return idle > 0 ? idle : 0;
}

/* Waits for a device while it shows no work. */
struct blind_waits {
    uint32_t n;
    int64_t idle_ns, longest_ns;
    row_t longest;
};

static row_t last_call(const struct trace *t)
{
    row_t last = ROW_NONE;
    for (row_t r = 0; r < t->n_rows; r++)
        if (trace_call(t, r) && (last == ROW_NONE || t->ts_ns[r] >= t->ts_ns[last])) last = r;
    return last;
}

/* The last synchronize is the profiler's own, and the first may be setting up the device. */
static struct blind_waits find_blind_waits(const struct doubting *c)
{
    const struct trace *t = c->t;
    const struct timeline *line = timeline_of(c->cx);
    struct blind_waits b = {.longest = ROW_NONE};
    int64_t first_work = INT64_MAX;
    row_t last = last_call(t), launch = ROW_NONE; /* the last one on the same thread */
    for (uint32_t i = 0; i < line->n_devices; i++)
        if (line->devices[i].extent.begin_ns < first_work)
            first_work = line->devices[i].extent.begin_ns;
    for (row_t r = 0; r < t->n_rows; r++) {
        uint32_t n = 0;
        if (launch != ROW_NONE && t->lane[r] != t->lane[launch]) launch = ROW_NONE;
        if (trace_call(t, r) && trace_launched(t, r, &n) && n) launch = r;
        if (!call_syncs(calls_kind(calls_of(c->cx), t, r)) || t->dur_ns[r] < WAIT_NS) continue;
        if (r == last || t->ts_ns[r] < first_work || t->flags[r] & ROW_PROFILER) continue;
        int64_t w = wait_without_work(c, r, launch);
        if (w < t->dur_ns[r] / 2) continue;
        b.n++;
        b.idle_ns += w;
        if (w > b.longest_ns) b.longest_ns = w, b.longest = r;
    }
    return b;
}

/* "GPU 0 was shared with another process during 85 % of this time" and `means` after it. */
static const char *sharing_words(struct doubting *c, const char *verb, const char *means)
{
    const struct gpu_sharing *g = gpu_sharing_of(c->cx);
    char others[48] = "another process", text[300];
    if (g->others > 1) snprintf(others, sizeof others, "up to %u other processes", g->others);
    snprintf(text, sizeof text, "GPU %d was %s %s during %.0f %% of this time%s", g->device, verb,
             others, stats_pct(g->shared, g->n), means);
    const char *kept = arena_strdup(c->mem, str_c(text));
    if (!kept) c->failed = true;
    return kept ? kept : "";
}

/* A CPU that waits long for a device which shows no work: that was not recorded, or was another
 * process's. */
void doubt_waits(struct doubting *c)
{
    struct blind_waits b = find_blind_waits(c);
    double share = stats_pct((uint64_t)b.idle_ns, (uint64_t)(c->t->end_ns - c->t->begin_ns));
    if (!b.n || b.idle_ns < WAIT_LEAST_NS || share < 2) return;
    struct doubt *d = integrity_doubt(c, "waits_without_work", by_share(share, 0, 5, 40),
                                      "the CPU waits for the device for %s (%.1f %% of the trace) "
                                      "while no device work is recorded",
                                      human_time(b.idle_ns).s, share);
    d->count = b.n;
    d->example = b.longest;
    d->means = trace_is_ours(c->t)
                   ? "the device was working on something that was not recorded, such as "
                     "another process's work: idle time cannot be trusted"
                   : "the device was working on something that was not recorded: idle time "
                     "cannot be trusted";
    d->instead = advise(c, ALONE);
    c->i->idle_trusted = false;
    c->waits_shared = gpu_sharing_of(c->cx)->shared > 0;
    if (!c->waits_shared) return;
    d->means = sharing_words(c, "shared with",
                             ": waits include whatever ran there, so idle time cannot be trusted");
    d->instead = "record while nothing else uses the GPU (nvidia-smi lists the processes)";
}

/* Another process on the device whose work, if it did any, delayed nobody for long. */
void doubt_shared(struct doubting *c)
{
    const struct gpu_sharing *g = gpu_sharing_of(c->cx);
    if (!g->shared || c->waits_shared) return;
    struct doubt *d =
        integrity_doubt(c, "gpu_shared", QUALITY_GOOD, "%s", sharing_words(c, "also open in", ""));
    d->count = g->shared;
    d->of = g->n;
    d->means = "if that worked on it, kernels and waits took longer than they do alone";
    d->instead = "";
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
    d->instead = advise(c, WHOLE_STEPS);
}
