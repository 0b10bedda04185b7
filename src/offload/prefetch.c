/* prefetch.c: see offload_private.h. The loads of each step become groups; in front of the first
 * call of every group stand new nodes that wait and issue; the old calls of the loads are dropped.
 */
#include "offload/offload_private.h"
#include "offload/trial.h"

#include <string.h>

/* What a wait costs the CPU when there is nothing to wait for. */
#define WAIT_FLOOR_NS 3000

struct group {
    uint32_t first_load, end_load; /* of streamed->loads, one step */
    uint32_t streamed;             /* the first load that is not resident */
    uint32_t last_copy;            /* work that ends its copies, or SIM_NONE */
    uint32_t first_kernel;         /* work that needs them, or SIM_NONE */
    uint32_t kernel_before;        /* the last one that does not, or SIM_NONE */
};

struct mover {
    struct change *c;
    const struct trial *tr;
    struct arena *mem;
    struct sim_model *m;  /* being made */
    struct group *groups; /* all steps, those with something to copy */
    uint32_t n_groups;
    uint32_t *group_of_load;
    uint32_t *new_call;  /* by old call */
    uint32_t *issued_by; /* by group: the new node that issues its copies */
};

/* ---- groups ---- */

static bool same_group(const struct mover *v, uint32_t a, uint32_t b)
{
    const struct streamed *s = v->tr->s;
    const struct streamed_load *x = &s->loads[a], *y = &s->loads[b];
    if (!v->c->sc->by_block || x->step != y->step || x->lane != y->lane) return false;
    if (x->module == STREAMED_NONE || y->module == STREAMED_NONE) return false;
    return s->modules[x->module].block == s->modules[y->module].block;
}

static bool is_moved(const struct mover *v, uint32_t load)
{
    const struct streamed_load *l = &v->tr->s->loads[load];
    return !change_drops(v->c, l) && !change_in_turn(v->c, l);
}

static void prefetch_make_groups(struct mover *v)
{
    const struct streamed *s = v->tr->s;
    for (uint32_t i = 0, next; i < s->n_loads; i = next) {
        struct group g = {i, i, STREAMED_NONE, SIM_NONE, SIM_NONE, SIM_NONE};
        for (next = i; next < s->n_loads && (next == i || same_group(v, i, next)); next++) {
            v->group_of_load[next] = STREAMED_NONE;
            if (g.streamed == STREAMED_NONE && is_moved(v, next)) g.streamed = next;
        }
        g.end_load = next;
        if (g.streamed == STREAMED_NONE) continue;
        for (uint32_t l = g.streamed; l < next; l++)
            if (is_moved(v, l)) v->group_of_load[l] = v->n_groups;
        v->groups[v->n_groups++] = g;
    }
}

static uint32_t group_of_work(const struct mover *v, uint32_t w)
{
    uint32_t load = v->tr->load_of_work[w];
    return load == STREAMED_NONE ? STREAMED_NONE : v->group_of_load[load];
}

static uint32_t prefetch_step_of(const struct mover *v, uint32_t group)
{
    return v->tr->s->loads[v->groups[group].first_load].step;
}

/* ---- nodes ---- */

static uint32_t prefetch_add_node(struct mover *v, const struct streamed_load *l, uint32_t thread,
                                  int64_t end_ns)
{
    v->m->calls[v->m->n_calls] = (struct sim_call){.row = l->first_call,
                                                   .thread = thread,
                                                   .target = SIM_NONE,
                                                   .begin_ns = l->begin_ns,
                                                   .end_ns = end_ns,
                                                   .floor_ns = WAIT_FLOOR_NS,
                                                   .return_ns = v->m->typical_return_ns};
    return v->m->n_calls++;
}

static void prefetch_add_wait(struct mover *v, const struct streamed_load *l, uint32_t thread,
                              uint32_t work)
{
    if (work == SIM_NONE) return;
    uint32_t c = prefetch_add_node(v, l, thread, l->begin_ns);
    v->m->calls[c].wait = SIM_WAIT_WORK;
    v->m->calls[c].target = work;
}

/* The first or the last kernel that old call `c` launches, or SIM_NONE. */
static uint32_t kernel_of(const struct mover *v, uint32_t c, bool last)
{
    const struct sim_model *old = v->tr->m;
    const struct sim_call *call = &old->calls[c];
    for (uint32_t i = 0; i < call->n_work; i++) {
        uint32_t at = call->first_work + (last ? call->n_work - 1 - i : i);
        uint32_t w = old->works_by_call[at];
        if (v->tr->t->kind[old->works[w].row] == KIND_KERNEL) return w;
    }
    return SIM_NONE;
}

