/* label.h: what an annotation is, from its name. The profiler, the compiler and the communication
 * library write annotations too; only the rest are stages that a person named. */
#ifndef STRATA_ANALYZE_NAMES_LABEL_H
#define STRATA_ANALYZE_NAMES_LABEL_H

#include <stdint.h>

#include "base/str.h"

enum label_kind {
    LABEL_USER,
    LABEL_STEP,     /* ProfilerStep#N */
    LABEL_COMPILED, /* a compiled region or the call of a compiled graph */
    LABEL_COMM,     /* a collective */
};

enum label_kind label_kind(struct str name);

/* Whether torch itself writes it, in whatever program: "Optimizer.step#AdamW.step",
 * "enumerate(DataLoader)#...". Nobody chose to label the program because of it. */
bool label_is_automatic(struct str name);

/* N of "ProfilerStep#N", or -1. */
int64_t label_step_number(struct str name);

/* Whether an op or annotation of this name runs code that torch.compile made. */
bool label_is_compiled(struct str name);

/* Names that say of themselves that they are one round of a loop ("denoise_step_3"), the end of
 * one ("scheduler_step", "Optimizer.step#AdamW.step"), or a whole call around one ("pipeline_call",
 * "generate"). Hints only: they break ties that structure leaves open. */
bool label_says_round(struct str name);
bool label_ends_round(struct str name);
bool label_is_tail(struct str name); /* ends a round and cannot be a whole one: no mere "step" */
bool label_says_call(struct str name);

/* Names of the parts a network is made of ("block", "attention"): a hint that a repetition of them
 * is its layers. */
bool label_says_part(struct str name);

#endif
