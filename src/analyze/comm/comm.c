/* comm.c: one walk over the work of a device makes three unions, a second one over two of them
 * leaves what is exposed. */
#include "analyze/comm/comm.h"

#include "analyze/names/collective.h"
#include "analyze/steps/steps.h"
#include "base/stats.h"

enum work_class { CLASS_UNKNOWN, CLASS_COMPUTE, CLASS_COMM, CLASS_COPY };

struct walk {
    const struct trace *t;
    struct arena *mem;
    uint8_t *by_name; /* enum work_class of kernels: names are examined once each */
};

static enum work_class comm_class_of(const struct walk *w, row_t r)
{
    if (w->t->kind[r] == KIND_MEMCPY) return CLASS_COPY;
    if (w->t->kind[r] != KIND_KERNEL) return CLASS_COMPUTE;
    uint8_t *known = &w->by_name[w->t->name[r]];
    if (!*known) *known = collective_kernel(trace_name(w->t, r)) ? CLASS_COMM : CLASS_COMPUTE;
    return (enum work_class) * known;
}

struct spans {
    struct span *list;
    uint32_t n;
};

/* What of `a` no span of `b` covers; both are ascending and apart. */
static void take_away(struct spans a, struct spans b, struct device_line *ret)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < a.n; i++) {
        struct span left = a.list[i];
        while (k < b.n && b.list[k].end_ns <= left.begin_ns) k++;
        for (uint32_t m = k; m < b.n && b.list[m].begin_ns < left.end_ns; m++) {
            struct span before = {left.begin_ns, b.list[m].begin_ns};
            if (span_ns(before)) ret->busy[ret->n_busy++] = before;
            left.begin_ns = b.list[m].end_ns;
        }
        if (span_ns(left)) ret->busy[ret->n_busy++] = left;
    }
    for (uint32_t i = 0; i < ret->n_busy; i++)
        ret->busy_before_ns[i + 1] = ret->busy_before_ns[i] + span_ns(ret->busy[i]);
}

static int new_spans(struct arena *mem, size_t n, struct spans *ret)
{
    *ret = (struct spans){arena_zalloc(mem, n + 1, sizeof *ret->list), 0};
    return ret->list ? 0 : ERR_NOMEM;
}

/* The times of one class, of another, and of what is not the first. */
struct classes {
    struct spans comm, compute, others;
};

static int comm_collect(const struct walk *w, const struct device_line *d, struct classes *ret)
{
    TRY(new_spans(w->mem, d->n_work, &ret->comm));
    TRY(new_spans(w->mem, d->n_work, &ret->compute));
    TRY(new_spans(w->mem, d->n_work, &ret->others));
    for (uint32_t i = 0; i < d->n_work; i++) {
        struct span s = trace_span(w->t, d->work[i]);
        enum work_class c = comm_class_of(w, d->work[i]);
        struct spans *into = c == CLASS_COMM ? &ret->comm : &ret->others;
        if (!span_ns(s)) continue;
        into->n = span_join(into->list, into->n, s);
        if (c == CLASS_COMPUTE) ret->compute.n = span_join(ret->compute.list, ret->compute.n, s);
    }
    return 0;
}

/* `a` without `b` as a line with sums; returns how long it is, or an error. */
static int64_t line_of(const struct walk *w, struct spans a, struct spans b,
                       struct device_line *ret)
{
    size_t most = (size_t)a.n + b.n + 1;
    ret->busy = arena_zalloc(w->mem, most, sizeof *ret->busy);
    ret->busy_before_ns = arena_zalloc(w->mem, most, sizeof *ret->busy_before_ns);
    if (!ret->busy || !ret->busy_before_ns) return ERR_NOMEM;
    take_away(a, b, ret);
    return ret->busy_before_ns[ret->n_busy];
}

static int split_device(const struct walk *w, const struct device_line *d, struct comm_device *ret)
{
    struct classes c;
    struct spans none = {NULL, 0};
    TRY(comm_collect(w, d, &c));
    ret->compute_ns = line_of(w, c.compute, none, &ret->compute);
    ret->exposed_ns = line_of(w, c.comm, c.others, &ret->exposed);
    ret->comm_ns = line_of(w, c.comm, none, &ret->comm);
    if (ret->compute_ns < 0 || ret->exposed_ns < 0 || ret->comm_ns < 0) return ERR_NOMEM;
    ret->busy_ns = d->busy_before_ns[d->n_busy];
    ret->copy_ns = ret->busy_ns - ret->compute_ns - ret->exposed_ns;
    return 0;
}

