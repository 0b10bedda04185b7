/* lint_oddities.c: the oddities of lint_oddities.h, one function and one table entry each. To add
 * one: write both and list it in `lint_oddities` at the end. */
#include "analyze/quality/lint_oddities.h"

#include <stdlib.h>

#include "analyze/quality/quality_private.h"
#include "base/map.h"
#include "base/search.h"
#include "base/wrap.h"

static void note(struct lint_result *r, row_t row, int64_t off_by_ns)
{
    r->count++;
    if (off_by_ns > r->worst_ns) r->worst_ns = off_by_ns;
    if (r->n_examples < LINT_EXAMPLES && row != ROW_NONE) r->examples[r->n_examples++] = row;
}

static bool kernel_before_launch(const struct lint_input *in, struct lint_result *r)
{
    const struct trace *t = in->t;
    for (row_t i = 0; i < t->n_rows; i++) {
        row_t call = trace_is_work(t, i) ? trace_launch_of(t, i) : ROW_NONE;
        if (call == ROW_NONE) continue;
        r->of++;
        if (t->ts_ns[i] < t->ts_ns[call]) note(r, i, wrap_sub(t->ts_ns[call], t->ts_ns[i]));
    }
    return false;
}

static const struct lint_oddity oddity_kernel_before_launch = {
    .id = "kernel_before_launch",
    .severity = LINT_WARNING,
    .title = "device work that starts before the call that launched it",
    .explain = "The clocks of CPU and GPU disagree by at least this much: shorter launch latencies "
               "and gaps mean nothing.",
    .run = kernel_before_launch,
};

/* The last end of work on any stream of the device that was launched before each moment. */
struct launched_work {
    int64_t launch_ns, end_ns;
    row_t row;
};

static int by_launch(const void *a, const void *b)
{
    const struct launched_work *x = a, *y = b;
    return (x->launch_ns > y->launch_ns) - (x->launch_ns < y->launch_ns);
}

/* Work with a launch, by launch time; each entry's end becomes the latest so far. */
static struct launched_work *collect_launched(const struct lint_input *in, uint32_t *ret_n)
{
    const struct trace *t = in->t;
    struct launched_work *w = arena_alloc(in->scratch, (t->n_gpu + 1u) * sizeof *w);
    uint32_t n = 0;
    if (!w) return NULL;
    for (row_t i = 0; i < t->n_rows; i++) {
        row_t call = trace_is_work(t, i) ? trace_launch_of(t, i) : ROW_NONE;
        if (call != ROW_NONE && n < t->n_gpu)
            w[n++] = (struct launched_work){t->ts_ns[call], trace_end_ns(t, i), i};
    }
    if (n) qsort(w, n, sizeof *w, by_launch);
    for (uint32_t i = 1; i < n; i++) {
        if (w[i].end_ns >= w[i - 1].end_ns) continue;
        w[i].end_ns = w[i - 1].end_ns;
        w[i].row = w[i - 1].row;
    }
    *ret_n = n;
    return w;
}

/* Number of entries launched before `ts_ns`. */
static uint32_t launched_before(const struct launched_work *w, uint32_t n, int64_t ts_ns)
{
    uint32_t i = 0;
    SEARCH_PAST(i, n, w[i].launch_ns < ts_ns);
    return i;
}

static bool sync_returned_early(const struct lint_input *in, struct lint_result *r)
{
    const struct trace *t = in->t;
    uint32_t n = 0;
    if (t->n_devices > 1) return false; /* which device a call waits for is not recorded */
    struct launched_work *w = collect_launched(in, &n);
    if (!w) return true;
    for (row_t i = 0; i < t->n_rows; i++) {
        if (calls_kind(&in->calls, t, i) != CALL_SYNC_DEVICE) continue;
        r->of++;
        uint32_t k = launched_before(w, n, t->ts_ns[i]);
        if (!k) continue;
        int64_t late = wrap_sub(w[k - 1].end_ns, trace_end_ns(t, i));
        if (late > 1000) note(r, i, late);
    }
    return false;
}

