/* deep_match.c: see deep_match.h. Launches become tokens; those of units in depth stand in one long
 * row, unit after unit and thread after thread. Each thread of the rest is followed through it, as
 * long as names agree. Where they differ, a way around the difference is searched for nearby, in
 * both; behind longer ones the place is looked up by the next few names, and of several places the
 * one is taken that agrees longest. All comparisons together have a bound of so many per launch. */
#include "analyze/deep/deep_match.h"

#include "analyze/deep/deep_constants.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/stats.h"
#include "base/wrap.h"
#include "format/ring.h"

enum {
    NAMES = 4,        /* that are looked up at once */
    FURTHEST = 256,   /* launches that candidates are compared over */
    CANDIDATES = 32,  /* that are compared */
    COMPARISONS = 64, /* per launch, at most */
    NOWHERE = -1,
};

struct deep_token {
    str_id name;     /* of the trace in depth; STR_NONE: between two stretches, or a strange name */
    uint64_t launch; /* how it was launched: grid, block, bytes */
    row_t work;
};

struct deep_tokens {
    struct deep_token *list;
    uint32_t n;
};

struct matching {
    const struct trace *t, *deep;
    struct deep_match *out;
    row_t *twin;
    uint8_t *alike;
    struct deep_tokens known; /* of units in depth; a token of no name behind each stretch */
    uint32_t *next;           /* by place: the next one where the same names begin, or MAP_NONE */
    struct map first;         /* names -> place */
    uint32_t *begins;         /* places where stretches begin */
    uint32_t n_begins;
    uint8_t *varies;          /* by place: units differ in what they do there */
    row_t *other;             /* deep_match.other */
    uint32_t own, end_of_own; /* the stretch that is followed itself: no place to be found at */
    int64_t left;             /* comparisons */
};

/* ---- tokens ---- */

/* Work that was launched by itself, as the only work of its call. */
static bool deep_match_is_single(const struct trace *t, row_t call, row_t *ret)
{
    uint32_t n = 0;
    const row_t *works = trace_call(t, call) ? trace_launched(t, call, &n) : NULL;
    if (n != 1 || !trace_is_work(t, works[0]) || t->aux[works[0]] >= t->n_gpu) return false;
    const struct gpu_info *g = &t->gpu[t->aux[works[0]]];
    *ret = works[0];
    return g->graph_id == ID_NONE || g->graph_id <= 0;
}

static uint64_t deep_match_launch(const struct trace *t, row_t work)
{
    const struct gpu_info *g = &t->gpu[t->aux[work]];
    uint64_t key = map_mix((uint64_t)t->kind[work] << 32 | g->shared_bytes);
    for (int i = 0; i < 3; i++) key = map_mix(key ^ ((uint64_t)g->grid[i] << 32 | g->block[i]));
    return t->kind[work] == KIND_KERNEL ? key : map_mix(key ^ (uint64_t)g->bytes);
}

/* Fills `to`, with room for all launches, with those of a thread. `same` says what the trace's
 * names are in the trace in depth; NULL: it is that trace. */
static void deep_match_read(const struct trace *t, lane_id l, const str_id *same,
                            struct deep_tokens *to)
{
    row_t work;
    for (row_t r = t->lanes[l].begin; r < t->lanes[l].end; r++)
        if (deep_match_is_single(t, r, &work))
            to->list[to->n++] = (struct deep_token){same ? same[t->name[work]] : t->name[work],
                                                    deep_match_launch(t, work), work};
}

static bool deep_match_begins(const struct trace *t, row_t r)
{
    return t->phase[r] == 'i' && str_is(trace_name(t, r), RING_DEPTH_BEGINS);
}

/* When units begin, ascending. */
static int deep_match_units(const struct trace *deep, struct arena *mem, int64_t **ret,
                            uint32_t *ret_n)
{
    uint32_t n = 0, k = 0;
    for (row_t r = 0; r < deep->n_rows; r++) n += deep_match_begins(deep, r);
    int64_t *list = arena_alloc(mem, (n + (size_t)1) * sizeof *list);
    if (!list) return ERR_NOMEM;
    for (row_t r = 0; r < deep->n_rows; r++)
        if (deep_match_begins(deep, r)) list[k++] = deep->ts_ns[r];
    stats_sort(list, n);
    *ret = list;
    *ret_n = n;
    return 0;
}

