/* integrity_times.c: doubts about impossible times, damage to the file, and what recording itself
 * did to the run. */
#include "analyze/names/collective.h"
#include "analyze/quality/integrity.h"
#include "analyze/quality/quality_private.h"

#include <ctype.h>
#include <stdlib.h>

#include "analyze/names/overhead.h"
#include "base/human.h"
#include "base/stats.h"

#define NS_PER_SECOND 1000000000

/* What recording one event costs the CPU, measured on pipelines with and without recording: for
 * torch's profiler, and for ours, which samples frames. */
static const struct price {
    uint64_t op_ns, call_ns, frame_ns, instant_ns;
} of_torch = {1500, 2000, 550, 500}, of_ours = {250, 1400, 0, 50};

enum {
    SKEW_SMALL_NS = 5000, /* clocks of CPU and device never agree better */
    SKEW_LARGE_NS = 100000,
    COLLECTIVE_TIMES = 10,
    COLLECTIVE_NS = 10000000,
};

void doubt_file(struct doubting *c)
{
    const struct damage *dm = &c->t->damage;
    uint64_t lost = 0;
    for (int r = 0; r < DAMAGE_REASONS; r++)
        if (r != DAMAGE_TRUNCATED && damage_loses((enum damage_reason)r)) lost += dm->count[r];
    if (dm->count[DAMAGE_TRUNCATED]) {
        struct doubt *d =
            integrity_doubt(c, "truncated", QUALITY_DOUBTFUL, "the file is cut short at byte %s",
                            human_count(dm->place[DAMAGE_TRUNCATED][0]).s);
        d->count = 1;
        d->means = "device records come last in these files, so they are lost first";
        d->instead = "wait for the export to finish; a file name ending in .tmp means it has not";
        c->i->idle_trusted = false;
    }
    if (!lost) return;
    double share = stats_pct(lost, c->t->n_rows + lost);
    struct doubt *d =
        integrity_doubt(c, "events_lost",
                        share < 0.1 ? QUALITY_GOOD
                        : share < 5 ? QUALITY_USABLE
                                    : QUALITY_DOUBTFUL,
                        "%s events could not be read (%.1f %%)", human_count(lost).s, share);
    d->count = lost;
    d->of = c->t->n_rows + lost;
    d->means = "strata lint lists where they are in the file";
}

bool quality_in_microseconds(const struct trace *t)
{
    bool short_ones = false;
    for (row_t r = 0; r < t->n_rows; r++) {
        if (t->ts_ns[r] % 1000 || t->dur_ns[r] % 1000) return false;
        short_ones |= t->kind[r] == KIND_KERNEL && t->dur_ns[r] == 1000;
    }
    return short_ones;
}

/* Work without a time stamp or with a duration of zero. */
void doubt_untimed(struct doubting *c)
{
    uint64_t untimed = 0, zero = 0, kernels = 0;
    for (uint32_t i = 0; i < timeline_of(c->cx)->n_devices; i++) {
        const struct device_line *d = &timeline_of(c->cx)->devices[i];
        untimed += d->n_untimed;
        for (uint32_t k = 0; k < d->n_work; k++) {
            if (c->t->kind[d->work[k]] != KIND_KERNEL) continue;
            kernels++;
            zero += c->t->dur_ns[d->work[k]] == 0;
        }
    }
    if (zero && quality_in_microseconds(c->t)) zero = 0;
    uint64_t bad = untimed + zero, all = kernels + untimed;
    if (!bad) return;
    double share = stats_pct(bad, all);
    enum quality level = share >= 25   ? QUALITY_UNUSABLE
                         : share >= 2  ? QUALITY_DOUBTFUL
                         : share >= .1 ? QUALITY_USABLE
                                       : QUALITY_GOOD;
    struct doubt *d = integrity_doubt(c, "zero_times", level,
                                      "%s of %s device records have no time stamp or no duration",
                                      human_count(bad).s, human_count(all).s);
    d->count = bad;
    d->of = all;
    d->means = "their time is missing: device time is too low and idle time too high";
    d->instead =
        trace_meta(c->t, TRACE_META_RECORDED).p
            ? "work that never ended has none, as when the GPU fails or the program is ended; "
              "otherwise update the driver: some CUDA 12.6 to 13.0 builds have this fault"
            : "update the driver or torch; this is a known fault of some CUDA 12.6 to 13.0 builds";
    if (level > QUALITY_USABLE) c->i->idle_trusted = c->i->times_trusted = false;
}