static const struct lint_oddity oddity_sync_returned_early = {
    .id = "sync_returned_early",
    .severity = LINT_WARNING,
    .title = "device-wide syncs that return while work launched before them still runs",
    .explain =
        "The clocks of CPU and GPU disagree, or work went to a device that the call did not wait "
        "for.",
    .run = sync_returned_early,
};

static bool work_without_launch(const struct lint_input *in, struct lint_result *r)
{
    const struct trace *t = in->t;
    for (row_t i = 0; i < t->n_rows; i++) {
        if (!trace_is_work(t, i)) continue;
        r->of++;
        if (trace_launch_of(t, i) == ROW_NONE) note(r, i, 0);
    }
    return false;
}

static const struct lint_oddity oddity_work_without_launch = {
    .id = "work_without_launch",
    .severity = LINT_INFO,
    .title = "kernels, copies and memsets without a launch call",
    .explain = "Normal at the start of a window: they were launched before it opened. They have no "
               "operator and no source line.",
    .run = work_without_launch,
};

static bool launch_without_work(const struct lint_input *in, struct lint_result *r)
{
    const struct trace *t = in->t;
    for (row_t i = 0; i < t->n_rows; i++) {
        if (!call_launches(calls_kind(&in->calls, t, i))) continue;
        uint32_t n;
        trace_launched(t, i, &n);
        r->of++;
        if (!n) note(r, i, 0);
    }
    return false;
}

static const struct lint_oddity oddity_launch_without_work = {
    .id = "launch_without_work",
    .severity = LINT_INFO,
    .title = "launches without device work",
    .explain = "Normal for work that ran after the window closed, for launches captured into a "
               "graph, and for copies between host memory.",
    .run = launch_without_work,
};

static bool records_stop_early(const struct lint_input *in, struct lint_result *r)
{
    const struct trace *t = in->t;
    int64_t last_ns = INT64_MIN;
    for (row_t i = 0; i < t->n_rows; i++) {
        if (!call_launches(calls_kind(&in->calls, t, i))) continue;
        uint32_t n;
        trace_launched(t, i, &n);
        r->of++;
        if (n && t->ts_ns[i] > last_ns) last_ns = t->ts_ns[i];
    }
    if (last_ns == INT64_MIN) return false;
    for (row_t i = 0; i < t->n_rows; i++)
        if (call_launches(calls_kind(&in->calls, t, i)) && t->ts_ns[i] > last_ns)
            note(r, i, wrap_sub(t->ts_ns[i], last_ns));
    if (r->count < 10 || r->count * 50 < r->of) *r = (struct lint_result){.of = r->of};
    return false;
}

static const struct lint_oddity oddity_records_stop_early = {
    .id = "records_stop_early",
    .severity = LINT_WARNING,
    .title = "launches after the last one whose work was recorded",
    .explain = "The recorder's GPU buffer was full, or the window closed before the GPU was done: "
               "GPU time after this point is missing. Record fewer steps, or synchronize before "
               "stopping.",
    .run = records_stop_early,
};

static bool overlap_on_stream(const struct lint_input *in, struct lint_result *r)
{
    const struct trace *t = in->t;
    for (lane_id l = 0; l < t->n_lanes; l++) {
        if (t->lanes[l].kind != LANE_STREAM) continue;
        int64_t end = INT64_MIN;
        for (row_t i = t->lanes[l].begin; i < t->lanes[l].end; i++) {
            if (!trace_is_work(t, i)) continue;
            int64_t own = trace_end_ns(t, i);
            r->of++;
            if (t->ts_ns[i] < end) note(r, i, (own < end ? own : end) - t->ts_ns[i]);
            if (own > end) end = own;
        }
    }
    return false;
}

static const struct lint_oddity oddity_overlap_on_stream = {
    .id = "overlap_on_stream",
    .severity = LINT_INFO,
    .title = "kernels that start before the previous one on their stream has ended",
    .explain = "Normal with programmatic dependent launch (Hopper and later) and inside graphs. "
               "Busy time is counted once; viewers that need nesting drop such kernels.",
    .run = overlap_on_stream,
};

