/* odd_step.h: the step that a snapshot was taken for, against the usual ones. */
#ifndef STRATA_ANALYZE_STEPS_ODD_STEP_H
#define STRATA_ANALYZE_STEPS_ODD_STEP_H

#include "analyze/steps/steps.h"
#include "trace/kept.h"

enum { ODD_PARTS = 5 };

/* Of the step, and the median of the others. */
struct odd_pair {
    int64_t here, usual;
};

struct odd_step {
    bool is_snapshot; /* `shot` says why it was taken */
    bool found;       /* the rest is known: something took too long, in one of several steps */
    struct kept shot;
    uint32_t step, n_others;
    struct odd_pair wall_ns, blocked_ns, gpu_ns, launches, syncs;
    struct odd_part {
        str_id name; /* of functions, operators, calls and labels of the thread that steps */
        struct odd_pair own_ns;
    } parts[ODD_PARTS]; /* that took longer, by how much: own time, without what they called */
    uint32_t n_parts;
};

extern const struct pass odd_step_pass;

static inline const struct odd_step *odd_step_of(const struct context *cx)
{
    return context_kept(cx, PASS_ODD_STEP);
}

#endif
