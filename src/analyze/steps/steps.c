/* steps.c: measures the rounds that loop.c found. Two walks over the calls: one counts, so that
 * each step's device work gets one array, the second fills them. */
#include "analyze/steps/steps.h"

#include "analyze/names/overhead.h"
#include "analyze/steps/steps_constants.h"
#include "analyze/steps/steps_private.h"
#include "base/search.h"
#include "base/stats.h"

struct measure {
    const struct trace *t;
    const struct calls *calls;
    const struct overheads *overheads;
    struct steps *steps;
    uint32_t process;
    row_t **work; /* by step */
    uint32_t *n_work;
};

double steps_kernels(const struct steps *s)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < s->n_steps; i++) n += s->steps[i].gpu.kernels;
    return s->n_steps ? (double)n / s->n_steps : 0;
}

uint32_t steps_at(const struct steps *s, int64_t ts_ns)
{
    uint32_t i = 0;
    SEARCH_PAST(i, s->n_steps, s->steps[i].cpu.end_ns <= ts_ns);
    return i < s->n_steps && s->steps[i].cpu.begin_ns <= ts_ns ? i : UINT32_MAX;
}

static bool is_of_loop(const struct measure *m, const struct lane *l)
{
    return l->kind == LANE_THREAD && (m->process == UINT32_MAX || l->process == m->process);
}

static void steps_count_call(struct measure *m, struct step *s, row_t r)
{
    enum call_kind kind = calls_kind(m->calls, m->t, r);
    if (m->t->flags[r] & ROW_PROFILER) return;
    s->launches += call_launches(kind);
    s->syncs += call_waits(kind);
    if (call_waits(kind)) s->blocked_ns += m->t->dur_ns[r];
}

/* The device rows that count for a call: those with a time. */
static void take_launched(struct measure *m, uint32_t step, row_t call)
{
    uint32_t n;
    const row_t *rows = trace_launched(m->t, call, &n);
    for (uint32_t i = 0; i < n; i++) {
        if (!timeline_has(m->t, rows[i])) continue;
        if (m->work[step]) m->work[step][m->n_work[step]] = rows[i];
        m->n_work[step]++;
    }
}

static void walk_calls(struct measure *m, bool fill)
{
    const struct trace *t = m->t;
    for (uint32_t l = 0; l < t->n_lanes; l++) {
        if (!is_of_loop(m, &t->lanes[l])) continue;
        for (row_t r = t->lanes[l].begin; r < t->lanes[l].end; r++) {
            if (!trace_call(t, r)) continue;
            uint32_t at = steps_at(m->steps, t->ts_ns[r]);
            if (at == UINT32_MAX) continue;
            if (!fill) steps_count_call(m, &m->steps->steps[at], r);
            take_launched(m, at, r);
        }
    }
}

/* Without launches, what starts on the device inside the interval counts. */
static void walk_devices(struct measure *m, const struct timeline *tl)
{
    for (uint32_t d = 0; d < tl->n_devices; d++) {
        for (uint32_t i = 0; i < tl->devices[d].n_work; i++) {
            row_t r = tl->devices[d].work[i];
            uint32_t at = steps_at(m->steps, m->t->ts_ns[r]);
            if (at == UINT32_MAX) continue;
            if (m->work[at]) m->work[at][m->n_work[at]] = r;
            m->n_work[at]++;
        }
    }
}

static int steps_measure(struct measure *m, const struct timeline *tl, bool on_device,
                         struct arena *mem, struct err *e)
{
    uint32_t n = m->steps->n_steps;
    m->work = arena_zalloc(mem, (size_t)n + 1, sizeof *m->work);
    m->n_work = arena_zalloc(mem, (size_t)n + 1, sizeof *m->n_work);
    if (!m->work || !m->n_work) return err_nomem(e);
    walk_calls(m, false);
    if (on_device) walk_devices(m, tl);
    for (uint32_t i = 0; i < n; i++) {
        m->work[i] = arena_zalloc(mem, (size_t)m->n_work[i] + 1, sizeof **m->work);
        if (!m->work[i]) return err_nomem(e);
        m->n_work[i] = 0;
    }
    walk_calls(m, true);
    if (on_device) walk_devices(m, tl);
    for (uint32_t i = 0; i < n; i++) {
        struct step *s = &m->steps->steps[i];
        s->gpu = work_sum_run(m->t, tl, m->work[i], m->n_work[i]);
        s->profiler_ns =
            overhead_ns(m->overheads, OVERHEAD_PROFILER, s->cpu.begin_ns, s->cpu.end_ns);
    }
    return 0;
}

