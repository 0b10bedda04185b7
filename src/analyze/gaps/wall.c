/* wall.c: the largest part names the bound, when it is large enough; else it is mixed. */
#include "analyze/gaps/wall.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/gaps/gaps_constants.h"
#include "analyze/recorded/recorded.h"
#include "analyze/simulate/model.h"
#include "base/stats.h"

/* Time on the device when at least one kernel or fill runs. */
static int64_t kernel_time(const struct trace *t, const struct device_line *d)
{
    int64_t total = 0, covered = INT64_MIN;
    for (uint32_t i = 0; i < d->n_work; i++) {
        row_t r = d->work[i];
        if (t->kind[r] == KIND_MEMCPY) continue;
        total += span_uncovered(&covered, trace_span(t, r));
    }
    return total;
}

static const struct device_line *wall_busiest(const struct timeline *tl, uint32_t *ret_index)
{
    const struct device_line *best = NULL;
    for (uint32_t i = 0; i < tl->n_devices; i++) {
        const struct device_line *d = &tl->devices[i];
        if (best && d->busy_before_ns[d->n_busy] <= best->busy_before_ns[best->n_busy]) continue;
        best = d;
        *ret_index = i;
    }
    return best;
}

static void wall_take_apart(const struct context *cx, int64_t wall_ns, struct bound_shares *ret)
{
    const struct gaps *g = gaps_of(cx);
    uint32_t index = 0;
    const struct device_line *d = wall_busiest(timeline_of(cx), &index);
    *ret = (struct bound_shares){.device = d ? d->device : -1, .wall_ns = wall_ns};
    if (!d) return;
    int64_t busy = d->busy_before_ns[d->n_busy];
    ret->kernel_ns = kernel_time(cx->t, d);
    ret->comm_ns = comm_of(cx)->devices[index].exposed_ns;
    ret->copy_ns = busy - ret->kernel_ns;
    int64_t idle = 0;
    for (uint32_t i = 0; i < g->n_causes; i++) {
        if (g->causes[i].device != index) continue;
        ret->idle_ns[g->causes[i].kind] += g->causes[i].idle_ns;
        idle += g->causes[i].idle_ns;
    }
    ret->outside_ns = ret->wall_ns - busy - idle;
}

static int64_t wall_sum(const struct bound_shares *p, const enum gap_cause_kind *kinds, int n)
{
    int64_t total = 0;
    for (int i = 0; i < n; i++) total += p->idle_ns[kinds[i]];
    return total;
}

/* Whether communication that no other work overlaps is the largest part: larger than compute,
 * copies, and each reason of idle time. */
static bool is_comm_bound(const struct bound_shares *p, const double *idle, int n)
{
    double comm = (double)p->comm_ns;
    bool most =
        comm > 0 && comm > (double)(p->kernel_ns - p->comm_ns) && comm > (double)p->outside_ns;
    for (int i = 0; i < n; i++) most = most && comm > idle[i];
    return most;
}

/* Recording slows the CPU: a device that seems to wait for it may be busy without the profiler. */
static bool wall_is_device_bound(const struct bound_shares *p, const struct plain_wall *plain)
{
    double busy = (double)(p->kernel_ns + p->copy_ns);
    double window = (double)(p->wall_ns - p->outside_ns);
    if (busy >= wall_gpu_share * window && busy >= wall_gpu_run_share * (double)p->wall_ns)
        return true;
    return (double)plain->busy_ns >= wall_gpu_share * (double)plain->window_ns &&
           (double)plain->busy_ns >= wall_gpu_run_share * (double)plain->wall_ns;
}

static enum bound bound_of(const struct bound_shares *p, const struct plain_wall *plain)
{
    static const enum gap_cause_kind cpu[] = {CAUSE_PYTHON,  CAUSE_LABEL, CAUSE_UNTRACED,
                                              CAUSE_LOADING, CAUSE_CORE,  CAUSE_CGROUP,
                                              CAUSE_FAULTS,  CAUSE_GIL};
    static const enum gap_cause_kind launch[] = {CAUSE_OP,     CAUSE_DYNAMO, CAUSE_CALL,
                                                 CAUSE_LAUNCH, CAUSE_SHORT,  CAUSE_GRAPH};
    static const enum gap_cause_kind sync[] = {CAUSE_SYNC, CAUSE_ALLOCATION};
    static const enum bound names[] = {BOUND_CPU, BOUND_LAUNCH, BOUND_SYNC, BOUND_TRANSFER};
    double busy = (double)(p->kernel_ns + p->copy_ns);
    if (p->device < 0 || busy <= 0) return BOUND_UNKNOWN;
    double parts[] = {(double)wall_sum(p, cpu, 8), (double)wall_sum(p, launch, 6),
                      (double)wall_sum(p, sync, 2), (double)(p->copy_ns + p->idle_ns[CAUSE_COPY])};
    if (is_comm_bound(p, parts, 4)) return BOUND_COMM;
    double window = (double)(p->wall_ns - p->outside_ns);
    if (wall_is_device_bound(p, plain))
        return (double)p->copy_ns > wall_copy_share * busy ? BOUND_TRANSFER : BOUND_GPU;
    double lost = window - (double)p->kernel_ns;
    if ((double)p->outside_ns > lost) { /* the device is hardly used at all */
        parts[0] += (double)p->outside_ns;
        lost += (double)p->outside_ns;
    }
    for (int i = 0; i < 4; i++)
        if (parts[i] > wall_reason_share * lost) return names[i];
    return BOUND_MIXED;
}

