/* rank_replay.c: see rank_chart.h. */
#include "analyze/ranks/rank_chart.h"

#include <stdlib.h>

#include "analyze/ranks/ranks_constants.h"
#include "analyze/simulate/edits.h"
#include "analyze/steps/steps.h"

/* Rounds of the replay, until the collectives end when they should, to this. */
#define MOST_ROUNDS 6

static const struct rank_straggler *straggler_of(const struct rank_set *s, uint32_t rank)
{
    for (uint32_t i = 0; i < s->n_stragglers; i++)
        if (s->stragglers[i].rank == rank) return &s->stragglers[i];
    return NULL;
}

bool rank_replay_pick(const struct rank_set *s, uint32_t *ret)
{
    bool found = false;
    for (uint32_t r = 0; r < s->n; r++) {
        if (straggler_of(s, r) || !s->ranks[r].n_events) continue;
        if (found && s->wait_ns[r] <= s->wait_ns[*ret]) continue;
        *ret = r;
        found = true;
    }
    return found;
}

/* ---- through all ranks: by how much earlier each collective ends when no straggler is late */

/* How much earlier a rank is after its last collective, and was before it. */
struct ahead {
    int64_t end_ns; /* of that collective, by the clock of the rank */
    int64_t after_ns, before_ns;
};

struct spreading {
    const struct rank_set *s;
    struct ahead *ranks; /* by index in the set */
    uint32_t rank;       /* the one to replay */
    int64_t *saved;      /* by its events: what goes of them */
    int64_t *sooner;     /* by its events: how much earlier they end */
};

/* A rank is earlier by what the collective before gained, unless it came before that one's end. */
static int64_t earlier_by(const struct spreading *p, const struct rank_member *m)
{
    const struct ahead *a = &p->ranks[m->rank];
    int64_t begin = p->s->ranks[m->rank].events[m->event].begin_ns;
    return begin < a->end_ns ? a->before_ns : a->after_ns;
}

static int64_t link_gain(const struct rank_set *s, const struct rank_collective *c)
{
    bool slow = false;
    for (uint32_t i = 0; i < c->n && !slow; i++) {
        const struct rank_straggler *x = straggler_of(s, c->members[i].rank);
        slow = x && x->cause == RANK_CAUSE_SLOW_LINK;
    }
    return slow && c->usual_ns >= 0 && c->transfer_ns > c->usual_ns ? c->transfer_ns - c->usual_ns
                                                                    : 0;
}

static void rank_replay_spread(struct spreading *p, const struct rank_collective *c)
{
    int64_t least =
        INT64_MAX; /* of what remains of the wait and the gain: of who comes last then */
    for (uint32_t i = 0; i < c->n; i++) {
        const struct rank_member *m = &c->members[i];
        int64_t own = straggler_of(p->s, m->rank) ? (int64_t)m->after_ns : 0;
        int64_t gain = (int64_t)m->wait_ns + earlier_by(p, m) + own;
        if (gain < least) least = gain;
    }
    least += link_gain(p->s, c);
    for (uint32_t i = 0; i < c->n; i++) {
        const struct rank_member *m = &c->members[i];
        struct ahead *a = &p->ranks[m->rank];
        int64_t end = p->s->ranks[m->rank].events[m->event].end_ns, was = earlier_by(p, m);
        if (m->rank == p->rank) p->saved[m->event] = least - was, p->sooner[m->event] = least;
        if (end > a->end_ns) *a = (struct ahead){end, least, was};
    }
}

