/* loop_labels.c: reads the user's annotations of a thread as a tree and looks, from the top down,
 * for the first level whose sequence of labels repeats.
 *
 *     pipeline_call
 *       encode  forward forward step  forward forward step  decode
 *               `----- round 0 -----' `----- round 1 -----'
 */
#include "analyze/steps/loop.h"
#include "analyze/steps/steps_constants.h"
#include "analyze/steps/steps_private.h"

#include "analyze/names/label.h"
#include "analyze/structure/period.h"
#include "base/map.h"

enum {
    DEEPEST = 16, /* levels of annotations that are looked into */
};

#define NO_LABEL UINT32_MAX

struct label {
    row_t row;
    uint32_t parent; /* index of the enclosing label, or NO_LABEL */
    uint32_t token;  /* same name, same token; numbers in "step 7" do not count */
    uint32_t depth;
};

struct labels {
    const struct trace *t;
    struct arena *mem;
    struct label *list; /* by start */
    uint32_t n;
};

/* A level: the labels directly under one label, or the outermost ones, in order. */
struct memory_level {
    uint32_t *labels; /* indices into labels.list */
    uint32_t *tokens;
    int64_t *weights;
    uint32_t n;
};

static bool is_user_label(const struct trace *t, row_t r)
{
    return t->kind[r] == KIND_ANNOTATION && !trace_is_derived(t, r) &&
           label_kind(trace_name(t, r)) == LABEL_USER;
}

static uint64_t token_key(struct str name)
{
    return label_says_round(name) ? intern_hash_words(name) : intern_hash(name);
}

static int name_tokens(struct labels *ls, struct err *e)
{
    struct map seen;
    map_init(&seen);
    uint32_t n_tokens = 0;
    bool failed = false;
    for (uint32_t i = 0; i < ls->n && !failed; i++) {
        uint32_t *token = map_at(&seen, token_key(trace_name(ls->t, ls->list[i].row)));
        if (!token) failed = true;
        else if (*token == MAP_NONE) *token = n_tokens++;
        if (token) ls->list[i].token = *token;
    }
    map_done(&seen);
    return failed ? err_nomem(e) : 0;
}

static bool loop_labels_holds(const struct trace *t, row_t outer, row_t inner)
{
    int64_t end = trace_end_ns(t, outer);
    return t->ts_ns[inner] < end && trace_end_ns(t, inner) <= end;
}

/* Fills the tree of one thread's labels. */
static int read_labels(struct labels *ls, const struct lane *l, struct err *e)
{
    const struct trace *t = ls->t;
    uint32_t n = 0;
    for (row_t r = l->begin; r < l->end; r++) n += is_user_label(t, r);
    ls->list = arena_zalloc(ls->mem, (size_t)n + 1, sizeof *ls->list);
    if (!ls->list) return err_nomem(e);
    uint32_t open = NO_LABEL;
    for (row_t r = l->begin; r < l->end; r++) {
        if (!is_user_label(t, r)) continue;
        while (open != NO_LABEL && !loop_labels_holds(t, ls->list[open].row, r))
            open = ls->list[open].parent;
        uint32_t depth = open == NO_LABEL ? 0 : ls->list[open].depth + 1;
        ls->list[ls->n] = (struct label){r, open, 0, depth};
        open = ls->n++;
    }
    return name_tokens(ls, e);
}

static int read_level(const struct labels *ls, uint32_t parent, struct memory_level *ret,
                      struct err *e)
{
    uint32_t first = parent == NO_LABEL ? 0 : parent + 1, last = ls->n;
    uint32_t depth = parent == NO_LABEL ? 0 : ls->list[parent].depth + 1;
    if (parent != NO_LABEL)
        for (last = first; last < ls->n && ls->list[last].depth >= depth;) last++;
    size_t room = (size_t)(last - first) + 1;
    struct memory_level v = {arena_zalloc(ls->mem, room, sizeof *v.labels),
                             arena_zalloc(ls->mem, room, sizeof *v.tokens),
                             arena_zalloc(ls->mem, room, sizeof *v.weights), 0};
    if (!v.labels || !v.tokens || !v.weights) return err_nomem(e);
    for (uint32_t i = first; i < last; i++) {
        if (ls->list[i].depth != depth) continue;
        v.labels[v.n] = i;
        v.tokens[v.n] = ls->list[i].token;
        v.weights[v.n++] = ls->t->dur_ns[ls->list[i].row];
    }
    *ret = v;
    return 0;
}

static struct str level_name(const struct labels *ls, const struct memory_level *v, uint32_t i)
{
    return trace_name(ls->t, ls->list[v->labels[i]].row);
}

static int64_t total_weight(const struct memory_level *v)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < v->n; i++) sum += v->weights[i];
    return sum;
}

