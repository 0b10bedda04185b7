/* tensor_values.c: see tensor_calls.h. One walk over all events. Operators lie in each other:
 * what the inner ones wrote counts, and the outer one only says the version that is seen from
 * outside. Inside, torch counts no versions. */
#include "analyze/findings/tensor_calls.h"

#include "analyze/names/copy.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"

enum { NOWHERE = UINT32_MAX };

/* What a storage contains. */
struct contents {
    uint64_t value;
    int64_t version;
    uint32_t written; /* when, in writes */
    uint32_t epoch;
    row_t by; /* the operator, or ROW_NONE */
    bool empty;
};

struct tensor_values_seen {
    row_t op;
    uint32_t unit;
};

/* A call that has begun. */
struct tensor_values_call {
    uint64_t key;
    uint32_t began; /* in writes */
    int64_t work_ns;
    bool launches, new_contents;
};

struct tensor_values_walk {
    const struct trace *deep;
    const struct tensor_calls *x;
    struct tensor_values *out;
    bool trusting;
    struct map places; /* storage -> contents */
    struct contents *contents;
    size_t n_contents, cap_contents;
    struct map keys; /* what was computed -> seen */
    struct tensor_values_seen *seen;
    size_t n_seen, cap_seen;
    struct map kinds; /* the same whatever it was computed from -> unit */
    struct tensor_values_call *calls;
    uint64_t n_new;
    uint32_t n_writes, epoch, unit;
};

/* ---- names ---- */

static const char *const random_ops[] = {
    "rand",    "normal",      "bernoulli", "dropout",   "multinomial",
    "uniform", "exponential", "poisson",   "cauchy",    "geometric",
    "rrelu",   "gumbel",      "binomial",  "dirichlet", "gamma",
};

static const char *const outside_ops[] = {"lift_fresh", "set_", "from_file", "pin_memory",
                                          "_pin_memory"};

static const char *const empty_ops[] = {"empty", "empty_like", "empty_strided", "new_empty",
                                        "new_empty_strided"};

static const char *const fill_ops[] = {"zeros",     "zeros_like", "zero_",    "new_zeros",
                                       "ones",      "ones_like",  "new_ones", "full",
                                       "full_like", "new_full",   "fill_",    "resize_"};

#define AMONG(name, list) tensor_values_among(name, list, sizeof(list) / sizeof *(list))

static bool tensor_values_among(struct str name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(name, list[i])) return true;
    return false;
}

static bool tensor_values_is_random(struct str name)
{
    for (size_t i = 0; i < sizeof random_ops / sizeof *random_ops; i++)
        if (str_has(name, random_ops[i])) return true;
    return false;
}

/* The name without "aten::"; .n is 0 for an operator that is not torch's own. */
static struct str tensor_values_name(const struct tensor_values_walk *w,
                                     const struct tensor_call *c)
{
    struct str name = trace_name(w->deep, c->op);
    return str_starts(name, "aten::") ? str_from(name.p + 6, name.n - 6) : str_c("");
}

static bool tensor_values_in_place(struct str name)
{
    return str_ends(name, "_") && !str_ends(name, "__");
}

/* ---- contents ---- */

static uint64_t tensor_values_new(struct tensor_values_walk *w)
{
    return map_mix(++w->n_new ^ UINT64_C(0x6e657720) << 32);
}

/* NULL when out of memory. Holds until the next one. */
static struct contents *tensor_values_at(struct tensor_values_walk *w, const struct tensor_read *t)
{
    uint32_t *slot = map_at(&w->places, t->storage);
    if (!slot) return NULL;
    if (*slot == MAP_NONE) {
        if (VEC_RESERVE(w->contents, w->n_contents, w->cap_contents, 1)) return NULL;
        *slot = (uint32_t)w->n_contents;
        w->contents[w->n_contents++] = (struct contents){
            .value = map_mix(map_mix(t->storage) ^ (uint64_t)t->version),
            .version = TENSOR_NO_VERSION,
            .epoch = w->epoch,
            .by = ROW_NONE,
        };
    }
    return &w->contents[*slot];
}

static void tensor_values_renew(struct tensor_values_walk *w, struct contents *c)
{
    c->value = tensor_values_new(w);
    c->epoch = w->epoch;
    c->by = ROW_NONE;
    c->empty = false;
}

/* What a call reads, as it is by now. */
static struct contents *tensor_values_look(struct tensor_values_walk *w,
                                           const struct tensor_read *t, bool outermost)
{
    struct contents *c = tensor_values_at(w, t);
    if (!c) return NULL;
    bool unseen = outermost && t->version >= 0 && c->version >= 0 && c->version != t->version;
    if (unseen || (c->epoch != w->epoch && !w->trusting)) tensor_values_renew(w, c);
    if (outermost && t->version >= 0) c->version = t->version;
    return c;
}

/* ---- a call begins ---- */