/* What becomes of each event of `rank`. */
static int find_saved(const struct rank_set *s, uint32_t rank, struct arena *mem,
                      struct spreading *ret)
{
    size_t n = (size_t)s->ranks[rank].n_events + 1;
    *ret = (struct spreading){s, arena_zalloc(mem, (size_t)s->n + 1, sizeof *ret->ranks), rank,
                              arena_zalloc(mem, n, sizeof *ret->saved),
                              arena_zalloc(mem, n, sizeof *ret->sooner)};
    if (!ret->ranks || !ret->saved || !ret->sooner) return ERR_NOMEM;
    for (uint32_t r = 0; r < s->n; r++) ret->ranks[r].end_ns = INT64_MIN;
    for (uint32_t i = 0; i < s->n_list; i++) rank_replay_spread(ret, &s->list[i]);
    return 0;
}

/* ---- inside one rank */

struct shorter {
    row_t *rows;
    int64_t *ns;        /* how long they take then, at least */
    int64_t *sooner_ns; /* how much earlier they end */
    uint32_t n;
    int64_t saved_ns, exposed_ns; /* waiting that goes, and what of it nothing ran beside */
    int64_t in_loop_ns;           /* of saved_ns, from the first step on */
    uint32_t calls;               /* that begin in it */
};

static void count_saved(const struct context *cx, int64_t from_ns, int64_t to_ns,
                        struct shorter *ret)
{
    const struct sim_model *m = model_of(cx);
    const struct comm *c = comm_of(cx);
    ret->saved_ns += to_ns - from_ns;
    if (!steps_of(cx)->n_steps || to_ns > steps_of(cx)->loop.begin_ns)
        ret->in_loop_ns += to_ns - from_ns;
    ret->exposed_ns += timeline_busy_ns(&c->devices[c->busiest].exposed, from_ns, to_ns);
    ret->calls += sim_call_at(m, to_ns) - sim_call_at(m, from_ns);
}

static int list_shorter(struct context *cx, const struct rank_set *s, uint32_t rank,
                        struct shorter *ret)
{
    const struct rank_summary *own = &s->ranks[rank];
    struct spreading p;
    TRY(find_saved(s, rank, cx->mem, &p));
    ret->rows = arena_zalloc(cx->mem, (size_t)own->n_events + 1, sizeof *ret->rows);
    ret->ns = arena_zalloc(cx->mem, (size_t)own->n_events + 1, sizeof *ret->ns);
    ret->sooner_ns = arena_zalloc(cx->mem, (size_t)own->n_events + 1, sizeof *ret->sooner_ns);
    if (!ret->rows || !ret->ns || !ret->sooner_ns) return ERR_NOMEM;
    for (uint32_t i = 0; i < own->n_events; i++) {
        int64_t saved = p.saved[i];
        if (own->events[i].work >= comm_of(cx)->n_works || (!saved && !p.sooner[i])) continue;
        row_t r = comm_of(cx)->works[own->events[i].work].row;
        ret->rows[ret->n] = r;
        ret->sooner_ns[ret->n] = p.sooner[i];
        ret->ns[ret->n++] = cx->t->dur_ns[r] > saved ? cx->t->dur_ns[r] - saved : 1;
        if (saved > 0) count_saved(cx, trace_end_ns(cx->t, r) - saved, trace_end_ns(cx->t, r), ret);
    }
    return 0;
}

/* Whether the CPU is blocked while the device waits for other ranks: hardly a call begins then.
 * If so, it goes on earlier when the device does. */
static bool is_blocked(const struct sim_model *m, const struct shorter *x)
{
    double window = (double)(m->end_ns - m->begin_ns);
    double expected = window > 0 ? (double)m->n_calls * (double)x->saved_ns / window : 0;
    return (double)x->calls < rank_replay_blocked_share * expected;
}

/* Communication waits for what was launched before it, on the stream that computes; the model only
 * knows of waits that were seen, and a collective queued behind a late one hides its own. Sets them
 * in a copy of the works. */
