/* spare.h: work that need not be done: device work that goes or takes less, and the time that the
 * CPU spends on it, as the edits of a finding.
 *
 *     struct spare x = {.fix = {.others = out}};
 *     TRY(spare_drop(&x, cx, work, e));                       this kernel never runs
 *     TRY(spare_cut(&x, cx, thread, span, e));                nor does this part of the thread
 *     if (spare_pays(&x, cx)) ... spare_into(&x, cx, f, e)
 *     spare_done(&x);                                         in any case */
#ifndef STRATA_ANALYZE_FINDINGS_SPARE_H
#define STRATA_ANALYZE_FINDINGS_SPARE_H

#include "analyze/findings/kernel_fix.h"

struct spare {
    struct kernel_fix fix;
    struct sim_cut *spans; /* in any order; may touch, never overlap */
    uint32_t n_spans;
    size_t cap_spans;
    int64_t cpu_ns; /* of the spans, that goes */
    bool scales;    /* spans take less time, but what is in them still happens */
    row_t *waits;   /* calls that no longer wait */
    uint32_t n_waits;
    size_t cap_waits;
};

/* The work never happens. Its launch goes with it, and with that nothing else: see spare_cut. */
int spare_drop(struct spare *x, const struct context *cx, row_t work, struct err *e) MUST_USE;

/* The time of the thread and all calls in it go. */
int spare_cut(struct spare *x, const struct context *cx, lane_id thread, struct span s,
              struct err *e) MUST_USE;

/* A call takes `keep` of its time, because it no longer waits. Not together with spare_cut. */
int spare_scale(struct spare *x, const struct context *cx, row_t call, double keep,
                struct err *e) MUST_USE;

/* The part of the thread that launches, from the first to the last of a row of calls that all go:
 * with the operators around them that launch nothing else, and what lies between. */
struct span spare_launching(const struct context *cx, row_t first_call, row_t last_call);

/* Whether it would be noticed: on the device or on the CPU. */
bool spare_pays(const struct spare *x, const struct context *cx);

/* Sets edits, costs, place and the first evidence of the finding. */
int spare_into(struct spare *x, const struct context *cx, struct finding *f,
               struct err *e) MUST_USE;

void spare_done(struct spare *x);

#endif
