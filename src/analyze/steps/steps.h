/* steps.h: the rounds of the main loop and what each of them costs.
 *
 * A step has two sides that run at different times: its CPU interval, and the device work launched
 * from inside it (by correlation), which may run long after the CPU has gone on. */
#ifndef STRATA_ANALYZE_STEPS_STEPS_H
#define STRATA_ANALYZE_STEPS_STEPS_H

#include "analyze/device/work_sum.h"
#include "analyze/steps/loop.h"

enum step_flag {
    STEP_SLOW_FIRST = 1, /* the first one takes far longer than the rest: not warmed up */
    STEP_OUTLIER = 2,    /* a later one does */
    STEP_NO_WORK = 4,    /* other steps put work on the device, this one has no records of any */
};

struct step {
    struct span cpu;     /* to the begin of the next step; the last one to its own end */
    int64_t cpu_ns;      /* begin to the end of its last label or launch */
    int64_t blocked_ns;  /* CPU time inside calls that wait for the device, all threads */
    int64_t profiler_ns; /* time the profiler took for itself (buffers) inside the interval */
    struct work_sum gpu; /* device work launched inside the interval, whenever it ran */
    uint32_t launches;   /* calls that put work on the device */
    uint32_t syncs;      /* calls that wait for it, without the profiler's own */
    str_id name;         /* first label of the step, or STR_NONE */
    int64_t number;      /* N of ProfilerStep#N, else -1 */
    uint8_t flags;       /* enum step_flag */
};

/* The first call of a label, in which nothing happened for long before its first op, unlike in
 * the calls after it. */
struct dead_window {
    row_t label, first_op;
    int64_t dead_ns;  /* start of the label to start of the op */
    int64_t usual_ns; /* median over all calls of the same label */
    uint32_t step;    /* index of the step it lies in, or UINT32_MAX */
};

struct steps {
    enum origin found_by;
    uint32_t period; /* labels or launches per step */
    lane_id lane;
    bool are_units;     /* they are as many as the units that the recorder saw */
    struct step *steps; /* in time order, apart */
    uint32_t n_steps;
    uint32_t n_no_work;       /* of them, those with STEP_NO_WORK */
    struct span loop;         /* begin of the first step to end of the last */
    int64_t median_ns;        /* of the CPU intervals of steps without flags; all if all have */
    uint32_t median_launches; /* the same, of launches */
    int64_t each_ns; /* what a step takes: the longer of the CPU's median and the device's, since
                        either runs ahead of the other */
    struct loop_level levels[LEVELS_MOST]; /* all that repeats, outer to inner */
    uint32_t n_levels;
    uint32_t level;           /* of the steps, among them */
    struct dead_window *dead; /* in time order */
    uint32_t n_dead;
};

extern const struct pass steps_pass;

static inline const struct steps *steps_of(const struct context *cx)
{
    return context_kept(cx, PASS_STEPS);
}

/* Whether the steps may be the layers of one call: found from a sequence of launches, with nothing
 * repeating around or inside them, and the recorder saw no units that are they. */
static inline bool steps_may_be_layers(const struct steps *s)
{
    return (s->found_by == ORIGIN_OPS || s->found_by == ORIGIN_KERNELS) && s->n_levels == 1 &&
           !s->are_units;
}

/* Kernels launched in a step, on average: the one figure for "kernels per step". */
double steps_kernels(const struct steps *s);

/* Index of the step whose CPU interval holds `ts_ns`, or UINT32_MAX. */
uint32_t steps_at(const struct steps *s, int64_t ts_ns);

#endif
