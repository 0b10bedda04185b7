/* stage_parts.c: what can be said of a program without labels.
 *
 *     step                            a round of the loop, where it is not one call of something
 *       forward  backward  ...        of training, where no stack says so
 *       UNet2DConditionModel          module and function calls, as outline.h has them
 *         layer                       where only the sequence of launches shows it
 *
 * The user's labels win: where they hold most of the device's work nothing is derived. */
#include <stdlib.h>

#include "analyze/names/label.h"
#include "analyze/stages/stage_tree.h"
#include "analyze/stages/stages_private.h"
#include "analyze/steps/steps.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/vec.h"

struct deriving {
    const struct context *cx;
    const struct trace *t;
    struct stage_part *list;
    size_t n, cap;
};

static int stage_parts_push(struct deriving *d, struct stage_part p)
{
    if (p.end_ns <= p.begin_ns) return 0;
    if (VEC_RESERVE(d->list, d->n, d->cap, 1)) return ERR_NOMEM;
    d->list[d->n++] = p;
    return 0;
}

/* ---- whether labels speak for the program ---- */

static bool is_own_label(const struct trace *t, row_t r)
{
    return t->kind[r] == KIND_ANNOTATION && t->phase[r] == 'X' && !trace_is_derived(t, r) &&
           label_kind(trace_name(t, r)) == LABEL_USER && !label_is_automatic(trace_name(t, r));
}

static int64_t stage_parts_device_ns(const struct trace *t, row_t call)
{
    uint32_t n;
    int64_t sum = 0;
    const row_t *rows = trace_launched(t, call, &n);
    for (uint32_t i = 0; i < n; i++)
        if (timeline_has(t, rows[i])) sum += t->dur_ns[rows[i]];
    return sum;
}

/* Device work launched while a label is open on any thread, and all of it; the backward pass runs
 * on threads of its own. Without a device, the time of operators counts. */
struct cover {
    int64_t labelled_ns, all_ns;
};

static int64_t weight_ns(const struct trace *t, row_t r, bool devices)
{
    if (devices) return stage_parts_device_ns(t, r);
    return outline_is_outer_op(t, r) ? t->dur_ns[r] : 0;
}

static void cover_lane(const struct trace *t, const struct lane *l, bool devices, struct cover *c)
{
    int64_t open_until = INT64_MIN;
    for (row_t r = l->begin; r < l->end; r++) {
        if (is_own_label(t, r) && trace_end_ns(t, r) > open_until) open_until = trace_end_ns(t, r);
        int64_t ns = weight_ns(t, r, devices);
        c->all_ns += ns;
        if (t->ts_ns[r] < open_until) c->labelled_ns += ns;
    }
}

static bool labels_speak(const struct context *cx)
{
    const struct trace *t = cx->t;
    struct cover c = {0};
    bool devices = timeline_of(cx)->n_devices > 0;
    for (lane_id l = 0; l < t->n_lanes; l++)
        if (t->lanes[l].kind == LANE_THREAD && !outline_is_autograd(t, &t->lanes[l]))
            cover_lane(t, &t->lanes[l], devices, &c);
    return !c.all_ns || c.labelled_ns * 2 > c.all_ns;
}

/* ---- parts ---- */

static struct stage_part part_of_row(const struct trace *t, row_t r, struct str name,
                                     enum origin from)
{
    return (struct stage_part){t->ts_ns[r], trace_end_ns(t, r), t->lane[r], r, name, from};
}

static int add_frames(struct deriving *d)
{
    const struct frame_parts *f = &outline_of(d->cx)->frames;
    for (uint32_t i = 0; i < f->n; i++) {
        const struct frame_part *p = &f->list[i];
        enum origin from = p->module ? ORIGIN_MODULES : ORIGIN_FUNCTIONS;
        TRY(stage_parts_push(d, part_of_row(d->t, p->row, p->name, from)));
    }
    return 0;
}

/* Ranges that our recorder made by itself. */
static int add_ranges(struct deriving *d)
{
    const struct trace *t = d->t;
    for (row_t r = 0; r < t->n_rows; r++) {
        struct str name = trace_name(t, r);
        if (!trace_is_derived(t, r) || t->phase[r] != 'X' || label_kind(name) != LABEL_USER)
            continue;
        TRY(stage_parts_push(d, part_of_row(t, r, name, outline_derived_from(name))));
    }
    return 0;
}