static uint32_t comm_step_of(const struct context *cx, row_t r)
{
    row_t call = trace_launch_of(cx->t, r);
    return steps_at(steps_of(cx), cx->t->ts_ns[call == ROW_NONE ? r : call]);
}

static void comm_add_work(const struct context *cx, struct comm *c, row_t r, struct comm_work work)
{
    struct comm_work *w = &c->works[c->n_works++];
    *w = work;
    w->row = r;
    w->step = comm_step_of(cx, r);
    if (w->step == UINT32_MAX) return;
    c->steps[w->step].comm_ns += cx->t->dur_ns[r];
    c->steps[w->step].exposed_ns += w->exposed_ns;
}

static void list_works(const struct context *cx, const struct walk *w, uint32_t device,
                       struct comm *c)
{
    const struct device_line *d = &timeline_of(cx)->devices[device];
    const struct device_line *exposed = &c->devices[device].exposed;
    int64_t covered = INT64_MIN;
    for (uint32_t i = 0; i < d->n_work; i++) {
        if (comm_class_of(w, d->work[i]) != CLASS_COMM) continue;
        struct span s = trace_span(w->t, d->work[i]);
        int64_t from = s.begin_ns > covered ? s.begin_ns : covered;
        if (s.end_ns > covered) covered = s.end_ns;
        comm_add_work(cx, c, d->work[i],
                      (struct comm_work){.device = device,
                                         .exposed_ns = timeline_busy_ns(exposed, from, s.end_ns)});
    }
}

static uint32_t count_works(const struct walk *w, const struct timeline *tl)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < tl->n_devices; i++)
        for (uint32_t k = 0; k < tl->devices[i].n_work; k++)
            n += comm_class_of(w, tl->devices[i].work[k]) == CLASS_COMM;
    return n;
}

static int run_walk(const struct context *cx, const struct walk *w, struct comm *c)
{
    const struct timeline *tl = timeline_of(cx);
    c->devices = arena_zalloc(cx->mem, (size_t)tl->n_devices + 1, sizeof *c->devices);
    c->works = arena_zalloc(cx->mem, (size_t)count_works(w, tl) + 1, sizeof *c->works);
    c->steps = arena_zalloc(cx->mem, (size_t)steps_of(cx)->n_steps + 1, sizeof *c->steps);
    if (!c->devices || !c->works || !c->steps) return ERR_NOMEM;
    c->n_devices = tl->n_devices;
    c->busiest = UINT32_MAX;
    for (uint32_t i = 0; i < tl->n_devices; i++) {
        struct comm_device *d = &c->devices[i];
        d->device = tl->devices[i].device;
        TRY(split_device(w, &tl->devices[i], d));
        list_works(cx, w, i, c);
        if (c->busiest == UINT32_MAX || d->busy_ns > c->devices[c->busiest].busy_ns) c->busiest = i;
    }
    return 0;
}

static int comm_run_pass(struct context *cx, void *ret, struct err *e)
{
    struct comm *c = ret;
    struct walk w = {cx->t, cx->mem, arena_zalloc(cx->mem, cx->t->strings.n + (size_t)1, 1)};
    if (!w.by_name || run_walk(cx, &w, c) < 0) return err_nomem(e);
    if (cx->t->begin_ns != ID_NONE) c->wall_ns = cx->t->end_ns - cx->t->begin_ns;
    return 0;
}

struct comm_device comm_main(const struct comm *c)
{
    return c->busiest < c->n_devices ? c->devices[c->busiest] : (struct comm_device){.device = -1};
}

double comm_exposed_pct(const struct comm *c)
{
    return stats_pct((double)comm_main(c).exposed_ns, (double)c->wall_ns);
}

static const struct pass *const needs[] = {&timeline_pass, &steps_pass, NULL};

const struct pass comm_pass = {
    .id = PASS_COMM,
    .size = sizeof(struct comm),
    .needs = needs,
    .run = comm_run_pass,
};
