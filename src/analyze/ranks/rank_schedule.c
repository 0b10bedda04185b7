/* rank_schedule.c: waiting that comes from how work is divided, not from a rank that is slow: the
 * bubbles of a pipeline, and experts with more tokens than others. */
#include <stdlib.h>

#include "analyze/ranks/rank_set.h"
#include "analyze/ranks/ranks_constants.h"
#include "analyze/ranks/ranks_private.h"
#include "base/stats.h"

/* ---- pipelines */

#define NOBODY UINT32_MAX

/* The ranks that a rank exchanges messages with: two of them, and whether there are more. */
struct neighbours {
    uint32_t a, b, messages;
    bool many;
};

static void add_neighbour(struct neighbours *n, uint32_t rank)
{
    n->messages++;
    if (n->a == rank || n->b == rank) return;
    if (n->a == NOBODY) n->a = rank;
    else if (n->b == NOBODY) n->b = rank;
    else n->many = true;
}

static bool is_message(const struct rank_collective *c)
{
    return c->what == COLLECTIVE_SEND_RECV && c->n == 2;
}

/* Chains: no rank has more than two neighbours, and some have one, the ends. In a ring no rank has.
 */
static uint32_t rank_schedule_count_stages(const struct neighbours *of, uint32_t n, bool *ret_stage)
{
    uint32_t ends = 0, stages = 0;
    for (uint32_t r = 0; r < n; r++) {
        if (of[r].many) return 0;
        if (of[r].messages < rank_pipeline_messages) continue;
        ret_stage[r] = true;
        stages++;
        ends += of[r].b == NOBODY;
    }
    return ends >= 2 ? stages : 0;
}

int rank_find_pipeline(struct rank_set *s, struct arena *mem)
{
    struct neighbours *of = arena_zalloc(mem, (size_t)s->n + 1, sizeof *of);
    s->pipeline.stage = arena_zalloc(mem, (size_t)s->n + 1, sizeof *s->pipeline.stage);
    s->pipeline.next = arena_zalloc(mem, (size_t)s->n + 1, sizeof *s->pipeline.next);
    if (!of || !s->pipeline.stage || !s->pipeline.next) return ERR_NOMEM;
    for (uint32_t r = 0; r < s->n; r++) of[r] = (struct neighbours){NOBODY, NOBODY, 0, false};
    for (uint32_t i = 0; i < s->n_list; i++) {
        const struct rank_collective *c = &s->list[i];
        if (!is_message(c)) continue;
        add_neighbour(&of[c->members[0].rank], c->members[1].rank);
        add_neighbour(&of[c->members[1].rank], c->members[0].rank);
    }
    s->pipeline.ranks = rank_schedule_count_stages(of, s->n, s->pipeline.stage);
    for (uint32_t r = 0; r < s->n; r++) s->pipeline.next[r] = of[r].a;
    return 0;
}

/* Time in a collective in which nothing else runs and nothing is transferred. */
static int64_t bubble_of(const struct rank_set *s, const struct rank_collective *c,
                         const struct rank_member *m)
{
    int64_t alone = (int64_t)s->ranks[m->rank].events[m->event].exposed_ns;
    return alone > c->transfer_ns ? alone - c->transfer_ns : 0;
}

/* A message, or a collective of stages that hand work to each other: what the first of them waits
 * there for is the rest of the pipeline. `seen` is by rank. */
static bool joins_stages(const struct rank_set *s, const struct rank_collective *c, uint32_t stamp,
                         uint32_t *seen)
{
    if (is_message(c)) return true;
    for (uint32_t i = 0; i < c->n; i++) seen[c->members[i].rank] = stamp;
    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t next = s->pipeline.next[c->members[i].rank];
        if (next != NOBODY && seen[next] == stamp) return true;
    }
    return false;
}

static void find_slowest(struct rank_set *s)
{
    struct rank_pipeline *p = &s->pipeline;
    double sum = 0, most = 0;
    for (uint32_t r = 0; r < s->n; r++) {
        double own = (double)s->ranks[r].compute_ns;
        if (!p->stage[r]) continue;
        sum += own;
        if (own <= most) continue;
        most = own;
        p->slowest = r;
    }
    double others = p->ranks > 1 ? (sum - most) / (p->ranks - 1) : 0;
    p->ratio = others > 0 ? most / others : 0;
}

