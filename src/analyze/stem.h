/* stem.h: labels that differ only in a number ("denoise_step_3", "ProfilerStep#17") are rounds of
 * one loop, and are added up under one name: "denoise_step_*". Numbers that tell two or three
 * different stages apart ("stage_1", "stage_2") are kept. */
#ifndef STRATA_ANALYZE_STEM_H
#define STRATA_ANALYZE_STEM_H

#include "trace/trace.h"

struct stems {
    const struct trace *t;
    struct str *by_name; /* by str_id; .p is NULL where the name stands for itself */
};

/* Memory from `mem`; looks at every label of the trace once. */
int stems_init(struct stems *s, const struct trace *t, struct arena *mem, struct err *e) MUST_USE;

/* The name under which a label is added up. Equal names have equal addresses. */
static inline struct str stems_name(const struct stems *s, str_id name)
{
    return s->by_name[name].p ? s->by_name[name] : trace_str(s->t, name);
}

#endif
