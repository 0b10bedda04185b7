/* kernel_traits.h: what the name of a kernel tells about how it works, and with its launch about
 * how much: for traces that have no shapes, and kernels replayed from a graph. */
#ifndef STRATA_ANALYZE_NAMES_KERNEL_TRAITS_H
#define STRATA_ANALYZE_NAMES_KERNEL_TRAITS_H

#include <stdint.h>

#include "analyze/names/number_type.h"

struct kernel_traits {
    bool plain_float;     /* multiplies float32 numbers without tensor cores */
    bool converts_layout; /* from NCHW to NHWC or back */
    bool softmax;         /* not of logarithms */
    bool softmax_backward;
    bool strided; /* element by element over tensors that are not contiguous */
    bool library; /* torch's own elementwise kernel, not one of a compiler */
    bool
        many_tensors; /* works on a list of tensors at once: an optimizer's foreach or fused step */
    int per_thread;   /* elements for each thread, at least; 0 when the name does not say */
    bool exact;       /* not more either */
    int instructions; /* for an element, roughly: elementwise kernels only */
    int tensors;      /* read and written; 0 when not known */
    enum number_type type; /* of the first numbers in its name */
};

struct kernel_traits kernel_traits_of(struct str name);

/* Elements an elementwise kernel was launched for, up to the last block; 0 when not known. Threads
 * take `least` elements where the name does not say (4 before torch 2.9, then 8). */
double kernel_elements(const struct kernel_traits *k, const uint32_t grid[3],
                       const uint32_t block[3], int least);

#endif
