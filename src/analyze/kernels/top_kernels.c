/* top_kernels.c: see top_kernels.h. */
#include "analyze/kernels/top_kernels.h"

#include "analyze/kernels/headroom.h"

/* Rows whose headroom is replayed. */
#define REPLAYED 6

static int top_kernels_run_pass(struct context *cx, void *ret, struct err *e)
{
    struct top_kernels *k = ret;
    TRY(kernel_stats_run(cx, KERNEL_BY_OP, cx->mem, &k->by_op, e));
    k->roof_pct = roofline_pct(roofline_of(cx));
    k->n_families = (uint32_t)kernel_stats_families(&k->by_op, k->families);
    for (uint32_t i = 0; i < k->n_families; i++) k->families_ns += k->families[i].total_ns;
    return headroom_run(cx, &k->by_op, REPLAYED, e);
}

static const struct pass *const needs[] = {&calls_pass, &roofline_pass, &undistort_pass, NULL};

const struct pass top_kernels_pass = {
    .id = PASS_TOP_KERNELS,
    .size = sizeof(struct top_kernels),
    .needs = needs,
    .run = top_kernels_run_pass,
};
