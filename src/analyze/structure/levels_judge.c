/* levels_judge.c: which levels are the layers of a network, and which one is the program's loop.
 *
 * Layers are different parts in a row: other instances of a module. A step does the same thing
 * again: the same instance, a wait for its result, a compiled model with eager code around it.
 * Where names say nothing, a repetition inside another one is taken for layers, unless it holds a
 * repetition itself. */
#include "analyze/names/label.h"
#include "analyze/names/torch_words.h"
#include "analyze/structure/levels.h"
#include "analyze/structure/structure_constants.h"
#include "analyze/structure/structure_private.h"
#include "base/map.h"

struct judging {
    const struct outline *o;
    struct levels *ls;
    bool inside; /* all levels are inside of rounds already known */
};

/* What the rounds of a level have in common, counted over a sample of them. */
struct evidence {
    uint32_t looked_at, waits, graphs, mixed; /* rounds; mixed: a compiled region and eager code */
    uint32_t optimizer, forward, backward;    /* rounds with some of that */
    uint32_t instances; /* different modules among those of the first round of the level around */
    uint32_t in_first;  /* rounds in that one */
    bool module, inside_part;
};

static void levels_judge_look_at(const struct outline *o, const struct level_round *r,
                                 struct evidence *e)
{
    bool waits = false, graph = false, region = false, eager = false, optimizer = false;
    bool forward = false, backward = false;
    for (uint32_t i = r->first; i < r->end;) {
        const struct outline_item *it = &o->items[i];
        waits |= it->waits;
        graph |= it->graph;
        region |= it->from == ORIGIN_COMPILED;
        backward |= it->backward;
        forward |= outline_is_leaf(it) && !it->backward && it->weight > 0;
        eager |= outline_is_leaf(it) && !it->graph && it->weight > 0;
        optimizer |= it->from == ORIGIN_LABELS && torch_is_optimizer_step(it->name);
        i = it->from == ORIGIN_COMPILED ? it->end : i + 1;
    }
    e->looked_at++;
    e->waits += waits;
    e->graphs += graph;
    e->mixed += region && eager;
    e->optimizer += optimizer;
    e->forward += forward;
    e->backward += backward;
}

/* Whether a call around the item has parts in a row: a module its layers, an optimizer its
 * parameters. */
static bool is_inside_part(const struct outline *o, uint32_t item)
{
    for (item = o->items[item].parent; item != ITEM_NONE; item = o->items[item].parent)
        if (o->items[item].from == ORIGIN_MODULES || torch_is_optimizer(o->items[item].name))
            return true;
    return false;
}

/* Different instances among the main calls of the rounds inside the first round of the level
 * around. */
static int count_instances(const struct outline *o, const struct level *l, struct evidence *ret)
{
    struct map seen;
    bool failed = false;
    map_init(&seen);
    for (uint32_t i = 0; i < l->n && l->rounds[i].outer == l->rounds[0].outer && !failed; i++) {
        uint32_t main = level_main(o, &l->rounds[i]);
        uint32_t exact = main == ITEM_NONE ? 0 : o->items[main].exact + 1;
        uint32_t *at = map_at(&seen, exact);
        failed = !at;
        if (at && *at == MAP_NONE) *at = 1, ret->instances++;
        ret->in_first++;
    }
    map_done(&seen);
    return failed ? ERR_NOMEM : 0;
}

static int levels_judge_gather(const struct outline *o, const struct level *l, struct evidence *ret)
{
    enum { SAMPLE = 64 };
    uint32_t stride = l->n / SAMPLE + 1;
    uint32_t main = level_main(o, &l->rounds[l->n / 2]);
    *ret = (struct evidence){0};
    for (uint32_t i = 0; i < l->n; i += stride) levels_judge_look_at(o, &l->rounds[i], ret);
    ret->module = main != ITEM_NONE && o->items[main].from == ORIGIN_MODULES;
    ret->inside_part = is_inside_part(o, l->rounds[0].first);
    return count_instances(o, l, ret);
}

