/* kernel_stats.h: what each kernel, copy and fill costs, how well it uses the device, and which
 * operator asks for it. Work replayed from a graph counts like any other. */
#ifndef STRATA_ANALYZE_KERNELS_KERNEL_STATS_H
#define STRATA_ANALYZE_KERNELS_KERNEL_STATS_H

#include "analyze/kernels/roofline.h"
#include "analyze/names/graph_origin.h"
#include "analyze/names/kernel_name.h"

enum kernel_by {
    KERNEL_BY_NAME,
    KERNEL_BY_CONFIG, /* name and launch: grid, block, registers, shared memory */
    KERNEL_BY_OP,     /* name and launching operator */
    KERNEL_BY_SHAPE,  /* name, operator and shapes of its inputs */
    KERNEL_BY_MODULE, /* name and class of the module that it belongs to */
    KERNEL_BY_LINE    /* name and line of the program */
};

/* How a kernel was launched. */
struct kernel_config {
    uint32_t grid[3], block[3];
    uint32_t shared_bytes, registers;
};

struct kernel_row {
    struct str name;       /* readable, in full */
    struct str short_name; /* see kernel_name.h */
    enum kernel_family family;
    enum row_kind kind; /* KIND_KERNEL, KIND_MEMCPY or KIND_MEMSET */
    row_t first;
    uint64_t calls;
    uint64_t graph_calls; /* of them, replayed from a graph */
    int64_t total_ns, min_ns, median_ns, p95_ns, max_ns;
    double mean_ns;
    double share_pct; /* of all device work in the trace */

    struct kernel_config config; /* the one used most often */
    uint32_t n_configs;
    double occupancy_pct;    /* weighted by time; NaN when not known */
    bool occupancy_recorded; /* as the recorder estimated it: the device is not known */
    const char *limiter;     /* of the most frequent launch; NULL when full or not known */

    int64_t bytes;   /* copied, filled, or read and written at least; -1 when not known */
    double gb_per_s; /* bytes over their own time; NaN when not known */
    uint64_t flops;  /* of what multiplies; 0 when not known */
    double tflop_per_s;

    int64_t known_ns;    /* of the total, where the roof is known */
    double roof_ns;      /* of that, at the roof */
    double roof_pct;     /* reached of the roof; NaN when not known */
    int64_t headroom_ns; /* known_ns - roof_ns */
    int64_t wall_ns; /* gained on the wall clock at the roof (headroom_run); -1 when not asked */
    enum precision precision; /* most of its time; PRECISIONS when it does not multiply */
    enum roof_from from;      /* how its work is known, for most of its time */
    uint32_t group;           /* in kernel_stats.group_of */

    struct str op; /* the operator that launches most of its time, or that was captured; the call
                      when there is none */
    enum kernel_by by;
    struct str where; /* by shape, module or line: that; empty where it is not known */
    uint32_t n_ops;   /* how many different ones do */
    const struct kernel_source *source;       /* NULL when no compiler says where it comes from */
    const struct graph_origin_node *captured; /* of `first`, where that was replayed; or NULL */
};

struct kernel_stats {
    enum kernel_by by;
    struct kernel_row *rows; /* by total time */
    uint32_t n_rows;
    const uint32_t *group_of; /* by index into trace->gpu */
    int64_t work_ns;          /* all device work, durations added */
    int64_t replayed_ns;      /* of it, from nodes of graphs, */
    int64_t captured_ns;      /* and of that, where it is known what was captured */
    uint64_t n_kernels, n_copies, n_sets;
};

/* Computes the roofline when it is not there yet. Memory from `mem`. */
int kernel_stats_run(struct context *cx, enum kernel_by by, struct arena *mem,
                     struct kernel_stats *ret, struct err *e) MUST_USE;

/* Keeps the rows whose name, short name or family matches the extended regular expression. */
int kernel_stats_filter(struct kernel_stats *k, const char *regex, struct err *e) MUST_USE;

/* The rows of one family, added up; sums of the roofline only where it is known. */
struct kernel_family_sum {
    enum kernel_family family;
    double total_ns, known_ns, roof_ns, flops, bytes;
};

/* Those that have rows, most time first; returns how many. */
int kernel_stats_families(const struct kernel_stats *k,
                          struct kernel_family_sum list[FAMILY_COUNT]);

/* Largest first. Keys: total calls mean median p95 max occupancy gb_per_s tflop_per_s headroom;
 * "name" sorts by it. ERR_USAGE for any other word. */
int kernel_stats_sort(struct kernel_stats *k, const char *key, struct err *e) MUST_USE;

#endif