static void deep_match_end_stretch(struct matching *m)
{
    struct deep_tokens *k = &m->known;
    if (k->n && k->list[k->n - 1].name != STR_NONE)
        k->list[k->n++] = (struct deep_token){.name = STR_NONE, .work = ROW_NONE};
}

/* All launches of units in depth, a thread at a time. */
static int deep_match_learn(struct matching *m, struct arena *mem)
{
    const struct trace *deep = m->deep;
    size_t most = (deep->n_launched + (size_t)1) * 2 + deep->n_lanes;
    struct deep_tokens lane = {.list =
                                   mem_alloc((deep->n_launched + (size_t)1) * sizeof *lane.list)};
    m->known.list = mem_alloc(most * sizeof *m->known.list);
    m->begins = mem_alloc(most * sizeof *m->begins);
    int64_t *units = NULL;
    uint32_t n_units = 0;
    int rc = deep_match_units(deep, mem, &units, &n_units);
    bool there = lane.list && m->known.list && m->begins && rc == 0;
    for (lane_id l = 0; there && l < deep->n_lanes; l++) {
        uint32_t unit = 0, before = UINT32_MAX;
        if (deep->lanes[l].kind != LANE_THREAD) continue;
        lane.n = 0;
        deep_match_read(deep, l, NULL, &lane);
        for (uint32_t i = 0; i < lane.n; i++) {
            int64_t at = deep->ts_ns[trace_launch_of(deep, lane.list[i].work)];
            while (unit < n_units && units[unit] <= at) unit++;
            if (unit != before) deep_match_end_stretch(m);
            if (unit != before) m->begins[m->n_begins++] = m->known.n;
            before = unit;
            m->known.list[m->known.n++] = lane.list[i];
        }
        deep_match_end_stretch(m);
    }
    mem_free(lane.list);
    m->out->n_units = n_units;
    m->out->begins_ns = units;
    return there ? 0 : ERR_NOMEM;
}

/* ---- places ---- */

/* Of the next few names; 0 where a stretch ends before. */
static uint64_t deep_match_key(const struct deep_token *list, uint32_t n)
{
    uint64_t key = 1;
    if (n < NAMES) return 0;
    for (int i = 0; i < NAMES; i++) {
        if (list[i].name == STR_NONE) return 0;
        key = map_mix(key ^ list[i].name);
    }
    return key;
}

static int deep_match_index(struct matching *m)
{
    const struct deep_tokens *k = &m->known;
    m->next = mem_alloc((k->n + (size_t)1) * sizeof *m->next);
    if (!m->next) return ERR_NOMEM;
    for (uint32_t i = k->n; i-- > 0;) {
        uint64_t key = deep_match_key(k->list + i, k->n - i);
        m->next[i] = MAP_NONE;
        if (!key) continue;
        uint32_t *slot = map_at(&m->first, key);
        if (!slot) return ERR_NOMEM;
        m->next[i] = *slot;
        *slot = i;
    }
    return 0;
}

static uint64_t deep_match_context(const struct matching *m, uint32_t at)
{
    const struct deep_token *list = m->known.list;
    uint64_t key = map_mix(list[at].launch ^ (uint64_t)list[at].name << 20);
    for (int i = 1; i <= deep_context_launches && (uint32_t)i <= at; i++) {
        if (list[at - (uint32_t)i].name == STR_NONE) break;
        key = map_mix(key ^ ((uint64_t)i << 40 | list[at - (uint32_t)i].name));
    }
    for (int i = 1; i <= deep_context_launches && at + (uint32_t)i < m->known.n; i++) {
        if (list[at + (uint32_t)i].name == STR_NONE) break;
        key = map_mix(key ^ ((uint64_t)i << 48 | list[at + (uint32_t)i].name));
    }
    return key;
}

static uint64_t deep_match_inputs(const struct trace *deep, row_t work)
{
    row_t op = trace_up(deep, trace_launch_of(deep, work), KIND_OP);
    const struct op_info *o = op == ROW_NONE ? NULL : trace_op(deep, op);
    if (!o) return 0;
    return map_mix(map_mix((uint64_t)o->dims << 32 | o->types) ^ deep->name[op]);
}

