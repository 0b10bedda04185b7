/* kernel_fix.c: see kernel_fix.h. */
#include "analyze/findings/kernel_fix.h"

#include "analyze/findings/claims.h"
#include "analyze/names/graph_origin.h"
#include "base/human.h"
#include "base/mem.h"
#include "base/stats.h"
#include "base/vec.h"

int kernel_fix_add(struct kernel_fix *x, const struct context *cx, row_t r, double ns,
                   struct err *e)
{
    int64_t now = cx->t->dur_ns[r], then = ns < 9e18 ? (int64_t)ns : now;
    if (claims_kernel(x->others, cx, r)) return 0;
    if (VEC_RESERVE(x->rows, x->n, x->cap_rows, 1) || VEC_RESERVE(x->ns, x->n, x->cap_ns, 1))
        return err_nomem(e);
    if (x->n == 0 || now > cx->t->dur_ns[x->longest]) x->longest = r;
    x->rows[x->n] = r;
    x->ns[x->n++] = then > 0 ? then : 0;
    x->before_ns += now;
    x->after_ns += then > 0 ? then : 0;
    return 0;
}

void kernel_fix_done(struct kernel_fix *x)
{
    mem_free(x->rows);
    mem_free(x->ns);
    *x = (struct kernel_fix){0};
}

double kernel_copied_bytes(const struct trace *t, row_t r)
{
    const struct gpu_info *g = trace_gpu(t, r);
    return g && g->bytes > 0 ? (double)g->bytes : 0;
}

double kernel_share(const struct context *cx, int64_t ns)
{
    return stats_pct(ns, wall_of(cx)->wall_ns);
}

bool kernel_fix_pays(const struct kernel_fix *x, const struct context *cx)
{
    double pct = kernel_share(cx, x->before_ns - x->after_ns);
    return x->n && pct >= cx->th.value[TH_REPORT_GAIN_PCT];
}

int kernel_fix_edit(const struct kernel_fix *x, const struct context *cx, struct sim_edit *ret,
                    struct err *e)
{
    row_t *rows = arena_alloc(cx->mem, (x->n + (size_t)1) * sizeof *rows);
    int64_t *ns = arena_alloc(cx->mem, (x->n + (size_t)1) * sizeof *ns);
    if (!rows || !ns) return err_nomem(e);
    if (x->n) memcpy(rows, x->rows, x->n * sizeof *rows);
    if (x->n) memcpy(ns, x->ns, x->n * sizeof *ns);
    *ret = (struct sim_edit){.kind = EDIT_SET_WORK, .rows = rows, .row_ns = ns, .n_rows = x->n};
    return 0;
}

/* Work of a graph is changed where it was captured, not where the graph is launched. */
static bool captured_place(const struct kernel_fix *x, const struct context *cx, struct finding *f)
{
    const struct graph_origin_node *o = graph_origin_find(graph_origin_of(cx), cx->t, x->longest);
    struct place p = {.op = ROW_NONE, .annotation = ROW_NONE};
    if (!o || !frame_parse(o->place, &p.source)) return false;
    p.source.file = frame_path(p.source.file);
    rule_place(cx, f, &p);
    return p.source.line > 0;
}

int kernel_fix_into(const struct kernel_fix *x, const struct context *cx, struct finding *f,
                    struct err *e)
{
    TRY(kernel_fix_edit(x, cx, &f->edits[f->n_edits++], e));
    f->device_ns = x->before_ns;
    f->exposed_ns = x->before_ns > x->after_ns ? x->before_ns - x->after_ns : 0;
    f->thresholds[f->n_thresholds++] = TH_REPORT_GAIN_PCT;
    row_t call = trace_launch_of(cx->t, x->longest);
    struct place p;
    if (!captured_place(x, cx, f) && call != ROW_NONE) {
        source_places_find(places_of(cx), call, &p);
        rule_place(cx, f, &p);
    }
    if (!f->subject || !f->subject[0]) f->subject = rule_row_name(cx, x->longest, 60);
    finding_note(f, cx->mem, cx->t->ts_ns[x->longest], x->longest,
                 "the longest of %s kernels: %s, %s", human_count(x->n).s,
                 rule_row_name(cx, x->longest, 60), human_time(cx->t->dur_ns[x->longest]).s);
    return 0;
}

static bool kernel_fix_is_one_of(struct str name, const char *const *words)
{
    for (; *words; words++)
        if (str_is(name, *words)) return true;
    return false;
}

/* The outermost operator that exists for this row only. */
static row_t whole_op(const struct context *cx, row_t r, const char *const *wrappers)
{
    const struct trace *t = cx->t;
    row_t op = roofline_owner(roofline_of(cx), t, r);
    if (op == ROW_NONE || !kernel_fix_is_one_of(trace_name(t, op), wrappers)) return ROW_NONE;
    while (t->parent[op] != ROW_NONE && t->kind[t->parent[op]] == KIND_OP &&
           kernel_fix_is_one_of(trace_name(t, t->parent[op]), wrappers))
        op = t->parent[op];
    return op;
}

int kernel_fix_drop_ops(const struct kernel_fix *x, const struct context *cx,
                        const char *const *wrappers, struct finding *f, struct err *e)
{
    row_t *ops = arena_alloc(cx->mem, (x->n + (size_t)1) * sizeof *ops);
    uint32_t n = 0;
    if (!ops) return err_nomem(e);
    for (uint32_t i = 0; i < x->n; i++) {
        row_t op = x->ns[i] == 0 ? whole_op(cx, x->rows[i], wrappers) : ROW_NONE;
        if (op != ROW_NONE && (n == 0 || ops[n - 1] != op)) ops[n++] = op;
    }
    if (n)
        f->edits[f->n_edits++] =
            (struct sim_edit){.kind = EDIT_DROP_ROWS, .rows = ops, .n_rows = n};
    return 0;
}
