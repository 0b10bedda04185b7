/* torch_words.h: words that torch, its profiler and its compiler write into any program's trace.
 * One function per thing; nothing else looks for these words (tools/check_banned.py). */
#ifndef STRATA_ANALYZE_NAMES_TORCH_WORDS_H
#define STRATA_ANALYZE_NAMES_TORCH_WORDS_H

#include "trace/trace.h"

/* How the steps of torch.profiler are called without their number. */
#define TORCH_STEP "ProfilerStep"

bool torch_is_step(struct str name);            /* "ProfilerStep#3" */
int64_t torch_step_number(struct str name);     /* 3 of that, or -1 */
bool torch_is_region(struct str name);          /* the call of a compiled function or graph */
bool torch_is_numbered_region(struct str name); /* one that says what was compiled: "0/1" */
bool torch_is_compiler(struct str name);        /* that, or the compiler at work around it */
bool torch_is_guard_check(struct str name);     /* which compiled version fits the arguments? */
bool torch_is_optimizer(struct str name);       /* any method of an optimizer that torch marks */
bool torch_is_optimizer_step(struct str name);  /* its step(): "Optimizer.step#AdamW.step" */
bool torch_is_loader(struct str name);          /* the loop asks its DataLoader for a batch */

/* Kernels by name: made with Triton, by Inductor, from its template of a product, and from
 * pointwise operators and reductions alone. */
bool torch_is_triton(struct str kernel);
bool torch_is_inductor(struct str kernel);
bool torch_is_template(struct str kernel);
bool torch_is_fused_chain(struct str kernel);

/* Whether device work was launched inside a method of an optimizer. */
bool torch_in_optimizer(const struct trace *t, row_t work);

#endif
