/* diagnosis.h: a trace and everything that is said about it, for tests of rules. */
#ifndef STRATA_TESTS_DIAGNOSIS_H
#define STRATA_TESTS_DIAGNOSIS_H

#include "analyze/answer/answer.h"
#include "analyze/answer/checklist.h"
#include "analyze/findings/rule.h"
#include "kit.h"

struct diagnosis {
    struct trace *t;
    struct arena mem;
    struct context cx;
};

static inline void diagnose(struct diagnosis *d, struct trace *t)
{
    d->t = t;
    arena_init(&d->mem);
    struct err e;
    err_init(&e);
    context_init(&d->cx, t, &d->mem);
    if (!CHECK_EQ_INT(context_need(&d->cx, &checklist_pass, &e), 0) ||
        !CHECK_EQ_INT(context_need(&d->cx, &answer_pass, &e), 0))
        fprintf(stderr, "%s\n", e.msg);
}

static inline void done(struct diagnosis *d)
{
    context_done(&d->cx);
    arena_done(&d->mem);
    trace_free(d->t);
}

static inline const struct finding *found(const struct diagnosis *d, const char *rule)
{
    for (uint32_t i = 0; i < findings_of(&d->cx)->n; i++)
        if (strcmp(findings_of(&d->cx)->items[i]->rule->id, rule) == 0)
            return findings_of(&d->cx)->items[i];
    return NULL;
}

static inline uint32_t severe(const struct diagnosis *d, enum severity least)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < findings_of(&d->cx)->n; i++)
        n += findings_of(&d->cx)->items[i]->severity >= least;
    return n;
}

#endif
