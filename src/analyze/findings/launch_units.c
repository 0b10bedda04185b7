/* launch_units.c: see host_side.h. */
#include "analyze/findings/host_side.h"

#include <stdlib.h>

#include "analyze/findings/findings_constants.h"
#include "analyze/names/collective.h"
#include "analyze/names/copy.h"
#include "analyze/names/label.h"
#include "analyze/names/torch_words.h"
#include "base/search.h"
#include "base/stats.h"
#include "base/wrap.h"

int64_t launch_unit_interval(const struct launch_unit *u)
{
    return u->cpu_ns / (u->launches ? u->launches : 1);
}

/* Kernels and copies launched in one span, and their time, but for those that wait for other
 * devices. */
static void add_own_work(const struct sim_model *m, const struct sim_cut *s, int64_t *ns,
                         uint32_t *n)
{
    for (uint32_t c = sim_call_at(m, s->begin_ns); c < m->n_calls; c++) {
        if (m->calls[c].begin_ns >= s->end_ns) break;
        for (uint32_t i = 0; i < m->calls[c].n_work; i++) {
            const struct sim_work *w = &m->works[m->works_by_call[m->calls[c].first_work + i]];
            if (collective_kernel(trace_name(m->t, w->row))) continue;
            *ns += w->end_ns - w->begin_ns;
            ++*n;
        }
    }
}

static bool launch_units_is_short(const struct context *cx, const struct launch_unit *u)
{
    const struct sim_model *m = model_of(cx);
    int64_t ns = 0, most = launch_unit_work_calls * m->typical_launch_ns;
    uint32_t n = 0;
    if (u->work_ns / u->works <= most) return true;
    for (uint32_t i = 0; i < u->n_spans; i++) add_own_work(m, &u->spans[i], &ns, &n);
    return n && ns / n <= most;
}

static bool launch_units_is_launch_bound(const struct context *cx, const struct launch_unit *u,
                                         uint32_t least)
{
    if (!u->calls || u->launches / u->calls < least || !u->works) return false;
    if (u->works_in_graphs * 2 > u->works) return false;
    if (u->works_other > u->works - u->works / launch_unit_kernel_part) return false;
    return u->work_ns / u->works < launch_unit_interval(u) &&
           (double)u->idle_ns > launch_unit_idle_share * (double)u->cpu_ns &&
           launch_units_is_short(cx, u);
}

/* ---- what a unit launches ---- */

/* The trace, and what is looked up for each of its launches. */
struct counting {
    const struct context *cx;
    uint8_t *compiled; /* by row: it stands in a compiled region, or is one */
};

/* What encloses a row comes before it, so one walk is enough. */
static int find_compiled(struct counting *k, struct err *e)
{
    const struct trace *t = k->cx->t;
    k->compiled = arena_zalloc(k->cx->mem, (size_t)t->n_rows + 1, 1);
    uint8_t *named = arena_zalloc(k->cx->mem, (size_t)t->strings.n + 1, 1);
    if (!k->compiled || !named) return err_nomem(e);
    for (str_id i = 0; i < t->strings.n; i++) named[i] = torch_is_compiler(trace_str(t, i));
    for (row_t r = 0; r < t->n_rows; r++) {
        row_t up = t->parent[r];
        k->compiled[r] =
            (t->kind[r] != KIND_PYTHON && named[t->name[r]]) || (up != ROW_NONE && k->compiled[up]);
    }
    return 0;
}

static bool launch_units_is_kernel(const struct trace *t, row_t r)
{
    return t->kind[r] == KIND_KERNEL || (t->kind[r] == KIND_MEMCPY && !copy_crosses(copy_of(t, r)));
}

static void launch_units_add_call(const struct counting *k, const struct sim_call *c,
                                  struct launch_unit *u)
{
    const struct sim_model *m = model_of(k->cx);
    if (!c->n_work) return;
    u->launches++;
    u->works += c->n_work;
    if (c->kind == CALL_GRAPH_LAUNCH) u->works_in_graphs += c->n_work;
    if (k->compiled[c->row]) u->works_compiled += c->n_work;
    for (uint32_t i = 0; i < c->n_work; i++) {
        const struct sim_work *w = &m->works[m->works_by_call[c->first_work + i]];
        u->work_ns += w->end_ns - w->begin_ns;
        u->works_other += !launch_units_is_kernel(m->t, w->row);
    }
}

