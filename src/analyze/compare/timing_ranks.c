/* timing_ranks.c: see timings.h. */
#include "analyze/compare/timings.h"

#include <string.h>

#include "analyze/compare/compare_constants.h"
#include "analyze/names/collective.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/stats.h"

/* Below this share of the wall clock a difference between ranks is chance. */
#define MOST_CELLS (1u << 26)

static int timing_ranks_rank_of(const struct ranks *r, uint32_t i)
{
    return r->list[i].rank >= 0 ? r->list[i].rank : (int)i;
}

/* Data-parallel training reduces its gradients inside backward: there, too, the early ranks wait.
 */
static bool ranks_meet(struct str name)
{
    return collective_stage(name) || str_is(name, "backward");
}

/* Every path that any rank has, in the order the ranks have them; `place` gets their numbers. */
static int list_stages(struct ranks *r, struct arena *mem, struct map *place)
{
    size_t most = 0;
    for (uint32_t i = 0; i < r->n; i++) most += r->list[i].n_stages;
    r->stages = arena_zalloc(mem, most, sizeof *r->stages);
    if (!r->stages) return ERR_NOMEM;
    for (uint32_t i = 0; i < r->n; i++)
        for (uint32_t k = 0; k < r->list[i].n_stages; k++) {
            const struct timing_stage *s = &r->list[i].stages[k];
            uint32_t *slot = map_at(place, intern_hash(str_c(s->path)));
            if (!slot) return ERR_NOMEM;
            if (*slot != MAP_NONE) continue;
            *slot = r->n_stages;
            r->stages[r->n_stages++] = (struct rank_stage){.path = s->path,
                                                           .name = s->name,
                                                           .meeting = ranks_meet(str_c(s->name)),
                                                           .peak_bytes = -1};
        }
    return 0;
}

static int place_stages(struct ranks *r, struct arena *mem, const struct map *place)
{
    if ((uint64_t)r->n_stages * r->n > MOST_CELLS) return ERR_LIMIT;
    r->at = arena_zalloc(mem, (size_t)r->n_stages * r->n, sizeof *r->at);
    if (!r->at) return ERR_NOMEM;
    for (uint32_t i = 0; i < r->n; i++)
        for (uint32_t k = 0; k < r->list[i].n_stages; k++) {
            const struct timing_stage *s = &r->list[i].stages[k];
            uint32_t row = map_find(place, intern_hash(str_c(s->path)));
            r->at[(size_t)row * r->n + i] = s;
        }
    return 0;
}

static void timing_ranks_sum_stage(struct ranks *r, uint32_t k)
{
    struct rank_stage *out = &r->stages[k];
    int64_t sum = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        const struct timing_stage *s = r->at[(size_t)k * r->n + i];
        if (!s) continue;
        if (!out->n_ranks || s->total_ns < out->min_ns) {
            out->min_ns = s->total_ns;
            out->min_rank = timing_ranks_rank_of(r, i);
        }
        if (!out->n_ranks || s->total_ns > out->max_ns) {
            out->max_ns = s->total_ns;
            out->max_rank = timing_ranks_rank_of(r, i);
            out->slowest = s;
        }
        out->errors += s->errors;
        if (s->count > out->count) out->count = s->count;
        if (s->gpu_ns > out->gpu_max_ns) out->gpu_max_ns = s->gpu_ns;
        if (s->peak_bytes > out->peak_bytes) out->peak_bytes = s->peak_bytes;
        sum += s->total_ns;
        out->n_ranks++;
    }
    out->mean_ns = out->n_ranks ? sum / out->n_ranks : 0;
    out->imbalance_pct = stats_pct(out->max_ns - out->mean_ns, out->mean_ns);
}

/* A stage's own time on rank `i`: what is inside it counts there. */
static int64_t timing_ranks_own_ns(const struct ranks *r, uint32_t k, uint32_t i)
{
    const struct timing_stage *s = r->at[(size_t)k * r->n + i];
    return !s ? 0 : s->self_ns >= 0 ? s->self_ns : s->total_ns;
}

/* How far the slowest rank of a stage is from the next slowest. */
static int64_t lone_excess(const struct ranks *r, uint32_t k, uint32_t *ret_who)
{
    int64_t first = -1, second = -1;
    for (uint32_t i = 0; i < r->n; i++) {
        int64_t ns = timing_ranks_own_ns(r, k, i);
        if (ns > first) {
            second = first;
            first = ns;
            *ret_who = i;
        } else if (ns > second) {
            second = ns;
        }
    }
    return first - second;
}

static int64_t mean_of_others(const struct ranks *r, uint32_t who, uint32_t k)
{
    if (r->n < 2) return 0;
    int64_t sum = 0;
    for (uint32_t i = 0; i < r->n; i++)
        if (i != who) sum += timing_ranks_own_ns(r, k, i);
    return sum / (r->n - 1);
}

/* Where the others spend more than the straggler does: there they wait. It must be a good part of
 * what the straggler takes longer; less is chance. */
