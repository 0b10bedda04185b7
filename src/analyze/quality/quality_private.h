/* quality_private.h: the functions of this folder that only this folder calls. */
#ifndef STRATA_ANALYZE_QUALITY_QUALITY_PRIVATE_H
#define STRATA_ANALYZE_QUALITY_QUALITY_PRIVATE_H

#include "analyze/quality/doubt.h"
#include "base/err.h"

struct context;
struct arena;
struct integrity;

/* What the checks of the integrity pass share. Each check is a function that adds at most one
 * doubt; they are listed once, in integrity.c. */

struct checking {
    const struct trace *t;
    const struct context *cx;
    struct arena *mem;
    struct integrity *i;
    bool failed;          /* memory ran out */
    struct doubt nowhere; /* receives the doubts there is no room for */
};

/* Adds a doubt of this level; `what` is formatted. The rest of it is filled by the caller. */
struct doubt *integrity_doubt(struct checking *c, const char *id, enum quality level,
                              const char *fmt, ...) __attribute__((format(printf, 4, 5)));

typedef void integrity_check(struct checking *c);

/* integrity_records.c: what is missing */
integrity_check integrity_check_empty, integrity_check_dropped, integrity_check_edges,
    integrity_check_graphs, integrity_check_waits, integrity_check_links, integrity_check_steps;

/* integrity_times.c: what is impossible, and what recording did to the run */
integrity_check integrity_check_file, integrity_check_untimed, integrity_check_impossible,
    integrity_check_clocks, integrity_check_collectives, integrity_check_recording,
    integrity_check_overheads, integrity_check_graph_nodes;

#endif
