/* page_curves.c: see page_set.h. Memory and queues are steps: a value holds until the next. */
#include "page/page_set.h"

#include "analyze/answer/energy.h"
#include "analyze/device/memory_levels.h"
#include "page/page_levels.h"

enum { STEP = 4, FINEST = 16384, FEW = 2048 };

struct point {
    int64_t ts_ns, value;
};

struct writer {
    const struct trace *t;
    struct page_block *block;
    struct arena *mem;
    struct page_curves *out;
};

/* Times of the page count from here: a trace may have samples and no span. */
static int64_t page_curves_origin(const struct writer *w)
{
    return w->t->begin_ns == ID_NONE ? 0 : w->t->begin_ns;
}

/* Least and most in force during each bucket. */
static void page_curves_put_level(const struct writer *w, struct page_curve *c,
                                  const struct point *p, uint32_t n_points, uint32_t n)
{
    struct page_col least = {0}, most = {0};
    int64_t width = page_levels_width(w->t, n), value = p[0].value;
    uint32_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        int64_t end = page_curves_origin(w) + (int64_t)(i + 1) * width, low = value, high = value;
        for (; at < n_points && p[at].ts_ns < end; at++) {
            value = p[at].value;
            low = value < low ? value : low;
            high = value > high ? value : high;
        }
        page_col_delta(&least, low);
        page_col_delta(&most, high);
    }
    uint64_t min = page_block_add(w->block, &least);
    c->levels[c->n_levels++] =
        (struct page_curve_level){width, n, min, page_block_add(w->block, &most)};
}

static void put_points(const struct writer *w, struct page_curve *c, const struct point *p,
                       uint32_t n)
{
    struct page_col times = {0}, values = {0};
    for (uint32_t i = 0; i < n; i++) {
        int64_t before_ns = i ? p[i - 1].ts_ns : page_curves_origin(w);
        page_col_uint(&times, p[i].ts_ns > before_ns ? (uint64_t)(p[i].ts_ns - before_ns) : 0);
        page_col_delta(&values, p[i].value);
    }
    c->n_points = n;
    c->points_t = page_block_add(w->block, &times);
    c->points_v = page_block_add(w->block, &values);
}

static void page_curves_put_steps(const struct writer *w, struct page_curve *c,
                                  const struct point *p, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (p[i].value > c->max) c->max = p[i].value;
    if (n <= PAGE_CURVE_POINTS) put_points(w, c, p, n);
    if (n <= FEW) return;
    for (uint32_t buckets = FINEST; buckets >= FINEST / (STEP * STEP); buckets /= STEP)
        page_curves_put_level(w, c, p, n, buckets);
}

/* The next curve of the list, which has room for all. */
static struct page_curve *page_curves_add(const struct writer *w, const char *id, const char *unit,
                                          const char *label)
{
    struct page_curve *c = &w->out->list[w->out->n++];
    *c = (struct page_curve){.id = id, .unit = unit, .label = label ? label : ""};
    return c;
}

/* ---- memory */

/* One of the two values of a level line as points; returns how many, none when all are 0. */
static uint32_t memory_points(const struct memory_level_line *l, bool reserved, struct point *to)
{
    uint32_t n = 0;
    bool any = false;
    for (uint32_t i = 0; i < l->n; i++) {
        int64_t v = reserved ? l->levels[i].reserved : l->levels[i].allocated;
        if (reserved && v < 0) continue;
        to[n++] = (struct point){l->levels[i].ts_ns, v};
        any |= v != 0;
    }
    return any ? n : 0;
}

static int put_memory_line(const struct writer *w, const struct memory_level_line *l, bool reserved)
{
    bool cpu = memory_level_line_is_cpu(l);
    const char *what = reserved ? "reserved" : l->relative ? "in use, from the start" : "in use";
    struct point *p = arena_alloc(w->mem, (l->n + 1) * sizeof *p);
    if (!p) return ERR_NOMEM;
    uint32_t n = memory_points(l, reserved, p);
    if (!n) return 0;
    const char *label = cpu ? arena_printf(w->mem, "CPU memory %s", what)
                            : arena_printf(w->mem, "GPU %d memory %s", l->device_id, what);
    struct page_curve *c = page_curves_add(w, reserved ? "reserved" : "memory", "bytes", label);
    c->device = cpu ? -1 : l->device_id;
    page_curves_put_steps(w, c, p, n);
    return 0;
}

static int page_curves_put_memory(const struct writer *w, const struct memory_levels *levels)
{
    for (uint32_t i = 0; i < levels->n; i++) {
        TRY(put_memory_line(w, &levels->lines[i], false));
        TRY(put_memory_line(w, &levels->lines[i], true));
    }
    return 0;
}

/* ---- power */

static int put_power(const struct writer *w, const struct energy_power *power)
{
    struct page_curve *c =
        page_curves_add(w, "power", "watts", arena_printf(w->mem, "GPU %d power", power->device));
    struct point *p = arena_alloc(w->mem, (power->n + (size_t)1) * sizeof *p);
    if (!p) return ERR_NOMEM;
    c->device = power->device;
    for (uint32_t i = 0; i < power->n; i++) {
        double watts = power->readings[i].value;
        p[i] = (struct point){power->readings[i].ts_ns, watts < 1e9 ? (int64_t)(watts + 0.5) : 0};
    }
    page_curves_put_steps(w, c, p, power->n);
    return 0;
}

