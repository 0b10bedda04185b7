/* cpu_hot.h: where the CPU spends its time itself: operators and Python functions by the time in
 * them and in nothing they call, and time spent waiting for data. What a program without a GPU is
 * about. */
#ifndef STRATA_ANALYZE_OPS_CPU_HOT_H
#define STRATA_ANALYZE_OPS_CPU_HOT_H

#include "analyze/context.h"

#define CPU_HOT_TOP 8

struct cpu_hot_item {
    str_id name;
    row_t longest; /* its row with the longest time of its own */
    uint32_t calls;
    int64_t self_ns, longest_ns;
    int64_t thread_ns; /* of self_ns, on the thread where it takes most: never more than there is */
};

struct cpu_hot_list {
    struct cpu_hot_item top[CPU_HOT_TOP]; /* most time first */
    uint32_t n, n_names;                  /* listed, and different ones in total */
    int64_t self_ns;                      /* of all of them */
};

struct cpu_hot {
    struct cpu_hot_list operators, functions;
    int64_t data_ns; /* in a DataLoader, on threads that run operators or stages */
    uint32_t data_waits;
};

extern const struct pass cpu_hot_pass;

static inline const struct cpu_hot *cpu_hot_of(const struct context *cx)
{
    return context_kept(cx, PASS_CPU_HOT);
}

#endif
