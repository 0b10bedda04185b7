/* model_joins.c: threads that wait for each other without a call that says so. */
#include "analyze/simulate/model.h"

#include <stdlib.h>

#include "analyze/names/host_cause.h"
#include "analyze/simulate/simulate_constants.h"
#include "analyze/simulate/simulate_private.h"
#include "base/mem.h"

/* Threads that others may wait for, those that record most: a program has few that matter. */
#define JOIN_THREADS 32
/* Rows to look at from the end of a silence back; what is around them is examined as well. */
#define JOIN_ROWS 256

/* The last of what a thread did in [begin, end), or INT64_MIN. What began before the rows that are
 * examined and ends after them encloses them. */
static int64_t last_done(const struct trace *t, lane_id lane, int64_t begin, int64_t end)
{
    row_t first = trace_lower_bound(t, lane, begin), r = trace_lower_bound(t, lane, end);
    int64_t done = INT64_MIN;
    for (int left = JOIN_ROWS; r > first && left > 0; left--) {
        r--;
        if (model_counts(t, r) && trace_end_ns(t, r) <= end && trace_end_ns(t, r) > done)
            done = trace_end_ns(t, r);
    }
    if (r <= first) return done;
    for (r = t->parent[r]; r != ROW_NONE && r >= first; r = t->parent[r])
        if (model_counts(t, r) && trace_end_ns(t, r) <= end && trace_end_ns(t, r) > done)
            done = trace_end_ns(t, r);
    return done;
}

/* The threads to look at, in their order. */
struct others {
    uint32_t list[JOIN_THREADS];
    uint32_t n;
};

/* A thread that is silent while another one works, and goes on shortly after that one is done,
 * waits for it: backward() for the autograd thread, join() for a worker. */
static void add_join(struct model_build *b, const struct others *others, uint32_t thread,
                     struct span silence)
{
    struct sim_model *m = b->m;
    int64_t begin = silence.begin_ns, end = silence.end_ns;
    int64_t window = (end - begin) / joins_window_part;
    if (window < joins_window_ns) window = joins_window_ns;
    for (uint32_t i = 0; i < others->n; i++) {
        uint32_t o = others->list[i];
        if (o == thread) continue;
        int64_t done = last_done(b->t, m->threads[o].lane, begin, end);
        if (done == INT64_MIN || end - done > window || done - begin < joins_silence_ns / 2)
            continue;
        m->joins[m->n_joins++] = (struct sim_join){thread, o, begin, end, done};
        return;
    }
}

static uint32_t n_rows(const struct model_build *b, uint32_t thread)
{
    const struct lane *l = &b->t->lanes[b->m->threads[thread].lane];
    return l->end - l->begin;
}

static int model_joins_most_first(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x < y) - (x > y);
}

static int find_others(struct model_build *b, struct others *ret)
{
    uint32_t n = b->m->n_threads, least = 0;
    uint32_t *sizes = arena_alloc(b->mem, (n + (size_t)1) * sizeof *sizes);
    if (!sizes) return ERR_NOMEM;
    for (uint32_t i = 0; i < n; i++) sizes[i] = n_rows(b, i);
    if (n) qsort(sizes, n, sizeof *sizes, model_joins_most_first);
    if (n > JOIN_THREADS) least = sizes[JOIN_THREADS - 1];
    ret->n = 0;
    for (uint32_t i = 0; i < n && ret->n < JOIN_THREADS; i++)
        if (n_rows(b, i) > least || n <= JOIN_THREADS) ret->list[ret->n++] = i;
    for (uint32_t i = 0; i < n && n > JOIN_THREADS && ret->n < JOIN_THREADS; i++)
        if (n_rows(b, i) == least) ret->list[ret->n++] = i;
    return 0;
}

/* Batches of a DataLoader's workers on thread `i`. */
static uint32_t count_batches(const struct trace *t, const struct sim_thread *th, str_id next)
{
    uint32_t n = 0;
    const struct lane *lane = &t->lanes[th->lane];
    for (row_t r = lane->begin; next != STR_NONE && r < lane->end; r++) n += t->name[r] == next;
    return n;
}

static void add_batches(struct model_build *b, uint32_t thread, str_id next)
{
    const struct trace *t = b->t;
    struct sim_model *m = b->m;
    const struct lane *lane = &t->lanes[m->threads[thread].lane];
    int64_t before = m->threads[thread].begin_ns;
    for (row_t r = lane->begin; next != STR_NONE && r < lane->end; r++) {
        if (t->name[r] != next) continue;
        int64_t begin = t->ts_ns[r], end = trace_end_ns(t, r);
        bool waited = end - begin >= joins_batch_ns &&
                      (double)(end - begin) >= joins_batch_share * (double)(end - before);
        int64_t done = waited ? end : begin;
        m->joins[m->n_joins++] = (struct sim_join){thread, SIM_NONE, begin, end, done};
        before = end;
    }
}