/* Compiled regions, where nothing else says what is called. */
static int add_regions(struct deriving *d)
{
    const struct outline *o = outline_of(d->cx);
    for (uint32_t i = 0; i < o->n; i++)
        if (o->items[i].from == ORIGIN_COMPILED)
            TRY(stage_parts_push(
                d, part_of_row(d->t, o->items[i].row, o->items[i].name, ORIGIN_COMPILED)));
    return 0;
}

static struct str name_of_level(const struct steps *s, uint32_t i)
{
    if (i == s->level) return str_c("step");
    if (i < s->level) return str_c("call");
    return str_c(s->levels[i].layers ? "layer" : "round");
}

/* Whether each round lies in a call of its own: then those calls are what a reader knows. */
static bool have_calls(const struct outline *o, const struct loop_level *l)
{
    uint32_t last = ITEM_NONE;
    for (uint32_t i = 0; i < l->count; i++) {
        uint32_t call = outline_call_around(o, l->spans[i].begin_ns, l->spans[i].end_ns);
        if (call == ITEM_NONE || call == last) return false;
        last = call;
    }
    return true;
}

/* Whether a span of the level is around the row. */
static bool stage_parts_is_inside(const struct loop_level *l, const struct trace *t, row_t r)
{
    uint32_t i = 0;
    SEARCH_PAST(i, l->count, l->spans[i].begin_ns <= t->ts_ns[r]);
    return i && trace_end_ns(t, r) <= l->spans[i - 1].end_ns;
}

/* Whether calls of one label of the user lie both inside and outside the rounds: to have the rounds
 * as parts would make two stages of one, and take calls out of its statistics. */
static int splits_labels(const struct deriving *d, const struct loop_level *l, bool *ret)
{
    enum { IN = 1, OUT = 2 };
    const struct trace *t = d->t;
    const struct lane *lane = &t->lanes[steps_of(d->cx)->lane];
    uint8_t *seen = mem_zalloc((size_t)t->strings.n + 1, sizeof *seen);
    if (!seen) return ERR_NOMEM;
    *ret = false;
    for (row_t r = lane->begin; r < lane->end && !*ret; r++) {
        if (!is_own_label(t, r)) continue;
        seen[t->name[r]] |= stage_parts_is_inside(l, t, r) ? IN : OUT;
        *ret = seen[t->name[r]] == (IN | OUT);
    }
    mem_free(seen);
    return 0;
}

/* Whether the rounds of a level are parts. Not where calls of something tell as much: each is one,
 * lies in one, or is one and nothing that is known by name; nor layers, where there are calls. */
static bool are_parts(const struct deriving *d, uint32_t i, bool flat)
{
    const struct steps *s = steps_of(d->cx);
    const struct loop_level *l = &s->levels[i];
    if (!l->spans || l->calls || (l->count == 1 && !l->name.n)) return false;
    if (flat) return true;
    if (i != s->level && (i > s->level || l->from == ORIGIN_MODULES || l->from == ORIGIN_FUNCTIONS))
        return false;
    return !have_calls(outline_of(d->cx), l);
}

/* The rounds of each level that are not calls of something already; `flat`: there are none of
 * those. What repeats inside a step of training is as likely part of its backward pass. */
static int add_levels(struct deriving *d, bool flat, bool trains)
{
    const struct steps *s = steps_of(d->cx);
    lane_id lane = s->lane;
    if (lane == LANE_NONE) return 0;
    for (uint32_t i = 0; i < (trains ? s->level + 1 : s->n_levels); i++) {
        const struct loop_level *l = &s->levels[i];
        bool splits = false;
        if (!are_parts(d, i, flat)) continue;
        TRY(splits_labels(d, l, &splits));
        if (splits) continue;
        for (uint32_t k = 0; k < l->count; k++)
            TRY(stage_parts_push(d,
                                 (struct stage_part){l->spans[k].begin_ns, l->spans[k].end_ns, lane,
                                                     ROW_NONE, name_of_level(s, i), l->from}));
    }
    return 0;
}

/* ---- training ---- */

/* First begin to last end of what autograd runs in [begin, end), and of the forward operators it
 * runs for. */
struct halves {
    struct span forward, backward;
};

static void stage_parts_extend(struct span *s, int64_t begin_ns, int64_t end_ns)
{
    if (s->begin_ns == s->end_ns) s->begin_ns = begin_ns;
    if (end_ns > s->end_ns) s->end_ns = end_ns;
}

