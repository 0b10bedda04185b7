/* tensor_calls.h: which tensors the operators of units in depth read and return, in the order in
 * which that happened on all threads (docs/format/run.md has the arguments it is read from). */
#ifndef STRATA_ANALYZE_FINDINGS_TENSOR_CALLS_H
#define STRATA_ANALYZE_FINDINGS_TENSOR_CALLS_H

#include "analyze/context.h"

#define TENSOR_NO_VERSION (-1) /* not recorded, or a tensor of inference mode */

struct tensor_read {
    uint64_t storage; /* 0: not known */
    uint64_t layout;
    int64_t version;
};

struct tensor_call {
    row_t op; /* of t->deep */
    bool known;
    bool outermost; /* of its thread's operators: versions count */
    uint32_t first; /* its inputs, and behind them what it returns, in tensor_calls.tensors */
    uint32_t n_in, n_out;
    double lists; /* a hash of its lists of numbers */
};

enum tensor_event_kind {
    TENSOR_UNIT,   /* a unit begins */
    TENSOR_MISSED, /* there was something between two units */
    TENSOR_BEGINS, /* a call */
    TENSOR_LAUNCH, /* by a call, or by none */
    TENSOR_ENDS,
};

struct tensor_event {
    int64_t ns;
    enum tensor_event_kind kind;
    uint32_t call; /* index, or UINT32_MAX */
    row_t row;     /* of the launch */
};

struct tensor_calls {
    struct tensor_call *calls;
    struct tensor_read *tensors;
    struct tensor_event *events; /* in their order */
    uint32_t n_calls, n_tensors, n_events;
    size_t cap_calls, cap_tensors, cap_events;
    uint32_t n_known;
};

/* Nothing where there are no units in depth, or no tensors were recorded. tensor_calls_done in any
 * case. */
int tensor_calls_read(struct tensor_calls *x, const struct context *cx, struct err *e) MUST_USE;
void tensor_calls_done(struct tensor_calls *x);

/* ---- what follows from them ---- */

/* tensor_values.c: which operators of units in depth compute what they had.
 *
 * The contents of a storage get a number. What an operator writes has a number that follows from
 * the operator, its numbers and the contents that it reads; so equal numbers are equal contents,
 * wherever they lie:
 *
 *     unit 2   [text, weights] -> mm -> 17        unit 3   [text, weights] -> mm -> 17: again
 *     unit 2   [noise, 17] -> add -> 18           unit 3   [noise', 17] -> add -> 19
 *
 * An address says nothing by itself: what returned a tensor last decides, and a version that no
 * operator was seen to write is new contents. So are random numbers, what came from the host, and
 * what operators other than torch's own may have written. Kernels without an operator (a graph,
 * Triton) may have written anything: nothing from before them is known. */
enum computed {
    COMPUTED_FIRST, /* no unit before had such an operator */
    COMPUTED_ONCE,
    COMPUTED_AGAIN_IN_UNIT, /* what the same unit had before */
    COMPUTED_AGAIN,         /* what another unit has, too */
    COMPUTED_TO_WRITE,      /* the result is written over: keeping it would not be enough */
};

struct tensor_values {
    uint8_t *computed;         /* by row of t->deep: enum computed of operators */
    int64_t again_ns, like_ns; /* work of units after the first one of their kind: so much of it is
                                  computed again */
    bool partly;               /* not all operators say what they read */
};

/* Memory from cx->mem. `trusting`: as if nothing wrote what operators do not say, and foreign ones
 * did the same every time. */
int tensor_values_find(struct tensor_values *ret, const struct context *cx,
                       const struct tensor_calls *calls, bool trusting, struct err *e) MUST_USE;

#endif
