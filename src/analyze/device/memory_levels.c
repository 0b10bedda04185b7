/* memory_levels.c: collects allocator events by device and sorts them by time over all threads. */
#include "analyze/device/memory_levels.h"

#include <stdlib.h>

#include "base/search.h"

enum { MOST_LINES = 256 };

static struct memory_level_line *find_line(const struct memory_levels *ls, const struct mem_info *m)
{
    for (uint32_t i = 0; i < ls->n; i++)
        if (ls->lines[i].device_type == m->device_type && ls->lines[i].device_id == m->device_id)
            return &ls->lines[i];
    return NULL;
}

static struct memory_level_line *memory_levels_add_line(struct memory_levels *ls,
                                                        const struct mem_info *m)
{
    struct memory_level_line *known = find_line(ls, m);
    if (known || ls->n == MOST_LINES) return known;
    ls->lines[ls->n] =
        (struct memory_level_line){.device_type = m->device_type, .device_id = m->device_id};
    return &ls->lines[ls->n++];
}

static int memory_levels_by_time(const void *a, const void *b)
{
    const struct memory_level *x = a, *y = b;
    if (x->ts_ns != y->ts_ns) return x->ts_ns < y->ts_ns ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static int memory_levels_by_device(const void *a, const void *b)
{
    const struct memory_level_line *x = a, *y = b;
    bool cx = memory_level_line_is_cpu(x), cy = memory_level_line_is_cpu(y);
    if (cx != cy) return cx ? 1 : -1;
    if (x->device_type != y->device_type) return x->device_type < y->device_type ? -1 : 1;
    return (x->device_id > y->device_id) - (x->device_id < y->device_id);
}

static void memory_levels_add_up(const struct trace *t, struct memory_level_line *l)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < l->n; i++) {
        if (!l->relative) continue;
        sum += trace_mem(t, l->levels[i].row)->bytes;
        l->levels[i].allocated = sum;
    }
}

static int64_t memory_levels_larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int grow_tree(struct memory_level_line *l, struct arena *mem, struct err *e)
{
    l->most = arena_alloc(mem, 2 * ((size_t)l->n + 1) * sizeof *l->most);
    if (!l->most) return err_nomem(e);
    for (uint32_t i = 0; i < l->n; i++) l->most[l->n + i] = l->levels[i].allocated;
    for (uint32_t i = l->n; i-- > 1;)
        l->most[i] = memory_levels_larger(l->most[2 * i], l->most[2 * i + 1]);
    return 0;
}

int memory_levels_run(const struct trace *t, struct arena *mem, struct memory_levels *ret,
                      struct err *e)
{
    struct memory_levels ls = {arena_zalloc(mem, MOST_LINES, sizeof *ls.lines), 0};
    if (!ls.lines) return err_nomem(e);
    for (row_t r = 0; r < t->n_rows; r++) {
        const struct mem_info *m = trace_mem(t, r);
        struct memory_level_line *l = m ? memory_levels_add_line(&ls, m) : NULL;
        if (l) l->n++;
    }
    for (uint32_t i = 0; i < ls.n; i++) {
        ls.lines[i].levels = arena_zalloc(mem, ls.lines[i].n, sizeof *ls.lines[i].levels);
        if (!ls.lines[i].levels) return err_nomem(e);
        ls.lines[i].n = 0;
    }
    for (row_t r = 0; r < t->n_rows; r++) {
        const struct mem_info *m = trace_mem(t, r);
        struct memory_level_line *l = m ? find_line(&ls, m) : NULL;
        if (!l) continue;
        if (m->total_allocated < 0) l->relative = true;
        l->levels[l->n++] =
            (struct memory_level){t->ts_ns[r], m->total_allocated, m->total_reserved, r};
    }
    for (uint32_t i = 0; i < ls.n; i++) {
        qsort(ls.lines[i].levels, ls.lines[i].n, sizeof *ls.lines[i].levels, memory_levels_by_time);
        memory_levels_add_up(t, &ls.lines[i]);
        TRY(grow_tree(&ls.lines[i], mem, e));
    }
    qsort(ls.lines, ls.n, sizeof *ls.lines, memory_levels_by_device);
    *ret = ls;
    return 0;
}

uint32_t memory_levels_at(const struct memory_level_line *l, int64_t ts_ns)
{
    uint32_t i = 0;
    SEARCH_PAST(i, l->n, l->levels[i].ts_ns <= ts_ns);
    return i ? i - 1 : UINT32_MAX;
}

int64_t memory_levels_peak(const struct memory_level_line *l, int64_t begin_ns, int64_t end_ns)
{
    uint32_t at = memory_levels_at(l, begin_ns), last = memory_levels_at(l, end_ns);
    int64_t peak = at == UINT32_MAX ? -1 : l->levels[at].allocated;
    if (last == UINT32_MAX) return peak;
    size_t lo = (size_t)(at == UINT32_MAX ? 0 : at) + l->n, hi = (size_t)last + 1 + l->n;
    for (; lo < hi; lo /= 2, hi /= 2) {
        if (lo & 1) peak = memory_levels_larger(peak, l->most[lo++]);
        if (hi & 1) peak = memory_levels_larger(peak, l->most[--hi]);
    }
    return peak;
}

static int memory_levels_run_pass(struct context *cx, void *ret, struct err *e)
{
    return memory_levels_run(cx->t, cx->mem, ret, e);
}

const struct pass levels_pass = {
    .id = PASS_LEVELS,
    .size = sizeof(struct memory_levels),
    .run = memory_levels_run_pass,
};