/* Two forwards and then one "scheduler_step" that does not come again are one round. */
static void join_inner(const struct labels *ls, const struct memory_level *v, struct repeat *r)
{
    uint32_t after = r->begin + r->count;
    if (r->period != 1 || r->count > loop_labels_inner_rounds || after >= v->n) return;
    if (label_ends_round(level_name(ls, v, r->begin))) return;
    if (!label_ends_round(level_name(ls, v, after))) return;
    *r = (struct repeat){.begin = r->begin,
                         .period = r->count + 1,
                         .count = 1,
                         .end = after + 1,
                         .weight = r->weight + v->weights[after]};
}

/* A window that opens inside a round shifts the pattern: let rounds end with what ends a round. */
static void loop_labels_turn(const struct labels *ls, const struct memory_level *v,
                             struct repeat *r)
{
    for (uint32_t shift = 0; r->period > 1 && shift <= r->spare; shift++) {
        uint32_t first = r->begin + shift, last = first + r->period - 1;
        if (label_ends_round(level_name(ls, v, first))) continue;
        if (!label_ends_round(level_name(ls, v, last))) continue;
        r->begin = first;
        r->end += shift;
        r->spare -= shift;
        return;
    }
}

/* Rounds as runs of labels of a level. */
struct runs {
    struct run {
        uint32_t begin, end;
    } * list;
    uint32_t n;
};

static void push_run(struct runs *r, uint32_t begin, uint32_t end)
{
    r->list[r->n++] = (struct run){begin, end};
}

/* Rounds that do not repeat exactly still end with the same label: a pipeline that changes its
 * model half way, a step with one more forward. From `at` on, runs up to the next `last`. */
static void loop_labels_follow(const struct memory_level *v, uint32_t at, uint32_t last,
                               uint32_t longest, struct runs *r)
{
    while (at < v->n) {
        uint32_t end = at;
        while (end < v->n && v->tokens[end] != last) end++;
        if (end == v->n || end - at >= longest || (longest > 1 && end == at)) return;
        push_run(r, at, end + 1);
        at = end + 1;
    }
}

static bool holds_token(const struct memory_level *v, struct run run, uint32_t token)
{
    for (uint32_t i = run.begin; i < run.end; i++)
        if (v->tokens[i] == token) return true;
    return false;
}

/* Where the round that ends before `at` begins: after the round before it, or, when there is none,
 * with the first label that the rounds from `at` to `end` have too. `at` when there is no such. */
static uint32_t round_before(const struct memory_level *v, uint32_t at, uint32_t end)
{
    uint32_t last = v->tokens[end - 1], begin = at;
    if (!at || v->tokens[at - 1] != last) return at;
    do begin--;
    while (begin > 0 && v->tokens[begin - 1] != last);
    bool open = begin == 0; /* labels before the loop may stand in front of its first round */
    while (open && begin < at && !holds_token(v, (struct run){at, end}, v->tokens[begin])) begin++;
    return begin + 1 < at ? begin : at;
}

/* The rounds of a repetition; beyond it and inside it, by the label that ends them if one does. */
static int loop_labels_find_runs(const struct labels *ls, const struct memory_level *v,
                                 const struct repeat *r, struct runs *ret, struct err *e)
{
    ret->list = arena_zalloc(ls->mem, (size_t)v->n + 1, sizeof *ret->list);
    if (!ret->list) return err_nomem(e);
    struct run unit = {r->begin, r->begin + r->period};
    uint32_t last = v->tokens[unit.end - 1], first = r->begin, begin;
    if (r->period == 1 || !label_ends_round(level_name(ls, v, unit.end - 1))) {
        for (uint32_t i = 0; i < r->count; i++)
            push_run(ret, r->begin + i * r->period, r->begin + (i + 1) * r->period);
        return 0;
    }
    while (first > 0 && v->tokens[first - 1] != last && holds_token(v, unit, v->tokens[first - 1]))
        first--; /* the repetition was found with its first round cut into */
    while ((begin = round_before(v, first, unit.end)) < first) first = begin;
    loop_labels_follow(v, first, last, 3 * r->period, ret);
    return 0;
}

/* A short label that only ends rounds ("scheduler_step" alone, where full compilation swallowed the
 * others): what it ends came before it. The first round is taken to be as long as the others. */
static void end_rounds_with(const struct labels *ls, const struct memory_level *v,
                            struct loop_round *rounds, uint32_t n)
{
    uint32_t parent = ls->list[v->labels[0]].parent;
    int64_t labelled = 0, all = rounds[n - 1].inner_end_ns - rounds[0].begin_ns;
    for (uint32_t i = 0; i < n; i++) labelled += rounds[i].inner_end_ns - rounds[i].begin_ns;
    if (n < 2 || labelled * 2 > all) return;
    int64_t before =
        rounds[0].inner_end_ns - (rounds[n - 1].inner_end_ns - rounds[0].inner_end_ns) / (n - 1);
    if (parent != NO_LABEL && before < ls->t->ts_ns[ls->list[parent].row])
        before = ls->t->ts_ns[ls->list[parent].row];
    for (uint32_t i = 0; i < n; i++) {
        rounds[i].begin_ns = i ? rounds[i - 1].inner_end_ns : before;
        rounds[i].end_ns = rounds[i].inner_end_ns;
    }
}

