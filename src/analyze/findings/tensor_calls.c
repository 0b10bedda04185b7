/* tensor_calls.c: see tensor_calls.h. The events of a thread follow from how its rows nest; those
 * of several are joined by time. */
#include "analyze/findings/tensor_calls.h"

#include <stdlib.h>

#include "analyze/findings/findings_constants.h"
#include "base/buf.h"
#include "base/jdoc.h"
#include "base/mem.h"
#include "base/vec.h"
#include "format/ring.h"

enum { DEEPEST = 256 };

struct tensor_calls_reading {
    struct tensor_calls *x;
    const struct trace *t, *deep;
    struct arena mem; /* of one operator */
    struct buf text;
    uint32_t open[DEEPEST]; /* calls */
    uint32_t n_open;
    int64_t now;
};

void tensor_calls_done(struct tensor_calls *x)
{
    mem_free(x->calls);
    mem_free(x->tensors);
    mem_free(x->events);
    *x = (struct tensor_calls){0};
}

/* ---- the arguments of one operator ---- */

static double tensor_calls_number(const struct jdoc *d, uint32_t i)
{
    return i < d->n && d->items[i].kind == JDOC_NUMBER ? d->items[i].number : 0;
}

static int tensor_calls_add_tensors(struct tensor_calls *x, const struct jdoc *list, uint32_t *n)
{
    if (!list || list->kind != JDOC_ARRAY) return 0;
    if (VEC_RESERVE(x->tensors, x->n_tensors, x->cap_tensors, list->n)) return ERR_NOMEM;
    for (uint32_t i = 0; i < list->n; i++) {
        const struct jdoc *one = &list->items[i];
        bool fits = one->kind == JDOC_ARRAY && one->n == 3;
        double storage = fits ? tensor_calls_number(one, 0) : 0;
        double layout = fits ? tensor_calls_number(one, 1) : 0;
        double version = fits ? tensor_calls_number(one, 2) : TENSOR_NO_VERSION;
        x->tensors[x->n_tensors++] = (struct tensor_read){
            .storage = storage > 0 && storage < 9e15 ? (uint64_t)storage : 0,
            .layout = layout > 0 && layout < 9e15 ? (uint64_t)layout : 0,
            .version = version >= 0 && version < 9e15 ? (int64_t)version : TENSOR_NO_VERSION,
        };
        ++*n;
    }
    return 0;
}

static int tensor_calls_read_args(struct tensor_calls_reading *r, struct tensor_call *c)
{
    static const char mark[] = "\"Input Lists\"";
    struct jdoc d;
    if (!r->x->n_known && r->x->n_calls > (uint32_t)tensor_calls_patience) return 0;
    buf_reset(&r->text);
    bool read = trace_deep_args(r->t, c->op, &r->text, NULL) == 0 && buf_ok(&r->text);
    if (!read || str_find(buf_str(&r->text), mark) < 0) return 0;
    struct arena_mark before = arena_mark(&r->mem);
    int rc = 0;
    if (jdoc_parse(buf_str(&r->text), &r->mem, &d, NULL) == 0) {
        c->known = true;
        c->lists = jdoc_number(&d, "Input Lists", 0);
        rc = tensor_calls_add_tensors(r->x, jdoc_get(&d, "Input Tensors"), &c->n_in);
        if (rc == 0) rc = tensor_calls_add_tensors(r->x, jdoc_get(&d, "Output Tensors"), &c->n_out);
        r->x->n_known++;
    }
    arena_reset_to(&r->mem, before);
    return rc;
}

/* ---- events ---- */

static int tensor_calls_add_event(struct tensor_calls_reading *r, struct tensor_event v)
{
    struct tensor_calls *x = r->x;
    if (VEC_RESERVE(x->events, x->n_events, x->cap_events, 1)) return ERR_NOMEM;
    if (v.ns < r->now) v.ns = r->now;
    r->now = v.ns;
    x->events[x->n_events++] = v;
    return 0;
}

/* Ends all calls but those around a row, whose innermost operator that is. */
static int tensor_calls_close(struct tensor_calls_reading *r, row_t around)
{
    struct tensor_calls *x = r->x;
    while (r->n_open && x->calls[r->open[r->n_open - 1]].op != around) {
        uint32_t c = r->open[--r->n_open];
        TRY(tensor_calls_add_event(r, (struct tensor_event){trace_end_ns(r->deep, x->calls[c].op),
                                                            TENSOR_ENDS, c, ROW_NONE}));
    }
    return 0;
}