/* CPU rows with the flag; overlapping device work is an oddity of its own. */
static bool flagged(const struct trace *t, enum row_flag flag, struct lint_result *r)
{
    for (row_t i = 0; i < t->n_rows; i++) {
        if (kind_is_device(t->kind[i])) continue;
        r->of++;
        if (t->flags[i] & flag) note(r, i, 0);
    }
    return false;
}

static bool unfinished(const struct lint_input *in, struct lint_result *r)
{
    return flagged(in->t, ROW_UNFINISHED, r);
}

static const struct lint_oddity oddity_unfinished = {
    .id = "unfinished",
    .severity = LINT_INFO,
    .title = "spans still open when the profiler stopped",
    .explain = "Their duration is cut off at the end of the window; strata table leaves them out, "
               "as torch does.",
    .run = unfinished,
};

static bool crossing(const struct lint_input *in, struct lint_result *r)
{
    return flagged(in->t, ROW_CROSSES, r);
}

static const struct lint_oddity oddity_crossing = {
    .id = "crossing",
    .severity = LINT_INFO,
    .title = "spans that overlap their neighbour on a thread without nesting",
    .explain = "Usually Python frames and operators timed by different clocks, off by less than a "
               "microsecond. Nothing is dropped; such a span nests one level further out.",
    .run = crossing,
};

static bool no_time(const struct lint_input *in, struct lint_result *r)
{
    const struct trace *t = in->t;
    bool coarse = quality_in_microseconds(t);
    for (row_t i = 0; i < t->n_rows; i++) {
        if (!trace_is_work(t, i)) continue;
        r->of++;
        if ((t->dur_ns[i] == 0 && !coarse) || (t->flags[i] & ROW_NO_TIME)) note(r, i, 0);
    }
    return false;
}

static const struct lint_oddity oddity_no_time = {
    .id = "no_time",
    .severity = LINT_WARNING,
    .title = "kernels, copies and memsets with a duration of zero",
    .explain = "The recorder had no time stamp for them (a known fault of some CUPTI releases). "
               "Their time is missing from every figure.",
    .run = no_time,
};

/* Rows whose id was seen before: under the same owner, or under another with `across`. */
struct id_seen {
    struct map map; /* id -> owner */
    bool failed;
};

static bool seen_elsewhere(struct id_seen *s, int64_t id, uint32_t owner)
{
    uint32_t *slot = map_at(&s->map, (uint64_t)id);
    if (!slot) s->failed = true;
    if (!slot) return false;
    if (*slot == MAP_NONE) *slot = owner;
    return *slot != owner;
}

static bool ids_reused(const struct lint_input *in, struct lint_result *r)
{
    const struct trace *t = in->t;
    struct id_seen seen = {.failed = false};
    map_init(&seen.map);
    for (row_t i = 0; i < t->n_rows && !seen.failed; i++) {
        const struct call_info *c = trace_call(t, i);
        if (!c || c->correlation == ID_NONE) continue;
        r->of++;
        if (seen_elsewhere(&seen, c->correlation, t->lanes[t->lane[i]].process)) note(r, i, 0);
    }
    map_done(&seen.map);
    return seen.failed;
}

static const struct lint_oddity oddity_ids_reused = {
    .id = "ids_reused",
    .severity = LINT_INFO,
    .title = "calls whose correlation id another process also uses",
    .explain = "Several ranks were merged into one file. Strata matches launches within a process, "
               "so nothing is mixed up; other tools may mix them up.",
    .run = ids_reused,
};

static bool ids_twice(const struct lint_input *in, struct lint_result *r)
{
    const struct trace *t = in->t;
    struct id_seen seen = {.failed = false};
    map_init(&seen.map);
    for (row_t i = 0; i < t->n_rows && !seen.failed; i++) {
        const struct op_info *op = t->kind[i] == KIND_OP ? trace_op(t, i) : NULL;
        if (!op || op->external_id == ID_NONE || op->external_id <= 0) continue;
        uint64_t process = t->lanes[t->lane[i]].process;
        int64_t key = (int64_t)(map_mix((uint64_t)op->external_id) ^ process);
        r->of++;
        if (seen_elsewhere(&seen, key, i)) note(r, i, 0);
    }
    map_done(&seen.map);
    return seen.failed;
}

