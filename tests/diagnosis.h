/* diagnosis.h: a trace and everything that is said about it, for tests of rules. */
#ifndef STRATA_TESTS_DIAGNOSIS_H
#define STRATA_TESTS_DIAGNOSIS_H

#include "analyze/analysis.h"
#include "analyze/rules/rule.h"
#include "kit.h"

struct diagnosis {
    struct trace *t;
    struct arena mem;
    struct analysis a;
};

static inline void diagnose(struct diagnosis *d, struct trace *t)
{
    d->t = t;
    arena_init(&d->mem);
    struct analysis_options o = {0};
    struct err e;
    err_init(&e);
    if (!CHECK_EQ_INT(analysis_run(&d->a, t, &o, &d->mem, &e), 0)) fprintf(stderr, "%s\n", e.msg);
}

static inline void done(struct diagnosis *d)
{
    analysis_done(&d->a);
    arena_done(&d->mem);
    trace_free(d->t);
}

static inline const struct finding *found(const struct diagnosis *d, const char *rule)
{
    for (uint32_t i = 0; i < d->a.findings.n; i++)
        if (strcmp(d->a.findings.items[i]->rule->id, rule) == 0) return d->a.findings.items[i];
    return NULL;
}

static inline uint32_t severe(const struct diagnosis *d, enum severity least)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->a.findings.n; i++) n += d->a.findings.items[i]->severity >= least;
    return n;
}

#endif
