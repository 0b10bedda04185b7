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
#include "analyze/findings/rule.h"
#include "analyze/names/kernel_name.h"

enum diff_side { DIFF_BEFORE, DIFF_AFTER };

/* A part of the wall clock on both sides. */
struct diff_change {
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
    int64_t ns[2], common_ns[2]; /* time of all kernels, and of those with a name of both sides */
};

enum diff_mechanism { /* why there are fewer launches or kernels, when there are */
                      MECHANISM_NONE,
                      MECHANISM_FUSION,
                      MECHANISM_GRAPHS,
                      MECHANISM_BOTH,
                      MECHANISM_OTHER,
};

/* Sentences on what changed in the program, and waits of one side that have one of their own. */
#define DIFF_CHANGED       16
#define DIFF_CHANGED_SYNCS 4

struct diff {
    const struct context *side[2];
    const char *changed[DIFF_CHANGED]; /* see diff_changed.c; none where nothing did */
    uint32_t n_changed;
    struct diff_change
        *parts; /* largest change first; they add up to the change of the wall clock */
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
    bool unlike;        /* these are two programs, see diff_alike.c */
    uint32_t n_common;  /* stages that both have, and */
    uint32_t n_modules[2], n_common_modules; /* classes of outermost modules */
    bool labels_lost; /* stages of the one side are missing on the other, which is compiled */
};

/* Memory from `mem`. Both analyses must outlive `ret`. */
int diff_run(const struct context *before, const struct context *after, struct arena *mem,
             struct diff *ret, struct err *e) MUST_USE;

/* diff_alike.c: whether both sides are the same program, of a diff that has stages and kernels. */
int diff_alike_find(struct diff *d) MUST_USE;

/* diff_changed.c: fills `changed` of a diff that is complete otherwise. ERR_NOMEM is the only
 * failure. */
int diff_changed_find(struct diff *d, struct arena *mem) MUST_USE;

/* As `strata steps` counts them; all kernels where there are no steps. */
double diff_kernels_per_step(const struct diff *d, enum diff_side s);

/* consistency.c: what a finished analysis must never say, whatever the trace: exposed more than
 * idle, causes that do not add up, a gain larger than what it comes from. Figures that contradict
 * each other are our mistake, so builds with asserts check every analysis before it is freed
 * (cli/input/consistent.h). */

/* Appends a line per contradiction between the results that were computed; returns how many. */
uint32_t consistency_check(const struct context *cx, struct buf *ret);

/* The same for the parts of a comparison, whose contexts are checked by themselves. */
uint32_t consistency_check_diff(const struct diff *d, struct buf *ret);

#endif
