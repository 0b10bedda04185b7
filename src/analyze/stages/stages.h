/* stages.h: what each stage of the pipeline costs: the user's annotations, by path, or where there
 * are none the parts of the program as they can be derived.
 *
 * A stage's CPU side and its GPU side are different things at different times and are never added:
 * CPU times are how long its calls lasted on their threads, GPU times belong to the work launched
 * inside them, whenever it ran. All figures are inclusive (nested stages count for the outer one)
 * unless they say self. */
#ifndef STRATA_ANALYZE_STAGES_STAGES_H
#define STRATA_ANALYZE_STAGES_STAGES_H

#include "analyze/stages/stage_tree.h"
#include "analyze/steps/steps.h"

struct stage {
    struct str name;
    const char *path; /* "pipeline_call/transformer_forward" */
    uint32_t parent;  /* index into stages.list, or STAGE_NONE */
    uint32_t depth;
    bool backward; /* launched by autograd for the forward stage of this name; no CPU side */
    bool user;     /* false for derived ones, compiled regions and collectives (with `all`) */
    bool derived;  /* nobody named it: made from what else is in the trace */
    enum origin from;
    bool container; /* holds the loop or the stages: its own time is "between stages" */
    uint32_t calls;

    int64_t cpu_ns, self_cpu_ns;
    int64_t blocked_ns;                  /* of it, inside calls that wait for the device */
    int64_t first_ns, median_ns, p95_ns; /* CPU time of a call */

    struct work_sum gpu; /* span and idle are taken per call and added */
    int64_t self_gpu_ns; /* sum of durations, work of nested stages left out */
    int64_t gpu_first_ns, gpu_median_ns, gpu_p95_ns;   /* GPU sum of a call */
    int64_t idle_meanwhile_ns, self_idle_meanwhile_ns; /* devices idle while the CPU was in it */

    uint32_t launches, graph_launches, syncs;
    uint32_t allocations; /* from the caching allocator, devices only */
    int64_t alloc_bytes;
    uint32_t device_allocs; /* cudaMalloc and the like, both ways */
    int64_t peak_bytes;     /* device memory in use, the most at any time; -1 when not recorded */

    int64_t step_cpu_ns, step_gpu_ns; /* of cpu_ns and gpu.sum_ns, from calls inside steps */
};

/* A function by the time spent in itself. */
struct self_time {
    str_id name;
    row_t longest; /* its longest row */
    int64_t self_ns;
    uint32_t calls;
};

#define BETWEEN_TOP 12

/* What happens on threads with stages, inside containers or between outermost stages. */
struct between {
    int64_t cpu_ns, blocked_ns;
    int64_t untraced_ns; /* of it, in no row that began there */
    int64_t idle_meanwhile_ns;
    struct work_sum gpu;
    uint32_t launches, syncs;
    struct self_time top[BETWEEN_TOP]; /* largest first */
    uint32_t n_top;
};

struct stages {
    struct stage_tree tree;
    struct stage *list; /* one a node of the tree, same index: parents first */
    uint32_t n;
    struct between between;
    int64_t steps_cpu_ns, steps_gpu_ns; /* all steps together: what shares are shares of */
};

/* Whether it is a part of the program, named by a person or derived; compiled regions and
 * collectives that were asked for (`all`) are not. */
static inline bool stage_is_part(const struct stage *s)
{
    return s->user || s->derived;
}

extern const struct pass stages_pass;

static inline const struct stages *stages_of(const struct context *cx)
{
    return context_kept(cx, PASS_STAGES);
}

#endif
