/* stage_tree.h: the parts of a program as a tree of stages, and which stage a row belongs to.
 *
 * A stage is a path of labels ("pipeline_call/transformer_forward"), so the same name in two
 * places is two stages; a call is one instance of it on one thread. ProfilerStep#, compiled
 * regions and collectives are not stages and are skipped, unless requested. Parts without
 * a label come from outside (stage_parts.c) and stand only where no label of the user is
 * open.
 *
 * Work that autograd threads launch carries no label of its own. It belongs to the label that is
 * open on the forward thread meanwhile; where that label encloses the forward op too (the
 * backward pass has no label), to a stage "NAME (backward)" beside the one of the forward op. */
#ifndef STRATA_ANALYZE_STAGES_STAGE_TREE_H
#define STRATA_ANALYZE_STAGES_STAGE_TREE_H

#include "analyze/structure/origin.h"
#include "trace/trace.h"

#define STAGE_NONE UINT32_MAX

/* A call of something without a label. */
struct stage_part {
    int64_t begin_ns, end_ns;
    lane_id lane;
    row_t row; /* of the frame or range it was derived from, or ROW_NONE */
    struct str name;
    enum origin from;
};

struct stage_parts {
    struct stage_part *list; /* by lane, begin, the longest first */
    uint32_t n;
};

struct stage_node {
    struct str name;
    uint32_t parent; /* node, or STAGE_NONE */
    uint32_t depth;
    bool backward; /* launched by autograd for the forward stage of this name */
    bool user;     /* named by a person; false for compiled regions, collectives, derived parts */
    bool derived;  /* it has no name */
    enum origin from;
};

struct stage_call {
    int64_t begin_ns, end_ns; /* of the forward label when the node is a backward one */
    lane_id lane;
    row_t row; /* likewise: the annotation, or what it was derived from, or ROW_NONE */
    uint32_t node;
    uint32_t parent; /* call, or STAGE_NONE */
};

struct stage_tree {
    struct stage_node *nodes; /* each followed by those inside it, in order of appearance */
    uint32_t n_nodes;
    struct stage_call *calls; /* parents first, in time order on a thread */
    uint32_t n_calls;
    uint32_t *first_call;   /* by lane, and one more: its calls, those of backward nodes aside */
    uint32_t *owner;        /* by row: the innermost call it lies in, or STAGE_NONE */
    uint32_t n_overflowing; /* labels left out because there are too many different ones */
};

struct stage_tree_in {
    const struct trace *t;
    bool all;                        /* compiled regions and collectives are stages too */
    const struct stage_parts *parts; /* NULL: what our recorder derived counts as labelled */
};

/* Memory from `mem`. */
int stage_tree_run(const struct stage_tree_in *in, struct arena *mem, struct stage_tree *ret,
                   struct err *e) MUST_USE;

/* The innermost call open on a thread at a moment, or STAGE_NONE. */
uint32_t stage_tree_at(const struct stage_tree *s, lane_id lane, int64_t ts_ns);

/* "a/b/c" of a node, in `mem`; NULL when out of memory. */
const char *stage_tree_path(const struct stage_tree *s, uint32_t node, struct arena *mem);

#endif
