/* same_inputs.c: the same computed again, from tensors that were not written since: an encoder in
 * every step, keys and values of the same text, tables and masks in every layer.
 *
 * Units in depth say which operators do that (tensor_values.c); a launch of the rest of the trace
 * does it if its twin does. Where one unit is all the same as the next, it runs again on
 * purpose, to be measured: then only what is computed twice within a unit counts. A program that
 * trains is left alone: what is constant in it for now is not its steps' to keep. */
#include "analyze/deep/deep_match.h"
#include "analyze/findings/findings_constants.h"
#include "analyze/findings/spare_rows.h"
#include "analyze/findings/tensor_calls.h"
#include "analyze/names/graph_origin.h"
#include "base/human.h"

enum { MOST_GROUPS = 64, GROUPS_SHOWN = 3, MOST_UNITS = 4 /* that are asked */ };

/* Work of the same operator in the same module. */
struct same_inputs_group {
    str_id op; /* of the trace in depth */
    struct str module;
    row_t longest;
    int64_t ns;
};

struct same_inputs {
    const struct deep_match *d;
    struct tensor_values values;
    bool on_purpose;
    struct same_inputs_group groups[MOST_GROUPS];
    uint32_t n_groups;
    uint32_t n;
};

static row_t same_inputs_around(const struct same_inputs *s, row_t work)
{
    return trace_up(s->d->deep, trace_launch_of(s->d->deep, work), KIND_OP);
}

/* The operator of a launch that computes again; ROW_NONE where it does not. What the first unit
 * does says nothing yet: then its like in another one does. */
static row_t same_inputs_op(const struct same_inputs *s, const struct trace *t, row_t work)
{
    row_t twin = deep_match_alike(s->d, t, work);
    row_t op = twin == ROW_NONE ? ROW_NONE : same_inputs_around(s, twin);
    if (op == ROW_NONE) return ROW_NONE;
    enum computed how = (enum computed)s->values.computed[op];
    for (int i = 0; i < MOST_UNITS && how == COMPUTED_FIRST; i++) {
        twin = deep_match_other(s->d, twin);
        row_t its = twin == ROW_NONE ? ROW_NONE : same_inputs_around(s, twin);
        if (its == ROW_NONE) break;
        if (s->values.computed[its] == COMPUTED_AGAIN) how = COMPUTED_AGAIN;
    }
    bool again = how == COMPUTED_AGAIN_IN_UNIT || (how == COMPUTED_AGAIN && !s->on_purpose);
    return again ? op : ROW_NONE;
}

static void same_inputs_count(struct same_inputs *s, const struct context *cx, row_t work, row_t op)
{
    const struct trace *t = cx->t;
    const struct graph_origin_node *o = graph_origin_find(graph_origin_of(cx), t, work);
    struct str module = o && o->module.n ? frame_module(o->module) : str_c("");
    str_id name = s->d->deep->name[op];
    uint32_t i = 0;
    while (i < s->n_groups && (s->groups[i].op != name || !str_eq(s->groups[i].module, module)))
        i++;
    s->n++;
    if (i == MOST_GROUPS) return;
    struct same_inputs_group *g = &s->groups[i];
    if (i == s->n_groups) {
        *g = (struct same_inputs_group){.op = name, .module = module, .longest = work};
        s->n_groups++;
    }
    if (t->dur_ns[work] > t->dur_ns[g->longest]) g->longest = work;
    if (t->dur_ns[work] > 0) g->ns += t->dur_ns[work];
}

/* A row of launches that all go takes the time of its thread along. */
static int same_inputs_drop(struct spare_search *x, struct same_inputs *s, struct err *e)
{
    const struct context *cx = x->cx;
    const struct sequence *q = sequence_of(cx);
    for (uint32_t i = 0, end; i<q->n; i = end> i ? end : i + 1) {
        for (end = i; end < q->n && q->items[end].thread == q->items[i].thread &&
                      q->items[end].unit == q->items[i].unit;
             end++) {
            row_t op = same_inputs_op(s, cx->t, q->items[end].work);
            if (op == ROW_NONE) break;
            same_inputs_count(s, cx, q->items[end].work, op);
            TRY(spare_drop(&x->spare, cx, q->items[end].work, e));
        }
        if (end > i)
            TRY(spare_cut(&x->spare, cx, q->items[i].thread,
                          spare_launching(cx, q->items[i].call, q->items[end - 1].call), e));
    }
    return 0;
}

/* " (model.py:12)", where the line is known. */
static const char *same_inputs_line(const struct context *cx, row_t work)
{
    const struct graph_origin_node *o = graph_origin_find(graph_origin_of(cx), cx->t, work);
    struct frame f;
    if (!o || !frame_parse(o->place, &f) || f.line <= 0) return "";
    struct str file = frame_path(f.file);
    return rule_text(cx, " (%.*s:%d)", (int)file.n, file.p, (int)f.line);
}

/* "aten::mm in Encoder (model.py:12), ...": what takes longest. */
static const char *same_inputs_words(const struct context *cx, struct same_inputs *s)
{
    const char *text = "";
    for (int shown = 0; shown < GROUPS_SHOWN; shown++) {
        struct same_inputs_group *best = NULL;
        for (uint32_t i = 0; i < s->n_groups; i++)
            if (s->groups[i].ns > 0 && (!best || s->groups[i].ns > best->ns)) best = &s->groups[i];
        if (!best) break;
        struct str op = trace_str(s->d->deep, best->op);
        text = rule_text(cx, "%s%s%.*s%s%.*s%s", text, shown ? ", " : "", (int)op.n, op.p,
                         best->module.n ? " in " : "", (int)best->module.n, best->module.p,
                         same_inputs_line(cx, best->longest));
        best->ns = 0;
    }
    return text;
}

static int same_inputs_report(struct spare_search *x, struct same_inputs *s, struct err *e)
{
    TRY(same_inputs_drop(x, s, e));
    x->why = rule_text(x->cx,
                       "%s launches compute what was computed before, from the same inputs, to "
                       "which nothing has been written since (%s of GPU time): %s.",
                       human_count(s->n).s, human_time(x->spare.fix.before_ns).s,
                       same_inputs_words(x->cx, s));
    return 0;
}

int same_inputs_find(struct spare_search *x, struct err *e)
{
    struct same_inputs s = {.d = deep_match_of(x->cx)};
    struct tensor_calls calls;
    x->why = "";
    if (!s.d->deep || sequence_of(x->cx)->trains) return 0;
    int rc = tensor_calls_read(&calls, x->cx, e);
    if (rc == 0 && calls.n_known) {
        rc = tensor_values_find(&s.values, x->cx, &calls, true, e);
        double like = (double)s.values.like_ns, again = (double)s.values.again_ns;
        /* Also where that cannot be seen. */
        s.on_purpose = s.values.partly || again >= same_inputs_loop_share * like;
        if (rc == 0) rc = tensor_values_find(&s.values, x->cx, &calls, false, e);
        if (rc == 0) rc = same_inputs_report(x, &s, e);
    }
    tensor_calls_done(&calls);
    return rc;
}
