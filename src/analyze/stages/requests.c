/* requests.c: see stages.h. */
#include "analyze/stages/stages.h"

#include <stdlib.h>

#include "analyze/stages/stages_constants.h"
#include "base/stats.h"

enum group { OTHER, USUAL, SLOW };

struct request {
    int64_t begin_ns, end_ns;
    uint32_t call; /* index into the tree's calls */
};

struct look {
    const struct stages *s;
    struct requests *ret;
    struct request *list;
    uint32_t n;
    int64_t *sorted;
    uint8_t *group; /* by call */
};

static int requests_by_begin(const void *a, const void *b)
{
    const struct request *x = a, *y = b;
    if (x->begin_ns != y->begin_ns) return x->begin_ns < y->begin_ns ? -1 : 1;
    return (x->call > y->call) - (x->call < y->call);
}

static int by_duration(const void *a, const void *b)
{
    const struct request *x = a, *y = b;
    int64_t dx = x->end_ns - x->begin_ns, dy = y->end_ns - y->begin_ns;
    if (dx != dy) return dx < dy ? -1 : 1;
    return (x->call > y->call) - (x->call < y->call);
}

static void requests_take_calls(struct look *k, uint32_t node)
{
    const struct stage_tree *tree = &k->s->tree;
    k->n = 0;
    for (uint32_t i = 0; i < tree->n_calls; i++)
        if (tree->calls[i].node == node)
            k->list[k->n++] = (struct request){tree->calls[i].begin_ns, tree->calls[i].end_ns, i};
    if (k->n) qsort(k->list, k->n, sizeof *k->list, requests_by_begin);
}

/* How many of the calls, in order of their begin, begin while another one is open. */
static uint32_t n_beside(const struct look *k)
{
    uint32_t n = 0;
    int64_t open_until = INT64_MIN;
    for (uint32_t i = 0; i < k->n; i++) {
        n += k->list[i].begin_ns < open_until;
        if (k->list[i].end_ns > open_until) open_until = k->list[i].end_ns;
    }
    return n;
}

static uint32_t most_at_once(const struct look *k)
{
    uint32_t most = 0, ended = 0;
    for (uint32_t i = 0; i < k->n; i++) k->sorted[i] = k->list[i].end_ns;
    stats_sort(k->sorted, k->n);
    for (uint32_t i = 0; i < k->n; i++) {
        while (ended < k->n && k->sorted[ended] <= k->list[i].begin_ns) ended++;
        if (i + 1 - ended > most) most = i + 1 - ended;
    }
    return most;
}

/* The outermost stage with the most time whose calls overlap. */
static bool requests_choose(struct look *k)
{
    int64_t most = 0;
    for (uint32_t i = 0; i < k->s->n; i++) {
        const struct stage *x = &k->s->list[i];
        if (x->parent != STAGE_NONE || !x->user || x->backward || x->calls < requests_least_calls)
            continue;
        if (x->cpu_ns <= most) continue;
        requests_take_calls(k, i);
        if (k->n < requests_least_calls || n_beside(k) * requests_beside_part < k->n) continue;
        most = x->cpu_ns;
        k->ret->stage = i;
    }
    return most > 0;
}

static int64_t requests_share(int64_t sum, uint32_t n)
{
    return n ? sum / n : 0;
}

static int64_t requests_mean(const struct look *k, uint32_t from, uint32_t to, enum group group)
{
    int64_t sum = 0;
    for (uint32_t i = from; i < to; i++) {
        sum += k->list[i].end_ns - k->list[i].begin_ns;
        k->group[k->list[i].call] = (uint8_t)group;
    }
    return requests_share(sum, to - from);
}

