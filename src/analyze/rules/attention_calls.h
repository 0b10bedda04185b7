/* attention_calls.h: what the CPU no longer does once an attention is one kernel: it launches one,
 * and neither takes memory for the matrix of weights nor gives it back.
 *
 *     struct attention_calls calls = {0};
 *     TRY(attention_calls_add(&calls, cx, rows, n, e));       for each attention
 *     TRY(attention_calls_into(&calls, cx, f, e));            once
 *     attention_calls_done(&calls);                           in any case */
#ifndef STRATA_ANALYZE_RULES_ATTENTION_CALLS_H
#define STRATA_ANALYZE_RULES_ATTENTION_CALLS_H

#include "analyze/rules/rule.h"

struct attention_calls {
    struct sim_cut *spans;
    size_t n, cap;
};

/* `rows`: the kernels of one attention in the order of their stream, of which the first stays.
 * Nothing is added where something else happens between their launches. */
int attention_calls_add(struct attention_calls *x, const struct context *cx, const row_t *rows,
                        uint32_t n, struct err *e) MUST_USE;

/* Sets the edit of the finding, if there is anything. */
int attention_calls_into(struct attention_calls *x, const struct context *cx, struct finding *f,
                         struct err *e) MUST_USE;

void attention_calls_done(struct attention_calls *x);

#endif
