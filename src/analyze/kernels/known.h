/* known.h: how much of the time of kernels is known to be whose: their operator, its shapes, the
 * module and the line that they come from; and how much of that units in depth have to thank for.
 */
#ifndef STRATA_ANALYZE_KERNELS_KNOWN_H
#define STRATA_ANALYZE_KERNELS_KNOWN_H

#include "analyze/context.h"

struct known {
    int64_t kernel_ns;                            /* all kernels but communication */
    int64_t op_ns, shapes_ns, module_ns, line_ns; /* of it */
    uint32_t n_deep;                              /* units in depth */
    int64_t asked_ns;                             /* all kernels that were compared with theirs */
    int64_t like_ns;                              /* of it, what is like work in one of them */
    int64_t differs_ns;   /* of that, where units in depth differ among each other */
    const char *sentence; /* for people; "" where nothing was recorded in depth */
};

extern const struct pass known_pass;

static inline const struct known *known_of(const struct context *cx)
{
    return context_kept(cx, PASS_KNOWN);
}

#endif
