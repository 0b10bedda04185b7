/* graph_origin.h: where work comes from whose launch does not say it: the operator, the module and
 * the Python line of each kernel that a graph launch replays, as they were when it was captured,
 * and of each kernel that is like one of a unit in depth (deep_match.h), as they were there.
 *
 * Of graphs, timelines of Strata's own say it for each node of a graph (TRACE_META_CAPTURED). In
 * other traces it is found where the capture itself was recorded: launches between
 * cudaStreamBeginCapture and cudaStreamEndCapture make the kernel nodes of a graph in their order.
 * Where kernels do not name their nodes (torch.profiler) it is their order on the stream. It is
 * left open where the numbers of launches and nodes do not agree, or several captures could be
 * meant. */
#ifndef STRATA_ANALYZE_NAMES_GRAPH_ORIGIN_H
#define STRATA_ANALYZE_NAMES_GRAPH_ORIGIN_H

#include "analyze/context.h"
#include "analyze/names/calls.h"

struct graph_origin_node {
    const struct str *stack; /* Python functions and modules, named as rows are; outermost first */
    uint32_t n;
    struct str op;                    /* the innermost operator; empty when not known */
    struct str dims, types, concrete; /* what that was called with, as JSON; empty: not known */
    struct str module; /* the innermost module, "nn.Module: Linear_3"; empty when not known */
    struct str place;  /* the innermost Python function of the user's code, else of any; or empty */
    struct str label;  /* the best of these, in this order */
    uint32_t same;     /* the first origin with that label */
    uint32_t where;    /* the first one with that label and place */
    row_t call; /* of graph_origins.made, or in depth of t->deep: the launch that made the node; or
                   ROW_NONE */
    bool deep;  /* from a unit in depth */
    bool differs; /* another unit in depth has another operator, module or line there: left out */
};

struct graph_origins {
    const struct trace *made; /* holds the captures: the trace, or what was cut out of it */
    struct calls calls;       /* of `made` */
    struct graph_origin_node *origins;
    uint32_t n_origins, cap_origins;
    uint32_t *origin_of;           /* by index into trace->gpu: + 1, 0 for none */
    int64_t replayed_ns, known_ns; /* work of graphs, and what of it has an origin */
};

/* Whether device work belongs to a graph. */
bool graph_origin_is_replayed(const struct calls *calls, const struct trace *t, row_t r);

/* NULL for work that says itself where it comes from, or of which nothing is known. */
const struct graph_origin_node *graph_origin_find(const struct graph_origins *c,
                                                  const struct trace *t, row_t r);

extern const struct pass graph_origin_pass;

static inline const struct graph_origins *graph_origin_of(const struct context *cx)
{
    return context_kept(cx, PASS_CAPTURED);
}

#endif