static bool levels_judge_most(uint32_t n, const struct evidence *e)
{
    return n * 2 > e->looked_at;
}

/* Whether a level inside says that this one is not a layer. */
static bool holds_levels(const struct levels *ls, uint32_t i)
{
    if (i + 1 >= ls->n) return false;
    const struct level *inner = &ls->list[i + 1];
    return inner->period >= levels_nest_period_items && inner->per_outer >= levels_nest_rounds;
}

/* With nothing around the rounds and nothing inside them: one pass through a network has something
 * before its layers and something after them; a loop that was recorded has not, as a rule. */
static bool looks_like_one_pass(const struct outline *o, const struct level *l)
{
    const struct level_round *first = &l->rounds[0], *last = &l->rounds[l->n - 1];
    uint32_t after = 0;
    for (uint32_t i = last->end; i < o->n; i++) after += o->items[i].weight > 0;
    uint32_t before = 0;
    for (uint32_t i = 0; i < first->first; i++) before += o->items[i].weight > 0;
    return before > 0 && after > 0 && l->period < levels_layer_items && l->n < levels_layers_most;
}

/* A step of training has a forward and a backward pass, and what is only one of them is none. */
static bool is_half(const struct evidence *outer, const struct evidence *inner)
{
    if (outer->optimizer && !levels_judge_most(inner->optimizer, inner)) return true;
    return levels_judge_most(outer->backward, outer) && levels_judge_most(outer->forward, outer) &&
           !(levels_judge_most(inner->backward, inner) && levels_judge_most(inner->forward, inner));
}

static bool is_layers(const struct judging *j, uint32_t i, const struct evidence *e)
{
    const struct level *l = &j->ls->list[i];
    if (l->n == 1) return false;
    if (e->module && e->instances * 2 > e->in_first) return true;
    if (levels_judge_most(e->waits, e) || e->optimizer) return false;
    if (e->inside_part) return true;
    if (e->module || l->from == ORIGIN_FUNCTIONS || l->from == ORIGIN_LABELS) return false;
    if (levels_judge_most(e->graphs, e) || levels_judge_most(e->mixed, e) || holds_levels(j->ls, i))
        return false;
    bool around = i > 0 ? j->ls->list[i - 1].n > 1 : j->inside;
    return around || looks_like_one_pass(j->o, l);
}

/* Whether a level that repeats inside the rounds of another one is the loop, not that one. */
static bool is_the_loop(const struct judging *j, uint32_t outer, uint32_t i,
                        const struct evidence *e)
{
    const struct level *l = &j->ls->list[i];
    if (is_half(&e[outer], &e[i])) return false;
    if (l->from == ORIGIN_FUNCTIONS || l->from == ORIGIN_LABELS)
        if (label_says_call(j->ls->list[outer].name) && l->per_outer >= 2) return true;
    if (l->per_outer < levels_fewest_inside) return false;
    return e[i].module || levels_judge_most(e[i].graphs, &e[i]) || holds_levels(j->ls, i);
}

static uint32_t levels_judge_choose(const struct judging *j, const struct evidence *e)
{
    uint32_t chosen = j->ls->n;
    if (j->ls->n && j->ls->list[0].layers) return j->ls->n;
    for (uint32_t i = 0; i < j->ls->n && !j->ls->list[i].layers; i++) {
        bool first = chosen == j->ls->n || j->ls->list[chosen].n == 1;
        if (!first && !is_the_loop(j, chosen, i, e)) break;
        chosen = i;
    }
    return chosen;
}

int levels_judge(const struct outline *o, struct levels *ls, bool inside, struct err *e)
{
    struct judging j = {o, ls, inside};
    struct evidence seen[LEVELS_MOST] = {0};
    for (uint32_t i = 0; i < ls->n; i++)
        if (levels_judge_gather(o, &ls->list[i], &seen[i])) return err_nomem(e);
    for (uint32_t i = 0; i < ls->n; i++) ls->list[i].layers = is_layers(&j, i, &seen[i]);
    ls->steps = levels_judge_choose(&j, seen);
    return 0;
}
