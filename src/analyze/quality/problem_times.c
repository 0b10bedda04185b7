/* problem_times.c: looks for impossible times, damage to the file, and what recording itself did
 * to the run. */
#include "analyze/names/collective.h"
#include "analyze/quality/integrity.h"
#include "analyze/quality/quality_constants.h"
#include "analyze/quality/quality_private.h"

#include <ctype.h>
#include <stdlib.h>

#include "analyze/names/overhead.h"
#include "analyze/names/recording_prices.h"
#include "base/human.h"
#include "base/stats.h"

#define NS_PER_SECOND 1000000000

void problem_look_file(struct looking *c)
{
    const struct damage *dm = &c->t->damage;
    uint64_t lost = 0;
    for (int r = 0; r < DAMAGE_REASONS; r++)
        if (r != DAMAGE_TRUNCATED && damage_loses((enum damage_reason)r)) lost += dm->count[r];
    if (dm->count[DAMAGE_TRUNCATED]) {
        struct problem *p =
            problem_add(c, PROBLEM_TRUNCATED, QUALITY_DOUBTFUL, "the file is cut short at byte %s",
                        human_count(dm->place[DAMAGE_TRUNCATED][0]).s);
        p->count = 1;
    }
    if (!lost) return;
    double share = stats_pct(lost, c->t->n_rows + lost);
    struct problem *p = problem_add(c, PROBLEM_EVENTS_LOST,
                                    share < 0.1 ? QUALITY_GOOD
                                    : share < 5 ? QUALITY_USABLE
                                                : QUALITY_DOUBTFUL,
                                    "%s event%s could not be read (%.1f %%)", human_count(lost).s,
                                    lost == 1 ? "" : "s", share);
    p->count = lost;
    p->of = c->t->n_rows + lost;
}

/* Older recorders write whole microseconds: what lasts less has a duration of zero, and others have
 * one of a microsecond. Where a part was left out, what follows it starts at any nanosecond and
 * what crosses its edge ends at any: durations tell, and a few rows may differ. */
static bool problem_times_in_microseconds(const struct trace *t)
{
    bool short_ones = false;
    uint64_t finer = 0;
    for (row_t r = 0; r < t->n_rows; r++) {
        finer += t->dur_ns[r] % 1000 != 0;
        short_ones |= t->kind[r] == KIND_KERNEL && t->dur_ns[r] == 1000;
    }
    return short_ones && stats_pct((double)finer, t->n_rows) < integrity_finer_pct;
}

/* Work without a time stamp or with a duration of zero. */
void problem_look_untimed(struct looking *c)
{
    uint64_t untimed = 0, zero = 0, kernels = 0;
    row_t example = ROW_NONE;
    for (uint32_t i = 0; i < timeline_of(c->cx)->n_devices; i++) {
        const struct device_line *d = &timeline_of(c->cx)->devices[i];
        untimed += d->n_untimed;
        for (uint32_t k = 0; k < d->n_work; k++) {
            if (c->t->kind[d->work[k]] != KIND_KERNEL) continue;
            kernels++;
            if (c->t->dur_ns[d->work[k]] == 0 && !zero++) example = d->work[k];
        }
    }
    if (zero && problem_times_in_microseconds(c->t)) zero = 0, example = ROW_NONE;
    uint64_t bad = untimed + zero, all = kernels + untimed;
    if (!bad) return;
    double share = stats_pct(bad, all);
    enum quality level = share >= 25   ? QUALITY_UNUSABLE
                         : share >= 2  ? QUALITY_DOUBTFUL
                         : share >= .1 ? QUALITY_USABLE
                                       : QUALITY_GOOD;
    struct problem *p = problem_add(c, PROBLEM_ZERO_TIMES, level,
                                    "%s of %s device records have no time stamp or no duration",
                                    human_count(bad).s, human_count(all).s);
    p->count = bad;
    p->of = all;
    problem_example(p, example);
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

void problem_look_impossible(struct looking *c)
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
    struct problem *p = problem_add(c, PROBLEM_IMPOSSIBLE_TIMES,
                                    stats_pct(bad, all) < 1 ? QUALITY_DOUBTFUL : QUALITY_UNUSABLE,
                                    "%s of %s device records lie far outside the trace",
                                    human_count(bad).s, human_count(all).s);
    p->count = bad;
    p->of = all;
    problem_example(p, example);
}

