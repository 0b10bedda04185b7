/* captured.h: what ran when the work of CUDA graphs was captured: the operator, the module and the
 * Python line of each kernel that a graph launch replays. Its launch says nothing of these.
 *
 * Timelines of Strata's own say it for each node of a graph (TRACE_META_CAPTURED). In other traces
 * it is found where the capture itself was recorded: launches between cudaStreamBeginCapture and
 * cudaStreamEndCapture make the kernel nodes of a graph in their order. Where kernels do not name
 * their nodes (torch.profiler) it is their order on the stream. It is left open where the numbers
 * of launches and nodes do not agree, or several captures could be meant. */
#ifndef STRATA_ANALYZE_NAMES_CAPTURED_H
#define STRATA_ANALYZE_NAMES_CAPTURED_H

#include "analyze/context.h"
#include "analyze/names/calls.h"

struct captured_origin {
    const struct str *stack; /* Python functions and modules, named as rows are; outermost first */
    uint32_t n;
    struct str op;     /* the innermost operator; empty when not known */
    struct str module; /* the innermost module, "nn.Module: Linear_3"; empty when not known */
    struct str place;  /* the innermost Python function of the user's code, else of any; or empty */
    struct str label;  /* the best of these, in this order */
    uint32_t same;     /* the first origin with that label */
    row_t call;        /* the launch that made the node, where the trace has it; or ROW_NONE */
};

struct captured {
    struct captured_origin *origins;
    uint32_t n_origins, cap_origins;
    uint32_t *origin_of;           /* by index into trace->gpu: + 1, 0 for none */
    int64_t replayed_ns, known_ns; /* work of graphs, and what of it has an origin */
};

/* Whether device work belongs to a graph. */
bool captured_is_replayed(const struct calls *calls, const struct trace *t, row_t r);

/* NULL for work that was not replayed, or of which nothing is known. */
const struct captured_origin *captured_origin(const struct captured *c, const struct trace *t,
                                              row_t r);

extern const struct pass captured_pass;

static inline const struct captured *captured_of(const struct context *cx)
{
    return context_kept(cx, PASS_CAPTURED);
}

#endif
