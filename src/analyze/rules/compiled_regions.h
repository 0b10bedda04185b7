/* compiled_regions.h: where a thread runs what torch.compile made, as torch.profiler marks it or,
 * where nothing does, as the names of kernels show.
 *
 *     thread    [triton][gemm][triton]  [at::native][copy][sync]  [triton][gemm][triton]
 *     regions   |--------------------|                            |--------------------|
 *
 * Kernels alone say less: products and convolutions belong to whatever is around them, and only
 * what lies in one call of a module, which our recorder marks, is one function. */
#ifndef STRATA_ANALYZE_RULES_COMPILED_REGIONS_H
#define STRATA_ANALYZE_RULES_COMPILED_REGIONS_H

#include "analyze/rules/rule.h"

struct compiled_region {
    struct span time; /* on the CPU */
    row_t holder;     /* regions with another holder are not pieces of one function */
};

struct compiled_regions {
    struct compiled_region *list; /* by time, apart */
    uint32_t n;
};

enum regions_from { REGIONS_NONE, REGIONS_MARKED, REGIONS_BY_KERNELS };

/* How they are seen in this trace. */
enum regions_from compiled_regions_from(const struct context *cx);

/* Of one thread of the model; memory of the analysis. */
int compiled_regions_find(const struct context *cx, uint32_t thread, enum regions_from from,
                          struct compiled_regions *ret, struct err *e) MUST_USE;

#endif
