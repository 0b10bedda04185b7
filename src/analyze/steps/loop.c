/* loop.c: tries the ways to find the loop, best evidence first. */
#include "analyze/steps/loop.h"

#include "analyze/names/label.h"
#include "analyze/steps/steps_private.h"

const char *loop_found_name(enum loop_found f)
{
    static const char *const names[LOOP_WAYS] = {
        [LOOP_NONE] = "none",
        [LOOP_PROFILER_STEPS] = "profiler_steps",
        [LOOP_ANNOTATIONS] = "annotations",
        [LOOP_COMPILED] = "compiled_regions",
        [LOOP_KERNELS] = "kernel_sequence",
    };
    return names[f];
}

static bool is_step(const struct trace *t, row_t r)
{
    return t->kind[r] == KIND_ANNOTATION && label_kind(trace_name(t, r)) == LABEL_STEP;
}

static uint32_t count_steps(const struct trace *t, const struct lane *l)
{
    uint32_t n = 0;
    if (l->kind != LANE_THREAD) return 0;
    for (row_t r = l->begin; r < l->end; r++) n += is_step(t, r);
    return n;
}

/* ProfilerStep#N on the thread that has most of them. */
static int find_profiler_steps(const struct trace *t, struct arena *mem, struct loop *ret,
                               struct err *e)
{
    uint32_t most = 0;
    for (uint32_t l = 0; l < t->n_lanes; l++) {
        uint32_t n = count_steps(t, &t->lanes[l]);
        if (n <= most) continue;
        most = n;
        ret->lane = l;
    }
    if (!most) return 0;
    const struct lane *l = &t->lanes[ret->lane];
    ret->rounds = arena_zalloc(mem, most, sizeof *ret->rounds);
    if (!ret->rounds) return err_nomem(e);
    for (row_t r = l->begin; r < l->end; r++) {
        if (!is_step(t, r)) continue;
        int64_t end = trace_end_ns(t, r);
        struct loop_round *last = ret->n_rounds ? &ret->rounds[ret->n_rounds - 1] : NULL;
        if (last && last->end_ns > t->ts_ns[r]) continue; /* one inside another: seen twice */
        ret->rounds[ret->n_rounds++] = (struct loop_round){t->ts_ns[r], end, end, t->name[r],
                                                           label_step_number(trace_name(t, r))};
    }
    ret->found = LOOP_PROFILER_STEPS;
    ret->period = 1;
    return 0;
}

int loop_find(const struct trace *t, const struct calls *calls, struct arena *mem, struct loop *ret,
              struct err *e)
{
    const struct loop none = {.lane = LANE_NONE, .process = UINT32_MAX};
    struct loop steps = none, found = none;
    TRY(find_profiler_steps(t, mem, &steps, e));
    /* A single profiler step often holds a whole call with a loop of its own inside. */
    if (steps.n_rounds < 2) TRY(loop_labels_find(t, mem, &found, e));
    if (steps.n_rounds && found.n_rounds < 2) found = steps;
    if (!found.n_rounds) TRY(loop_launches_find(t, calls, mem, &found, e));
    if (found.lane != LANE_NONE) found.process = t->lanes[found.lane].process;
    *ret = found;
    return 0;
}
