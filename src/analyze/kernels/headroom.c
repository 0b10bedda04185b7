/* headroom.c: see headroom.h. */
#include "analyze/kernels/headroom.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

struct wish {
    struct kernel_row *row;
    int64_t ns;
};

static int by_headroom(const void *a, const void *b)
{
    const struct wish *x = a, *y = b;
    if (x->ns != y->ns) return x->ns > y->ns ? -1 : 1;
    return x->row->first < y->row->first ? -1 : x->row->first > y->row->first;
}

/* The kernels of the row, each with its roof. */
static int headroom_collect(const struct context *cx, const struct kernel_stats *k,
                            const struct kernel_row *row, struct sim_edit *ret, struct err *e)
{
    const struct trace *t = cx->t;
    const struct roofline *f = roofline_of(cx);
    row_t *rows = arena_alloc(cx->mem, (row->calls + 1) * sizeof *rows);
    int64_t *ns = arena_alloc(cx->mem, (row->calls + 1) * sizeof *ns);
    uint32_t n = 0;
    if (!rows || !ns) return err_nomem(e);
    for (row_t r = 0; r < t->n_rows && n < row->calls; r++) {
        if (!trace_is_work(t, r) || t->aux[r] >= t->n_gpu || k->group_of[t->aux[r]] != row->group)
            continue;
        double roof = roofline_row_ns(f, t, r);
        if (isnan(roof)) continue;
        rows[n] = r;
        ns[n++] = (int64_t)roof + 1;
    }
    *ret = (struct sim_edit){.kind = EDIT_SET_WORK, .rows = rows, .row_ns = ns, .n_rows = n};
    return 0;
}

static int headroom_gain(struct context *cx, const struct kernel_stats *k, struct kernel_row *row,
                         struct err *e)
{
    struct sim_edit edit;
    struct sim_plan plan, base = undistort_base(undistort_of(cx));
    struct arena_mark mark = arena_mark(cx->mem);
    int64_t after = 0;
    int rc = headroom_collect(cx, k, row, &edit, e);
    if (rc == 0)
        rc = sim_plan_build(model_of(cx), (struct sim_edits){&edit, 1, &base}, cx->mem, &plan, e);
    if (rc == 0) rc = sim_wall(model_of(cx), &plan, cx->mem, &after, e);
    arena_reset_to(cx->mem, mark);
    int64_t before = undistort_of(cx)->plain_ns;
    if (rc == 0) row->wall_ns = before > after ? before - after : 0;
    return rc;
}

int headroom_run(struct context *cx, struct kernel_stats *k, uint32_t most, struct err *e)
{
    TRY(context_need(cx, &undistort_pass, e));
    struct wish *all = mem_alloc((k->n_rows + (size_t)1) * sizeof *all);
    if (!all) return err_nomem(e);
    for (uint32_t i = 0; i < k->n_rows; i++)
        all[i] = (struct wish){&k->rows[i], k->rows[i].headroom_ns};
    if (k->n_rows) qsort(all, k->n_rows, sizeof *all, by_headroom);
    int rc = 0;
    for (uint32_t i = 0; i < k->n_rows && rc == 0; i++) {
        if (all[i].row->known_ns > 0 && all[i].ns <= 0) all[i].row->wall_ns = 0;
        else if (i < most && all[i].ns > 0) rc = headroom_gain(cx, k, all[i].row, e);
    }
    mem_free(all);
    return rc;
}