/* The kernels around old call `c`. */
static void find_kernels(const struct mover *v, uint32_t c, struct group *g)
{
    for (uint32_t i = c; i-- > 0 && g->kernel_before == SIM_NONE;)
        g->kernel_before = kernel_of(v, i, true);
    for (uint32_t i = c; i < v->tr->m->n_calls && g->first_kernel == SIM_NONE; i++)
        g->first_kernel = kernel_of(v, i, false);
}

/* What stands in front of the first call of group `g`. */
static void add_nodes(struct mover *v, uint32_t g, uint32_t old_call)
{
    struct group *gr = &v->groups[g];
    const struct streamed_load *l = &v->tr->s->loads[gr->first_load];
    uint32_t thread = v->tr->thread_of_load[gr->first_load];
    bool first = g == 0 || prefetch_step_of(v, g - 1) != prefetch_step_of(v, g),
         by_event = v->c->sc->by_event;
    find_kernels(v, old_call, gr);
    if (first) v->issued_by[g] = prefetch_add_node(v, l, thread, l->begin_ns);
    else if (!by_event) prefetch_add_wait(v, l, thread, gr->kernel_before);
    if (!by_event) prefetch_add_wait(v, l, thread, gr->last_copy);
    uint32_t issue = prefetch_add_node(v, l, thread, l->end_ns);
    uint32_t from = first ? g + 1 : g + v->c->sc->depth;
    for (uint32_t i = from; i <= g + v->c->sc->depth; i++)
        if (i < v->n_groups && prefetch_step_of(v, i) == prefetch_step_of(v, g))
            v->issued_by[i] = issue;
}

/* Marks the calls that only load modules and put them away: they do not get into the new model. */
static void leave_out_loads(struct mover *v)
{
    const struct sim_model *old = v->tr->m;
    for (uint32_t c = 0; c < old->n_calls; c++)
        v->new_call[c] = v->tr->cleanup_of[c] == STREAMED_NONE ? 0 : SIM_NONE;
    for (uint32_t i = 0; i < v->tr->s->n_loads; i++) {
        const struct streamed_load *l = &v->tr->s->loads[i];
        uint32_t c = sim_call_at(old, l->begin_ns);
        if (change_in_turn(v->c, l) && !change_drops(v->c, l)) continue;
        for (; c < old->n_calls && old->calls[c].begin_ns < l->end_ns; c++)
            if (change_in_load(v->c, &old->calls[c], i)) v->new_call[c] = SIM_NONE;
    }
}

/* Old calls in their order with the new nodes in between. */
static void merge_calls(struct mover *v)
{
    const struct sim_model *old = v->tr->m;
    const struct streamed *s = v->tr->s;
    uint32_t g = 0;
    leave_out_loads(v);
    for (uint32_t c = 0; c < old->n_calls; c++) {
        for (; g < v->n_groups &&
               s->loads[v->groups[g].first_load].begin_ns <= old->calls[c].begin_ns;
             g++)
            add_nodes(v, g, c);
        if (v->new_call[c] == SIM_NONE) continue;
        v->new_call[c] = v->m->n_calls;
        v->m->calls[v->m->n_calls++] = old->calls[c];
    }
}

/* Copies go to the stream of their own, issued by the node of their group. */
static void move_copies(struct mover *v)
{
    struct sim_model *m = v->m;
    for (uint32_t w = 0; w < m->n_works; w++) {
        struct sim_work *k = &m->works[w];
        uint32_t g = group_of_work(v, w);
        if (k->call != SIM_NONE) k->call = v->new_call[k->call];
        if (k->call == SIM_NONE && v->tr->load_of_work[w] != STREAMED_NONE) k->gap_ns = 0;
        if (g == STREAMED_NONE) continue;
        k->call = v->issued_by[g];
        k->stream = m->n_streams;
        k->before = k->waits_for = SIM_NONE;
        k->latency_ns = m->typical_latency_ns;
    }
    m->n_streams++;
}

static void make_wait(struct mover *v, uint32_t work, uint32_t for_work)
{
    if (work == SIM_NONE || for_work == SIM_NONE) return;
    v->m->works[work].waits_for = for_work;
    v->m->works[work].wait_delay_ns = v->m->typical_gap_ns;
}

/* Kernels wait for the copies of their group, and copies for the kernels whose memory they take. */
static void prefetch_add_events(struct mover *v)
{
    uint32_t depth = v->c->sc->depth, done = SIM_NONE;
    for (uint32_t g = 0; g < v->n_groups; g++)
        make_wait(v, v->groups[g].first_kernel, v->groups[g].last_copy);
    for (uint32_t w = 0; w < v->m->n_works; w++) {
        uint32_t g = group_of_work(v, w);
        if (g == STREAMED_NONE || g == done) continue;
        done = g;
        if (g >= depth && prefetch_step_of(v, g - depth) == prefetch_step_of(v, g))
            make_wait(v, w, v->groups[g - depth].kernel_before);
    }
}

