/* mfu.h: the operations that the model needs per step, and which share of the time of the device
 * they are at the rate of its datasheet: model FLOP utilization.
 *
 * Operations are counted as torch's FlopCounterMode counts them: products, convolutions and
 * attention, each once, at the innermost operator that has shapes; causal attention in full, and
 * what is computed again for the backward pass again. Work without an operator (replayed from a
 * graph, or launched like another launch) counts by kernel. Where too much of the time of kernels
 * that multiply is of unknown work there is no figure: it would be too low. */
#ifndef STRATA_ANALYZE_ANSWER_MFU_H
#define STRATA_ANALYZE_ANSWER_MFU_H

#include "analyze/kernels/ceilings.h"
#include "analyze/steps/steps.h"

struct mfu {
    bool known;       /* operations were counted, and enough of the work is known */
    double flop;      /* of everything recorded */
    double step_flop; /* of a step; the same where nothing repeats */
    uint32_t steps;   /* whole ones, that is the mean of; 0: nothing repeats */
    double known_pct; /* of the time of kernels that multiply: how much has known work; NaN: none */
    enum precision precision; /* that most of the operations are in */
    double per_s;             /* operations per second of the wall clock without the profiler */
    double peak_per_s;        /* by the datasheets of all devices, at these precisions; NaN */
    double reach_per_s;       /* what programs reach on them; NaN */
    double pct;               /* per_s of peak_per_s; NaN */
    double reach_pct;         /* of reach_per_s; NaN */
};

extern const struct pass mfu_pass;

static inline const struct mfu *mfu_of(const struct context *cx)
{
    return context_kept(cx, PASS_MFU);
}

#endif
