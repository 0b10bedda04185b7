/* problem_records.c: looks for what is missing from the trace: records of device work, whole graph
 * replays, launches, steps. */
#include "analyze/quality/integrity.h"
#include "analyze/quality/quality_constants.h"
#include "analyze/quality/quality_private.h"

#include <stdio.h>

#include "analyze/device/gpu_sharing.h"
#include "analyze/names/overhead.h"
#include "base/human.h"
#include "base/jdoc.h"
#include "base/stats.h"

static enum quality problem_records_by_share(double share, double usable, double doubtful,
                                             double unusable)
{
    if (share >= unusable) return QUALITY_UNUSABLE;
    if (share >= doubtful) return QUALITY_DOUBTFUL;
    return share >= usable ? QUALITY_USABLE : QUALITY_GOOD;
}

/* Annotations are in the table of operators too, so its size does not say. */
static bool problem_records_have_operators(const struct trace *t)
{
    for (row_t r = 0; r < t->n_rows; r++)
        if (t->kind[r] == KIND_OP) return true;
    return false;
}

/* Stages that the user named, but nothing of what happened inside them. */
static bool only_stages(struct looking *c)
{
    struct trace_counts n;
    trace_count(c->t, &n);
    if (n.by_kind[KIND_ANNOTATION] <= n.step_marks) return false;
    problem_add(c, PROBLEM_ONLY_STAGES, QUALITY_USABLE,
                "only stages were recorded, no operators or device work");
    return true;
}

/* What the recorder itself says of the records that are missing, after `instead`. */
static void problem_records_add_warning(struct looking *c, struct problem *p)
{
    struct jdoc said;
    struct str text = trace_meta(c->t, TRACE_META_WARNED);
    if (!text.p || jdoc_parse(text, c->mem, &said, NULL) < 0 || said.kind != JDOC_STRING) return;
    char cut[400];
    const char *both = arena_printf(c->mem, "%s. The recorder warned: %s", p->instead,
                                    human_cut(said.text, sizeof cut - 1, cut, sizeof cut));
    if (both) p->instead = both;
    else c->failed = true;
}

/* An empty trace, or calls to the device without any device record. */
void problem_look_empty(struct looking *c)
{
    const struct coverage *v = &c->i->coverage;
    uint64_t rows = 0;
    for (uint32_t l = 0; l < c->t->n_lanes; l++)
        if (c->t->lanes[l].kind == LANE_THREAD || c->t->lanes[l].kind == LANE_STREAM)
            rows += c->t->lanes[l].end - c->t->lanes[l].begin;
    bool something =
        v->work || v->all.expected || c->t->n_py || problem_records_have_operators(c->t);
    if (!something && only_stages(c)) return;
    if (!something) {
        struct problem *p = problem_add(c, PROBLEM_EMPTY, QUALITY_UNUSABLE,
                                        "nothing of the program was recorded (%s events in total)",
                                        human_count(rows).s);
        problem_records_add_warning(c, p);
    } else if (!v->work && v->all.expected) {
        struct problem *p =
            problem_add(c, PROBLEM_NO_DEVICE_RECORDS, QUALITY_UNUSABLE,
                        "%s launches, but no device records", human_count(v->all.expected).s);
        p->count = p->of = v->all.expected;
        problem_records_add_warning(c, p);
    }
}

/* Launches in the middle of the trace without records. */
void problem_look_dropped(struct looking *c)
{
    const struct coverage *v = &c->i->coverage;
    if (!v->work || !v->missing_mid) return;
    double share = stats_pct(v->missing_mid, v->all.expected);
    enum quality level = problem_records_by_share(share, 0.5, 2, 25);
    struct problem *p = problem_add(
        c, PROBLEM_RECORDS_DROPPED, level, "%s of %s launches (%.1f %%) have no device record",
        human_count(v->missing_mid).s, human_count(v->all.expected).s, share);
    p->count = v->missing_mid;
    p->of = v->all.expected;
    problem_example(p, v->first_missing_mid);
}

static int64_t problem_records_last_call(const struct trace *t)
{
    int64_t last = INT64_MIN;
    for (row_t r = 0; r < t->n_rows; r++)
        if (trace_call(t, r) && trace_end_ns(t, r) > last) last = trace_end_ns(t, r);
    return last;
}

/* Whether a device works on what was launched before the launches without a record, until the
 * window closes for both sides: their turn comes after it. A deep queue, and nothing is lost. Where
 * the device goes on alone, its records were collected after the last call, and some were lost. */
