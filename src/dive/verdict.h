/* verdict.h: what holds a kernel back, said only when several measurements agree.
 *
 * Each possible limiter has a few signs that are independent of each other: how busy the part is,
 * how near its rate is to what the GPU reaches, on which side of the ridge the kernel stands, what
 * its warps wait for. One percentage alone is not a verdict. */
#ifndef STRATA_DIVE_VERDICT_H
#define STRATA_DIVE_VERDICT_H

#include "analyze/kernels/ceilings.h"
#include "analyze/names/kernel_name.h"
#include "dive/profile.h"

enum limiter {
    LIMITER_NONE, /* the measurements do not agree on one */
    LIMITER_MEMORY,
    LIMITER_TENSOR,
    LIMITER_COMPUTE, /* ordinary arithmetic */
    LIMITER_ISSUE,
    LIMITER_LATENCY,
    LIMITER_OCCUPANCY,
    LIMITER_TAIL, /* the last wave, or a grid that does not fill the GPU */
    LIMITERS
};

const char *limiter_key(enum limiter l);  /* "memory", "tensor" ...; "none" */
const char *limiter_name(enum limiter l); /* for people */

enum confidence { CONFIDENCE_NONE, CONFIDENCE_LOW, CONFIDENCE_MEDIUM, CONFIDENCE_HIGH };

const char *confidence_name(enum confidence c);

enum { VERDICT_SIGNS = 6, SIGN_TEXT = 96 };

struct sign {
    bool agrees;
    char text[SIGN_TEXT];
};

struct verdict {
    enum limiter limiter;
    enum unit unit;     /* which part: of memory, and of arithmetic; UNITS when none */
    const char *factor; /* what limits occupancy; NULL */
    enum confidence confidence;
    struct sign signs[VERDICT_SIGNS];
    int n_signs, n_agree;
    enum limiter nearest; /* where there is none: what most of it points to */
    const char *advice;   /* what usually helps; NULL when there is none */
};

struct verdict_in {
    const struct profile *profile;
    const struct ceilings *ceilings;
    enum kernel_family family;
    struct str name; /* short */
};

void verdict_of(const struct verdict_in *in, struct verdict *ret);

#endif
