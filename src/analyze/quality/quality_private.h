/* quality_private.h: the functions of this folder that only this folder calls. */
#ifndef STRATA_ANALYZE_QUALITY_QUALITY_PRIVATE_H
#define STRATA_ANALYZE_QUALITY_QUALITY_PRIVATE_H

#include "analyze/quality/doubt.h"
#include "base/err.h"

struct context;
struct arena;
struct integrity;
struct coverage;

/* What the doubters of the integrity pass share. Each is a function that adds at most one doubt;
 * they are listed once, in integrity.c. */

struct doubting {
    const struct trace *t;
    const struct context *cx;
    struct arena *mem;
    struct integrity *i;
    bool failed;          /* memory ran out */
    bool waits_shared;    /* waits without work, while another process used the device */
    struct doubt nowhere; /* receives the doubts there is no room for */
};

/* Adds a doubt of this level; `what` is formatted. The rest of it is filled by the caller. */
struct doubt *integrity_doubt(struct doubting *c, const char *id, enum quality level,
                              const char *fmt, ...) __attribute__((format(printf, 4, 5)));

typedef void doubter(struct doubting *c);

/* integrity_records.c: what is missing */
doubter doubt_empty, doubt_dropped, doubt_edges, doubt_graphs, doubt_waits, doubt_shared,
    doubt_links, doubt_steps;

/* integrity_times.c: what is impossible, and what recording did to the run */

/* Older recorders write whole microseconds: what lasts less has a duration of zero, and others have
 * one of a microsecond. */
bool quality_in_microseconds(const struct trace *t);
doubter doubt_file, doubt_untimed, doubt_impossible, doubt_clocks, doubt_collectives,
    doubt_recording, doubt_overheads, doubt_graph_nodes, doubt_depth;

/* graph_replays.c: counts the replays (calls, in time order) that have fewer records than their
 * graph has work. ERR_NOMEM is the only failure. */
int graph_replays_count(const struct trace *t, const row_t *replays, uint32_t n,
                        struct coverage *ret);

#endif