static int tensor_calls_open(struct tensor_calls_reading *r, row_t op)
{
    struct tensor_calls *x = r->x;
    if (r->n_open == DEEPEST) return 0;
    if (VEC_RESERVE(x->calls, x->n_calls, x->cap_calls, 1)) return ERR_NOMEM;
    struct tensor_call c = {.op = op, .outermost = !r->n_open, .first = x->n_tensors};
    TRY(tensor_calls_read_args(r, &c));
    x->calls[x->n_calls] = c;
    r->open[r->n_open++] = x->n_calls;
    return tensor_calls_add_event(
        r, (struct tensor_event){r->deep->ts_ns[op], TENSOR_BEGINS, x->n_calls++, ROW_NONE});
}

static int tensor_calls_read_row(struct tensor_calls_reading *r, row_t row)
{
    const struct trace *deep = r->deep;
    uint32_t n = 0;
    bool op = deep->kind[row] == KIND_OP;
    bool launch = trace_call(deep, row) && trace_launched(deep, row, &n) && n;
    if (!op && !launch) return 0;
    row_t outer = deep->parent[row];
    TRY(tensor_calls_close(r, outer == ROW_NONE ? ROW_NONE : trace_up(deep, outer, KIND_OP)));
    if (op) return tensor_calls_open(r, row);
    uint32_t by = r->n_open ? r->open[r->n_open - 1] : UINT32_MAX;
    return tensor_calls_add_event(r,
                                  (struct tensor_event){deep->ts_ns[row], TENSOR_LAUNCH, by, row});
}

static int tensor_calls_read_lane(struct tensor_calls_reading *r, const struct lane *l)
{
    r->now = INT64_MIN;
    r->n_open = 0;
    if (l->kind != LANE_THREAD) return 0;
    for (row_t row = l->begin; row < l->end; row++) TRY(tensor_calls_read_row(r, row));
    return tensor_calls_close(r, ROW_NONE);
}

/* Units stand in the order of their marks. */
static int tensor_calls_read_units(struct tensor_calls_reading *r)
{
    const struct trace *deep = r->deep;
    for (row_t row = 0; row < deep->n_rows; row++) {
        if (deep->phase[row] != 'i') continue;
        bool begins = str_is(trace_name(deep, row), RING_DEPTH_BEGINS);
        if (!begins && !str_is(trace_name(deep, row), RING_DEPTH_ENDS)) continue;
        r->now = INT64_MIN;
        TRY(tensor_calls_add_event(r, (struct tensor_event){deep->ts_ns[row],
                                                            begins ? TENSOR_UNIT : TENSOR_MISSED,
                                                            UINT32_MAX, ROW_NONE}));
    }
    return 0;
}

struct tensor_calls_place {
    struct tensor_event v;
    uint32_t at;
};

static int tensor_calls_order(const void *a, const void *b)
{
    const struct tensor_calls_place *x = a, *y = b;
    if (x->v.ns != y->v.ns) return x->v.ns < y->v.ns ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Events of a thread stay in their order. The end of a unit is one where something was missed,
 * unless the next one begins with it. */
static int tensor_calls_sort(struct tensor_calls *x)
{
    struct tensor_calls_place *p = mem_alloc((x->n_events + (size_t)1) * sizeof *p);
    if (!p) return ERR_NOMEM;
    for (uint32_t i = 0; i < x->n_events; i++) p[i] = (struct tensor_calls_place){x->events[i], i};
    if (x->n_events) qsort(p, x->n_events, sizeof *p, tensor_calls_order);
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->n_events; i++) {
        if (p[i].v.kind != TENSOR_MISSED) {
            x->events[n++] = p[i].v;
            continue;
        }
        uint32_t k = i + 1;
        while (k < x->n_events && p[k].v.kind != TENSOR_UNIT) k++;
        if (k < x->n_events && p[k].v.ns - p[i].v.ns > tensor_calls_gap_ns) x->events[n++] = p[i].v;
    }
    x->n_events = n;
    mem_free(p);
    return 0;
}

int tensor_calls_read(struct tensor_calls *x, const struct context *cx, struct err *e)
{
    struct tensor_calls_reading r = {.x = x, .t = cx->t, .deep = cx->t->deep};
    int rc = 0;
    *x = (struct tensor_calls){0};
    if (!r.deep || !cx->t->args) return 0;
    arena_init(&r.mem);
    buf_init(&r.text);
    for (lane_id l = 0; l < r.deep->n_lanes && rc == 0; l++)
        rc = tensor_calls_read_lane(&r, &r.deep->lanes[l]);
    if (rc == 0) rc = tensor_calls_read_units(&r);
    if (rc == 0) rc = tensor_calls_sort(x);
    buf_done(&r.text);
    arena_done(&r.mem);
    return err_grow(e, rc);
}