/* ---- queues */

static int put_queue(const struct writer *w, const struct device_queue *q)
{
    struct page_curve *c = page_curves_add(w, "queue", "pieces",
                                           arena_printf(w->mem, "GPU %d work queued", q->device));
    struct point *p = arena_alloc(w->mem, (q->queue.n_points + 2) * sizeof *p);
    if (!p) return ERR_NOMEM;
    c->device = q->device;
    p[0] = (struct point){page_curves_origin(w), 0};
    for (uint32_t i = 0; i < q->queue.n_points; i++)
        p[i + 1] = (struct point){q->queue.points[i].ts_ns, q->queue.points[i].depth};
    if (q->queue.n_points) page_curves_put_steps(w, c, p, q->queue.n_points + 1);
    return 0;
}

/* ---- busy */

static void put_busy_level(const struct writer *w, struct page_curve *c,
                           const struct device_line *d, uint32_t n)
{
    struct page_col mean = {0};
    int64_t width = page_levels_width(w->t, n);
    for (uint32_t i = 0; i < n; i++) {
        int64_t begin = page_curves_origin(w) + (int64_t)i * width;
        int64_t end = begin + width < w->t->end_ns ? begin + width : w->t->end_ns;
        int64_t busy = begin < end ? timeline_busy_ns(d, begin, end) : 0;
        page_col_delta(&mean,
                       begin < end ? (int64_t)(10000.0 * (double)busy / (double)(end - begin)) : 0);
    }
    c->levels[c->n_levels++] =
        (struct page_curve_level){width, n, PAGE_NO_OFFSET, page_block_add(w->block, &mean)};
}

static void page_curves_put_busy(const struct writer *w, const struct device_line *d)
{
    struct page_curve *c =
        page_curves_add(w, "busy", "pct", arena_printf(w->mem, "GPU %d busy", d->device));
    c->device = d->device;
    c->max = 10000;
    for (uint32_t n = FINEST; n >= FINEST / (STEP * STEP * STEP); n /= STEP)
        put_busy_level(w, c, d, n);
}

/* ---- communication: what of it is exposed, then all of it */

static int page_curves_put_line(const struct writer *w, const char *id, const char *words,
                                const struct device_line *d, int32_t device)
{
    struct page_curve *c =
        page_curves_add(w, id, "pct", arena_printf(w->mem, "GPU %d %s", device, words));
    struct point *p = arena_alloc(w->mem, (2 * (size_t)d->n_busy + 1) * sizeof *p);
    uint32_t n = 0;
    if (!p) return ERR_NOMEM;
    c->device = device;
    c->max = 10000;
    p[n++] = (struct point){page_curves_origin(w), 0};
    for (uint32_t i = 0; i < d->n_busy; i++) {
        p[n++] = (struct point){d->busy[i].begin_ns, 10000};
        p[n++] = (struct point){d->busy[i].end_ns, 0};
    }
    if (n <= PAGE_CURVE_EXACT) put_points(w, c, p, n);
    for (uint32_t k = FINEST; k >= FINEST / (STEP * STEP * STEP); k /= STEP)
        put_busy_level(w, c, d, k);
    return 0;
}

static int put_comm(const struct writer *w, const struct comm_device *d)
{
    if (!d->comm_ns) return 0;
    TRY(page_curves_put_line(w, "exposed", "communication not overlapped", &d->exposed, d->device));
    return page_curves_put_line(w, "comm", "communication", &d->comm, d->device);
}

int page_curves_run(const struct context *cx, struct page_block *block, struct arena *mem,
                    struct page_curves *ret, struct err *e)
{
    struct writer w = {cx->t, block, mem, ret};
    const struct memory_levels *levels = levels_of(cx);
    const struct launches *launches = launches_of(cx);
    const struct timeline *tl = timeline_of(cx);
    const struct comm *comm = comm_of(cx);
    const struct energy *energy = energy_of(cx);
    uint32_t most =
        energy->n_power + tl->n_devices + 2 * comm->n_devices + launches->n_devices + 2 * levels->n;
    *ret = (struct page_curves){.list = arena_zalloc(mem, most + 1, sizeof *ret->list)};
    int rc = ret->list ? 0 : ERR_NOMEM;
    for (uint32_t i = 0; i < tl->n_devices && rc == 0; i++)
        page_curves_put_busy(&w, &tl->devices[i]);
    for (uint32_t i = 0; i < comm->n_devices && rc == 0; i++) rc = put_comm(&w, &comm->devices[i]);
    for (uint32_t i = 0; i < launches->n_devices && rc == 0; i++)
        rc = put_queue(&w, &launches->devices[i]);
    if (rc == 0) rc = page_curves_put_memory(&w, levels);
    for (uint32_t i = 0; i < energy->n_power && rc == 0; i++) rc = put_power(&w, &energy->power[i]);
    return err_grow(e, rc);
}
