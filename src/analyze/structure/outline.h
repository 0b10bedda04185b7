/* outline.h: what the program does, in order and nested: calls of labels, modules, functions and
 * compiled regions, and inside them the operators and launches that put work on a device, and the
 * waits. On the thread that drives the device, with what autograd's threads launch for it.
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
#include "analyze/names/source_place.h"
#include "analyze/structure/origin.h"

/* frame_parts.c: which Python frames are parts of the program that a person would name.
 *
 * A trace with stacks has a frame for every function, most of them between two that matter:
 *
 *     main > decorate_context > generate > _sample > LlamaForCausalLM > _call_impl > wrapper >
 *     forward > LlamaModel ...
 *     is read as: generate > LlamaForCausalLM > LlamaModel
 *
 * Module calls, and calls of the user's functions, that hold a share of the time are parts. Among
 * functions that do nothing but call one another, one is taken: the module, else the outermost
 * that is not private. Functions around the whole recording are none. */

struct frame_part {
    row_t row;
    struct str name; /* "LlamaDecoderLayer", "generate", "pipeline_flux2" */
    bool module;
};

struct frame_parts {
    struct frame_part *list; /* by row */
    uint32_t n;
};

/* None in traces without stacks, or whose stacks are samples: those do not separate one call from
 * the next. Memory from `mem`. */
int frame_parts_find(const struct trace *t, struct source_places *places, struct arena *mem,
                     struct frame_parts *ret, struct err *e) MUST_USE;

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

/* Whether the operator is a node of a backward pass. */
bool outline_is_node(struct str op);

/* Whether a thread runs backward passes for another. */
bool outline_is_autograd(const struct trace *t, const struct lane *l);

extern const struct pass outline_pass;

static inline const struct outline *outline_of(const struct context *cx)
{
    return context_kept(cx, PASS_OUTLINE);
}

#endif