/* The CPU side of the trace, which device work must be close to. */
static struct span cpu_extent(const struct trace *t)
{
    struct span s = {INT64_MAX, INT64_MIN};
    for (uint32_t l = 0; l < t->n_lanes; l++) {
        if (t->lanes[l].kind != LANE_THREAD) continue;
        for (row_t r = t->lanes[l].begin; r < t->lanes[l].end; r++) {
            if (t->flags[r] & ROW_NO_TIME || t->phase[r] != 'X') continue;
            if (t->ts_ns[r] < s.begin_ns) s.begin_ns = t->ts_ns[r];
            if (trace_end_ns(t, r) > s.end_ns) s.end_ns = trace_end_ns(t, r);
        }
    }
    return s;
}

void doubt_impossible(struct doubting *c)
{
    struct span cpu = cpu_extent(c->t);
    if (cpu.begin_ns >= cpu.end_ns) return;
    int64_t slack = (cpu.end_ns - cpu.begin_ns) + NS_PER_SECOND;
    uint64_t bad = 0, all = 0;
    row_t example = ROW_NONE;
    for (uint32_t i = 0; i < timeline_of(c->cx)->n_devices; i++) {
        const struct device_line *d = &timeline_of(c->cx)->devices[i];
        all += d->n_work;
        for (uint32_t k = 0; k < d->n_work; k++) {
            row_t r = d->work[k];
            if (c->t->ts_ns[r] >= cpu.begin_ns - slack &&
                trace_end_ns(c->t, r) <= cpu.end_ns + slack)
                continue;
            if (!bad++) example = r;
        }
    }
    if (!bad) return;
    struct doubt *d = integrity_doubt(c, "impossible_times",
                                      stats_pct(bad, all) < 1 ? QUALITY_DOUBTFUL : QUALITY_UNUSABLE,
                                      "%s of %s device records lie far outside the trace",
                                      human_count(bad).s, human_count(all).s);
    d->count = bad;
    d->of = all;
    d->example = example;
    d->means = "the device's clock was wrong: windows, idle time and gaps are meaningless";
    d->instead = "record again; if that does not help, update the driver";
    c->i->idle_trusted = c->i->times_trusted = false;
}

void doubt_clocks(struct doubting *c)
{
    uint64_t early = 0, linked = 0;
    int64_t most = 0;
    row_t example = ROW_NONE;
    for (uint32_t i = 0; i < timeline_of(c->cx)->n_devices; i++) {
        const struct device_line *d = &timeline_of(c->cx)->devices[i];
        for (uint32_t k = 0; k < d->n_work; k++) {
            row_t call = trace_launch_of(c->t, d->work[k]);
            if (call == ROW_NONE) continue;
            linked++;
            int64_t skew = c->t->ts_ns[call] - c->t->ts_ns[d->work[k]];
            early += skew > 0;
            if (skew > most) most = skew, example = d->work[k];
        }
    }
    if (!early) return;
    enum quality level = most > SKEW_LARGE_NS   ? QUALITY_DOUBTFUL
                         : most > SKEW_SMALL_NS ? QUALITY_USABLE
                                                : QUALITY_GOOD;
    struct doubt *d = integrity_doubt(
        c, "clock_skew", level, "%s of %s device records start before their launch, by up to %s",
        human_count(early).s, human_count(linked).s, human_time(most).s);
    d->count = early;
    d->of = linked;
    d->example = example;
    d->means = level == QUALITY_GOOD
                   ? "the clocks of CPU and device differ slightly, which is normal"
                   : "launch latencies are wrong, and so are gaps of about that length";
    d->instead =
        level == QUALITY_GOOD ? "" : "record again; if that does not help, update the driver";
    if (level > QUALITY_USABLE) c->i->times_trusted = false;
}

/* Whether a kernel is a collective; names are looked at once each. */
static bool is_collective(const struct trace *t, row_t r, uint8_t *seen)
{
    enum { OTHER = 1, COLLECTIVE };
    if (t->kind[r] != KIND_KERNEL) return false;
    uint8_t *known = &seen[t->name[r]];
    if (!*known) *known = collective_kernel(trace_name(t, r)) ? COLLECTIVE : OTHER;
    return *known == COLLECTIVE;
}