static int64_t waited_ns(const struct sim_call *c)
{
    int64_t dur = c->end_ns - c->begin_ns;
    return c->wait == SIM_WAIT_NOTHING || c->floor_ns > dur ? 0 : dur - c->floor_ns;
}

/* What one launch takes that is not launching; 0 for all but a few. */
static int64_t loading_ns(const struct sim_model *m, const struct sim_call *c)
{
    int64_t ns = c->end_ns - c->begin_ns - waited_ns(c);
    bool slow = c->kind == CALL_LAUNCH && ns >= launch_unit_quiet_ns &&
                ns >= launch_unit_slow_times * m->typical_launch_ns;
    return slow ? ns - m->typical_launch_ns : 0;
}

static void add_loading(const struct sim_model *m, const struct sim_call *c,
                        const struct device_line *d, struct launch_unit *u)
{
    int64_t ns = loading_ns(m, c);
    u->loading_ns += ns;
    if (ns && d) u->loading_idle_ns += timeline_idle_ns(d, c->begin_ns, c->end_ns);
}

/* How much of a span lies inside the wall time: a function around the calls may begin long before
 * the first of them and end long after the last. */
static int64_t launch_units_wall_ns(const struct context *cx, const struct sim_cut *s)
{
    const struct wall *w = wall_of(cx);
    int64_t end_ns = wrap_add(w->begin_ns, w->wall_ns);
    int64_t from = s->begin_ns > w->begin_ns ? s->begin_ns : w->begin_ns;
    int64_t to = s->end_ns < end_ns ? s->end_ns : end_ns;
    return to > from ? to - from : 0;
}

/* Adds up the calls in the spans of the unit. Work of other threads is launched while its thread
 * waits for them, so whatever is launched in that time counts. */
static void launch_units_add_calls(const struct counting *k, struct launch_unit *u)
{
    const struct sim_model *m = model_of(k->cx);
    const struct device_line *d = timeline_device(timeline_of(k->cx), wall_of(k->cx)->parts.device);
    for (uint32_t i = 0; i < u->n_spans; i++) {
        const struct sim_cut *s = &u->spans[i];
        u->cpu_ns += launch_units_wall_ns(k->cx, s);
        u->idle_ns += exposure_idle_in(k->cx, (struct span){s->begin_ns, s->end_ns});
        for (uint32_t c = sim_call_at(m, s->begin_ns); c < m->n_calls; c++) {
            const struct sim_call *call = &m->calls[c];
            if (call->begin_ns >= s->end_ns) break;
            launch_units_add_call(k, call, u);
            add_loading(m, call, d, u);
            if (call->thread != s->thread) continue;
            u->syncs += call_waits(call->kind);
            u->cpu_ns -= waited_ns(call);
        }
    }
    if (u->cpu_ns < 0) u->cpu_ns = 0;
}

/* ---- stages ---- */

/* What the first call took more than usual, where it is odd. */
static int64_t once_ns(const struct stage *s)
{
    bool odd = s->calls > 2 && s->first_ns / launch_unit_first_times > s->median_ns;
    return odd ? s->first_ns - s->median_ns : 0;
}

static int64_t launch_units_positive(int64_t ns)
{
    return ns > 0 ? ns : 0;
}

static int stage_spans(const struct context *cx, uint32_t stage, struct launch_unit *u,
                       struct err *e)
{
    const struct stage_tree *tree = &stages_of(cx)->tree;
    u->spans = arena_alloc(cx->mem, (u->stage->calls + (size_t)1) * sizeof *u->spans);
    if (!u->spans) return err_nomem(e);
    for (uint32_t i = 0; i < tree->n_calls && u->n_spans < u->stage->calls; i++) {
        const struct stage_call *c = &tree->calls[i];
        uint32_t thread = c->node == stage ? sim_thread_of(model_of(cx), c->lane) : SIM_NONE;
        if (thread == SIM_NONE) continue;
        u->spans[u->n_spans++] =
            (struct sim_cut){.thread = thread, .begin_ns = c->begin_ns, .end_ns = c->end_ns};
    }
    return 0;
}

/* A step of an optimizer can be had in fewer kernels: rule unfused_optimizer. */
static bool is_optimizer(const struct stage *s)
{
    return torch_is_optimizer_step(s->name);
}

