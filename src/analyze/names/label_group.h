/* label_group.h: labels that differ only in a number ("denoise_step_3", "ProfilerStep#17") are
 * rounds of one loop, and are added up under one name: "denoise_step_*". Numbers that tell two or
 * three different stages apart ("stage_1", "stage_2") are kept. */
#ifndef STRATA_ANALYZE_NAMES_LABEL_GROUP_H
#define STRATA_ANALYZE_NAMES_LABEL_GROUP_H

#include "trace/trace.h"

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
