/* list_tensors.c: tensors that torch.tensor makes of Python lists, number by number: it goes
 * through the list for its type, takes memory, goes through it again, then uploads it:
 *
 *     op before    ~~~~~~~   aten::empty   ~~~~~~~   aten::to [copy]   aten::lift_fresh
 *                  type                    numbers
 *
 * Both silences take about as long; what the first one takes more is something else. */
#include "analyze/findings/findings_constants.h"
#include "analyze/findings/host_uploads.h"
#include "analyze/gaps/launch_delay.h"
#include "analyze/names/shapes.h"

/* The operator that ends before row `r` of its thread, outermost; ROW_NONE where none does. */
static row_t list_tensors_before(const struct trace *t, row_t r)
{
    row_t first = t->lanes[t->lane[r]].begin, up = t->parent[r];
    int left = list_tensors_reach_rows;
    for (row_t at = r; at > first && at - 1 != up && left > 0; left--) {
        at--;
        row_t top = ROW_NONE;
        for (row_t p = at; p != ROW_NONE && p != up; p = t->parent[p])
            if (t->kind[p] == KIND_OP) top = p;
        if (top != ROW_NONE && trace_end_ns(t, top) <= t->ts_ns[r]) return top;
    }
    return ROW_NONE;
}

static struct str list_tensors_name(const struct trace *t, row_t r)
{
    return r == ROW_NONE ? str_c("") : trace_name(t, r);
}

/* Whether it takes memory for a tensor of that shape. */
static bool list_tensors_takes(const struct trace *t, row_t r, const struct shape *s)
{
    const struct op_info *op = r == ROW_NONE ? NULL : trace_op(t, r);
    return op && str_is(trace_name(t, r), "aten::empty") && op->concrete != STR_NONE &&
           shape_is_in(trace_str(t, op->concrete), s);
}

/* From the moment in which torch.tensor looks at the list to its return; empty where row `r` is not
 * the end of that. */
static struct span list_tensors_span(const struct context *cx, row_t r)
{
    const struct trace *t = cx->t;
    struct span none = {0, 0};
    const struct op_info *op = trace_op(t, r);
    struct shape s;
    if (!op || op->dims == STR_NONE || !shape_read(trace_str(t, op->dims), 0, &s) || !s.rank)
        return none;
    if (shape_elements(&s) < list_tensors_numbers) return none;
    row_t moved = list_tensors_before(t, r);
    row_t taken =
        str_is(list_tensors_name(t, moved), "aten::to") ? list_tensors_before(t, moved) : moved;
    if (!list_tensors_takes(t, taken, &s)) return none;
    row_t before = list_tensors_before(t, taken), next = taken == moved ? r : moved;
    int64_t fill = t->ts_ns[next] - trace_end_ns(t, taken), look = 0;
    if ((double)fill < list_tensors_number_ns * shape_elements(&s)) return none;
    if (before != ROW_NONE) look = t->ts_ns[taken] - trace_end_ns(t, before);
    look -= launch_delays_of(cx)->usual_ns;
    if (look > fill) look = fill;
    return (struct span){t->ts_ns[taken] - (look > 0 ? look : 0), trace_end_ns(t, r)};
}

int list_tensors_find(const struct context *cx, struct host_uploads *ret, struct err *e)
{
    const struct trace *t = cx->t;
    str_id made = intern_find(&t->strings, str_c("aten::lift_fresh"));
    *ret = (struct host_uploads){.longest = ROW_NONE};
    for (lane_id l = 0; made != STR_NONE && l < t->n_lanes; l++) {
        if (t->lanes[l].kind != LANE_THREAD) continue;
        for (row_t r = t->lanes[l].begin; r < t->lanes[l].end; r++) {
            if (t->name[r] != made || t->kind[r] != KIND_OP) continue;
            struct span s = list_tensors_span(cx, r);
            if (span_ns(s) <= 0) continue;
            TRY(spare_cut(&ret->spare, cx, l, s, e));
            if (ret->longest == ROW_NONE) ret->longest = r;
            ret->operators_ns += span_ns(s);
            ret->n++;
        }
    }
    return 0;
}