static void find_backward(const struct outline *o, struct span in, struct span *ret)
{
    uint32_t i = 0;
    SEARCH_PAST(i, o->n, o->items[i].begin_ns < in.begin_ns);
    for (; i < o->n && o->items[i].begin_ns < in.end_ns; i++)
        if (o->items[i].backward) stage_parts_extend(ret, o->items[i].begin_ns, o->items[i].end_ns);
}

/* Operators that autograd took note of: they have a sequence number and no forward thread. What a
 * DataLoader or an optimizer runs does not belong to the forward pass. */
static void find_forward(const struct trace *t, lane_id lane, struct span in, struct span *ret)
{
    int64_t from = in.begin_ns;
    for (row_t r = trace_lower_bound(t, lane, in.begin_ns); r < t->lanes[lane].end; r++) {
        if (t->ts_ns[r] >= in.end_ns) break;
        bool label = t->kind[r] == KIND_ANNOTATION && label_is_automatic(trace_name(t, r));
        if (label && trace_end_ns(t, r) > from) from = trace_end_ns(t, r);
        const struct op_info *op = t->kind[r] == KIND_OP ? trace_op(t, r) : NULL;
        if (op && op->sequence >= 0 && op->fwd_thread == 0 && t->ts_ns[r] >= from)
            stage_parts_extend(ret, t->ts_ns[r], trace_end_ns(t, r));
    }
    if (ret->end_ns > in.end_ns) ret->end_ns = in.end_ns;
}

static int add_half(struct deriving *d, lane_id lane, struct span s, const char *name)
{
    return stage_parts_push(
        d, (struct stage_part){s.begin_ns, s.end_ns, lane, ROW_NONE, str_c(name), ORIGIN_AUTOGRAD});
}

/* Forward and backward of each step, where no stack and no recorder tells. */
static int add_training(struct deriving *d)
{
    const struct steps *s = steps_of(d->cx);
    const struct outline *o = outline_of(d->cx);
    if (s->lane == LANE_NONE || o->on_device || o->lane != s->lane) return 0;
    for (uint32_t i = 0; i < s->n_steps; i++) {
        struct halves h = {0};
        find_backward(o, s->steps[i].cpu, &h.backward);
        if (h.backward.begin_ns == h.backward.end_ns) continue;
        struct span before = {s->steps[i].cpu.begin_ns, h.backward.begin_ns};
        find_forward(d->t, s->lane, before, &h.forward);
        TRY(add_half(d, s->lane, h.forward, "forward"));
        TRY(add_half(d, s->lane, h.backward, "backward"));
    }
    return 0;
}

/* ---- all of them ---- */

static int stage_parts_derive(struct deriving *d)
{
    TRY(add_frames(d));
    TRY(add_ranges(d));
    bool flat = d->n == 0;
    size_t before = d->n;
    if (flat) TRY(add_training(d));
    TRY(add_levels(d, flat, d->n > before));
    return flat ? add_regions(d) : 0;
}

/* Of two with the same times the round is around the call: it may hold more than the call, and so
 * all calls of a name are found in one place. */
static int stage_parts_by_place(const void *a, const void *b)
{
    const struct stage_part *x = a, *y = b;
    if (x->lane != y->lane) return x->lane < y->lane ? -1 : 1;
    if (x->begin_ns != y->begin_ns) return x->begin_ns < y->begin_ns ? -1 : 1;
    if (x->end_ns != y->end_ns) return x->end_ns > y->end_ns ? -1 : 1;
    if ((x->row == ROW_NONE) != (y->row == ROW_NONE)) return x->row == ROW_NONE ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

int stage_parts_find(const struct context *cx, struct stage_parts *ret, struct err *e)
{
    struct deriving d = {.cx = cx, .t = cx->t};
    *ret = (struct stage_parts){0};
    if (labels_speak(cx)) return 0;
    int rc = stage_parts_derive(&d);
    if (rc == 0 && d.n) {
        qsort(d.list, d.n, sizeof *d.list, stage_parts_by_place);
        ret->list = arena_alloc(cx->mem, d.n * sizeof *ret->list);
        if (ret->list) memcpy(ret->list, d.list, d.n * sizeof *ret->list);
        else rc = ERR_NOMEM;
        ret->n = (uint32_t)d.n;
    }
    mem_free(d.list);
    return err_grow(e, rc);
}