static int add_bubbles(struct rank_set *s, struct arena *mem)
{
    struct rank_pipeline *p = &s->pipeline;
    double bubbles = 0, uneven = 0, wall = 0;
    uint32_t *seen = arena_zalloc(mem, (size_t)s->n + 1, sizeof *seen);
    p->bubble_ns = arena_zalloc(mem, (size_t)s->n + 1, sizeof *p->bubble_ns);
    if (!p->bubble_ns || !seen) return ERR_NOMEM;
    for (uint32_t i = 0; i < s->n_list; i++) {
        const struct rank_collective *c = &s->list[i];
        bool joins = joins_stages(s, c, i + 1, seen);
        for (uint32_t k = 0; k < c->n && joins; k++)
            p->bubble_ns[c->members[k].rank] += bubble_of(s, c, &c->members[k]);
    }
    find_slowest(s);
    for (uint32_t r = 0; r < s->n; r++) {
        if (!p->stage[r]) continue;
        double own = (double)p->bubble_ns[r];
        double less = (double)(s->ranks[p->slowest].compute_ns - s->ranks[r].compute_ns);
        bubbles += own;
        uneven += less < own ? less : own;
        wall += (double)s->ranks[r].wall_ns;
    }
    p->bubble_pct = stats_pct(bubbles, wall);
    p->uneven_pct = stats_pct(uneven, wall);
    if (p->bubble_pct < rank_schedule_pct) p->ranks = 0;
    return 0;
}

/* ---- experts */

/* What lies between a pair of all-to-alls, added up. */
struct between {
    double mean_ns, most_ns;       /* compute */
    double mean_bytes, most_bytes; /* what ranks send */
    uint32_t pairs;
    uint32_t *busiest; /* by rank: how often */
};

static const struct rank_event *rank_schedule_event_of(const struct rank_set *s,
                                                       const struct rank_member *m)
{
    return &s->ranks[m->rank].events[m->event];
}

/* Whether the rank went from one all-to-all of the group to this one. */
static bool rank_schedule_follows(const struct rank_set *s, const struct rank_member *m)
{
    const struct rank_event *e = rank_schedule_event_of(s, m);
    return m->event > 0 && e[-1].what == e->what && e[-1].group == e->group &&
           e[-1].end_ns <= e->begin_ns;
}

static void add_pair(const struct rank_set *s, const struct rank_collective *c, struct between *b)
{
    double sum = 0, most = -1, bytes = 0, largest = 0;
    uint32_t busiest = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        const struct rank_event *e = rank_schedule_event_of(s, &c->members[i]);
        double own = (double)rank_event_since(e, RANK_COMPUTE);
        if (!rank_schedule_follows(s, &c->members[i])) return;
        sum += own;
        if (own > most) most = own, busiest = c->members[i].rank;
        double size = e->bytes > 0 ? (double)e->bytes : 0;
        bytes += size;
        if (size > largest) largest = size;
    }
    if (most * c->n < rank_even_times * sum) return;
    b->pairs++;
    b->busiest[busiest]++;
    b->mean_ns += sum / c->n;
    b->most_ns += most;
    b->mean_bytes += bytes / c->n;
    b->most_bytes += largest;
}

static bool has_experts(const struct rank_set *s)
{
    static const char *const words[] = {"moe",        "expert",    "grouped",
                                        "group_gemm", "GroupGemm", "GroupedGemm"};
    for (uint32_t r = 0; r < s->n; r++)
        for (uint32_t k = 0; k < s->ranks[r].kernels.n; k++)
            for (size_t w = 0; w < sizeof words / sizeof *words; w++)
                if (strstr(s->ranks[r].kernels.list[k].name, words[w])) return true;
    return false;
}

static void judge_pairs(struct rank_set *s, const struct between *b)
{
    struct rank_experts *x = &s->experts;
    double wall = 0;
    for (uint32_t r = 0; r < s->n; r++) {
        wall += (double)s->ranks[r].wall_ns / s->n;
        if (b->busiest[r] > b->busiest[x->busiest]) x->busiest = r;
    }
    x->ratio = b->mean_ns > 0 ? b->most_ns / b->mean_ns : 0;
    x->size_ratio = b->mean_bytes > 0 ? b->most_bytes / b->mean_bytes : 0;
    x->wait_pct = stats_pct(b->most_ns - b->mean_ns, wall);
    x->often = b->pairs ? (double)b->busiest[x->busiest] / b->pairs : 0;
    bool known =
        x->size_ratio >= rank_sizes_times || has_experts(s) || x->often < rank_same_busiest_share;
    x->found =
        known && x->wait_pct >= rank_schedule_pct && x->ratio >= rank_uneven_times && b->pairs > 1;
}

static int find_experts(struct rank_set *s, struct arena *mem)
{
    struct between b = {.busiest = arena_zalloc(mem, (size_t)s->n + 1, sizeof *b.busiest)};
    if (!b.busiest) return ERR_NOMEM;
    for (uint32_t i = 0; i < s->n_list; i++)
        if (s->list[i].what == COLLECTIVE_ALL_TO_ALL) add_pair(s, &s->list[i], &b);
    judge_pairs(s, &b);
    return 0;
}

int rank_schedule(struct rank_set *s, struct arena *mem)
{
    if (s->pipeline.ranks) TRY(add_bubbles(s, mem));
    return find_experts(s, mem);
}