int64_t problem_skew_small_ns(const struct context *cx)
{
    double of_step = integrity_skew_step_pct / 100 * (double)steps_of(cx)->each_ns;
    return of_step > integrity_skew_small_ns ? (int64_t)of_step : integrity_skew_small_ns;
}

void problem_look_clocks(struct looking *c)
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
    enum quality level = most > integrity_skew_large_ns        ? QUALITY_DOUBTFUL
                         : most > problem_skew_small_ns(c->cx) ? QUALITY_USABLE
                                                               : QUALITY_GOOD;
    struct problem *p =
        problem_add(c, PROBLEM_CLOCK_SKEW, level,
                    "%s of %s device records start before their launch, by up to %s",
                    human_count(early).s, human_count(linked).s, human_time(most).s);
    p->count = early;
    p->of = linked;
    p->worst_ns = most;
    problem_example(p, example);
}

/* Whether a kernel is a collective; names are examined once each. */
static bool is_collective(const struct trace *t, row_t r, uint8_t *seen)
{
    enum { OTHER = 1, COLLECTIVE };
    if (t->kind[r] != KIND_KERNEL) return false;
    uint8_t *known = &seen[t->name[r]];
    if (!*known) *known = collective_kernel(trace_name(t, r)) ? COLLECTIVE : OTHER;
    return *known == COLLECTIVE;
}

/* The first collective waits until every rank's profiler has started. */
void problem_look_collectives(struct looking *c)
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
    if (dur < integrity_collective_ns || dur < integrity_collective_times * usual) return;
    struct problem *p = problem_add(c, PROBLEM_FIRST_COLLECTIVE, QUALITY_USABLE,
                                    "the first collective takes %s, the others %s",
                                    human_time(dur).s, human_time(usual).s);
    p->count = 1;
    p->of = n;
    p->worst_ns = dur;
    problem_example(p, first);
}

static bool problem_times_is_on(const struct trace *t, const char *key)
{
    struct str v = str_trim(trace_meta(t, key));
    return v.n && !str_is(v, "0") && !str_is(v, "false") && !str_is(v, "null");
}

static void problem_times_find_flags(const struct looking *c, struct recording_cost *r)
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
        if (problem_times_is_on(c->t, keys[i].key)) r->flags |= keys[i].flag;
    struct str period_us = trace_meta(c->t, TRACE_META_SAMPLED);
    if (period_us.p) r->sample_ns = (int64_t)strtol(period_us.p, NULL, 10) * 1000;
    if (c->t->n_py) r->flags |= RECORDED_STACKS;
    if (c->t->n_mem) r->flags |= RECORDED_MEMORY;
}

