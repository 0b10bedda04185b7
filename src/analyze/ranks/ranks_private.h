/* ranks_private.h: the parts a set of ranks is computed from. */
#ifndef STRATA_ANALYZE_RANKS_RANKS_PRIVATE_H
#define STRATA_ANALYZE_RANKS_RANKS_PRIVATE_H

#include "analyze/context.h"

struct message_group;
struct rank_set;
struct rank_straggler;
struct rank_place;
struct rank_store;
struct rank_summary;

/* ---- of a set, in this order */

int rank_match(struct rank_set *s, struct arena *mem);         /* list, unmatched */
int rank_find_pipeline(struct rank_set *s, struct arena *mem); /* pipeline.ranks */
int rank_clocks(struct rank_set *s, struct arena *mem);        /* clocks */
int rank_waits(struct rank_set *s, struct arena *mem);         /* waits, who came last, lateness */
int rank_path(struct rank_set *s, struct arena *mem);          /* the critical path */
int rank_blame(struct rank_set *s, struct arena *mem);         /* stragglers and their causes */
int rank_schedule(struct rank_set *s, struct arena *mem);      /* pipeline, experts */

/* Room for a figure of every rank, and those at hand. */
struct rank_scratch {
    const struct rank_set *s;
    int64_t *a, *b;
};

/* Why a straggler is late: cause, cause_ns, place, ratio. */
void rank_find_cause(struct rank_scratch *w, struct rank_straggler *x);

/* Fills usual_ns of all collectives. */
int rank_links(struct rank_set *s, struct arena *mem);

/* The transfers a rank takes part in that can be compared with those of other groups; those with
 * rank `except` are left out (UINT32_MAX: none). */
struct rank_link {
    int64_t own_ns, usual_ns;
};
/* The rank whose transfers take most longer; `excess` has room for every rank. */
uint32_t rank_link_worst(const struct rank_set *s, int64_t *excess);

struct rank_link rank_link_of(const struct rank_set *s, uint32_t rank, uint32_t except);

/* ---- of a summary */

struct rank_reader {
    const struct context *cx;
    struct rank_store *store;
    bool *autograd;         /* by lane: a thread of autograd's */
    int64_t from_ns, to_ns; /* what functions do before and after does not count */
    int64_t launched_ns;    /* when the last collective was launched */
};

/* What the figures of the rank are about: its loop where the recording has the start-up too, with
 * what the device still does at the end; else all of the trace. */
struct span rank_window(const struct rank_reader *in);

/* Kernels, idle time and functions. */
int rank_costs_run(const struct rank_reader *in, struct rank_summary *s) MUST_USE;

/* Collectives of the busiest device, and what was done between them. */
int rank_events_run(const struct rank_reader *in, struct rank_summary *s) MUST_USE;

/* What kind of idle time a cause makes: an enum rank_counter. */
int rank_idle_counter(const struct context *cx, uint32_t cause);

/* Events, groups and times of a rank whose collectives run on CPU threads. */
int rank_host_run(const struct rank_reader *in, struct rank_summary *s) MUST_USE;

/* Fills groups and group_names. */
int rank_groups(const struct rank_reader *in, const struct message_group *groups, uint32_t n,
                struct rank_summary *s) MUST_USE;

/* A copy of a text, shortened to `width` columns; "" when out of memory. */
const char *rank_keep(const struct rank_reader *in, struct str s, int width);

/* The stage of a row on a thread: a node of the stages, STAGE_NONE or RANK_STAGE_BACKWARD; its
 * name, NULL for STAGE_NONE. */
#define RANK_STAGE_BACKWARD (UINT32_MAX - 1)
uint32_t rank_stage_node(const struct rank_reader *in, row_t r);
const char *rank_stage_name(const struct rank_reader *in, uint32_t node);

/* File, line, function and stage of a row on a thread. */
void rank_find_place(const struct rank_reader *in, row_t r, struct rank_place *ret);

#endif
