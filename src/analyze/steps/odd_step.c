/* odd_step.c: see odd_step.h. */
#include "analyze/steps/odd_step.h"

#include <stdlib.h>

#include "base/stats.h"

enum { LEAST_STEPS = 4 };
#define LEAST_MORE_NS 100000 /* a part that took less longer is not named */

/* The own time of a row, in the step it lies in. */
struct own {
    str_id name;
    uint32_t step;
    int64_t ns;
};

struct look {
    const struct trace *t;
    const struct steps *s;
    struct odd_step *ret;
    int64_t *scratch; /* one per step */
    struct own *list;
    uint32_t n;
};

/* The one that ended just before, or is the longer of the last two by then: who noticed that it
 * took long did so a moment later. */
static bool find_step(const struct steps *s, int64_t at_ns, uint32_t *ret)
{
    uint32_t n = 0;
    while (n < s->n_steps && s->steps[n].cpu.begin_ns <= at_ns) n++;
    if (!n) return false;
    *ret = n - 1;
    if (n < 2) return true;
    const struct span *last = &s->steps[n - 1].cpu, *before = &s->steps[n - 2].cpu;
    if (before->end_ns - before->begin_ns > last->end_ns - last->begin_ns) *ret = n - 2;
    return true;
}

static int64_t wall(const struct step *s)
{
    return s->cpu.end_ns - s->cpu.begin_ns;
}

static int64_t blocked(const struct step *s)
{
    return s->blocked_ns;
}

static int64_t gpu(const struct step *s)
{
    return s->gpu.union_ns;
}

static int64_t launches(const struct step *s)
{
    return s->launches;
}

static int64_t syncs(const struct step *s)
{
    return s->syncs;
}

static struct odd_pair compare(const struct look *k, int64_t (*of)(const struct step *))
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < k->s->n_steps; i++)
        if (i != k->ret->step) k->scratch[n++] = of(&k->s->steps[i]);
    stats_sort(k->scratch, n);
    return (struct odd_pair){of(&k->s->steps[k->ret->step]), stats_median(k->scratch, n)};
}

static int by_name(const void *a, const void *b)
{
    const struct own *x = a, *y = b;
    if (x->name != y->name) return x->name < y->name ? -1 : 1;
    return (x->step > y->step) - (x->step < y->step);
}

/* Rows of the thread that steps, in time order, so the step of each is the same or a later one. */
static int collect(struct look *k, struct arena *mem)
{
    const struct trace *t = k->t;
    const struct lane *l = &t->lanes[k->s->lane];
    uint32_t n = l->end - l->begin, step = 0;
    int64_t *inner = arena_zalloc(mem, (size_t)n + 1, sizeof *inner);
    k->list = arena_zalloc(mem, (size_t)n + 1, sizeof *k->list);
    if (!inner || !k->list) return ERR_NOMEM;
    for (row_t r = l->begin; r < l->end; r++) {
        row_t up = t->parent[r];
        if (up != ROW_NONE && up >= l->begin && up < r) inner[up - l->begin] += t->dur_ns[r];
    }
    for (row_t r = l->begin; r < l->end; r++) {
        while (step < k->s->n_steps && k->s->steps[step].cpu.end_ns <= t->ts_ns[r]) step++;
        if (step == k->s->n_steps) break;
        int64_t own = t->dur_ns[r] - inner[r - l->begin];
        if (own <= 0 || t->ts_ns[r] < k->s->steps[step].cpu.begin_ns) continue;
        k->list[k->n++] = (struct own){t->name[r], step, own};
    }
    qsort(k->list, k->n, sizeof *k->list, by_name);
    return 0;
}

/* Keeps the largest differences, in order. */
static void keep(struct odd_step *o, struct odd_part p)
{
    int64_t more = p.own_ns.here - p.own_ns.usual;
    if (more < LEAST_MORE_NS) return;
    uint32_t i = o->n_parts < ODD_PARTS ? o->n_parts++ : ODD_PARTS;
    for (; i > 0; i--) {
        const struct odd_pair *b = &o->parts[i - 1].own_ns;
        if (b->here - b->usual >= more) break;
        if (i < ODD_PARTS) o->parts[i] = o->parts[i - 1];
    }
    if (i < ODD_PARTS) o->parts[i] = p;
}

/* Entries [from, to) are of one name. Steps in which it did not run count as 0. */
static void weigh(struct look *k, uint32_t from, uint32_t to)
{
    int64_t here = 0;
    uint32_t n = 0, others = k->s->n_steps - 1;
    for (uint32_t i = from; i < to;) {
        int64_t sum = 0;
        uint32_t step = k->list[i].step;
        for (; i < to && k->list[i].step == step; i++) sum += k->list[i].ns;
        if (step == k->ret->step) here = sum;
        else k->scratch[n++] = sum;
    }
    if (here < LEAST_MORE_NS) return;
    while (n < others) k->scratch[n++] = 0;
    stats_sort(k->scratch, n);
    keep(k->ret, (struct odd_part){k->list[from].name, {here, stats_median(k->scratch, n)}});
}

static int look(struct look *k, struct arena *mem)
{
    struct odd_step *o = k->ret;
    k->scratch = arena_zalloc(mem, (size_t)k->s->n_steps + 1, sizeof *k->scratch);
    if (!k->scratch) return ERR_NOMEM;
    o->n_others = k->s->n_steps - 1;
    o->wall_ns = compare(k, wall);
    o->blocked_ns = compare(k, blocked);
    o->gpu_ns = compare(k, gpu);
    o->launches = compare(k, launches);
    o->syncs = compare(k, syncs);
    TRY(collect(k, mem));
    for (uint32_t i = 0, n; i < k->n; i += n) {
        for (n = 1; i + n < k->n && k->list[i + n].name == k->list[i].name;) n++;
        weigh(k, i, i + n);
    }
    return 0;
}

static int run(struct context *cx, void *result, struct err *e)
{
    struct odd_step *o = result;
    const struct steps *s = steps_of(cx);
    o->is_snapshot = kept_find(cx->t, &o->shot);
    if (!o->is_snapshot || !o->shot.slow || s->n_steps < LEAST_STEPS) return 0;
    o->found = find_step(s, o->shot.at_ns, &o->step);
    struct look k = {.t = cx->t, .s = s, .ret = o};
    return o->found ? err_grow(e, look(&k, cx->mem)) : 0;
}

static const struct pass *const needs[] = {&steps_pass, NULL};

const struct pass odd_step_pass = {
    .id = PASS_ODD_STEP,
    .size = sizeof(struct odd_step),
    .needs = needs,
    .run = run,
};