static int64_t steps_duration(const struct step *s)
{
    return s->cpu.end_ns - s->cpu.begin_ns;
}

/* Median of the steps without flags, or of all when every step has one. `v` is scratch. */
static int64_t steps_median_of(const struct steps *s, int64_t (*value)(const struct step *),
                               int64_t *v)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_steps; i++)
        if (!s->steps[i].flags) v[n++] = value(&s->steps[i]);
    for (uint32_t i = 0; !n && i < s->n_steps; i++) v[i] = value(&s->steps[i]);
    if (!n) n = s->n_steps;
    stats_sort(v, n);
    return stats_median(v, n);
}

static int64_t steps_device_span(const struct step *s)
{
    return s->gpu.span_ns;
}

static int64_t steps_launches(const struct step *s)
{
    return s->launches;
}

/* The median of sorted values with one of those equal to `out` left out. */
static int64_t median_without(const int64_t *sorted, uint32_t n, int64_t out)
{
    uint32_t left_out = 0;
    SEARCH_PAST(left_out, n, sorted[left_out] < out);
    int64_t middle[2];
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t at = (n - 2 + i) / 2; /* of the n - 1 that are left */
        middle[i] = sorted[at < left_out ? at : at + 1];
    }
    return stats_median(middle, 2);
}

static void steps_flag(struct steps *s, int64_t *v)
{
    uint32_t with_work = 0;
    for (uint32_t i = 0; i < s->n_steps; i++) with_work += work_sum_count(&s->steps[i].gpu) > 0;
    s->n_no_work = with_work ? s->n_steps - with_work : 0;
    for (uint32_t i = 0; i < s->n_steps; i++)
        if (with_work && !work_sum_count(&s->steps[i].gpu)) s->steps[i].flags |= STEP_NO_WORK;

    uint32_t n = s->n_steps;
    for (uint32_t i = 0; i < n; i++) v[i] = steps_duration(&s->steps[i]);
    stats_sort(v, n);
    for (uint32_t i = 0; n > 1 && i < n; i++) {
        if (i && n < 4) break; /* too few to call a later one odd */
        int64_t others = median_without(v, n, steps_duration(&s->steps[i]));
        int64_t far = others / 100 * (n == 2 ? steps_far_of_two_pct : steps_far_pct);
        if (others <= 0 || steps_duration(&s->steps[i]) <= far) continue;
        s->steps[i].flags |= i ? STEP_OUTLIER : STEP_SLOW_FIRST;
    }
}

static int steps_take_rounds(const struct loop *l, struct arena *mem, struct steps *s,
                             struct err *e)
{
    s->steps = arena_zalloc(mem, (size_t)l->n_rounds + 1, sizeof *s->steps);
    if (!s->steps) return err_nomem(e);
    for (uint32_t i = 0; i < l->n_rounds; i++) {
        const struct loop_round *r = &l->rounds[i];
        s->steps[i] = (struct step){.cpu = {r->begin_ns, r->end_ns},
                                    .cpu_ns = r->inner_end_ns - r->begin_ns,
                                    .name = r->name,
                                    .number = r->number};
    }
    s->n_steps = l->n_rounds;
    s->found_by = l->found;
    s->period = l->period;
    s->are_units = l->are_units;
    s->lane = l->lane;
    memcpy(s->levels, l->levels, sizeof s->levels);
    s->n_levels = l->n_levels;
    s->level = l->steps;
    if (s->n_steps)
        s->loop = (struct span){s->steps[0].cpu.begin_ns, s->steps[s->n_steps - 1].cpu.end_ns};
    return 0;
}