/* The same launch in two units, or twice in one, on other shapes. */
static int deep_match_find_varying(struct matching *m)
{
    const struct deep_tokens *k = &m->known;
    struct map first;
    int rc = 0;
    m->varies = mem_zalloc(k->n + (size_t)1, 1);
    if (!m->varies) return ERR_NOMEM;
    map_init(&first);
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < k->n && rc == 0; i++) {
            if (k->list[i].name == STR_NONE) continue;
            uint32_t *at = map_at(&first, deep_match_context(m, i));
            if (!at) rc = ERR_NOMEM;
            else if (*at == MAP_NONE) *at = i;
            else if (round) m->varies[i] |= m->varies[*at];
            else if (deep_match_inputs(m->deep, k->list[i].work) !=
                     deep_match_inputs(m->deep, k->list[*at].work))
                m->varies[*at] = 1;
        }
    }
    map_done(&first);
    return rc;
}

/* ---- following a thread ---- */

static bool deep_match_is_own(const struct matching *m, uint32_t at)
{
    return at >= m->own && at < m->end_of_own;
}

static bool deep_match_same(struct matching *m, const struct deep_token *x, uint32_t at)
{
    m->left--;
    return at < m->known.n && x->name != STR_NONE && m->known.list[at].name == x->name &&
           !deep_match_is_own(m, at);
}

/* How many launches agree from here on; `ret_launch` of them are launched alike. */
static uint32_t deep_match_length(struct matching *m, const struct deep_token *x, uint32_t n,
                                  uint32_t at, uint32_t *ret_launch)
{
    uint32_t i = 0;
    *ret_launch = 0;
    for (; i < n && i < FURTHEST && deep_match_same(m, &x[i], at + i); i++)
        *ret_launch += m->known.list[at + i].launch == x[i].launch;
    return i;
}

struct candidate {
    int64_t at;
    uint32_t length, launch;
};

static void deep_match_try(struct matching *m, const struct deep_token *x, uint32_t n, uint32_t at,
                           struct candidate *best)
{
    uint32_t launch, length = deep_match_length(m, x, n, at, &launch);
    if (length < best->length || (length == best->length && launch <= best->launch)) return;
    *best = (struct candidate){at, length, launch};
}

/* Where the names that come now stand: at the begin of a stretch if they are, else anywhere. */
static int64_t deep_match_seek(struct matching *m, const struct deep_token *x, uint32_t n)
{
    struct candidate best = {NOWHERE, 0, 0};
    int tried = 0;
    for (uint32_t i = 0; i < m->n_begins && tried < CANDIDATES && m->left > 0; i++)
        if (deep_match_same(m, x, m->begins[i])) {
            deep_match_try(m, x, n, m->begins[i], &best);
            tried++;
        }
    uint64_t key = deep_match_key(x, n);
    uint32_t at = key ? map_find(&m->first, key) : MAP_NONE;
    for (tried = 0; at != MAP_NONE && tried < CANDIDATES && m->left > 0; at = m->next[at]) {
        tried += !deep_match_is_own(m, at);
        deep_match_try(m, x, n, at, &best);
    }
    return best.at;
}

/* Whether both go on alike: for long enough, or until the stretch ends. */
static bool deep_match_goes_on(struct matching *m, const struct deep_token *x, uint32_t n,
                               uint32_t at)
{
    uint32_t i = 0, most = (uint32_t)deep_again_launches;
    while (i < n && i < most && deep_match_same(m, &x[i], at + i)) i++;
    bool ends = at + i < m->known.n && m->known.list[at + i].name == STR_NONE;
    return i == most || (i >= (uint32_t)deep_least_run && ends);
}

/* The shortest way around a difference: so many launches of the thread, so many of the unit. */
static bool deep_match_around(struct matching *m, const struct deep_token *x, uint32_t n,
                              uint32_t at, uint32_t *ret_skip)
{
    uint32_t most = (uint32_t)deep_skip_launches;
    for (uint32_t both = 1; both <= 2 * most && m->left > 0; both++)
        for (uint32_t of_unit = both > most ? both - most : 0; of_unit <= both && of_unit <= most;
             of_unit++) {
            uint32_t own = both - of_unit;
            if (own >= n || !deep_match_goes_on(m, x + own, n - own, at + of_unit)) continue;
            *ret_skip = own;
            ret_skip[1] = of_unit;
            return true;
        }
    return false;
}