static int loop_labels_add_rounds(const struct labels *ls, const struct memory_level *v,
                                  const struct repeat *r, struct loop *ret, struct err *e)
{
    const struct trace *t = ls->t;
    struct runs runs = {0};
    TRY(loop_labels_find_runs(ls, v, r, &runs, e));
    struct loop_round *rounds = arena_zalloc(ls->mem, ret->n_rounds + runs.n, sizeof *rounds);
    if (!rounds) return err_nomem(e);
    if (ret->n_rounds) memcpy(rounds, ret->rounds, ret->n_rounds * sizeof *rounds);
    for (uint32_t i = 0; i < runs.n; i++) {
        row_t first = ls->list[v->labels[runs.list[i].begin]].row;
        row_t last = ls->list[v->labels[runs.list[i].end - 1]].row;
        struct loop_round *round = &rounds[ret->n_rounds + i];
        *round = (struct loop_round){t->ts_ns[first], trace_end_ns(t, last), trace_end_ns(t, last),
                                     t->name[first], -1};
        if (i) round[-1].end_ns = round->begin_ns;
    }
    if (r->period == 1 && label_is_tail(level_name(ls, v, r->begin)))
        end_rounds_with(ls, v, rounds + ret->n_rounds, runs.n);
    ret->rounds = rounds;
    ret->n_rounds += runs.n;
    ret->period = r->period;
    ret->found = ORIGIN_LABELS;
    return 0;
}

/* Below the outermost level, labels inside something that is not a loop by its name (a forward
 * pass, say) may be the layers of a model: there they must say themselves that they are rounds. */
static bool loop_labels_convincing(const struct labels *ls, const struct memory_level *v,
                                   uint32_t parent, const struct repeat *r)
{
    if (!r->count || r->weight * 100 < total_weight(v) * loop_labels_cover_pct) return false;
    if (parent == NO_LABEL || label_says_call(trace_name(ls->t, ls->list[parent].row))) return true;
    return label_says_round(level_name(ls, v, r->begin)) ||
           label_ends_round(level_name(ls, v, r->begin + r->period - 1));
}

static uint32_t loop_labels_widest(const struct memory_level *v)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < v->n; i++)
        if (v->weights[i] > v->weights[best]) best = i;
    return v->labels[best];
}

/* Adds the rounds found among the labels under `parent`, else under the widest of them. Whole
 * calls ("pipeline_call" three times) are rounds only if there is no loop inside them. */
static int loop_labels_search(const struct labels *ls, uint32_t parent, struct loop *ret,
                              struct err *e)
{
    struct memory_level v;
    struct repeat r;
    TRY(read_level(ls, parent, &v, e));
    if (!v.n || ls->list[v.labels[0]].depth >= DEEPEST) return 0;
    struct period_seq seq = {v.tokens, v.weights, v.n, 0};
    TRY(period_find(&seq, ls->mem, &r, e));
    if (!loop_labels_convincing(ls, &v, parent, &r))
        return loop_labels_search(ls, loop_labels_widest(&v), ret, e);

    join_inner(ls, &v, &r);
    loop_labels_turn(ls, &v, &r);
    uint32_t before = ret->n_rounds;
    if (r.period == 1 && label_says_call(level_name(ls, &v, r.begin)))
        for (uint32_t i = 0; i < r.count; i++)
            TRY(loop_labels_search(ls, v.labels[r.begin + i], ret, e));
    return ret->n_rounds > before ? 0 : loop_labels_add_rounds(ls, &v, &r, ret, e);
}

static int64_t loop_labels_covered_ns(const struct loop *l)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < l->n_rounds; i++) sum += l->rounds[i].end_ns - l->rounds[i].begin_ns;
    return sum;
}

int loop_labels_find(const struct trace *t, struct arena *mem, struct loop *ret, struct err *e)
{
    for (uint32_t l = 0; l < t->n_lanes; l++) {
        if (t->lanes[l].kind != LANE_THREAD) continue;
        struct labels ls = {t, mem, NULL, 0};
        struct loop found = {.lane = l, .process = UINT32_MAX};
        TRY(read_labels(&ls, &t->lanes[l], e));
        TRY(loop_labels_search(&ls, NO_LABEL, &found, e));
        if (loop_labels_covered_ns(&found) > loop_labels_covered_ns(ret)) *ret = found;
    }
    return 0;
}