static uint64_t tensor_values_kind(const struct tensor_values_walk *w, const struct tensor_call *c)
{
    const struct op_info *o = trace_op(w->deep, c->op);
    uint64_t key = map_mix(w->deep->name[c->op]);
    if (!o) return key;
    key = map_mix(key ^ ((uint64_t)o->dims << 32 | o->types));
    return map_mix(key ^ ((uint64_t)o->concrete << 32 | (uint32_t)map_mix((uint64_t)c->lists)));
}

static bool tensor_values_has_all(const struct tensor_values_walk *w, const struct tensor_call *c)
{
    const struct op_info *o = trace_op(w->deep, c->op);
    bool all = c->known && o && o->dims != STR_NONE && o->concrete != STR_NONE;
    for (uint32_t i = 0; i < c->n_in; i++) all &= w->x->tensors[c->first + i].storage != 0;
    return all;
}

/* A copy into memory that was just taken does not read it. */
static int tensor_values_begin(struct tensor_values_walk *w, uint32_t at)
{
    const struct tensor_call *c = &w->x->calls[at];
    struct str name = tensor_values_name(w, c);
    struct tensor_values_call *call = &w->calls[at];
    uint64_t key = tensor_values_kind(w, c);
    call->began = w->n_writes;
    call->new_contents = !tensor_values_has_all(w, c) || tensor_values_is_random(name) ||
                         AMONG(name, outside_ops) || (!name.n && !w->trusting);
    for (uint32_t i = 0; i < c->n_in; i++) {
        const struct tensor_read *t = &w->x->tensors[c->first + i];
        if (!t->storage) continue;
        const struct contents *in = tensor_values_look(w, t, c->outermost);
        if (!in) return ERR_NOMEM;
        key = map_mix(key ^ (in->empty ? 0 : in->value));
        key = map_mix(key + t->layout);
    }
    call->key = call->new_contents ? tensor_values_new(w) : key;
    return 0;
}

/* ---- and ends ---- */

/* Whether a call that returns a tensor that it was given has written it. */
static bool tensor_values_wrote(const struct tensor_values_walk *w, const struct tensor_call *c,
                                uint32_t at, const struct tensor_read *out)
{
    const struct tensor_read *in = &w->x->tensors[c->first];
    bool given = false, counted = false;
    for (uint32_t i = 0; i < c->n_in; i++) {
        given |= in[i].storage == out->storage;
        counted |= in[i].storage == out->storage && c->outermost && in[i].version >= 0 &&
                   out->version > in[i].version;
    }
    return !given || counted || w->calls[at].launches ||
           tensor_values_in_place(trace_name(w->deep, c->op));
}

/* The contents are about to be written by another operator. */
static void tensor_values_spoil(struct tensor_values_walk *w, const struct contents *c, bool again)
{
    if (c->by != ROW_NONE && !c->empty && !again) w->out->computed[c->by] = COMPUTED_TO_WRITE;
}

/* Operators often take memory by one inside, and then write it themselves. */
static int tensor_values_write(struct tensor_values_walk *w, uint32_t at, uint32_t n, bool again)
{
    const struct tensor_call *c = &w->x->calls[at];
    const struct tensor_values_call *call = &w->calls[at];
    const struct tensor_read *t = &w->x->tensors[c->first + n], *in = &w->x->tensors[c->first];
    bool given = false;
    if (!t->storage) return 0;
    struct contents *to = tensor_values_at(w, t);
    if (!to) return ERR_NOMEM;
    for (uint32_t i = 0; i < c->n_in; i++) given |= in[i].storage == t->storage;
    bool empties = AMONG(tensor_values_name(w, c), empty_ops);
    bool inside = to->written > call->began;
    if (call->launches || (inside ? to->empty && !empties : tensor_values_wrote(w, c, at, t))) {
        if (given && !inside) tensor_values_spoil(w, to, again);
        *to = (struct contents){
            .value = call->new_contents ? tensor_values_new(w) : map_mix(call->key + n),
            .written = ++w->n_writes,
            .epoch = w->epoch,
            .by = c->op,
            .version = TENSOR_NO_VERSION,
            .empty = empties,
        };
        inside = true;
    }
    if (c->outermost && inside) to->version = t->version;
    return 0;
}

/* Everything that a call was given may have been written. */
static int tensor_values_lose(struct tensor_values_walk *w, const struct tensor_call *c)
{
    for (uint32_t i = 0; i < c->n_in; i++) {
        const struct tensor_read *t = &w->x->tensors[c->first + i];
        struct contents *in = t->storage ? tensor_values_at(w, t) : NULL;
        if (t->storage && !in) return ERR_NOMEM;
        if (in) tensor_values_renew(w, in);
    }
    return 0;
}

/* Whether the same was computed before; then the first time counts, too, where it was in another
 * unit. */
