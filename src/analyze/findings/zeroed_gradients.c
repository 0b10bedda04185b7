/* zeroed_gradients.c: gradients that are filled with zeros before each step, so that the backward
 * pass has to add to them what it could have put there:
 *
 *     zero_grad [fill]   forward   backward [ ... add_ ... add_ ]   optimizer
 *
 * Without gradients the first backward pass after that leaves its own. What later ones add
 * (gradient accumulation) is needed: a forward pass comes between. */
#include <stdlib.h>

#include "analyze/findings/findings_constants.h"
#include "analyze/findings/spare_rows.h"
#include "analyze/kernels/work_op.h"
#include "analyze/names/torch_words.h"
#include "base/human.h"
#include "base/search.h"
#include "base/stats.h"

enum zeroed_kind { ZEROED_FORWARD, ZEROED_FILL, ZEROED_ADD, ZEROED_OTHER };

struct zeroed_gradients {
    const struct context *cx;
    const struct sequence *s;
    int64_t *fills, *forward; /* when such work was launched, in order */
    uint32_t n_fills, n_forward;
    uint8_t *kinds; /* by item */
};

enum { MOST_FRAMES = 16 }; /* of Python between zero_grad and the fill */

/* Whether zero_grad of an optimizer or a module asks for it. */
static bool zeroed_gradients_asked(const struct trace *t, row_t op)
{
    row_t r = t->parent[op];
    for (int up = 0; up < MOST_FRAMES && r != ROW_NONE; up++, r = t->parent[r])
        if (t->kind[r] != KIND_OP && str_has(trace_name(t, r), "zero_grad")) return true;
    return false;
}

static bool zeroed_gradients_fills(struct work_op by)
{
    row_t at = by.op;
    for (int up = 0; up < SPARE_OP_LEVELS && at != ROW_NONE && by.t->kind[at] == KIND_OP;
         up++, at = by.t->parent[at]) {
        struct str name = trace_name(by.t, at);
        if (str_is(name, "aten::_foreach_zero_")) return true;
        if (str_is(name, "aten::zero_")) return zeroed_gradients_asked(by.t, at);
    }
    return false;
}

/* Whether it adds to a gradient that is there, as the last thing autograd does with it. */
static bool zeroed_gradients_adds(struct work_op by)
{
    if (!str_is(work_op_name(by), "aten::add_")) return false;
    row_t up = by.t->parent[by.op];
    return up != ROW_NONE && str_is(trace_name(by.t, up), "torch::autograd::AccumulateGrad");
}

static enum zeroed_kind zeroed_gradients_kind(const struct context *cx, const struct launched *x)
{
    struct work_op by = work_op_of(cx, x->work);
    if (x->flags & LAUNCHED_BACKWARD)
        return by.op != ROW_NONE && zeroed_gradients_adds(by) ? ZEROED_ADD : ZEROED_OTHER;
    if (by.op != ROW_NONE && zeroed_gradients_fills(by)) return ZEROED_FILL;
    return torch_in_optimizer(cx->t, x->work) ? ZEROED_OTHER : ZEROED_FORWARD;
}

static int zeroed_gradients_read(struct zeroed_gradients *z, struct err *e)
{
    size_t room = z->s->n + (size_t)1;
    z->fills = arena_alloc(z->cx->mem, room * sizeof *z->fills);
    z->forward = arena_alloc(z->cx->mem, room * sizeof *z->forward);
    z->kinds = arena_alloc(z->cx->mem, room);
    if (!z->fills || !z->forward || !z->kinds) return err_nomem(e);
    for (uint32_t i = 0; i < z->s->n; i++) {
        const struct launched *x = &z->s->items[i];
        int64_t at = z->cx->t->ts_ns[x->call];
        z->kinds[i] = (uint8_t)zeroed_gradients_kind(z->cx, x);
        if (z->kinds[i] == ZEROED_FILL) z->fills[z->n_fills++] = at;
        if (z->kinds[i] == ZEROED_FORWARD) z->forward[z->n_forward++] = at;
    }
    stats_sort(z->fills, z->n_fills);
    stats_sort(z->forward, z->n_forward);
    return 0;
}

/* How many of a list lie before a moment. */
static uint32_t zeroed_gradients_before(const int64_t *list, uint32_t n, int64_t at_ns)
{
    uint32_t i = 0;
    SEARCH_PAST(i, n, list[i] < at_ns);
    return i;
}

/* As the CPU sees it; the launch alone where operators are known from units in depth. */
static int zeroed_gradients_drop(struct spare_search *x, uint32_t i, struct err *e)
{
    const struct launched *items = sequence_of(x->cx)->items;
    row_t row = items[i].op == ROW_NONE ? items[i].call : items[i].op;
    TRY(spare_drop(&x->spare, x->cx, items[i].work, e));
    if (i > 0 && items[i].op != ROW_NONE && items[i - 1].op == items[i].op) return 0;
    return spare_cut(&x->spare, x->cx, items[i].thread, trace_span(x->cx->t, row), e);
}

/* Additions of the first backward pass after each fill go, and the fill that they follow. */
static int zeroed_gradients_take(struct spare_search *x, const struct zeroed_gradients *z,
                                 uint32_t *n, struct err *e)
{
    const int64_t *ts = x->cx->t->ts_ns;
    uint32_t fills = 0, forward = 0;
    bool first = false;
    for (uint32_t i = 0; i < z->s->n; i++) {
        if (z->kinds[i] == ZEROED_FILL) TRY(zeroed_gradients_drop(x, i, e));
        if (z->kinds[i] != ZEROED_ADD) continue;
        int64_t at = ts[z->s->items[i].call];
        uint32_t fills_now = zeroed_gradients_before(z->fills, z->n_fills, at);
        uint32_t forward_now = zeroed_gradients_before(z->forward, z->n_forward, at);
        if (fills_now != fills) first = true;
        else if (forward_now - forward >= (uint32_t)micro_steps_launches) first = false;
        fills = fills_now;
        forward = forward_now;
        if (!first) continue;
        TRY(zeroed_gradients_drop(x, i, e));
        ++*n;
    }
    return 0;
}

int zeroed_gradients_find(struct spare_search *x, struct err *e)
{
    struct zeroed_gradients z = {.cx = x->cx, .s = sequence_of(x->cx)};
    uint32_t n = 0;
    if (!z.s->trains) return 0;
    TRY(zeroed_gradients_read(&z, e));
    if (!z.n_fills) return 0;
    TRY(zeroed_gradients_take(x, &z, &n, e));
    if (!n) {
        spare_search_drop(x);
        return 0;
    }
    x->why = rule_text(x->cx,
                       "Gradients are filled with zeros, and the next backward pass adds to them "
                       "%s times what it could have left there (%s of GPU time in total).",
                       human_count(n).s, human_time(x->spare.fix.before_ns).s);
    return 0;
}