/* Puts calls into groups by how long they took. */
static void requests_divide(struct look *k)
{
    struct requests *r = k->ret;
    qsort(k->list, k->n, sizeof *k->list, by_duration);
    for (uint32_t i = 0; i < k->n; i++) k->sorted[i] = k->list[i].end_ns - k->list[i].begin_ns;
    r->n = k->n;
    r->median_ns = stats_median(k->sorted, k->n);
    r->p95_ns = stats_percentile(k->sorted, k->n, 95);
    r->p99_ns = stats_percentile(k->sorted, k->n, 99);
    uint32_t lo = k->n * requests_middle_low_pct / 100, hi = k->n * requests_middle_high_pct / 100,
             slow = k->n / requests_slow_part;
    r->n_usual = hi - lo;
    r->n_slow = slow;
    r->usual_ns = requests_mean(k, lo, hi, USUAL);
    r->slow_ns = requests_mean(k, k->n - slow, k->n, SLOW);
}

static void requests_keep(struct requests *r, struct request_part p)
{
    int64_t more = p.slow_ns - p.usual_ns;
    uint32_t i = r->n_parts < REQUEST_PARTS ? r->n_parts++ : REQUEST_PARTS;
    for (; i > 0; i--) {
        const struct request_part *b = &r->parts[i - 1];
        if (b->slow_ns - b->usual_ns >= more) break;
        if (i < REQUEST_PARTS) r->parts[i] = *b;
    }
    if (i < REQUEST_PARTS) r->parts[i] = p;
}

/* The time of the stages directly inside, by group; what is left is in none of them. */
static int requests_add_parts(struct look *k, struct arena *mem)
{
    const struct stage_tree *tree = &k->s->tree;
    struct requests *r = k->ret;
    int64_t(*sum)[SLOW + 1] = arena_zalloc(mem, (size_t)k->s->n + 1, sizeof *sum);
    if (!sum) return ERR_NOMEM;
    for (uint32_t i = 0; i < tree->n_calls; i++) {
        const struct stage_call *c = &tree->calls[i];
        if (c->parent == STAGE_NONE || tree->calls[c->parent].node != r->stage) continue;
        sum[c->node][k->group[c->parent]] += c->end_ns - c->begin_ns;
    }
    struct request_part rest = {STAGE_NONE, r->usual_ns, r->slow_ns};
    for (uint32_t i = 0; i < k->s->n; i++) {
        if (k->s->list[i].parent != r->stage || k->s->list[i].backward) continue;
        struct request_part p = {i, requests_share(sum[i][USUAL], r->n_usual),
                                 requests_share(sum[i][SLOW], r->n_slow)};
        rest.usual_ns -= p.usual_ns;
        rest.slow_ns -= p.slow_ns;
        if (p.usual_ns || p.slow_ns) requests_keep(r, p);
    }
    if (rest.usual_ns < 0) rest.usual_ns = 0; /* they run beside one another */
    if (rest.slow_ns < 0) rest.slow_ns = 0;
    if (r->n_parts) requests_keep(r, rest);
    return 0;
}

static int requests_run(struct context *cx, void *result, struct err *e)
{
    const struct stages *s = stages_of(cx);
    size_t n = (size_t)s->tree.n_calls + 1;
    struct look k = {.s = s, .ret = result};
    k.list = arena_alloc(cx->mem, n * sizeof *k.list);
    k.sorted = arena_alloc(cx->mem, n * sizeof *k.sorted);
    k.group = arena_zalloc(cx->mem, n, sizeof *k.group);
    if (!k.list || !k.sorted || !k.group) return err_nomem(e);
    k.ret->found = requests_choose(&k);
    if (!k.ret->found) return 0;
    requests_take_calls(&k, k.ret->stage);
    k.ret->most_at_once = most_at_once(&k);
    requests_divide(&k);
    return err_grow(e, requests_add_parts(&k, cx->mem));
}

static const struct pass *const needs[] = {&stages_pass, NULL};

const struct pass requests_pass = {
    .id = PASS_REQUESTS,
    .size = sizeof(struct requests),
    .needs = needs,
    .run = requests_run,
};