static int add_hidden_waits(struct context *cx, struct sim_model *m)
{
    struct sim_work *works = arena_alloc(cx->mem, ((size_t)m->n_works + 1) * sizeof *works);
    uint32_t *last = arena_alloc(cx->mem, ((size_t)m->n_calls + 1) * sizeof *last);
    if (!works || !last) return ERR_NOMEM;
    for (uint32_t w = 0; w < m->n_works; w++) works[w] = m->works[w];
    uint32_t at = SIM_NONE; /* the last compute launched so far */
    for (uint32_t c = 0; c < m->n_calls; c++) {
        last[c] = at;
        for (uint32_t i = 0; i < m->calls[c].n_work; i++) {
            uint32_t w = m->works_by_call[m->calls[c].first_work + i];
            if (!collective_kernel(trace_name(cx->t, works[w].row))) at = w;
        }
    }
    for (uint32_t w = 0; w < m->n_works; w++) {
        struct sim_work *x = &works[w];
        if (x->call == SIM_NONE || x->waits_for != SIM_NONE) continue;
        uint32_t before = last[x->call];
        if (before == SIM_NONE || before >= w || works[before].stream == x->stream) continue;
        if (works[before].end_ns > x->begin_ns || !collective_kernel(trace_name(cx->t, x->row)))
            continue;
        x->waits_for = before;
        x->wait_delay_ns = 0;
    }
    m->works = works;
    return 0;
}

static int rank_replay_by_begin(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

/* The step of the rank when it is over earlier by `gain_ns`. */
static int64_t shorter_step(const struct rank_summary *r, const struct shorter *x, int64_t gain_ns)
{
    double in_loop = x->saved_ns > 0 ? (double)x->in_loop_ns / (double)x->saved_ns : 1;
    double step = (double)r->step_ns - (double)gain_ns * in_loop / (r->n_steps ? r->n_steps : 1);
    return step > 0 ? (int64_t)step : 0;
}

/* Without a device nothing is replayed: the waiting that goes, each moment once. */
static int host_step(struct context *cx, const struct rank_set *s, uint32_t rank, int64_t *ret_step)
{
    const struct rank_summary *r = &s->ranks[rank];
    struct spreading p;
    struct span *gone = arena_zalloc(cx->mem, (size_t)r->n_events + 1, sizeof *gone);
    int64_t total = 0, covered = INT64_MIN;
    uint32_t n = 0;
    if (!gone || find_saved(s, rank, cx->mem, &p) < 0) return ERR_NOMEM;
    int64_t from = steps_of(cx)->n_steps ? cx->t->base_ns + steps_of(cx)->loop.begin_ns : INT64_MIN;
    for (uint32_t i = 0; i < r->n_events; i++)
        if (p.saved[i] > 0 && r->events[i].end_ns > from)
            gone[n++] = (struct span){r->events[i].end_ns - p.saved[i], r->events[i].end_ns};
    if (n) qsort(gone, n, sizeof *gone, rank_replay_by_begin);
    for (uint32_t i = 0; i < n; i++) total += span_uncovered(&covered, gone[i]);
    struct shorter x = {.saved_ns = 1, .in_loop_ns = 1};
    *ret_step = shorter_step(r, &x, total);
    return 0;
}

/* The most that can be gained: what all stragglers do longer than the others. */
static int64_t rank_replay_most_gain(const struct rank_set *s)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < s->n_stragglers; i++) {
        if (!s->stragglers[i].extra_ns) return INT64_MAX;
        sum += s->stragglers[i].extra_ns;
    }
    return sum;
}

/* ---- when collectives end */

/* A collective ends when all of its ranks let it, whenever this one comes: its length is what lies
 * between. `work` is by its place in the list, SIM_NONE where the model does not have it. */
struct meeting {
    const struct sim_model *m;
    const struct shorter *x;
    uint32_t *work;
    int64_t *end_ns; /* when it ends without stragglers */
    struct sim_plan *plan;
};