const char *bound_name(enum bound b)
{
    static const char *const names[] = {"gpu",  "cpu",           "launch", "transfer",
                                        "sync", "communication", "mixed",  "unknown"};
    return names[b];
}

/* From the first to the last event that a replay knows; without device work, of all that was
 * recorded: a single operator does not span the Python functions around it. */
static int64_t wall_time(const struct context *cx)
{
    int64_t ns = undistort_of(cx)->traced_ns;
    return ns > 0 && timeline_of(cx)->n_devices ? ns : cx->t->end_ns - cx->t->begin_ns;
}

static int wall_by_begin(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* The work of the busiest device, as replayed. */
static int wall_replay_work(const struct context *cx, int32_t device, struct plain_wall *ret,
                            struct err *e)
{
    const struct sim_model *m = model_of(cx);
    const struct undistort *u = undistort_of(cx);
    struct sim_plan base = undistort_base(u), plan;
    struct sim_result r;
    TRY(sim_plan_build(m, (struct sim_edits){.base = &base}, cx->mem, &plan, e));
    TRY(sim_replay(m, &plan, cx->mem, &r, e));
    struct span *work = arena_alloc(cx->mem, (m->n_works + (size_t)1) * sizeof *work);
    if (!work) return err_nomem(e);
    uint32_t n = 0;
    int64_t covered = INT64_MIN, busy = 0, end = 0;
    for (uint32_t w = 0; w < m->n_works; w++)
        if (trace_gpu(cx->t, m->works[w].row)->device == device)
            work[n++] = (struct span){r.work_begin_ns[w], r.work_end_ns[w]};
    if (n) qsort(work, n, sizeof *work, wall_by_begin);
    for (uint32_t i = 0; i < n; i++) {
        busy += span_uncovered(&covered, work[i]);
        if (work[i].end_ns > end) end = work[i].end_ns;
    }
    ret->busy_ns = (int64_t)((double)busy * u->time_scale);
    ret->window_ns = n ? (int64_t)((double)(end - work[0].begin_ns) * u->time_scale) : 0;
    return 0;
}

static int wall_without_profiler(const struct context *cx, const struct bound_shares *p,
                                 struct plain_wall *ret, struct err *e)
{
    const struct undistort *u = undistort_of(cx);
    struct arena_mark mark = arena_mark(cx->mem);
    bool replayed =
        u->plain_ns > 0 && fabs(undistort_error_pct(u)) <= cx->th.value[TH_REPLAY_ERROR_PCT];
    *ret = (struct plain_wall){.wall_ns = p->wall_ns,
                               .busy_ns = p->kernel_ns + p->copy_ns,
                               .window_ns = p->wall_ns - p->outside_ns};
    if (replayed && p->device >= 0) {
        ret->wall_ns = u->plain_ns;
        TRY(wall_replay_work(cx, p->device, ret, e));
    }
    arena_reset_to(cx->mem, mark);
    if (ret->busy_ns > ret->wall_ns) ret->busy_ns = ret->wall_ns;
    ret->busy_pct = stats_pct((double)ret->busy_ns, (double)ret->wall_ns);
    return 0;
}

static int wall_run_pass(struct context *cx, void *ret, struct err *e)
{
    const struct integrity *q = integrity_of(cx);
    struct wall *w = ret;
    w->wall_ns = wall_time(cx);
    bool replayed = undistort_of(cx)->traced_ns > 0 && timeline_of(cx)->n_devices;
    w->begin_ns = replayed ? undistort_of(cx)->m->begin_ns : cx->t->begin_ns;
    w->abstains = !q->idle_trusted || q->quality == QUALITY_UNUSABLE;
    wall_take_apart(cx, w->wall_ns, &w->parts);
    TRY(wall_without_profiler(cx, &w->parts, &w->plain, e));
    w->bound = w->abstains ? BOUND_UNKNOWN : bound_of(&w->parts, &w->plain);
    bool of_device = w->bound == BOUND_GPU || w->bound == BOUND_COMM || w->bound == BOUND_TRANSFER;
    if (!recorded_of(cx)->idle_judged && !of_device) w->bound = BOUND_UNKNOWN;
    int64_t busy = w->parts.kernel_ns + w->parts.copy_ns;
    w->busy_pct = stats_pct(busy, w->wall_ns);
    return 0;
}

static const struct pass *const needs[] = {
    &timeline_pass, &gaps_pass, &comm_pass, &integrity_pass, &undistort_pass, &recorded_pass, NULL};

const struct pass wall_pass = {
    .id = PASS_WALL,
    .size = sizeof(struct wall),
    .needs = needs,
    .run = wall_run_pass,
};
