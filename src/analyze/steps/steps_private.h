/* steps_private.h: the functions of this folder that only this folder calls. */
#ifndef STRATA_ANALYZE_STEPS_STEPS_PRIVATE_H
#define STRATA_ANALYZE_STEPS_STEPS_PRIVATE_H

#include "base/err.h"
#include "trace/trace.h"

struct arena;
struct context;
struct steps;
struct loop;

/* cold_start.c: labels that begin with a long nothing. The first call of a label in a cold process
 * loads code, picks algorithms and takes memory before its first op runs; the others do not. */

/* Fills s->dead; the steps must be there already. */
int cold_start_find(const struct trace *t, struct arena *mem, struct steps *s,
                    struct err *e) MUST_USE;

/* alike.c: *ret is false when rounds are not the same work again: the parts of one pass. `work` has
 * the device rows of each of the `n` rounds, or its operators where nothing was launched. ERR_NOMEM
 * is the only failure. */
int alike_are_rounds(const struct trace *t, row_t *const *work, const uint32_t *n_work, uint32_t n,
                     struct arena *mem, bool *ret) MUST_USE;

/* lead.c: lets rounds that were found from launches begin with the operators that precede every
 * one of them. */
int lead_fit(const struct context *cx, struct loop *l, struct err *e) MUST_USE;

/* loop_labels.c: the loop, from annotations that repeat. */

/* Leaves `ret` as it is when no annotations repeat. */
int loop_labels_find(const struct trace *t, struct arena *mem, struct loop *ret,
                     struct err *e) MUST_USE;

#endif
