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
#include "trace/snapshot_mark.h"

struct stage {
    struct str name;
    const char *path; /* "pipeline_call/transformer_forward" */
    uint32_t parent;  /* index into stages.list, or STAGE_NONE */
    uint32_t depth;
    bool backward; /* launched by autograd for the forward stage of this name; no CPU side */
    bool user;     /* false for derived ones, compiled regions and collectives (with `all`) */
    bool derived;  /* without a label of the user: made from what else is in the trace */
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
    struct stage *list; /* one per node of the tree, same index: parents first */
    uint32_t n;
    struct between between;
    int64_t steps_cpu_ns, steps_gpu_ns; /* all steps together: what shares are shares of */
};

/* Whether it is a part of the program, named by a person or derived; compiled regions and
 * collectives that were requested (`all`) are not. */
static inline bool stage_is_part(const struct stage *s)
{
    return s->user || s->derived;
}

extern const struct pass stages_pass;

static inline const struct stages *stages_of(const struct context *cx)
{
    return context_kept(cx, PASS_STAGES);
}

/* requests.c: a program that serves: calls of one outermost stage that run beside one another, on
 * threads or as tasks. The slow ones against those in the middle, by what they spend their time in.
 */

enum { REQUEST_PARTS = 8 };

/* Means per request. */
struct request_part {
    uint32_t stage; /* directly inside the request; STAGE_NONE: in none of them */
    int64_t usual_ns, slow_ns;
};

struct requests {
    bool found;
    uint32_t stage; /* index into stages.list */
    uint32_t n, most_at_once;
    int64_t median_ns, p95_ns, p99_ns;
    uint32_t n_usual, n_slow;                 /* those around the median, and the slowest 5 % */
    int64_t usual_ns, slow_ns;                /* means of them */
    struct request_part parts[REQUEST_PARTS]; /* by how much longer the slow ones take in them */
    uint32_t n_parts;
};

extern const struct pass requests_pass;

static inline const struct requests *requests_of(const struct context *cx)
{
    return context_kept(cx, PASS_REQUESTS);
}

/* odd_step.c: the request or step that a snapshot was taken for, against the other ones.
 *
 * What was slow may be a part: then the outermost stage around it is compared, which is what a user
 * waited for. Without stages it is a step of the loop. */

enum { ODD_PARTS = 5 };

/* Of the unit, and the median of the others. */
struct odd_pair {
    int64_t here, usual;
};

struct odd_step {
    bool is_snapshot; /* `shot` says why it was taken */
    bool found;       /* the rest is known: something took too long, in one of several units */
    struct snapshot_mark shot;
    struct str unit;         /* whose calls are compared: "request", "step" */
    uint32_t step, n_others; /* which one it is, in time order from 0 */
    int64_t begin_ns;        /* of it */
    bool before;             /* with what its thread did since the one before, and so the others */
    uint32_t n_longer;       /* of the others */
    int64_t longest_ns;      /* of the others */
    struct odd_pair wall_ns, blocked_ns, gpu_ns, launches, syncs;
    struct odd_part {
        row_t row; /* the longest of a function, operator, call or label of the unit's thread */
        struct odd_pair own_ns;
    } parts[ODD_PARTS]; /* that took longer, by how much: own time, without what they called */
    uint32_t n_parts;
};

extern const struct pass odd_step_pass;

static inline const struct odd_step *odd_step_of(const struct context *cx)
{
    return context_kept(cx, PASS_ODD_STEP);
}

/* stage_match.c: derived stages by name, for those who ask for one. They are not rows of the trace,
 * or are rows of another name, so that patterns for rows do not find them. */

struct stage_matches {
    const struct stage_call **calls; /* in the order of the tree; none lies in another */
    uint32_t n;
};

/* Calls of derived stages whose name or path matches the extended regular expression; none when it
 * matches a stage that a person named: that one is meant. Memory from `mem`; a bad pattern is
 * ERR_USAGE. */
int stage_match_derived(const struct context *cx, const char *pattern, struct arena *mem,
                        struct stage_matches *ret, struct err *e) MUST_USE;

#endif
