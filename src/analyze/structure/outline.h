/* outline.h: what the program does, in order and nested: calls of labels, modules, functions and
 * compiled regions, and inside them the operators and launches that put work on a device, and the
 * waits. Of the thread that drives the device, with what autograd's threads launch for it.
 *
 *     generate                                     item 0: a call
 *       LlamaForCausalLM                           item 1
 *         aten::embedding  aten::linear  ...       items 2, 3 ...: leaves
 *       aten::argmax  cudaStreamSynchronize
 *       LlamaForCausalLM
 *
 * Where a trace has no stacks and no labels the outline is flat; where it has no launches, it is
 * what the device did, in the device's time. */
#ifndef STRATA_ANALYZE_STRUCTURE_OUTLINE_H
#define STRATA_ANALYZE_STRUCTURE_OUTLINE_H

#include "analyze/names/calls.h"
#include "analyze/structure/frame_parts.h"
#include "analyze/structure/origin.h"

#define ITEM_NONE UINT32_MAX

struct outline_item {
    int64_t begin_ns, end_ns;
    int64_t weight;  /* device time of what it launches, itself and inside */
    uint32_t token;  /* equal for the same thing: modules of a class, labels of a name */
    uint32_t exact;  /* equal for the same instance of a module, too */
    uint32_t parent; /* item, or ITEM_NONE */
    uint32_t end;    /* items [i + 1, end) are inside it */
    row_t row;
    struct str name;   /* of calls: as a person would say it; of leaves as recorded */
    uint8_t from;      /* enum origin: ORIGIN_OPS and ORIGIN_KERNELS are leaves */
    uint32_t launches; /* of a leaf: calls that put work on the device */
    bool waits;        /* a leaf that waits for the device */
    bool graph;        /* a leaf that replays a graph */
    bool backward;     /* a leaf that autograd runs */
};

struct outline {
    struct outline_item *items; /* by begin, each followed by those inside it */
    uint32_t n;
    uint32_t n_tokens;
    lane_id lane;   /* of the driving thread, or LANE_NONE */
    bool on_device; /* times are the device's: the trace has no launches */
    struct frame_parts frames;
};

static inline bool outline_is_leaf(const struct outline_item *i)
{
    return i->from == ORIGIN_OPS || i->from == ORIGIN_KERNELS;
}

/* What a range that our recorder derived is a call of, from its name: modules have that of their
 * class. */
enum origin outline_derived_from(struct str name);

/* The call of a module or function around [begin, end) and little else, or ITEM_NONE. */
uint32_t outline_call_around(const struct outline *o, int64_t begin_ns, int64_t end_ns);

/* Whether the row is an operator with none around it, whatever else is. */
bool outline_is_outer_op(const struct trace *t, row_t r);

/* Whether a thread runs backward passes for another. */
bool outline_is_autograd(const struct trace *t, const struct lane *l);

extern const struct pass outline_pass;

static inline const struct outline *outline_of(const struct context *cx)
{
    return context_kept(cx, PASS_OUTLINE);
}

#endif