/* Drops runs that are too short to mean anything, but for whole stretches. */
static void deep_match_drop_short(const struct matching *m, int64_t *places, uint32_t n,
                                  uint32_t least)
{
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && places[i] != NOWHERE && places[end] == places[end - 1] + 1;)
            end++;
        if (places[i] == NOWHERE || end - i >= least) continue;
        bool begins = !places[i] || m->known.list[places[i] - 1].name == STR_NONE;
        bool ends = m->known.list[places[end - 1] + 1].name == STR_NONE;
        for (uint32_t k = i; !(begins && ends) && k < end; k++) places[k] = NOWHERE;
    }
}

/* Launches that a thread has more than the unit, such as rounds of a loop: where their like are, as
 * long runs of them say. */
static void deep_match_look_up(struct matching *m, const struct deep_token *x, uint32_t n,
                               int64_t *ret)
{
    int64_t at = NOWHERE;
    for (uint32_t i = 0; i < n && m->left > 0; i++) {
        if (at == NOWHERE || !deep_match_same(m, &x[i], (uint32_t)at))
            at = deep_match_seek(m, x + i, n - i);
        if (at != NOWHERE) ret[i] = at++;
    }
    deep_match_drop_short(m, ret, n, (uint32_t)deep_again_launches);
}

/* Places of the launches of a thread, NOWHERE for none. */
static void deep_match_follow(struct matching *m, const struct deep_tokens *x, int64_t *ret)
{
    int64_t at = NOWHERE;
    for (uint32_t i = 0; i < x->n; i++) ret[i] = NOWHERE;
    for (uint32_t i = 0; i < x->n && m->left > 0;) {
        uint32_t skip[2], n = x->n - i;
        if (at != NOWHERE && deep_match_same(m, &x->list[i], (uint32_t)at)) {
            ret[i++] = at++;
            continue;
        }
        bool ended =
            at == NOWHERE || (uint64_t)at >= m->known.n || m->known.list[at].name == STR_NONE;
        if (!ended && deep_match_around(m, x->list + i, n, (uint32_t)at, skip)) {
            deep_match_look_up(m, x->list + i, skip[0], ret + i);
            i += skip[0];
            at += skip[1];
            continue;
        }
        at = deep_match_seek(m, x->list + i, n);
        i += at == NOWHERE;
    }
}

/* ---- units among each other ---- */

/* The stretch's launches, and their places in other stretches: nothing where no other one is like
 * it, for then only runs agree that are short. */
static void deep_match_write_others(struct matching *m, const struct deep_tokens *x,
                                    const int64_t *places)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->n; i++) n += places[i] != NOWHERE;
    for (uint32_t i = 0; n >= x->n / 2 && i < x->n; i++) {
        if (places[i] == NOWHERE) continue;
        const struct deep_token *own = &x->list[i], *other = &m->known.list[places[i]];
        bool differ = own->launch == other->launch && deep_match_inputs(m->deep, own->work) !=
                                                          deep_match_inputs(m->deep, other->work);
        m->other[m->deep->aux[own->work]] = other->work;
        m->varies[m->own + i] |= differ;
        m->varies[places[i]] |= differ;
    }
}

static int deep_match_find_others(struct matching *m)
{
    int64_t *places = mem_alloc((m->known.n + (size_t)1) * sizeof *places);
    if (!places) return ERR_NOMEM;
    m->left = (int64_t)m->known.n * COMPARISONS;
    for (uint32_t i = 0; i < m->n_begins; i++) {
        struct deep_tokens x = {.list = m->known.list + m->begins[i]};
        while (x.list[x.n].name != STR_NONE) x.n++;
        m->own = m->begins[i];
        m->end_of_own = m->own + x.n;
        deep_match_follow(m, &x, places);
        deep_match_drop_short(m, places, x.n, (uint32_t)deep_least_run);
        deep_match_write_others(m, &x, places);
    }
    m->own = m->end_of_own = 0;
    mem_free(places);
    return 0;
}

