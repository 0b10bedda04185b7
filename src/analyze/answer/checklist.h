/* checklist.h: the questions people ask of every trace. Each answer has a measured value and says
 * whether acting on it gains anything: a row is healthy only if the findings about it gain less
 * than one that is worth a line. */
#ifndef STRATA_ANALYZE_ANSWER_CHECKLIST_H
#define STRATA_ANALYZE_ANSWER_CHECKLIST_H

#include "analyze/context.h"

struct checklist_answer {
    const char *id; /* stable, for JSON and budgets */
    const char *question;
    const char *unit;
    const char *verdict; /* one sentence with the value in it */
    double value;
    bool known; /* false: the trace cannot answer; the verdict says what to record */
    bool healthy;
};

#define CHECKLIST_MOST 12

struct checklist {
    struct checklist_answer items[CHECKLIST_MOST];
    uint32_t n;
};

extern const struct pass checklist_pass;

static inline const struct checklist *checklist_of(const struct context *cx)
{
    return context_kept(cx, PASS_CHECKLIST);
}

#endif
