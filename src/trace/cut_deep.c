/* cut_deep.c: see cut.h. */
#include "trace/cut.h"

#include <stdlib.h>

#include "base/search.h"
#include "format/ring.h"

/* Clocks of host and device agree no better: work that the program waited for may seem to end so
 * much after the wait. */
#define CLOCKS_DIFFER_NS    100000
#define CLOCKS_DIFFER_PARTS 20 /* of a short unit, one in so many */

struct deep_units {
    struct span *list; /* by begin, apart */
    uint32_t n;
};

static bool cut_deep_marks(const struct trace *t, row_t r, bool *ret_begins)
{
    if (t->phase[r] != 'i') return false;
    struct str name = trace_name(t, r);
    *ret_begins = str_is(name, RING_DEPTH_BEGINS);
    return *ret_begins || str_is(name, RING_DEPTH_ENDS);
}

struct deep_mark {
    int64_t ts_ns;
    uint32_t process;
    bool begins;
};

static int deep_mark_order(const void *a, const void *b)
{
    const struct deep_mark *x = a, *y = b;
    if (x->process != y->process) return x->process < y->process ? -1 : 1;
    if (x->ts_ns != y->ts_ns) return x->ts_ns < y->ts_ns ? -1 : 1;
    return x->begins - y->begins;
}

static int deep_unit_order(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* A unit without its end was cut off and does not count. Units of several processes may overlap,
 * and are one then. */
static void cut_deep_pair(struct deep_mark *m, uint32_t n, struct deep_units *u)
{
    if (n) qsort(m, n, sizeof *m, deep_mark_order);
    for (uint32_t i = 0; i + 1 < n; i++)
        if (m[i].begins && !m[i + 1].begins && m[i].process == m[i + 1].process)
            u->list[u->n++] = (struct span){m[i].ts_ns, m[i + 1].ts_ns};
    if (u->n) qsort(u->list, u->n, sizeof *u->list, deep_unit_order);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < u->n; i++) {
        if (!kept || u->list[i].begin_ns > u->list[kept - 1].end_ns) u->list[kept++] = u->list[i];
        else if (u->list[i].end_ns > u->list[kept - 1].end_ns)
            u->list[kept - 1].end_ns = u->list[i].end_ns;
    }
    u->n = kept;
}

static int cut_deep_find(const struct trace *t, struct arena *mem, struct deep_units *u)
{
    uint32_t n = 0;
    bool begins;
    for (row_t r = 0; r < t->n_rows; r++) n += cut_deep_marks(t, r, &begins);
    if (!n) return 0;
    struct deep_mark *m = arena_alloc(mem, n * sizeof *m);
    u->list = arena_alloc(mem, n * sizeof *u->list);
    if (!m || !u->list) return ERR_NOMEM;
    n = 0;
    for (row_t r = 0; r < t->n_rows; r++)
        if (cut_deep_marks(t, r, &begins))
            m[n++] = (struct deep_mark){t->ts_ns[r], t->lanes[t->lane[r]].process, begins};
    cut_deep_pair(m, n, u);
    return 0;
}

/* How many units began at `ns` or before. */
static uint32_t cut_deep_begun(const struct deep_units *u, int64_t ns)
{
    uint32_t lo = 0;
    SEARCH_PAST(lo, u->n, u->list[lo].begin_ns <= ns);
    return lo;
}

/* The unit in which the work was launched; u->n for none. */
static uint32_t cut_deep_unit_of(const struct trace *t, const struct deep_units *u, row_t r)
{
    row_t launch = trace_launch_of(t, r);
    uint32_t i = launch == ROW_NONE ? 0 : cut_deep_begun(u, t->ts_ns[launch]);
    return i && t->ts_ns[launch] < u->list[i - 1].end_ns ? i - 1 : u->n;
}