static int model_joins_in_order(const void *a, const void *b)
{
    const struct sim_join *x = a, *y = b;
    if (x->thread != y->thread) return x->thread < y->thread ? -1 : 1;
    return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

static void model_joins_sort(struct sim_model *m)
{
    if (m->n_joins) qsort(m->joins, m->n_joins, sizeof *m->joins, model_joins_in_order);
    for (uint32_t i = 0, j = 0; i < m->n_threads; i++) {
        m->threads[i].first_join = j;
        while (j < m->n_joins && m->joins[j].thread == i) j++;
        m->threads[i].end_join = j;
    }
}

/* backward(), of which our recorder knows when it begins and ends: all of it is a wait. */
static bool model_joins_is_backward(const struct trace *t, row_t r)
{
    return trace_is_derived(t, r) && str_is(trace_name(t, r), "backward");
}

static void add_silences(struct model_build *b, const struct others *others, uint32_t thread,
                         uint32_t room)
{
    const struct trace *t = b->t;
    const struct lane *lane = &t->lanes[b->m->threads[thread].lane];
    int64_t mark = INT64_MIN;
    for (row_t r = lane->begin; r < lane->end && b->m->n_joins < room; r++) {
        if (!model_counts(t, r) || t->phase[r] != 'X') continue;
        int64_t begin = t->ts_ns[r], end = trace_end_ns(t, r);
        if (mark != INT64_MIN && begin - mark > joins_silence_ns)
            add_join(b, others, thread, (struct span){mark, begin});
        bool leaf = r + 1 >= lane->end || t->parent[r + 1] != r,
             waits = model_joins_is_backward(t, r);
        if (waits && end - begin > joins_silence_ns && b->m->n_joins < room)
            add_join(b, others, thread, (struct span){begin, end});
        int64_t seen = leaf || waits ? end : begin;
        if (seen > mark) mark = seen;
    }
}

/* Silences do not overlap, each is as long as joins_silence_ns, and there is one before a row or in
 * it. */
static uint32_t most_silences(const struct model_build *b, uint32_t thread)
{
    const struct sim_thread *th = &b->m->threads[thread];
    int64_t n = (th->end_ns - th->begin_ns) / joins_silence_ns + 1,
            rows = 2 * (int64_t)n_rows(b, thread);
    if (rows < n) n = rows;
    return n < 1 << 20 ? (uint32_t)n : 1 << 20;
}

static int model_joins_by_begin(const void *a, const void *b)
{
    const struct sim_thread *x = *(struct sim_thread *const *)a,
                            *y = *(struct sim_thread *const *)b;
    if (x->begin_ns != y->begin_ns) return x->begin_ns < y->begin_ns ? -1 : 1;
    return (x->lane > y->lane) - (x->lane < y->lane);
}

/* Threads that come one after the other, as a server starts one for each request: where all that
 * began before are done, the last of them is what the next one waited for. */
static int model_joins_follow(struct model_build *b)
{
    struct sim_model *m = b->m;
    struct sim_thread **order = arena_alloc(b->mem, (m->n_threads + (size_t)1) * sizeof *order);
    if (!order) return ERR_NOMEM;
    for (uint32_t i = 0; i < m->n_threads; i++) {
        order[i] = &m->threads[i];
        order[i]->after = SIM_NONE;
    }
    if (m->n_threads) qsort(order, m->n_threads, sizeof *order, model_joins_by_begin);
    const struct sim_thread *last = NULL; /* to be done */
    for (uint32_t i = 0; i < m->n_threads; i++) {
        struct sim_thread *th = order[i];
        int64_t window = last ? (last->end_ns - last->begin_ns) / joins_window_part : 0;
        if (window < joins_window_ns) window = joins_window_ns;
        bool calls = last && last->n_calls && th->n_calls;
        if (calls && last->end_ns <= th->begin_ns && th->begin_ns - last->end_ns <= window)
            th->after = (uint32_t)(last - m->threads);
        if (!last || th->end_ns > last->end_ns) last = th;
    }
    return 0;
}

int model_joins(struct model_build *b)
{
    const struct trace *t = b->t;
    struct sim_model *m = b->m;
    uint32_t room = 0, batches = 0;
    str_id next = intern_find(&t->strings, str_c(HOST_CAUSE_WORKERS_NEXT));
    for (uint32_t i = 0; i < m->n_threads; i++) {
        batches += count_batches(t, &m->threads[i], next);
        if (m->n_threads > 1) room += most_silences(b, i);
    }
    TRY(model_joins_follow(b));
    m->joins = arena_zalloc(b->mem, room + batches + (size_t)1, sizeof *m->joins);
    if (!m->joins) return ERR_NOMEM;
    struct others others;
    TRY(find_others(b, &others));
    for (uint32_t i = 0; i < m->n_threads && m->n_threads > 1; i++)
        add_silences(b, &others, i, room);
    for (uint32_t i = 0; i < m->n_threads; i++) add_batches(b, i, next);
    model_joins_sort(m);
    return 0;
}