/* Calls of several threads may overlap: a moment in which the device is idle counts once. */
static int set_idle(const struct context *cx, struct launch_unit *u, int64_t loading_ns,
                    struct err *e)
{
    struct span_set calls;
    if (exposure_begin(&calls, u->n_spans, cx->mem) < 0) return err_nomem(e);
    for (uint32_t i = 0; i < u->n_spans; i++)
        calls.list[calls.n++] = (struct span){u->spans[i].begin_ns, u->spans[i].end_ns};
    int64_t idle = exposure_idle(cx, &calls), meanwhile = u->stage->idle_meanwhile_ns;
    u->idle_ns = launch_units_positive((meanwhile < idle ? meanwhile : idle) - loading_ns);
    return 0;
}

/* Figures of the stage as the stages say them; only what they do not know is counted here. */
static int stage_unit(const struct counting *k, uint32_t stage, struct launch_unit *ret,
                      struct err *e)
{
    const struct context *cx = k->cx;
    const struct stage *s = &stages_of(cx)->list[stage];
    struct launch_unit counted = {.stage = s};
    *ret = (struct launch_unit){.stage = s};
    if (!s->user || s->container || !s->calls ||
        s->launches / s->calls < launch_unit_stage_launches || is_optimizer(s))
        return 0;
    TRY(stage_spans(cx, stage, &counted, e));
    launch_units_add_calls(k, &counted);
    *ret = counted;
    ret->calls = s->calls;
    ret->launches = s->launches;
    ret->syncs = s->syncs;
    ret->works = work_sum_count(&s->gpu);
    ret->work_ns = s->gpu.sum_ns;
    int64_t once = once_ns(s); /* may be the very call that loads */
    int64_t loads = counted.loading_ns > once ? counted.loading_ns : once;
    int64_t idle = counted.loading_idle_ns > once ? counted.loading_idle_ns : once;
    ret->cpu_ns = launch_units_positive(s->cpu_ns - s->blocked_ns - loads);
    return set_idle(cx, ret, idle, e);
}

/* Not many launches but a single one takes most of the stage: rule slow_launch. */
static bool launch_units_is_one_launch(const struct context *cx, const struct launch_unit *u)
{
    return 2 * launch_delays_in(launch_delays_of(cx), cx, u->stage->name) > u->cpu_ns ||
           u->loading_ns > u->cpu_ns;
}

/* ---- the loop ---- */

