/* launch_units.h: the parts of a program that could be launched as one: stages, and the body of the
 * loop where stages do not cover it or nobody named any.
 *
 *     loop body   [ l l l l l  quiet  l l l l l l l  sync  ]      one per step
 *     stretches   |--------|         |---------------------|
 *
 * Long calls that launch nothing (analyze/gaps/launchless) are not part of it: no graph and no
 * compiler removes what a DataLoader or a walk over modules does between launches. */
#ifndef STRATA_ANALYZE_RULES_LAUNCH_UNITS_H
#define STRATA_ANALYZE_RULES_LAUNCH_UNITS_H

#include "analyze/rules/rule.h"

struct launch_unit {
    const struct stage *stage; /* NULL: the body of the loop */
    struct sim_cut *spans;     /* where it runs, by time */
    uint32_t n_spans;
    uint32_t calls;                   /* times it runs */
    uint32_t launches, syncs;         /* in all of them */
    uint32_t works, works_in_graphs;  /* pieces of device work that those launch */
    uint32_t works_compiled;          /* launched by code that torch.compile made */
    uint32_t works_other;             /* fills, and copies from and to the host */
    int64_t cpu_ns, work_ns, idle_ns; /* CPU time without waits; device work; idle meanwhile */
    /* single launches that load a library or its code: not in the above */
    int64_t loading_ns, loading_idle_ns;
};

struct launch_units {
    struct launch_unit *list; /* those that are launch-bound, outermost ones only */
    uint32_t n;
};

int launch_units_find(const struct context *cx, struct launch_units *ret, struct err *e) MUST_USE;

/* Mean time from one launch to the next, waits left out. */
int64_t launch_unit_interval(const struct launch_unit *u);

#endif