static const struct lint_oddity oddity_ids_twice = {
    .id = "ids_twice",
    .severity = LINT_WARNING,
    .title = "operators that share their id with another operator of the process",
    .explain = "Device work refers to operators by this id: some of it may be charged to the wrong "
               "one.",
    .run = ids_twice,
};

static bool ids_are_copies(const struct lint_input *in, struct lint_result *r)
{
    if (!in->t->external_ids_usable && in->t->n_gpu) note(r, ROW_NONE, 0);
    return false;
}

static const struct lint_oddity oddity_ids_are_copies = {
    .id = "ids_are_copies",
    .severity = LINT_INFO,
    .title = "traces whose External ids only repeat the correlation ids",
    .explain = "Written by torch 1.12 to 2.2 (kineto #843). Device work is charged to the operator "
               "around the launching call instead.",
    .run = ids_are_copies,
};

static bool same_thread_names(const struct lint_input *in, struct lint_result *r)
{
    const struct trace *t = in->t;
    struct id_seen seen = {.failed = false};
    map_init(&seen.map);
    for (lane_id l = 0; l < t->n_lanes && !seen.failed; l++) {
        const struct lane *lane = &t->lanes[l];
        if (lane->kind != LANE_THREAD || !lane->name || lane->name == STR_NONE) continue;
        r->of++;
        if (seen_elsewhere(&seen, (int64_t)((uint64_t)lane->process << 32 | lane->name), l))
            note(r, lane->begin < lane->end ? lane->begin : ROW_NONE, 0);
    }
    map_done(&seen.map);
    return seen.failed;
}

static const struct lint_oddity oddity_same_thread_names = {
    .id = "same_thread_names",
    .severity = LINT_INFO,
    .title = "threads that share their name with another thread of the process",
    .explain = "They are kept apart by thread id.",
    .run = same_thread_names,
};

static bool outside_window(const struct lint_input *in, struct lint_result *r)
{
    const struct trace *t = in->t;
    if (t->window_begin_ns == ID_NONE || t->window_end_ns == ID_NONE) return false;
    for (row_t i = 0; i < t->n_rows; i++) {
        if (t->phase[i] != 'X' || t->kind[i] == KIND_WINDOW) continue;
        r->of++;
        int64_t early = wrap_sub(t->window_begin_ns, t->ts_ns[i]);
        int64_t late = wrap_sub(t->ts_ns[i], t->window_end_ns);
        if (early > 0 || late > 0) note(r, i, early > late ? early : late);
    }
    return false;
}

static const struct lint_oddity oddity_outside_window = {
    .id = "outside_window",
    .severity = LINT_INFO,
    .title = "spans that start outside the profiler's own window",
    .explain = "Python frames that were open when recording began, or work that outlived it.",
    .run = outside_window,
};

const struct lint_oddity *const lint_oddities[] = {
    &oddity_kernel_before_launch, &oddity_sync_returned_early, &oddity_no_time,
    &oddity_records_stop_early,   &oddity_ids_twice,           &oddity_work_without_launch,
    &oddity_launch_without_work,  &oddity_overlap_on_stream,   &oddity_crossing,
    &oddity_unfinished,           &oddity_outside_window,      &oddity_ids_reused,
    &oddity_ids_are_copies,       &oddity_same_thread_names,   NULL,
};

const char *lint_severity_name(enum lint_severity s)
{
    return s == LINT_WARNING ? "warning" : "info";
}

int lint_oddities_run(const struct trace *t, struct arena *mem, struct lint_results *ret,
                      struct err *e)
{
    struct lint_input in = {.t = t, .scratch = mem};
    *ret = (struct lint_results){0};
    TRY(calls_init(&in.calls, t, mem, e));
    for (int i = 0; lint_oddities[i] && i < LINT_ODDITIES_MAX; i++) {
        ret->n++;
        if (lint_oddities[i]->run(&in, &ret->results[i])) return err_nomem(e);
    }
    return 0;
}