static int launch_units_by_begin(const void *a, const void *b)
{
    const struct sim_cut *x = a, *y = b;
    return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

struct quiet {
    struct sim_cut *list; /* by begin */
    uint32_t n;
};

static void add_quiet(struct quiet *q, int64_t begin_ns, int64_t end_ns)
{
    if (end_ns - begin_ns >= launch_unit_quiet_ns)
        q->list[q->n++] = (struct sim_cut){.begin_ns = begin_ns, .end_ns = end_ns};
}

/* The first join of the loop's thread with another one that ends after a moment; the thread's
 * end_join when there is none. */
static uint32_t launch_units_join_after(const struct sim_model *m, uint32_t thread, int64_t at_ns)
{
    uint32_t i = sim_join_after(m, thread, at_ns);
    while (i < m->threads[thread].end_join && m->joins[i].other == SIM_NONE) i++;
    return i;
}

/* A pause, without the time in which the loop hands over to another thread and gets back from it:
 * to autograd's for backward. That is part of the step, and in a graph of it there is none. */
static void launch_units_add_pause(const struct sim_model *m, uint32_t thread, struct span pause,
                                   struct quiet *q)
{
    uint32_t i = launch_units_join_after(m, thread, pause.begin_ns);
    uint32_t end = m->threads[thread].end_join;
    for (; i < end && m->joins[i].begin_ns < pause.end_ns;
         i = launch_units_join_after(m, thread, pause.begin_ns)) {
        add_quiet(q, pause.begin_ns, m->joins[i].begin_ns);
        pause.begin_ns = m->joins[i].end_ns;
    }
    add_quiet(q, pause.begin_ns, pause.end_ns);
}

/* Time from one call to the next on whatever thread, where nothing is recorded that would explain
 * it: far longer than usual, it is not the time that launching takes. */
static int find_pauses(const struct context *cx, uint32_t thread, struct quiet *q, struct err *e)
{
    const struct sim_model *m = model_of(cx);
    struct arena_mark mark = arena_mark(cx->mem);
    int64_t *gaps = arena_alloc(cx->mem, (m->n_calls + (size_t)1) * sizeof *gaps), done = INT64_MIN;
    if (!gaps) return err_nomem(e);
    uint32_t n = 0;
    for (uint32_t c = 0; c < m->n_calls; c++) {
        if (c && m->calls[c].begin_ns > done) gaps[n++] = m->calls[c].begin_ns - done;
        if (m->calls[c].end_ns > done) done = m->calls[c].end_ns;
    }
    stats_sort(gaps, n);
    int64_t least = launch_unit_pause_times * stats_median(gaps, n);
    done = INT64_MIN;
    for (uint32_t c = 0; c < m->n_calls; c++) {
        int64_t begin = m->calls[c].begin_ns;
        if (c && begin > done && begin - done >= least)
            launch_units_add_pause(m, thread, (struct span){done, begin}, q);
        if (m->calls[c].end_ns > done) done = m->calls[c].end_ns;
    }
    arena_reset_to(cx->mem, mark);
    return 0;
}

/* Launches that take far longer than launching does, of whatever thread: the loop waits for that of
 * autograd. */
static void find_loading(const struct context *cx, struct quiet *q)
{
    const struct sim_model *m = model_of(cx);
    for (uint32_t c = 0; c < m->n_calls; c++) {
        const struct sim_call *call = &m->calls[c];
        if (loading_ns(m, call)) add_quiet(q, call->begin_ns, call->end_ns);
    }
}

/* Long calls of the thread that launch nothing, and long waits for a single launch. */
static int find_quiet(const struct context *cx, uint32_t thread, struct quiet *ret, struct err *e)
{
    lane_id lane = model_of(cx)->threads[thread].lane;
    const struct launchless *l = launchless_of(cx);
    const struct launch_delays *d = launch_delays_of(cx);
    size_t room = 2 * (size_t)model_of(cx)->n_calls + 1;
    for (uint32_t g = 0; g < l->n_groups; g++) room += l->groups[g].n_rows;
    for (uint32_t g = 0; g < d->n_groups; g++) room += d->groups[g].n_pieces;
    *ret = (struct quiet){.list = arena_alloc(cx->mem, room * sizeof *ret->list)};
    if (!ret->list) return err_nomem(e);
    for (uint32_t g = 0; g < l->n_groups; g++)
        for (uint32_t i = 0; i < l->groups[g].n_rows; i++) {
            row_t r = l->groups[g].rows[i];
            if (cx->t->lane[r] == lane) add_quiet(ret, cx->t->ts_ns[r], trace_end_ns(cx->t, r));
        }
    for (uint32_t g = 0; g < d->n_groups; g++)
        for (uint32_t i = 0; i < d->groups[g].n_pieces; i++) {
            const struct launch_delay_piece *p = &d->groups[g].pieces[i];
            if (p->thread == lane) add_quiet(ret, p->time.begin_ns, p->time.end_ns);
        }
    TRY(find_pauses(cx, thread, ret, e));
    find_loading(cx, ret);
    if (ret->n) qsort(ret->list, ret->n, sizeof *ret->list, launch_units_by_begin);
    return 0;
}

static void launch_units_add_span(struct launch_unit *u, uint32_t thread, int64_t begin_ns,
                                  int64_t end_ns)
{
    if (end_ns > begin_ns)
        u->spans[u->n_spans++] =
            (struct sim_cut){.thread = thread, .begin_ns = begin_ns, .end_ns = end_ns};
}

/* Rounds that nothing tells from the layers of one call: what touches is one stretch. */
static void join_touching(struct launch_unit *u)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < u->n_spans; i++) {
        if (n && u->spans[n - 1].end_ns == u->spans[i].begin_ns)
            u->spans[n - 1].end_ns = u->spans[i].end_ns;
        else u->spans[n++] = u->spans[i];
    }
    u->n_spans = n;
}

/* [begin, end) without what is quiet; `at` walks along. */
static void add_loud(struct launch_unit *u, uint32_t thread, struct span s, const struct quiet *q,
                     uint32_t *at)
{
    while (*at < q->n && q->list[*at].end_ns <= s.begin_ns) ++*at;
    for (uint32_t i = *at; i < q->n && q->list[i].begin_ns < s.end_ns; i++) {
        launch_units_add_span(u, thread, s.begin_ns, q->list[i].begin_ns);
        if (q->list[i].end_ns > s.begin_ns) s.begin_ns = q->list[i].end_ns;
    }
    launch_units_add_span(u, thread, s.begin_ns, s.end_ns);
}