/* ---- the rest of the recording ---- */

static void deep_match_write(struct matching *m, const struct deep_tokens *x, const int64_t *places)
{
    for (uint32_t i = 0; i < x->n; i++) {
        row_t work = x->list[i].work;
        bool counts = m->t->kind[work] == KIND_KERNEL && m->t->dur_ns[work] > 0;
        int64_t ns = counts ? m->t->dur_ns[work] : 0;
        m->out->asked_ns = wrap_add(m->out->asked_ns, ns);
        if (places[i] == NOWHERE) continue;
        const struct deep_token *k = &m->known.list[places[i]];
        m->out->found_ns = wrap_add(m->out->found_ns, ns);
        m->twin[m->t->aux[work]] = k->work;
        m->alike[m->t->aux[work]] = k->launch == x->list[i].launch && !m->varies[places[i]];
    }
}

/* By name of the trace: the same one of the trace in depth. */
static str_id *deep_match_names(const struct trace *t, const struct trace *deep)
{
    str_id *same = mem_alloc((t->strings.n + (size_t)1) * sizeof *same);
    if (!same) return NULL;
    for (str_id i = 0; i <= t->strings.n; i++) same[i] = STR_NONE;
    for (row_t r = 0; r < t->n_rows; r++)
        if (trace_is_work(t, r) && same[t->name[r]] == STR_NONE)
            same[t->name[r]] = intern_find(&deep->strings, trace_name(t, r));
    return same;
}

static int deep_match_carry(struct matching *m)
{
    const struct trace *t = m->t;
    size_t n = t->n_launched + (size_t)1;
    struct deep_tokens x = {.list = mem_alloc(n * sizeof *x.list)};
    int64_t *places = mem_alloc(n * sizeof *places);
    str_id *same = deep_match_names(t, m->deep);
    bool there = x.list && places && same;
    m->left = (int64_t)(n + m->known.n) * COMPARISONS;
    for (lane_id l = 0; there && l < t->n_lanes; l++) {
        if (t->lanes[l].kind != LANE_THREAD) continue;
        x.n = 0;
        deep_match_read(t, l, same, &x);
        deep_match_follow(m, &x, places);
        deep_match_drop_short(m, places, x.n, (uint32_t)deep_least_run);
        deep_match_write(m, &x, places);
    }
    mem_free(x.list);
    mem_free(places);
    mem_free(same);
    return there ? 0 : ERR_NOMEM;
}

static int deep_match_build(struct matching *m, struct arena *mem)
{
    TRY(deep_match_learn(m, mem));
    TRY(deep_match_index(m));
    TRY(deep_match_find_varying(m));
    TRY(deep_match_find_others(m));
    return deep_match_carry(m);
}

static int deep_match_run(struct context *cx, void *ret, struct err *e)
{
    struct matching m = {.t = cx->t, .deep = cx->t->deep, .out = ret};
    if (!m.deep || !m.deep->n_launched) return 0;
    size_t n = cx->t->n_gpu + (size_t)1;
    m.twin = arena_alloc(cx->mem, n * sizeof *m.twin);
    m.alike = arena_zalloc(cx->mem, n, 1);
    m.other = arena_alloc(cx->mem, (m.deep->n_gpu + (size_t)1) * sizeof *m.other);
    if (!m.twin || !m.alike || !m.other) return err_nomem(e);
    for (size_t i = 0; i < n; i++) m.twin[i] = ROW_NONE;
    for (size_t i = 0; i <= m.deep->n_gpu; i++) m.other[i] = ROW_NONE;
    map_init(&m.first);
    int rc = deep_match_build(&m, cx->mem);
    map_done(&m.first);
    mem_free(m.known.list);
    mem_free(m.begins);
    mem_free(m.next);
    mem_free(m.varies);
    if (rc < 0) return err_nomem(e);
    m.out->deep = m.deep;
    m.out->twin = m.twin;
    m.out->alike = m.alike;
    m.out->other = m.other;
    return 0;
}

const struct pass deep_match_pass = {
    .id = PASS_DEEP,
    .size = sizeof(struct deep_match),
    .run = deep_match_run,
};