/* ---- CPU time ---- */

/* CPU time of bringing a load over without waiting: what it takes outside of calls, and a launch
 * for every copy. */
static double issue_cost(const struct mover *v, uint32_t load)
{
    const struct streamed_load *l = &v->tr->s->loads[load];
    const struct sim_model *m = v->tr->m;
    int64_t outside = l->end_ns - l->begin_ns;
    uint32_t c = sim_call_at(m, l->begin_ns);
    for (; c < m->n_calls && m->calls[c].begin_ns < l->end_ns; c++)
        if (change_in_load(v->c, &m->calls[c], load))
            outside -= m->calls[c].end_ns - m->calls[c].begin_ns;
    return (double)(outside > 0 ? outside : 0) + l->n_copies * (double)m->typical_launch_ns;
}

/* The time of all loads is gone, but for that of issuing the copies of a group, which stands where
 * its first load did. */
static void set_spans(struct mover *v)
{
    const struct streamed *s = v->tr->s;
    struct sim_cut *span = v->c->scaled + v->c->n_scaled;
    for (uint32_t i = 0; i < s->n_loads; i++) {
        const struct streamed_load *l = &s->loads[i];
        bool stands = change_in_turn(v->c, l) && !change_drops(v->c, l);
        span[i] = (struct sim_cut){v->tr->thread_of_load[i], l->begin_ns, l->end_ns, stands};
    }
    for (uint32_t i = 0; i < s->n_loads; i++) {
        if (v->group_of_load[i] == STREAMED_NONE) continue;
        struct sim_cut *at = &span[v->groups[v->group_of_load[i]].first_load];
        if (at->end_ns > at->begin_ns)
            at->keep += issue_cost(v, i) / (double)(at->end_ns - at->begin_ns);
    }
    v->c->n_scaled += s->n_loads;
    for (uint32_t c = 0; c < v->tr->m->n_calls; c++) {
        const struct sim_call *call = &v->tr->m->calls[c];
        if (v->tr->cleanup_of[c] != STREAMED_NONE)
            v->c->scaled[v->c->n_scaled++] =
                (struct sim_cut){call->thread, call->begin_ns, call->end_ns, 0};
    }
}

static int prefetch_allocate(struct mover *v)
{
    const struct sim_model *old = v->tr->m;
    size_t loads = v->tr->s->n_loads + (size_t)1;
    size_t calls = old->n_calls + 4 * loads;
    v->groups = arena_alloc(v->mem, loads * sizeof *v->groups);
    v->group_of_load = arena_alloc(v->mem, loads * sizeof *v->group_of_load);
    v->issued_by = arena_alloc(v->mem, loads * sizeof *v->issued_by);
    v->new_call = arena_alloc(v->mem, (old->n_calls + (size_t)1) * sizeof *v->new_call);
    v->m->calls = arena_alloc(v->mem, calls * sizeof *v->m->calls);
    v->m->calls_by_thread = arena_alloc(v->mem, calls * sizeof(uint32_t));
    v->m->works = arena_alloc(v->mem, (old->n_works + (size_t)1) * sizeof *v->m->works);
    v->m->works_by_call = arena_alloc(v->mem, (old->n_works + (size_t)1) * sizeof(uint32_t));
    v->m->threads = arena_alloc(v->mem, (old->n_threads + (size_t)1) * sizeof *v->m->threads);
    if (!v->groups || !v->group_of_load || !v->issued_by || !v->new_call || !v->m->calls ||
        !v->m->calls_by_thread || !v->m->works || !v->m->works_by_call || !v->m->threads)
        return ERR_NOMEM;
    memcpy(v->m->works, old->works, old->n_works * sizeof *old->works);
    memcpy(v->m->threads, old->threads, old->n_threads * sizeof *old->threads);
    return 0;
}

int prefetch_move(struct change *c, struct arena *mem, struct err *e)
{
    struct sim_model *m = arena_alloc(mem, sizeof *m);
    if (!m) return err_nomem(e);
    *m = *c->tr->m;
    m->n_calls = 0;
    struct mover v = {.c = c, .tr = c->tr, .mem = mem, .m = m};
    if (prefetch_allocate(&v) < 0) return err_nomem(e);
    prefetch_make_groups(&v);
    for (uint32_t w = 0; w < m->n_works; w++) {
        uint32_t g = group_of_work(&v, w);
        if (g != STREAMED_NONE) v.groups[g].last_copy = w;
    }
    merge_calls(&v);
    move_copies(&v);
    if (c->sc->by_event) prefetch_add_events(&v);
    sim_model_link(m);
    set_spans(&v);
    c->m = m;
    return 0;
}
