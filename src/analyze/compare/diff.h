/* diff.h: what changed between two traces of the same program, and what the change of the wall
 * clock is made of.
 *
 * The wall clock of a trace is kernels + copies that no kernel overlaps + idle time by cause + the
 * time before the first and after the last work, all on the busiest device, exactly. So the change
 * of the wall clock is the sum of the changes of these parts. Where one of the traces has no device
 * work, the parts are the outermost stages and what is between them. Stages, kernels and syncs are
 * matched by name. */
#ifndef STRATA_ANALYZE_COMPARE_DIFF_H
#define STRATA_ANALYZE_COMPARE_DIFF_H

#include "analyze/compare/diff_stats.h"
#include "analyze/names/kernel_name.h"
#include "analyze/rules/rule.h"

enum diff_side { DIFF_BEFORE, DIFF_AFTER };

/* A part of the wall clock on both sides. */
struct diff_part {
    const char *kind; /* "kernels", "copies", "overlap", "outside" or a cause of idle time; "stage",
                         "between" without device work */
    const char *name; /* family, function, call ...; "" when the kind says it all */
    int64_t ns[2];
};

struct diff_stage {
    const char *path;
    const struct stage *side[2]; /* NULL where the label does not exist */
};

struct diff_sync {
    const char *key; /* what sites are matched by, for people: call, op, function */
    const struct sync_site *side[2];
};

struct diff_kernels {
    uint64_t kernels[2], fused[2], in_graphs[2], graph_launches[2], launches[2];
    uint64_t family[FAMILY_COUNT][2];
    int64_t family_ns[FAMILY_COUNT][2];
    uint32_t new_names, gone_names; /* kernel names that exist on one side only */
    bool same_names;
};

enum diff_mechanism { /* why there are fewer launches or kernels, when there are */
                      MECHANISM_NONE,
                      MECHANISM_FUSION,
                      MECHANISM_GRAPHS,
                      MECHANISM_BOTH,
                      MECHANISM_OTHER,
};

struct diff {
    const struct context *side[2];
    struct diff_part *parts; /* largest change first; they add up to the change of the wall clock */
    uint32_t n_parts;
    struct diff_stage *stages;
    uint32_t n_stages;
    struct diff_sync *syncs; /* of which one side may be NULL: added or removed */
    uint32_t n_syncs;
    struct diff_kernels kernels;
    enum diff_mechanism mechanism;
    double per_step[2]; /* divisor of counts: number of steps, or 1 */
    bool device;        /* both have device work; without it nothing is known of kernels */
    bool calls;         /* both have runtime calls; without them nothing is known of syncs */
    bool labels_lost;   /* stages of the one side are missing on the other, which is compiled */
};

/* Memory from `mem`. Both analyses must outlive `ret`. */
int diff_run(const struct context *before, const struct context *after, struct arena *mem,
             struct diff *ret, struct err *e) MUST_USE;

#endif