/* When the device is done with each unit, or the next one begins. */
static int cut_deep_drain(const struct trace *t, struct arena *mem, struct deep_units *u)
{
    int64_t *done = arena_alloc(mem, u->n * sizeof *done);
    if (!done) return ERR_NOMEM;
    for (uint32_t i = 0; i < u->n; i++) done[i] = u->list[i].end_ns;
    for (row_t r = 0; r < t->n_rows; r++) {
        uint32_t i = trace_is_work(t, r) ? cut_deep_unit_of(t, u, r) : u->n;
        if (i < u->n && trace_end_ns(t, r) > done[i]) done[i] = trace_end_ns(t, r);
    }
    for (uint32_t i = 0; i < u->n; i++) {
        bool last = i + 1 == u->n;
        u->list[i].end_ns =
            last || done[i] < u->list[i + 1].begin_ns ? done[i] : u->list[i + 1].begin_ns;
    }
    return 0;
}

/* Fills how long devices did something else during each unit. */
static void cut_deep_others(const struct trace *t, const struct deep_units *u, int64_t *ret_ns)
{
    for (row_t r = 0; r < t->n_rows; r++) {
        if (!trace_is_work(t, r) || cut_deep_unit_of(t, u, r) < u->n) continue;
        struct span s = trace_span(t, r);
        for (uint32_t i = cut_deep_begun(u, s.end_ns); i-- > 0 && u->list[i].end_ns > s.begin_ns;)
            ret_ns[i] += span_ns(span_both(s, u->list[i]));
    }
}

/* The same units with the marks at their ends. */
static void cut_deep_with_marks(const struct deep_units *u, struct span *ret)
{
    memcpy(ret, u->list, u->n * sizeof *ret);
    for (uint32_t i = 0; i < u->n; i++)
        ret[i].end_ns += i + 1 == u->n || ret[i].end_ns < ret[i + 1].begin_ns;
}

static int cut_deep_settle(struct arena *mem, struct span_set *s)
{
    s->before_ns = arena_alloc(mem, (s->n + (size_t)1) * sizeof *s->before_ns);
    if (!s->before_ns) return ERR_NOMEM;
    span_set_settle(s);
    return 0;
}

/* Units that were alone, to be taken out. */
static int cut_deep_choose(const struct trace *t, struct arena *mem, const struct deep_units *u,
                           struct span_set *ret)
{
    int64_t *others = arena_zalloc(mem, u->n, sizeof *others);
    ret->list = arena_alloc(mem, u->n * sizeof *ret->list);
    if (!others || !ret->list) return ERR_NOMEM;
    cut_deep_others(t, u, others);
    for (uint32_t i = 0; i < u->n; i++)
        if (others[i] <= CLOCKS_DIFFER_NS && others[i] <= span_ns(u->list[i]) / CLOCKS_DIFFER_PARTS)
            ret->list[ret->n++] = u->list[i];
    return cut_deep_settle(mem, ret);
}

static int cut_deep_all(struct trace **t, struct arena *mem, struct err *e)
{
    struct deep_units u = {0};
    struct span_set in = {0}, out = {0};
    TRY(cut_deep_find(*t, mem, &u));
    if (!u.n || (*t)->deep) return 0;
    TRY(cut_deep_drain(*t, mem, &u));
    in = (struct span_set){.list = arena_alloc(mem, u.n * sizeof *in.list), .n = u.n};
    if (!in.list) return ERR_NOMEM;
    cut_deep_with_marks(&u, in.list);
    TRY(cut_deep_settle(mem, &in));
    TRY(cut_deep_choose(*t, mem, &u, &out));
    struct trace *deep = NULL;
    TRY(trace_copy_launched(*t, &in, &deep, e));
    (*t)->deep = deep;
    return out.n ? trace_cut_launched(t, &out, e) : 0;
}

int trace_cut_deep(struct trace **t, struct err *e)
{
    struct arena mem;
    arena_init(&mem);
    int rc = cut_deep_all(t, &mem, e);
    arena_done(&mem);
    return err_grow(e, rc);
}
