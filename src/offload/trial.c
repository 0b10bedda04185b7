/* trial.c: two replays a scheme: one in which modules stay after their first use, for the first
 * step, and one in which they always were there, for the later ones. */
#include "offload/trial.h"

#include "base/stats.h"
#include "offload/offload_private.h"

static uint32_t thread_of_lane(const struct sim_model *m, lane_id lane)
{
    for (uint32_t i = 0; i < m->n_threads; i++)
        if (m->threads[i].lane == lane) return i;
    return SIM_NONE;
}

static void name_copies(struct trial *tr, uint32_t load)
{
    const struct streamed_load *l = &tr->s->loads[load];
    const struct sim_model *m = tr->m;
    uint32_t c = sim_find_call(m, l->first_call);
    for (; c != SIM_NONE && m->calls[c].row <= l->last_call; c = m->calls[c].next)
        for (uint32_t i = 0; i < m->calls[c].n_work; i++) {
            uint32_t w = m->works_by_call[m->calls[c].first_work + i];
            if (streamed_is_upload(tr->t, m->works[w].row)) tr->load_of_work[w] = load;
        }
}

/* Memory given back and streams waited for by the offloading code itself, not by an operator. */
static bool is_cleanup(const struct trial *tr, const struct sim_call *c)
{
    enum call_kind k = calls_kind(calls_of(tr->cx), tr->t, c->row);
    if (c->n_work || (!call_allocates(k) && k != CALL_SYNC_STREAM)) return false;
    return trace_up(tr->t, c->row, KIND_OP) == ROW_NONE;
}

/* What happens between a load and the next one to put the module away again. */
static void name_cleanup(struct trial *tr, uint32_t load)
{
    const struct streamed *s = tr->s;
    const struct sim_model *m = tr->m;
    const struct streamed_load *l = &s->loads[load];
    bool last = load + 1 == s->n_loads || s->loads[load + 1].lane != l->lane;
    int64_t until = last ? s->steps[l->step].cpu.end_ns : s->loads[load + 1].begin_ns;
    for (uint32_t c = sim_call_at(m, l->end_ns); c < m->n_calls && m->calls[c].begin_ns < until;
         c++)
        if (m->calls[c].thread == tr->thread_of_load[load] && is_cleanup(tr, &m->calls[c])) {
            tr->cleanup_of[c] = load;
            tr->n_cleanups++;
        }
}

static void find_host(struct trial *tr)
{
    int64_t pageable = 0, all = 0;
    for (uint32_t i = 0; i < tr->s->n_loads; i++) {
        all += tr->s->loads[i].bytes;
        if (tr->s->loads[i].pageable) pageable += tr->s->loads[i].bytes;
    }
    tr->traced_host = pageable * 2 > all ? HOST_PAGEABLE : HOST_PINNED;
}

static int find_hooks(struct trial *tr, struct arena *mem)
{
    uint32_t n_loads = tr->s->n_loads, k = 0;
    tr->first_hook = arena_alloc(mem, (n_loads + (size_t)1) * sizeof *tr->first_hook);
    if (!tr->first_hook) return ERR_NOMEM;
    TRY(hooks_run(tr->t, tr->cx, tr->s, mem, &tr->hooks));
    for (uint32_t i = 0; i <= n_loads; i++) {
        while (k < tr->hooks.n && tr->hooks.all[k].load < i) k++;
        tr->first_hook[i] = k;
    }
    return 0;
}

/* Where the first step begins once the profiler's cost is out. */
static int find_start(struct trial *tr, struct arena *mem, struct err *e)
{
    struct arena_mark mark = arena_mark(mem);
    struct sim_plan base = undistort_base(tr->u), plan;
    struct sim_result r;
    TRY(sim_plan_build(tr->m, (struct sim_edits){NULL, 0, &base}, mem, &plan, e));
    TRY(sim_replay(tr->m, &plan, mem, &r, e));
    tr->start_ns = tr->s->steps[0].cpu.begin_ns - tr->m->begin_ns;
    for (uint32_t w = 0; w < tr->m->n_works; w++) {
        if (tr->step_of_work[w] != 0) continue;
        tr->start_ns += r.work_begin_ns[w] - (tr->m->works[w].begin_ns - tr->m->begin_ns);
        break;
    }
    arena_reset_to(mem, mark);
    return 0;
}