static int find_works(struct meeting *w, struct context *cx)
{
    uint32_t *of = arena_alloc(cx->mem, ((size_t)cx->t->n_rows + 1) * sizeof *of);
    w->work = arena_alloc(cx->mem, ((size_t)w->x->n + 1) * sizeof *w->work);
    w->end_ns = arena_zalloc(cx->mem, (size_t)w->x->n + 1, sizeof *w->end_ns);
    if (!of || !w->work || !w->end_ns) return ERR_NOMEM;
    for (uint32_t i = 0; i < w->x->n; i++) of[w->x->rows[i]] = SIM_NONE;
    for (uint32_t i = 0; i < w->m->n_works; i++) of[w->m->works[i].row] = i;
    for (uint32_t i = 0; i < w->x->n; i++) w->work[i] = of[w->x->rows[i]];
    return 0;
}

/* Sets lengths by when collectives begin now; whether any changed. */
static bool set_lengths(struct meeting *w, const struct sim_result *now)
{
    bool changed = false;
    for (uint32_t i = 0; i < w->x->n; i++) {
        uint32_t k = w->work[i];
        if (k == SIM_NONE) continue;
        int64_t was = w->m->works[k].end_ns - w->m->works[k].begin_ns;
        int64_t least = w->x->ns[i] < was ? w->x->ns[i] : was;
        int64_t ns = w->end_ns[i] - now->work_begin_ns[k];
        if (ns < least) ns = least;
        int64_t change = ns - w->plan->work_ns[k];
        changed = changed || change > rank_replay_same_ns || change < -rank_replay_same_ns;
        w->plan->work_ns[k] = ns;
    }
    return changed;
}

/* The wall clock before and after; each round is right for one more collective in a row. */
static int replay_meeting(struct meeting *w, struct context *cx, int64_t *before, int64_t *after,
                          struct err *e)
{
    struct sim_plan none = {0};
    struct sim_result now;
    if (find_works(w, cx) < 0) return err_nomem(e);
    TRY(sim_replay(w->m, &none, cx->mem, &now, e));
    *before = now.wall_ns;
    for (uint32_t i = 0; i < w->x->n; i++)
        if (w->work[i] != SIM_NONE) w->end_ns[i] = now.work_end_ns[w->work[i]] - w->x->sooner_ns[i];
    for (int round = 0; round < MOST_ROUNDS; round++) {
        struct arena_mark mark = arena_mark(cx->mem);
        TRY(sim_replay(w->m, w->plan, cx->mem, &now, e));
        *after = now.wall_ns;
        bool changed = set_lengths(w, &now);
        arena_reset_to(cx->mem, mark);
        if (!changed) break;
    }
    return 0;
}

int rank_replay_run(struct context *cx, const struct rank_set *s, uint32_t rank, int64_t *ret_step,
                    struct err *e)
{
    struct shorter x = {0};
    struct sim_plan plan;
    int64_t before, after;
    TRY(context_need(cx, &steps_pass, e));
    if (s->ranks[rank].host_only) return host_step(cx, s, rank, ret_step) < 0 ? err_nomem(e) : 0;
    TRY(context_need(cx, &comm_pass, e));
    TRY(context_need(cx, &model_pass, e));
    struct sim_model m = *model_of(cx);
    if (list_shorter(cx, s, rank, &x) < 0 || add_hidden_waits(cx, &m) < 0) return err_nomem(e);
    struct sim_edit edit = {.kind = EDIT_SET_WORK, .rows = x.rows, .row_ns = x.ns, .n_rows = x.n};
    TRY(sim_plan_build(&m, (struct sim_edits){&edit, 1, NULL}, cx->mem, &plan, e));
    struct meeting w = {.m = &m, .x = &x, .plan = &plan};
    before = after = m.end_ns - m.begin_ns;
    if (x.n) TRY(replay_meeting(&w, cx, &before, &after, e));
    if (is_blocked(&m, &x) && before - x.exposed_ns < after) after = before - x.exposed_ns;
    int64_t gain = before > after ? before - after : 0, most = rank_replay_most_gain(s);
    *ret_step = shorter_step(&s->ranks[rank], &x, gain < most ? gain : most);
    return 0;
}