/* The first collective waits until every rank's profiler has started. */
void doubt_collectives(struct doubting *c)
{
    row_t first = ROW_NONE;
    uint32_t n = 0;
    uint8_t *seen = arena_zalloc(c->mem, c->t->strings.n + (size_t)1, 1);
    if (!seen) c->failed = true;
    for (row_t r = 0; seen && r < c->t->n_rows; r++) {
        if (!is_collective(c->t, r, seen)) continue;
        n++;
        if (first == ROW_NONE || c->t->ts_ns[r] < c->t->ts_ns[first]) first = r;
    }
    int64_t *durs = n > 3 ? arena_zalloc(c->mem, n, sizeof *durs) : NULL;
    if (n > 3 && !durs) c->failed = true;
    if (!durs) return;
    uint32_t k = 0;
    for (row_t r = 0; r < c->t->n_rows; r++)
        if (is_collective(c->t, r, seen)) durs[k++] = c->t->dur_ns[r];
    stats_sort(durs, n);
    int64_t usual = stats_median(durs, n), dur = c->t->dur_ns[first];
    if (dur < COLLECTIVE_NS || dur < COLLECTIVE_TIMES * usual) return;
    struct doubt *d = integrity_doubt(c, "first_collective", QUALITY_USABLE,
                                      "the first collective takes %s, the others %s",
                                      human_time(dur).s, human_time(usual).s);
    d->count = 1;
    d->of = n;
    d->example = first;
    d->means = "it waits for the profilers of other ranks to start, not for their work";
    d->instead = "leave the first step out, or put a barrier before the profiler starts";
}

static bool is_on(const struct trace *t, const char *key)
{
    struct str v = str_trim(trace_meta(t, key));
    return v.n && !str_is(v, "0") && !str_is(v, "false") && !str_is(v, "null");
}