static bool problem_records_queued(const struct looking *c)
{
    const struct timeline *tl = timeline_of(c->cx);
    int64_t lost = c->i->coverage.lost_ns, whole = c->t->end_ns - c->t->begin_ns;
    int64_t closed = problem_records_last_call(c->t);
    for (uint32_t i = 0; i < tl->n_devices; i++) {
        const struct device_line *d = &tl->devices[i];
        int64_t last = d->extent.end_ns;
        if (last <= lost || closed - last > whole / 20 || last - closed > whole / 20) continue;
        if (timeline_busy_ns(d, lost, last) >= (last - lost) / 10 * 8) return true;
    }
    return false;
}

static void problem_records_edge(struct looking *c, uint32_t missing, bool tail)
{
    const struct coverage *v = &c->i->coverage;
    double share = stats_pct(missing, v->all.expected);
    bool queued = tail && problem_records_queued(c);
    bool normal = coverage_edge_is_normal(v, missing) || queued;
    int64_t at = trace_since_ns(c->t, tail ? v->tail_begin_ns : v->head_end_ns);
    struct problem *p = problem_add(
        c, tail ? PROBLEM_RECORDS_STOP_EARLY : PROBLEM_RECORDS_BEGIN_LATE,
        normal ? QUALITY_GOOD : problem_records_by_share(share, 0, 3, 50),
        "device records %s at %s: %s launches %s that (%.1f %%) have none", tail ? "stop" : "begin",
        human_time(at).s, human_count(missing).s, tail ? "after" : "before", share);
    p->count = missing;
    p->of = v->all.expected;
    if (queued)
        p->means = "the device works on what was queued before until the window ends, which is "
                   "normal";
}

void problem_look_edges(struct looking *c)
{
    const struct coverage *v = &c->i->coverage;
    if (!v->work || !v->all.recorded) return;
    if (v->missing_head) problem_records_edge(c, v->missing_head, false);
    if (v->missing_tail) problem_records_edge(c, v->missing_tail, true);
}

void problem_look_graphs(struct looking *c)
{
    const struct coverage *v = &c->i->coverage;
    uint32_t bad = v->graphs_short + v->graphs_empty;
    if (!bad) return;
    double share = stats_pct(bad, v->graph_launches);
    struct problem *p = problem_add(
        c, PROBLEM_GRAPH_REPLAYS, problem_records_by_share(share, 0, 1, 30),
        "%s of %s graph replays have fewer records than their graph has kernels (%s have none)",
        human_count(bad).s, human_count(v->graph_launches).s, human_count(v->graphs_empty).s);
    p->count = bad;
    p->of = v->graph_launches;
    problem_example(p, v->first_short);
}

/* From when on a wait has to show work: from its begin, or from that of the work it waits for, of
 * which `launch` is the call. Work can begin long after its launch, as a copy after memory was
 * unmapped; on a device that others use it may as well have waited for them. */
static int64_t work_is_due(const struct looking *c, row_t wait, row_t launch)
{
    const struct other_processes *g = other_processes_of(c->cx);
    int64_t begin = c->t->ts_ns[wait];
    uint32_t n = 0;
    const row_t *work =
        launch != ROW_NONE && g->n && !g->shared ? trace_launched(c->t, launch, &n) : NULL;
    if (!n) return begin;
    int64_t at = c->t->ts_ns[work[n - 1]];
    return at > begin && at < trace_end_ns(c->t, wait) ? at : begin;
}

/* The time a call waits while no device shows any work. */
static int64_t wait_without_work(const struct looking *c, row_t r, row_t launch)
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

/* Whether a call says that the device works on something: one of the driver's own that waits. A
 * library's wait also holds what its threads do before the launch and after the end of the work. */
static bool problem_records_proves_work(const struct looking *c, row_t r)
{
    enum call_kind kind = calls_kind(calls_of(c->cx), c->t, r);
    return call_syncs(kind) && kind != CALL_SYNC_LIBRARY && c->t->dur_ns[r] >= integrity_wait_ns;
}