/* The thread of the loop; where that is not known the one that launches most. */
static uint32_t launch_units_loop_thread(const struct context *cx)
{
    const struct sim_model *m = model_of(cx);
    uint32_t thread = sim_thread_of(m, steps_of(cx)->lane), most = 0;
    if (thread != SIM_NONE || !m->n_threads) return thread;
    for (uint32_t i = 0; i < m->n_threads; i++) {
        uint32_t n = 0;
        for (uint32_t c = m->threads[i].first_call; c != SIM_NONE; c = m->calls[c].next) n++;
        if (n <= most) continue;
        most = n;
        thread = i;
    }
    return thread;
}

static int loop_unit(const struct counting *k, struct launch_unit *u, struct err *e)
{
    const struct context *cx = k->cx;
    const struct steps *s = steps_of(cx);
    uint32_t thread = s->n_steps ? launch_units_loop_thread(cx) : SIM_NONE, at = 0;
    struct quiet q;
    *u = (struct launch_unit){0};
    if (thread == SIM_NONE) return 0;
    TRY(find_quiet(cx, thread, &q, e));
    u->spans = arena_alloc(cx->mem, (s->n_steps + (size_t)q.n * 2 + 1) * sizeof *u->spans);
    if (!u->spans) return err_nomem(e);
    for (uint32_t i = 0; i < s->n_steps; i++) add_loud(u, thread, s->steps[i].cpu, &q, &at);
    u->calls = s->n_steps;
    if (steps_may_be_layers(s)) join_touching(u);
    launch_units_add_calls(k, u);
    return 0;
}

/* ---- which of them ---- */

/* Whether a stage around this one is launch-bound: a graph of that contains it. */
static bool inside_another(const struct context *cx, const struct launch_unit *all,
                           const struct launch_unit *u)
{
    for (uint32_t p = u->stage->parent; p != STAGE_NONE; p = stages_of(cx)->list[p].parent)
        if (all[p].calls) return true;
    return false;
}

/* `ret` gets one per stage; those that are not launch-bound have no calls. */
static int stage_units(const struct counting *k, struct launch_unit **ret, struct err *e)
{
    const struct context *cx = k->cx;
    uint32_t n = stages_of(cx)->n;
    struct launch_unit *all = arena_zalloc(cx->mem, n + (size_t)1, sizeof *all);
    if (!all) return err_nomem(e);
    for (uint32_t i = 0; i < n; i++) {
        TRY(stage_unit(k, i, &all[i], e));
        if (!launch_units_is_launch_bound(cx, &all[i], launch_unit_stage_launches) ||
            launch_units_is_one_launch(cx, &all[i]))
            all[i].calls = 0;
    }
    *ret = all;
    return 0;
}

static bool is_in_loop(const struct stage *s)
{
    return 2 * s->step_cpu_ns > s->cpu_ns;
}

/* Idle time of the stages inside the loop that are launch-bound. */
static int64_t idle_of_stages(const struct context *cx, const struct launch_unit *all)
{
    int64_t ns = 0;
    for (uint32_t i = 0; i < stages_of(cx)->n; i++)
        if (all[i].calls && is_in_loop(all[i].stage) && !inside_another(cx, all, &all[i]))
            ns += all[i].idle_ns;
    return ns;
}

/* Rounds that may be layers have no say in how many launches are enough. */
static bool loop_is_launch_bound(const struct context *cx, const struct launch_unit *u)
{
    struct launch_unit judged = *u;
    if (steps_may_be_layers(steps_of(cx))) judged.calls = u->n_spans;
    return launch_units_is_launch_bound(cx, &judged, launch_unit_loop_launches);
}

int launch_units_find(const struct context *cx, struct launch_units *ret, struct err *e)
{
    struct launch_unit *stages, loop;
    struct counting k = {.cx = cx};
    TRY(find_compiled(&k, e));
    TRY(stage_units(&k, &stages, e));
    TRY(loop_unit(&k, &loop, e));
    uint32_t n = stages_of(cx)->n;
    *ret = (struct launch_units){.list = arena_alloc(cx->mem, (n + (size_t)1) * sizeof loop)};
    if (!ret->list) return err_nomem(e);
    bool whole =
        loop_is_launch_bound(cx, &loop) &&
        (double)idle_of_stages(cx, stages) < launch_unit_stages_share * (double)loop.idle_ns;
    if (whole) ret->list[ret->n++] = loop;
    for (uint32_t i = 0; i < n; i++) {
        if (!stages[i].calls || inside_another(cx, stages, &stages[i])) continue;
        if (!whole || !is_in_loop(stages[i].stage)) ret->list[ret->n++] = stages[i];
    }
    return 0;
}