static void find_flags(const struct doubting *c, struct recording_cost *r)
{
    static const struct {
        const char *key;
        uint8_t flag;
    } keys[] = {{"with_stack", RECORDED_STACKS},
                {"record_shapes", RECORDED_SHAPES},
                {"profile_memory", RECORDED_MEMORY},
                {"with_modules", RECORDED_MODULES},
                {"with_flops", RECORDED_FLOPS}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (is_on(c->t, keys[i].key)) r->flags |= keys[i].flag;
    struct str period_us = trace_meta(c->t, TRACE_META_SAMPLED);
    if (period_us.p) r->sample_ns = (int64_t)strtol(period_us.p, NULL, 10) * 1000;
    if (c->t->n_py) r->flags |= RECORDED_STACKS;
    if (c->t->n_mem) r->flags |= RECORDED_MEMORY;
}

static struct recording_cost cost_of_thread(const struct doubting *c, const struct lane *l)
{
    const struct trace *t = c->t;
    struct recording_cost v = {0};
    struct span s = {INT64_MAX, INT64_MIN};
    for (row_t r = l->begin; r < l->end; r++) {
        switch (t->kind[r]) {
        case KIND_OP:
        case KIND_ANNOTATION: v.ops++; break;
        case KIND_RUNTIME:
        case KIND_DRIVER: v.calls++; break;
        case KIND_PYTHON: v.frames++; break;
        case KIND_MEMORY: v.instants++; break;
        default: break;
        }
        if (t->phase[r] != 'X' || t->flags[r] & ROW_NO_TIME) continue;
        if (t->ts_ns[r] < s.begin_ns) s.begin_ns = t->ts_ns[r];
        if (trace_end_ns(t, r) > s.end_ns) s.end_ns = trace_end_ns(t, r);
        if (call_waits(calls_kind(calls_of(c->cx), t, r))) v.working_ns -= t->dur_ns[r];
    }
    if (s.end_ns > s.begin_ns) v.working_ns += s.end_ns - s.begin_ns;
    const struct price *p = trace_meta(t, TRACE_META_RECORDED).p ? &of_ours : &of_torch;
    v.cost_ns = (int64_t)(v.ops * p->op_ns + v.calls * p->call_ns + v.frames * p->frame_ns +
                          v.instants * p->instant_ns);
    return v;
}

enum { LEAST_GRAPH_SHARE = 10 }; /* a tenth of the trace */

/* The cost of recording, on the thread with the highest cost. */
void doubt_recording(struct doubting *c)
{
    struct recording_cost most = {0};
    for (uint32_t l = 0; l < c->t->n_lanes; l++) {
        if (c->t->lanes[l].kind != LANE_THREAD) continue;
        struct recording_cost v = cost_of_thread(c, &c->t->lanes[l]);
        if (v.cost_ns > most.cost_ns) most = v;
    }
    find_flags(c, &most);
    int64_t rest = most.working_ns - most.cost_ns;
    if (most.cost_ns && rest > most.working_ns / 10)
        most.pct = 100.0 * (double)most.cost_ns / (double)rest;
    else if (most.cost_ns)
        most.pct = 1000; /* nearly all of the time: the exact figure does not matter */
    c->i->recording = most;
    if (most.pct < 50 || most.working_ns < NS_PER_SECOND / 100) return;
    struct doubt *d = integrity_doubt(
        c, "recording_cost", QUALITY_USABLE,
        "recording made the CPU side about %.0f %% slower (%s Python frames, %s ops)", most.pct,
        human_count(most.frames).s, human_count(most.ops).s);
    d->means = "CPU times are too long, and the critical path may differ without recording";
    d->instead = "record without with_stack for times and with it only to find lines; strata "
                 "whatif --undistort removes the cost";
}

/* Overhead of one kind that takes at least a hundredth of the trace. */
static void tell_overhead(struct doubting *c, enum overhead_kind kind, const char *id,
                          const char *who, const char *means)
{
    int64_t ns = overhead_ns(overheads_of(c->cx), kind, c->t->begin_ns, c->t->end_ns);
    int64_t all = c->t->end_ns - c->t->begin_ns;
    if (all <= 0 || ns * 100 < all) return;
    struct doubt *d = integrity_doubt(c, id, QUALITY_GOOD, "%s took %s (%.1f %% of the trace)", who,
                                      human_time(ns).s, stats_pct((uint64_t)ns, (uint64_t)all));
    d->means = means;
}

void doubt_overheads(struct doubting *c)
{
    tell_overhead(c, OVERHEAD_PROFILER, "profiler_buffers", "the profiler's own buffers",
                  "it leaves one gap in the device's work at the first launch, which the program "
                  "did not cause");
    tell_overhead(
        c, OVERHEAD_LOADING, "code_loading", "loading code onto the device",
        "kernels ran for the first time inside the window: the program was not warmed up");
}

/* Launching a graph whose nodes are recorded one by one takes the CPU as long as launching each. */
void doubt_graph_nodes(struct doubting *c)
{
    const struct trace *t = c->t;
    int64_t ns = 0, all = t->end_ns - t->begin_ns;
    uint32_t n = 0;
    if (!trace_meta(t, TRACE_META_RECORDED).p) return;
    for (row_t r = 0; r < t->n_rows; r++) {
        if (calls_kind(calls_of(c->cx), t, r) != CALL_GRAPH_LAUNCH || trace_call(t, r)->n_gpu < 2)
            continue;
        ns += t->dur_ns[r];
        n++;
    }
    if (all <= 0 || ns * LEAST_GRAPH_SHARE < all) return;
    struct doubt *d = integrity_doubt(
        c, "graphs_by_node", QUALITY_USABLE,
        "launching %s CUDA graphs took %.0f %% of the time because every node was recorded",
        human_count(n).s, stats_pct((uint64_t)ns, (uint64_t)all));
    d->means = "without recording the CPU is faster there, and may not be on the critical path";
    d->instead = "record with strata run --level timeline --graphs whole: one record per graph, at "
                 "hardly any cost";
}

/* The ceiling of trace.h: what is deeper stands side by side there. */
void doubt_depth(struct doubting *c)
{
    const struct trace *t = c->t;
    uint64_t deep = 0;
    for (row_t r = 0; r < t->n_rows; r++) deep += t->depth[r] == TRACE_DEEPEST;
    if (!deep) return;
    struct doubt *d = integrity_doubt(c, "nested_deep", QUALITY_USABLE,
                                      "%s spans are nested %d levels deep or more",
                                      human_count(deep).s, TRACE_DEEPEST);
    d->count = deep;
    d->of = t->n_rows;
    d->means = "below that level it is not known which of them encloses which";
    d->instead = "a recursion that never ends looks so, or labels that are never closed";
}
