/* wall.c: the largest part names the bound, when it is large enough; else it is mixed. */
#include "analyze/gaps/wall.h"

#include "base/stats.h"

/* The device is the bottleneck when it works this share of the time between its first and its last
 * work, and this share of the whole run. */
#define GPU_SHARE       0.85
#define LEAST_GPU_SHARE 0.5
/* Below that, one reason of idle time has to make up this share of it. */
#define REASON_SHARE 0.5
/* Copies that no kernel overlaps, of the time the device works. */
#define COPY_SHARE 0.5

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

static const struct device_line *busiest(const struct timeline *tl, uint32_t *ret_index)
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

static void take_apart(const struct context *cx, int64_t wall_ns, struct bound_parts *ret)
{
    const struct gaps *g = gaps_of(cx);
    uint32_t index = 0;
    const struct device_line *d = busiest(timeline_of(cx), &index);
    *ret = (struct bound_parts){.device = d ? d->device : -1, .wall_ns = wall_ns};
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

static int64_t sum(const struct bound_parts *p, const enum gap_cause_kind *kinds, int n)
{
    int64_t total = 0;
    for (int i = 0; i < n; i++) total += p->idle_ns[kinds[i]];
    return total;
}

/* Whether communication that no other work overlaps is the largest part: larger than compute,
 * copies, and each reason of idle time. */
static bool is_comm_bound(const struct bound_parts *p, const double *idle, int n)
{
    double comm = (double)p->comm_ns;
    bool most =
        comm > 0 && comm > (double)(p->kernel_ns - p->comm_ns) && comm > (double)p->outside_ns;
    for (int i = 0; i < n; i++) most = most && comm > idle[i];
    return most;
}

static enum bound bound_of(const struct bound_parts *p)
{
    static const enum gap_cause_kind cpu[] = {CAUSE_PYTHON, CAUSE_LABEL, CAUSE_UNTRACED,
                                              CAUSE_LOADING};
    static const enum gap_cause_kind launch[] = {CAUSE_OP,     CAUSE_DYNAMO, CAUSE_CALL,
                                                 CAUSE_LAUNCH, CAUSE_SHORT,  CAUSE_GRAPH};
    static const enum gap_cause_kind sync[] = {CAUSE_SYNC, CAUSE_ALLOCATION};
    static const enum bound names[] = {BOUND_CPU, BOUND_LAUNCH, BOUND_SYNC, BOUND_TRANSFER};
    double busy = (double)(p->kernel_ns + p->copy_ns);
    if (p->device < 0 || busy <= 0) return BOUND_UNKNOWN;
    double parts[] = {(double)sum(p, cpu, 4), (double)sum(p, launch, 6), (double)sum(p, sync, 2),
                      (double)(p->copy_ns + p->idle_ns[CAUSE_COPY])};
    if (is_comm_bound(p, parts, 4)) return BOUND_COMM;
    double window = (double)(p->wall_ns - p->outside_ns);
    if (busy >= GPU_SHARE * window && busy >= LEAST_GPU_SHARE * (double)p->wall_ns)
        return (double)p->copy_ns > COPY_SHARE * busy ? BOUND_TRANSFER : BOUND_GPU;
    double lost = window - (double)p->kernel_ns;
    if ((double)p->outside_ns > lost) { /* the device is hardly used at all */
        parts[0] += (double)p->outside_ns;
        lost += (double)p->outside_ns;
    }
    for (int i = 0; i < 4; i++)
        if (parts[i] > REASON_SHARE * lost) return names[i];
    return BOUND_MIXED;
}

const char *bound_name(enum bound b)
{
    static const char *const names[] = {"gpu",  "cpu",           "launch", "transfer",
                                        "sync", "communication", "mixed",  "unknown"};
    return names[b];
}

/* From the first to the last event that a replay knows; of a trace that has only Python functions,
 * all of it. */
static int64_t wall_time(const struct context *cx)
{
    int64_t ns = undistort_of(cx)->traced_ns;
    return ns > 0 ? ns : cx->t->end_ns - cx->t->begin_ns;
}

static int run_pass(struct context *cx, void *ret, struct err *e)
{
    (void)e;
    const struct integrity *q = integrity_of(cx);
    struct wall *w = ret;
    w->wall_ns = wall_time(cx);
    w->abstains = !q->idle_trusted || q->quality == QUALITY_UNUSABLE;
    take_apart(cx, w->wall_ns, &w->parts);
    w->bound = w->abstains ? BOUND_UNKNOWN : bound_of(&w->parts);
    int64_t busy = w->parts.kernel_ns + w->parts.copy_ns;
    w->busy_pct = stats_pct(busy, w->wall_ns);
    return 0;
}

static const struct pass *const needs[] = {&timeline_pass,  &gaps_pass,      &comm_pass,
                                           &integrity_pass, &undistort_pass, NULL};

const struct pass wall_pass = {
    .id = PASS_WALL,
    .size = sizeof(struct wall),
    .needs = needs,
    .run = run_pass,
};
