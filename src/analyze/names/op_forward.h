/* op_forward.h: from a row of the backward pass to the operator of the forward pass it undoes.
 *
 * Autograd runs on threads without Python frames, so the line that caused its work is the one that
 * called the forward operator. Both carry the same sequence number; the first operator with the
 * number owns it, as in torch's table. Numbers of several forward threads are not distinguished. */
#ifndef STRATA_ANALYZE_NAMES_OP_FORWARD_H
#define STRATA_ANALYZE_NAMES_OP_FORWARD_H

#include "base/map.h"
#include "trace/trace.h"

struct op_forward {
    struct map first; /* (process, sequence number) -> forward op; empty without a backward pass */
};

int op_forward_init(struct op_forward *f, const struct trace *t, struct err *e) MUST_USE;
void op_forward_done(struct op_forward *f);

/* The same where torch's table knows none: autograd does some work of a node beside it, such as
 * adding up a gradient to the shape of what was broadcast. */
row_t op_forward_near(const struct op_forward *f, const struct trace *t, row_t r);

/* The forward operator of row `r`, which stands on a thread; ROW_NONE outside the backward pass. */
row_t op_forward_of(const struct op_forward *f, const struct trace *t, row_t r);

#endif
