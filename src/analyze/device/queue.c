/* queue.c: launches count up, starts count down; both lists sorted, then merged. */
#include "analyze/device/queue.h"

#include "base/search.h"
#include "base/stats.h"

/* Work that waited: its launch and its start. Returns how many. */
static uint32_t queue_collect(const struct trace *t, const struct device_line *d, int64_t *launches,
                              int64_t *starts)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->n_work; i++) {
        row_t call = trace_launch_of(t, d->work[i]);
        if (call == ROW_NONE || t->ts_ns[call] >= t->ts_ns[d->work[i]]) continue;
        launches[n] = t->ts_ns[call];
        starts[n++] = t->ts_ns[d->work[i]];
    }
    return n;
}

static void queue_merge(const int64_t *launches, const int64_t *starts, uint32_t n, struct queue *q)
{
    uint32_t up = 0, down = 0;
    while (down < n) {
        int64_t ts = up < n && launches[up] < starts[down] ? launches[up] : starts[down];
        while (up < n && launches[up] == ts) up++;
        while (down < n && starts[down] == ts) down++;
        q->points[q->n_points++] = (struct queue_point){ts, up - down};
        if (up - down > q->deepest) q->deepest = up - down;
    }
}

int queue_run(const struct trace *t, const struct device_line *d, struct arena *mem,
              struct queue *ret, struct err *e)
{
    struct queue q = {arena_zalloc(mem, 2 * (size_t)d->n_work + 1, sizeof *q.points), 0, 0};
    struct arena_mark m = arena_mark(mem);
    int64_t *launches = arena_zalloc(mem, (size_t)d->n_work + 1, sizeof *launches);
    int64_t *starts = arena_zalloc(mem, (size_t)d->n_work + 1, sizeof *starts);
    if (!q.points || !launches || !starts) return err_nomem(e);
    uint32_t n = queue_collect(t, d, launches, starts); /* starts come sorted */
    stats_sort(launches, n);
    queue_merge(launches, starts, n, &q);
    arena_reset_to(mem, m);
    *ret = q;
    return 0;
}

uint32_t queue_at(const struct queue *q, int64_t ts_ns)
{
    uint32_t i = 0;
    SEARCH_PAST(i, q->n_points, q->points[i].ts_ns <= ts_ns);
    return i ? i - 1 : UINT32_MAX;
}

uint32_t queue_depth_at(const struct queue *q, int64_t ts_ns)
{
    uint32_t i = queue_at(q, ts_ns);
    return i == UINT32_MAX ? 0 : q->points[i].depth;
}

uint32_t queues_deepest(const struct queues *q)
{
    uint32_t deepest = 0;
    for (uint32_t i = 0; i < q->n; i++)
        if (q->of[i].deepest > deepest) deepest = q->of[i].deepest;
    return deepest;
}

static int queue_run_pass(struct context *cx, void *ret, struct err *e)
{
    const struct timeline *tl = timeline_of(cx);
    struct queues *q = ret;
    q->n = tl->n_devices;
    q->of = arena_zalloc(cx->mem, (size_t)q->n + 1, sizeof *q->of);
    if (!q->of) return err_nomem(e);
    for (uint32_t i = 0; i < q->n; i++)
        TRY(queue_run(cx->t, &tl->devices[i], cx->mem, &q->of[i], e));
    return 0;
}

static const struct pass *const needs[] = {&timeline_pass, NULL};

const struct pass queues_pass = {
    .id = PASS_QUEUES,
    .size = sizeof(struct queues),
    .needs = needs,
    .run = queue_run_pass,
};
