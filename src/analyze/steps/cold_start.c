/* cold_start.c: per label, the time of its first call to its first op against the median of all
 * calls. Later calls stall too, but not because they are cold. */
#include "analyze/steps/steps.h"
#include "analyze/steps/steps_constants.h"
#include "analyze/steps/steps_private.h"

#include <stdlib.h>

#include "analyze/names/label.h"
#include "base/stats.h"

struct launch_wait {
    str_id name;
    row_t label, op;
    int64_t dead_ns;
};

static bool cold_start_is_label(const struct trace *t, row_t r)
{
    return t->kind[r] == KIND_ANNOTATION && label_kind(trace_name(t, r)) == LABEL_USER;
}

static int by_name_and_time(const void *a, const void *b, void *trace)
{
    const struct trace *t = trace;
    const struct launch_wait *x = a, *y = b;
    int64_t tx = t->ts_ns[x->label], ty = t->ts_ns[y->label];
    if (x->name != y->name) return x->name < y->name ? -1 : 1;
    if (tx != ty) return tx < ty ? -1 : 1;
    return (x->label > y->label) - (x->label < y->label);
}

static int by_label(const void *a, const void *b)
{
    const struct dead_window *x = a, *y = b;
    return (x->label > y->label) - (x->label < y->label);
}

/* Labels with the first op or call inside them. Rows are visited backwards, so that the next op of
 * the lane is known at each. */
static uint32_t cold_start_find_starts(const struct trace *t, struct launch_wait *ret)
{
    row_t op = ROW_NONE;
    uint32_t n = 0;
    for (row_t r = t->n_rows; r-- > 0;) {
        if (op != ROW_NONE && t->lane[op] != t->lane[r]) op = ROW_NONE;
        if (op != ROW_NONE && cold_start_is_label(t, r) && t->ts_ns[op] < trace_end_ns(t, r))
            ret[n++] = (struct launch_wait){t->name[r], r, op, t->ts_ns[op] - t->ts_ns[r]};
        if (t->kind[r] == KIND_OP || trace_call(t, r)) op = r;
    }
    return n;
}

/* The calls of one label. `sorted` is scratch for n values. */
static void cold_start_judge(const struct trace *t, const struct launch_wait *calls, uint32_t n,
                             int64_t *sorted, struct steps *s)
{
    if (n < cold_start_calls) return;
    for (uint32_t i = 0; i < n; i++) sorted[i] = calls[i].dead_ns;
    stats_sort(sorted, n);
    int64_t usual = stats_median(sorted, n);
    int64_t dead = calls[0].dead_ns;
    uint32_t step = steps_at(s, t->ts_ns[calls[0].label]);
    int64_t whole = t->dur_ns[calls[0].label];
    if (step != UINT32_MAX) whole = s->steps[step].cpu.end_ns - s->steps[step].cpu.begin_ns;
    if (dead < cold_start_dead_times * usual || dead - usual < cold_start_dead_ns ||
        dead * 100 < whole * cold_start_dead_pct)
        return;
    s->dead[s->n_dead++] = (struct dead_window){calls[0].label, calls[0].op, dead, usual, step};
}

int cold_start_find(const struct trace *t, struct arena *mem, struct steps *s, struct err *e)
{
    uint32_t n = 0;
    for (row_t r = 0; r < t->n_rows; r++) n += cold_start_is_label(t, r);
    s->dead = arena_zalloc(mem, (size_t)n + 1, sizeof *s->dead);
    struct launch_wait *starts = arena_zalloc(mem, (size_t)n + 1, sizeof *starts);
    int64_t *sorted = arena_zalloc(mem, (size_t)n + 1, sizeof *sorted);
    if (!s->dead || !starts || !sorted) return err_nomem(e);
    n = cold_start_find_starts(t, starts);
    qsort_r(starts, n, sizeof *starts, by_name_and_time, (void *)(uintptr_t)t);
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && starts[end].name == starts[i].name;) end++;
        cold_start_judge(t, starts + i, end - i, sorted, s);
    }
    qsort(s->dead, s->n_dead, sizeof *s->dead, by_label);
    return 0;
}