/* A step that is nothing but copies of weights says nothing about one without them. */
static int check_kernels(const struct trial *tr, struct err *e)
{
    bool first = false, later = tr->s->n_steps < 2;
    for (uint32_t w = 0; w < tr->m->n_works; w++) {
        if (tr->step_of_work[w] == STREAMED_NONE || tr->load_of_work[w] != STREAMED_NONE) continue;
        if (tr->step_of_work[w] == 0) first = true;
        else later = true;
    }
    if (first && later) return 0;
    return FAIL(e, ERR_FORMAT,
                "the steps of this trace run nothing but copies of weights: how long they take "
                "without those cannot be predicted");
}

int trial_init(struct trial *tr, struct arena *mem, struct err *e)
{
    const struct sim_model *m = tr->m;
    size_t works = m->n_works + (size_t)1;
    tr->step_of_work = arena_alloc(mem, works * sizeof *tr->step_of_work);
    tr->load_of_work = arena_alloc(mem, works * sizeof *tr->load_of_work);
    tr->thread_of_load = arena_alloc(mem, (tr->s->n_loads + (size_t)1) * sizeof(uint32_t));
    tr->cleanup_of = arena_alloc(mem, (m->n_calls + (size_t)1) * sizeof *tr->cleanup_of);
    if (!tr->step_of_work || !tr->load_of_work || !tr->thread_of_load || !tr->cleanup_of)
        return err_nomem(e);
    for (uint32_t w = 0; w < m->n_works; w++) {
        uint32_t call = m->works[w].call;
        tr->load_of_work[w] = STREAMED_NONE;
        tr->step_of_work[w] =
            call == SIM_NONE ? STREAMED_NONE : streamed_step_at(tr->s, m->calls[call].begin_ns);
    }
    for (uint32_t c = 0; c < m->n_calls; c++) {
        tr->cleanup_of[c] = STREAMED_NONE;
        tr->n_waits += m->calls[c].wait != SIM_WAIT_NOTHING;
    }
    for (uint32_t i = 0; i < tr->s->n_loads; i++) {
        tr->thread_of_load[i] = thread_of_lane(m, tr->s->loads[i].lane);
        name_copies(tr, i);
        name_cleanup(tr, i);
    }
    TRY(check_kernels(tr, e));
    find_host(tr);
    if (find_hooks(tr, mem) < 0) return err_nomem(e);
    return find_start(tr, mem, e);
}

/* ---- replaying ---- */

struct outcome {
    int64_t *end_ns; /* by step: end of its last work, 0 when it has none */
};

static void note_ends(const struct trial *tr, const struct sim_result *r, struct outcome *ret)
{
    for (uint32_t w = 0; w < tr->m->n_works; w++) {
        uint32_t step = tr->step_of_work[w];
        if (step != STREAMED_NONE && r->work_end_ns[w] > ret->end_ns[step])
            ret->end_ns[step] = r->work_end_ns[w];
    }
}

/* Replays under the scheme; NULL: as it is. */
static int trial_replay(const struct trial *tr, const struct scheme *sc, bool later,
                        struct arena *mem, struct outcome *ret, struct err *e)
{
    struct sim_plan base = undistort_base(tr->u), plan;
    struct change c = {.tr = tr, .sc = sc, .later = later, .m = tr->m};
    struct sim_result r;
    ret->end_ns = arena_zalloc(mem, tr->s->n_steps, sizeof *ret->end_ns);
    if (!ret->end_ns) return err_nomem(e);
    if (sc) TRY(change_make(&c, mem, e));
    struct sim_edit edits[] = {
        {.kind = EDIT_DROP_SPANS, .spans = c.dropped, .n_spans = c.n_dropped},
        {.kind = EDIT_SCALE_SPANS, .spans = c.scaled, .n_spans = c.n_scaled}};
    TRY(sim_plan_build(c.m, (struct sim_edits){edits, 2, &base}, mem, &plan, e));
    if (sc) change_copies(&c, &plan);
    TRY(sim_replay(c.m, &plan, mem, &r, e));
    note_ends(tr, &r, ret);
    return 0;
}