static int tensor_values_note(struct tensor_values_walk *w, uint32_t at, bool *ret_again)
{
    const struct tensor_call *c = &w->x->calls[at];
    uint32_t *slot = map_at(&w->keys, w->calls[at].key);
    if (!slot) return ERR_NOMEM;
    *ret_again = *slot != MAP_NONE;
    if (!*ret_again) {
        if (VEC_RESERVE(w->seen, w->n_seen, w->cap_seen, 1)) return ERR_NOMEM;
        *slot = (uint32_t)w->n_seen++;
        w->seen[*slot] = (struct tensor_values_seen){c->op, w->unit};
        return 0;
    }
    struct tensor_values_seen *s = &w->seen[*slot];
    uint8_t *computed = w->out->computed;
    bool in_unit = s->unit == w->unit;
    if (computed[s->op] == COMPUTED_TO_WRITE) {
        computed[c->op] = COMPUTED_TO_WRITE;
    } else if (!AMONG(tensor_values_name(w, c), fill_ops)) {
        computed[c->op] = in_unit ? COMPUTED_AGAIN_IN_UNIT : COMPUTED_AGAIN;
        if (!in_unit && computed[s->op] <= COMPUTED_ONCE) computed[s->op] = COMPUTED_AGAIN;
    }
    *s = (struct tensor_values_seen){c->op, w->unit};
    return 0;
}

/* How much of what units have in common is the same. */
static int tensor_values_compare(struct tensor_values_walk *w, uint32_t at, bool again)
{
    uint32_t *unit = map_at(&w->kinds, tensor_values_kind(w, &w->x->calls[at]));
    if (!unit) return ERR_NOMEM;
    if (*unit == MAP_NONE) *unit = w->unit;
    if (*unit == w->unit) return 0;
    uint8_t *computed = &w->out->computed[w->x->calls[at].op];
    if (*computed == COMPUTED_FIRST) *computed = COMPUTED_ONCE;
    w->out->like_ns += w->calls[at].work_ns;
    if (again) w->out->again_ns += w->calls[at].work_ns;
    return 0;
}

static int tensor_values_end(struct tensor_values_walk *w, uint32_t at)
{
    const struct tensor_call *c = &w->x->calls[at];
    const struct tensor_values_call *call = &w->calls[at];
    bool own = tensor_values_name(w, c).n, again = false;
    if (!c->known && (own || call->launches)) {
        w->epoch++;
        w->out->partly |= own;
    }
    if (!call->new_contents) TRY(tensor_values_note(w, at, &again));
    bool silent = own && !c->n_out && tensor_values_in_place(trace_name(w->deep, c->op));
    if (silent || (!own && call->launches && !w->trusting)) TRY(tensor_values_lose(w, c));
    for (uint32_t i = 0; i < c->n_out; i++) TRY(tensor_values_write(w, at, c->n_in + i, again));
    return tensor_values_compare(w, at, again);
}

/* ---- all of them ---- */

static void tensor_values_launch(struct tensor_values_walk *w, const struct tensor_event *v)
{
    uint32_t n = 0;
    const row_t *works = trace_launched(w->deep, v->row, &n);
    if (v->call == NOWHERE) {
        w->epoch++;
        return;
    }
    struct tensor_values_call *call = &w->calls[v->call];
    call->launches = true;
    for (uint32_t i = 0; i < n; i++) {
        if (!trace_is_work(w->deep, works[i])) continue;
        if (w->deep->dur_ns[works[i]] > 0) call->work_ns += w->deep->dur_ns[works[i]];
        enum copy_way way = copy_of(w->deep, works[i]).way;
        bool from_host = w->deep->kind[works[i]] == KIND_MEMCPY && way != COPY_INSIDE;
        if (from_host && !w->trusting) call->new_contents = true;
    }
}

/* Nothing from before is known: the next unit of each kind is a first one. */
static void tensor_values_miss(struct tensor_values_walk *w)
{
    w->epoch++;
    map_done(&w->kinds);
    map_init(&w->kinds);
}

static int tensor_values_step(struct tensor_values_walk *w, const struct tensor_event *v)
{
    switch (v->kind) {
    case TENSOR_UNIT: w->unit++; return 0;
    case TENSOR_MISSED: tensor_values_miss(w); return 0;
    case TENSOR_BEGINS: return tensor_values_begin(w, v->call);
    case TENSOR_LAUNCH: tensor_values_launch(w, v); return 0;
    case TENSOR_ENDS: return tensor_values_end(w, v->call);
    }
    return 0;
}

int tensor_values_find(struct tensor_values *ret, const struct context *cx,
                       const struct tensor_calls *calls, bool trusting, struct err *e)
{
    struct tensor_values_walk w = {
        .deep = cx->t->deep, .x = calls, .out = ret, .trusting = trusting};
    *ret = (struct tensor_values){
        .computed = arena_zalloc(cx->mem, (w.deep ? w.deep->n_rows : 0) + (size_t)1, 1)};
    w.calls = mem_zalloc(calls->n_calls + (size_t)1, sizeof *w.calls);
    map_init(&w.places);
    map_init(&w.keys);
    map_init(&w.kinds);
    int rc = ret->computed && w.calls ? 0 : ERR_NOMEM;
    for (uint32_t i = 0; i < calls->n_events && rc == 0; i++)
        rc = tensor_values_step(&w, &calls->events[i]);
    map_done(&w.places);
    map_done(&w.keys);
    map_done(&w.kinds);
    mem_free(w.contents);
    mem_free(w.seen);
    mem_free(w.calls);
    return err_grow(e, rc);
}