static void find_waiting(struct ranks *r, uint32_t who)
{
    r->waiting_in = UINT32_MAX;
    for (uint32_t k = 0; k < r->n_stages; k++) {
        int64_t own = timing_ranks_own_ns(r, k, who);
        int64_t more = mean_of_others(r, who, k) - own;
        if (more <= r->others_wait_ns || more < r->excess_ns / 3) continue;
        r->others_wait_ns = more;
        r->waiting_in = k;
    }
}

/* How much less the rank that spends least in a stage spends there than the next. */
static int64_t lone_shortfall(const struct ranks *r, uint32_t k, uint32_t *ret_who)
{
    int64_t first = INT64_MAX, second = INT64_MAX;
    for (uint32_t i = 0; i < r->n; i++) {
        int64_t ns = timing_ranks_own_ns(r, k, i);
        if (ns < first) {
            second = first;
            first = ns;
            *ret_who = i;
        } else if (ns < second) {
            second = ns;
        }
    }
    return second - first;
}

/* A rank's wall clock without the stages where ranks meet. */
static int64_t apart_ns(const struct ranks *r, uint32_t i)
{
    int64_t ns = r->list[i].wall_ns;
    for (uint32_t k = 0; k < r->n_stages; k++)
        if (r->stages[k].meeting) ns -= timing_ranks_own_ns(r, k, i);
    return ns;
}

/* Who waits least where ranks meet came last, if it was busy elsewhere meanwhile: ranks that only
 * have less to do there end sooner instead. `wait` is zeroed; the time the others wait, or 0. */
static int64_t timing_ranks_find_last(const struct ranks *r, int64_t *wait, uint32_t *ret_who)
{
    uint32_t last = 0;
    for (uint32_t k = 0; k < r->n_stages; k++) {
        uint32_t who = 0;
        int64_t ns = r->stages[k].meeting ? lone_shortfall(r, k, &who) : 0;
        wait[who] += ns;
        if (wait[who] > wait[last]) last = who;
    }
    int64_t own = apart_ns(r, last);
    for (uint32_t i = 0; i < r->n; i++)
        if (i != last && own - apart_ns(r, i) < wait[last] / 2) return 0;
    *ret_who = last;
    return wait[last];
}

static void name_straggler(struct ranks *r, uint32_t who, uint32_t where, int64_t excess_ns)
{
    r->straggler = timing_ranks_rank_of(r, who);
    r->straggler_in = where;
    r->excess_ns = excess_ns;
    if (where != UINT32_MAX) {
        r->straggler_ns = timing_ranks_own_ns(r, where, who);
        r->others_ns = mean_of_others(r, who, where);
    }
    find_waiting(r, who);
}

static int find_straggler(struct ranks *r, struct arena *mem)
{
    int64_t *excess = arena_zalloc(mem, r->n, sizeof *excess);
    int64_t *worst = arena_zalloc(mem, r->n, sizeof *worst);
    int64_t *waits = arena_zalloc(mem, r->n, sizeof *waits);
    uint32_t *where = arena_zalloc(mem, r->n, sizeof *where);
    if (!excess || !worst || !waits || !where) return ERR_NOMEM;
    for (uint32_t k = 0; k < r->n_stages; k++) {
        uint32_t who = 0;
        int64_t ns = r->stages[k].meeting ? 0 : lone_excess(r, k, &who);
        excess[who] += ns;
        if (ns <= worst[who]) continue;
        worst[who] = ns;
        where[who] = k;
    }
    uint32_t who = 0, last = 0;
    for (uint32_t i = 1; i < r->n; i++)
        if (excess[i] > excess[who]) who = i;
    int64_t least = (int64_t)(timing_ranks_share * (double)r->wall_max_ns),
            wait = timing_ranks_find_last(r, waits, &last);
    if (excess[who] >= least && excess[who] && (last == who || excess[who] >= wait))
        name_straggler(r, who, where[who], excess[who]);
    else if (wait >= least && wait > 0) name_straggler(r, last, UINT32_MAX, wait);
    return 0;
}

int ranks_run(const struct timing *list, uint32_t n, struct arena *mem, struct ranks *ret,
              struct err *e)
{
    struct ranks r = {.list = list, .n = n, .straggler = -1, .world = -1, .waiting_in = UINT32_MAX};
    for (uint32_t i = 0; i < n; i++) {
        if (list[i].world > r.world) r.world = list[i].world;
        if (list[i].wall_ns > r.wall_max_ns) r.wall_max_ns = list[i].wall_ns;
        r.lost_records += list[i].lost_records;
        r.n_recovered += list[i].recovered;
        r.n_running += list[i].running;
    }
    struct map place;
    map_init(&place);
    int rc = list_stages(&r, mem, &place);
    if (rc == 0) rc = place_stages(&r, mem, &place);
    map_done(&place);
    for (uint32_t k = 0; rc == 0 && k < r.n_stages; k++) timing_ranks_sum_stage(&r, k);
    if (rc == 0 && n > 1) rc = find_straggler(&r, mem);
    if (rc < 0) return rc == ERR_NOMEM ? err_nomem(e) : FAIL(e, rc, "too many stages and ranks");
    *ret = r;
    return 0;
}