static int64_t trial_step_time(const struct trial *tr, const struct outcome *o, uint32_t step)
{
    int64_t ns = o->end_ns[step] - (step ? o->end_ns[step - 1] : tr->start_ns);
    return ns > 0 ? ns : 0; /* of a step whose last work is gone, the end is not known */
}

/* Steps after the first stand for any later one; with `whole`, only those that bring everything
 * over. */
static void trial_summarise(const struct trial *tr, const struct outcome *o, bool whole,
                            int64_t *scratch, struct scheme_times *ret)
{
    const struct streamed *s = tr->s;
    uint32_t n = 0;
    for (uint32_t i = 1; i < s->n_steps; i++)
        if ((s->steps[i].whole || !whole) && o->end_ns[i]) scratch[n++] = trial_step_time(tr, o, i);
    if (!n) scratch[n++] = trial_step_time(tr, o, 0);
    stats_sort(scratch, n);
    ret->step_ns = stats_median(scratch, n);
    ret->fastest_ns = scratch[0];
    ret->slowest_ns = scratch[n - 1];
}

int trial_traced(const struct trial *tr, struct arena *mem, struct scheme_times *ret)
{
    const struct sim_model *m = tr->m;
    struct outcome o = {arena_zalloc(mem, tr->s->n_steps, sizeof *o.end_ns)};
    int64_t *scratch = arena_alloc(mem, (tr->s->n_steps + (size_t)1) * sizeof *scratch);
    if (!o.end_ns || !scratch) return ERR_NOMEM;
    for (uint32_t w = 0; w < m->n_works; w++) {
        uint32_t step = tr->step_of_work[w];
        int64_t end = m->works[w].end_ns - m->begin_ns;
        if (step != STREAMED_NONE && end > o.end_ns[step]) o.end_ns[step] = end;
    }
    ret->first_ns = o.end_ns[0] - (tr->s->steps[0].cpu.begin_ns - m->begin_ns);
    trial_summarise(tr, &o, false, scratch, ret);
    return 0;
}

/* What lies outside of all blocks and does not stay is copied back while everything waits; what the
 * scheme moves and the trace does not show comes from pageable memory first. */
static int64_t rest_time(const struct trial *tr, const struct scheme *sc)
{
    double known = 0, bytes = (double)tr->rest_bytes * sc->weight_scale;
    if (!sc->depth || !sc->by_block || tr->back_bytes_per_ns <= 0) return 0;
    for (uint32_t i = 0; i < tr->s->n_modules; i++)
        if (tr->s->modules[i].loose && !(sc->resident && sc->resident[i]))
            known += (double)tr->s->modules[i].bytes * sc->weight_scale;
    if (bytes < known) bytes = known;
    double there = (bytes - known) / tr->bytes_per_ns[HOST_PAGEABLE];
    return (int64_t)(there + bytes / tr->back_bytes_per_ns) * tr->s->passes;
}

static int run_both(const struct trial *tr, const struct scheme *sc, struct arena *mem,
                    struct scheme_times *ret, struct err *e)
{
    struct outcome o;
    int64_t *scratch = arena_alloc(mem, (tr->s->n_steps + (size_t)1) * sizeof *scratch);
    if (!scratch) return err_nomem(e);
    if (!sc) {
        TRY(trial_replay(tr, NULL, false, mem, &o, e));
        ret->first_ns = trial_step_time(tr, &o, 0);
        trial_summarise(tr, &o, false, scratch, ret);
        return 0;
    }
    /* the order of groups is not known before the first pass: nothing is copied ahead in it */
    struct scheme first = *sc;
    first.depth = 0;
    TRY(trial_replay(tr, &first, false, mem, &o, e));
    ret->first_ns = trial_step_time(tr, &o, 0);
    TRY(trial_replay(tr, sc, true, mem, &o, e));
    trial_summarise(tr, &o, true, scratch, ret);
    int64_t rest = rest_time(tr, sc);
    ret->first_ns += rest;
    ret->step_ns += rest;
    ret->fastest_ns += rest;
    ret->slowest_ns += rest;
    return 0;
}

int trial_run(const struct trial *tr, const struct scheme *sc, struct arena *mem,
              struct scheme_times *ret, struct err *e)
{
    struct arena_mark mark = arena_mark(mem);
    int rc = run_both(tr, sc, mem, ret, e);
    arena_reset_to(mem, mark);
    return rc;
}
