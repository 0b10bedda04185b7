/* label.h: what an annotation is, from its name. The profiler, the compiler and the communication
 * library write annotations too; only the rest are stages that a person named. */
#ifndef STRATA_ANALYZE_NAMES_LABEL_H
#define STRATA_ANALYZE_NAMES_LABEL_H

#include <stdint.h>

#include "base/str.h"
#include "trace/trace.h"

enum label_kind {
    LABEL_USER,
    LABEL_STEP,     /* ProfilerStep#N, or a round of a server (serving_label.h) */
    LABEL_COMPILED, /* a compiled region or the call of a compiled graph */
    LABEL_COMM,     /* a collective */
};

enum label_kind label_kind(struct str name);

/* Whether torch itself writes it, in whatever program: "Optimizer.step#AdamW.step",
 * "enumerate(DataLoader)#...". It does not mean that the user chose to label the program. */
bool label_is_automatic(struct str name);

/* Names that say of themselves that they are one round of a loop ("denoise_step_3"), the end of
 * one ("scheduler_step", "Optimizer.step#AdamW.step"), or a whole call around one ("pipeline_call",
 * "generate"). Whole words count, so "rerun_cache" is not a call. Hints only:
 * they break ties that structure leaves open. */
bool label_says_round(struct str name);
bool label_ends_round(struct str name);
bool label_is_tail(struct str name); /* ends a round and cannot be a whole one: no mere "step" */
bool label_says_call(struct str name);

/* Names of the parts a network is made of ("block", "attention"): a hint that a repetition of them
 * is its layers. */
bool label_says_part(struct str name);

/* label_group.c: labels that differ only in a number ("denoise_step_3", "ProfilerStep#17") are
 * rounds of one loop, and are added up under one name: "denoise_step_*". Numbers that tell two or
 * three different stages apart ("stage_1", "stage_2") are kept. */

struct label_groups {
    const struct trace *t;
    struct str *by_name; /* by str_id; .p is NULL where the name stands for itself */
};

/* Memory from `mem`; looks at every label of the trace once. */
int label_groups_init(struct label_groups *s, const struct trace *t, struct arena *mem,
                      struct err *e) MUST_USE;

/* The name under which a label is added up. Equal names have equal addresses. */
static inline struct str label_groups_name(const struct label_groups *s, str_id name)
{
    return s->by_name[name].p ? s->by_name[name] : trace_str(s->t, name);
}

#endif