static struct recording_cost cost_of_thread(const struct looking *c, const struct lane *l)
{
    const struct trace *t = c->t;
    struct recording_cost v = {0};
    struct recording_prices price = recording_prices_of(t);
    double launches = 0;
    struct span s = {INT64_MAX, INT64_MIN};
    for (row_t r = l->begin; r < l->end; r++) {
        launches += recording_price(t, r, &price);
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
    v.cost_ns = (int64_t)(launches * price.launch_ns);
    return v;
}

static bool problem_times_costs_more(const struct recording_cost *a, const struct recording_cost *b)
{
    return a->cost_ns != b->cost_ns ? a->cost_ns > b->cost_ns : a->working_ns < b->working_ns;
}

enum { RECORDING_MOST_PCT = 1000 }; /* what is shown of more is words */

/* The cost of recording, on the thread with the highest cost. */
void problem_look_recording(struct looking *c)
{
    struct recording_cost most = {0};
    for (uint32_t l = 0; l < c->t->n_lanes; l++) {
        if (c->t->lanes[l].kind != LANE_THREAD) continue;
        struct recording_cost v = cost_of_thread(c, &c->t->lanes[l]);
        if (v.cost_ns && problem_times_costs_more(&v, &most)) most = v;
    }
    problem_times_find_flags(c, &most);
    int64_t rest = most.working_ns - most.cost_ns;
    if (most.cost_ns && rest > most.working_ns / 10)
        most.pct = 100.0 * (double)most.cost_ns / (double)rest;
    else if (most.cost_ns)
        most.pct = RECORDING_MOST_PCT; /* nearly all of the time: how much exactly is not known */
    c->i->recording = most;
    if (most.pct < 50 || most.working_ns < NS_PER_SECOND / 100) return;
    struct human frames = human_count(most.frames), ops = human_count(most.ops);
    if (most.pct >= RECORDING_MOST_PCT)
        problem_add(c, PROBLEM_RECORDING_COST, QUALITY_USABLE,
                    "recording took most of the time of the CPU (%s Python frames, %s ops)",
                    frames.s, ops.s);
    else
        problem_add(c, PROBLEM_RECORDING_COST, QUALITY_USABLE,
                    "the CPU side took about %s because of recording (%s Python frames, %s ops)",
                    human_longer(most.pct).s, frames.s, ops.s);
}

/* Overhead of one kind that takes at least 1 % of the trace. */
static void problem_times_overhead(struct looking *c, enum overhead_kind kind, enum problem_id id,
                                   const char *who)
{
    int64_t ns = overhead_ns(overheads_of(c->cx), kind, c->t->begin_ns, c->t->end_ns);
    int64_t all = c->t->end_ns - c->t->begin_ns;
    if (all <= 0 || ns * 100 < all) return;
    struct problem *p = problem_add(c, id, QUALITY_GOOD, "%s took %s (%.1f %% of the trace)", who,
                                    human_time(ns).s, stats_pct((uint64_t)ns, (uint64_t)all));
    p->worst_ns = ns;
}

void problem_look_overheads(struct looking *c)
{
    problem_times_overhead(c, OVERHEAD_PROFILER, PROBLEM_PROFILER_BUFFERS,
                           "the profiler's own buffers");
    problem_times_overhead(c, OVERHEAD_LOADING, PROBLEM_CODE_LOADING,
                           "loading code onto the device");
}

/* Launching a graph whose nodes are recorded one by one takes the CPU as long as launching each. */
void problem_look_graph_nodes(struct looking *c)
{
    const struct trace *t = c->t;
    int64_t ns = 0, all = t->end_ns - t->begin_ns;
    uint32_t n = 0;
    if (!trace_timeline_is_ours(t)) return;
    for (row_t r = 0; r < t->n_rows; r++) {
        if (calls_kind(calls_of(c->cx), t, r) != CALL_GRAPH_LAUNCH || trace_call(t, r)->n_gpu < 2)
            continue;
        ns += t->dur_ns[r];
        n++;
    }
    if (all <= 0 || ns * integrity_graph_part < all) return;
    struct problem *p = problem_add(
        c, PROBLEM_GRAPHS_BY_NODE, QUALITY_USABLE,
        "launching %s CUDA graphs took %.0f %% of the time because every node was recorded",
        human_count(n).s, stats_pct((uint64_t)ns, (uint64_t)all));
    p->count = n;
}

/* The ceiling of trace.h: what is deeper stands side by side there. */
void problem_look_depth(struct looking *c)
{
    const struct trace *t = c->t;
    uint64_t deep = 0;
    for (row_t r = 0; r < t->n_rows; r++) deep += t->depth[r] == TRACE_DEEPEST;
    if (!deep) return;
    struct problem *p = problem_add(c, PROBLEM_NESTED_DEEP, QUALITY_USABLE,
                                    "%s spans are nested %d levels deep or more",
                                    human_count(deep).s, TRACE_DEEPEST);
    p->count = deep;
    p->of = t->n_rows;
}