/* The rows of each step on the thread of the loop, in place of device work: they are next to each
 * other. */
static int steps_take_operators(const struct measure *m, lane_id lane, struct arena *mem,
                                uint32_t *n_rows, row_t ***ret)
{
    const struct trace *t = m->t;
    uint32_t n = m->steps->n_steps;
    const struct lane *l = &t->lanes[lane];
    row_t *rows = arena_alloc(mem, (size_t)(l->end - l->begin + 1) * sizeof *rows);
    *ret = arena_zalloc(mem, (size_t)n + 1, sizeof **ret);
    if (!rows || !*ret) return ERR_NOMEM;
    for (row_t r = l->begin; r < l->end; r++) {
        uint32_t at = steps_at(m->steps, t->ts_ns[r]);
        rows[r - l->begin] = r;
        if (at == UINT32_MAX || t->kind[r] != KIND_OP) continue;
        if (!(*ret)[at]) (*ret)[at] = &rows[r - l->begin];
        n_rows[at] = (uint32_t)(&rows[r - l->begin] - (*ret)[at]) + 1;
    }
    return 0;
}

/* Rounds that only a sequence of operators or kernels suggests have to do the same work. */
static int steps_check(struct measure *m, const struct loop *l, struct arena *mem, bool *ret)
{
    uint32_t n = m->steps->n_steps, *n_rows = arena_zalloc(mem, (size_t)n + 1, sizeof *n_rows);
    row_t **rows;
    *ret = true;
    if (l->found != ORIGIN_OPS && l->found != ORIGIN_KERNELS) return 0;
    if (m->t->n_calls || l->on_device || l->lane == LANE_NONE)
        return alike_are_rounds(m->t, m->work, m->n_work, n, mem, ret);
    if (!n_rows) return ERR_NOMEM;
    TRY(steps_take_operators(m, l->lane, mem, n_rows, &rows));
    return alike_are_rounds(m->t, rows, n_rows, n, mem, ret);
}

static int steps_run_pass(struct context *cx, void *ret, struct err *e)
{
    const struct trace *t = cx->t;
    struct loop l;
    struct steps s = {0};
    TRY(loop_find(cx, &l, e));
    TRY(steps_take_rounds(&l, cx->mem, &s, e));
    struct measure m = {t, calls_of(cx), overheads_of(cx), &s, l.process, NULL, NULL};
    TRY(steps_measure(&m, timeline_of(cx), l.on_device, cx->mem, e));
    bool rounds;
    if (steps_check(&m, &l, cx->mem, &rounds) < 0) return err_nomem(e);
    if (!rounds) {
        s = (struct steps){0};
        TRY(loop_whole(cx, &l, e));
        TRY(steps_take_rounds(&l, cx->mem, &s, e));
        TRY(steps_measure(&m, timeline_of(cx), l.on_device, cx->mem, e));
    }
    int64_t *scratch = arena_zalloc(cx->mem, (size_t)s.n_steps + 1, sizeof *scratch);
    if (!scratch) return err_nomem(e);
    steps_flag(&s, scratch);
    s.median_ns = steps_median_of(&s, steps_duration, scratch);
    s.median_launches = (uint32_t)steps_median_of(&s, steps_launches, scratch);
    int64_t on_device = steps_median_of(&s, steps_device_span, scratch);
    s.each_ns = on_device > s.median_ns ? on_device : s.median_ns;
    TRY(cold_start_find(t, cx->mem, &s, e));
    *(struct steps *)ret = s;
    return 0;
}

static const struct pass *const needs[] = {&calls_pass, &overheads_pass, &timeline_pass,
                                           &outline_pass, NULL};

const struct pass steps_pass = {
    .id = PASS_STEPS,
    .size = sizeof(struct steps),
    .needs = needs,
    .run = steps_run_pass,
};