/* The last synchronize is the profiler's own, and the first may be setting up the device. */
static struct blind_waits find_blind_waits(const struct looking *c)
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
        if (!problem_records_proves_work(c, r)) continue;
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
static const char *sharing_words(struct looking *c, const char *verb, const char *means)
{
    const struct other_processes *g = other_processes_of(c->cx);
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
void problem_look_waits(struct looking *c)
{
    struct blind_waits b = find_blind_waits(c);
    double share = stats_pct((uint64_t)b.idle_ns, (uint64_t)(c->t->end_ns - c->t->begin_ns));
    if (!b.n || b.idle_ns < integrity_waits_least_ns || share < 2) return;
    struct problem *p = problem_add(
        c, PROBLEM_WAITS_WITHOUT_WORK, problem_records_by_share(share, 0, 5, 40),
        "the CPU waits for the device for %s (%.1f %% of the trace) while no device work is recorded",
        human_time(b.idle_ns).s, share);
    p->count = b.n;
    p->worst_ns = b.longest_ns;
    problem_example(p, b.longest);
    c->waits_shared = other_processes_of(c->cx)->shared > 0;
    if (!c->waits_shared) return;
    p->means = sharing_words(c, "shared with",
                             ": waits include whatever ran there, so idle time cannot be trusted");
    p->instead = "record while nothing else uses the GPU (nvidia-smi lists the processes)";
}

/* Another process on the device whose work, if it did any, delayed no process for long. */
void problem_look_shared(struct looking *c)
{
    const struct other_processes *g = other_processes_of(c->cx);
    if (!g->shared || c->waits_shared) return;
    struct problem *p = problem_add(c, PROBLEM_GPU_SHARED, QUALITY_GOOD, "%s",
                                    sharing_words(c, "also open in", ""));
    p->count = g->shared;
    p->of = g->n;
}

/* Whether this is a later part of a recording that was too long to be read whole: what launched its
 * work may lie in the part before. */
static bool problem_records_is_cut(const struct trace *t)
{
    return t->part.n_records && t->begin_ns > t->part.whole_begin_ns;
}

/* A recording of the device alone, as rocprofv3 --kernel-trace makes it: its times are right, and
 * there is nothing they could belong to. */
static bool problem_records_only_device(struct looking *c)
{
    const struct coverage *v = &c->i->coverage;
    if (v->orphans < v->work || c->t->n_calls || c->t->n_ops || problem_records_is_cut(c->t))
        return false;
    problem_add(c, PROBLEM_ONLY_DEVICE, QUALITY_USABLE,
                "only the device's work was recorded, not what launched it")
        ->count = v->orphans;
    return true;
}

/* Device work whose launch is not in the trace. */
void problem_look_links(struct looking *c)
{
    const struct coverage *v = &c->i->coverage;
    if (!v->work || !v->orphans || problem_records_only_device(c)) return;
    bool none = v->orphans == v->work;
    double share = stats_pct(v->orphans, v->work);
    bool edge_only = (!none || problem_records_is_cut(c->t)) && v->orphans_mid * 50ull < v->work;
    enum quality level =
        edge_only ? (share < 50 ? QUALITY_GOOD : QUALITY_USABLE)
        : none    ? QUALITY_DOUBTFUL
                  : problem_records_by_share(stats_pct(v->orphans_mid, v->work), 0, 20, 101);
    struct problem *p = problem_add(c, PROBLEM_WORK_WITHOUT_LAUNCH, level,
                                    "%s of %s device records (%.1f %%) have no launch in the trace",
                                    human_count(v->orphans).s, human_count(v->work).s, share);
    p->count = v->orphans;
    p->of = v->work;
    for (row_t r = 0; r < c->t->n_rows && p->n_examples < PROBLEM_EXAMPLES; r++)
        if (trace_is_work(c->t, r) && trace_launch_of(c->t, r) == ROW_NONE) problem_example(p, r);
    if (edge_only) p->means = p->kind->note, p->instead = "";
}

void problem_look_steps(struct looking *c)
{
    const struct steps *s = steps_of(c->cx);
    uint32_t n = 0, trailing = 0;
    for (uint32_t i = 0; i < s->n_steps; i++) {
        bool none = s->steps[i].flags & STEP_NO_WORK;
        n += none;
        trailing = none ? trailing + 1 : 0;
    }
    if (!n) return;
    struct problem *p = problem_add(
        c, PROBLEM_STEPS_WITHOUT_WORK, n * 2 > s->n_steps ? QUALITY_DOUBTFUL : QUALITY_USABLE,
        "%s%s of %s steps %s no device records", trailing == n ? "the last " : "", human_count(n).s,
        human_count(s->n_steps).s, n == 1 ? "has" : "have");
    p->count = n;
    p->of = s->n_steps;
    if (trailing == n) p->means = p->kind->note;
}
