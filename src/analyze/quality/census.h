/* census.h: what a trace contains, without reading its rows: versions, devices, what the recorder
 * was asked to record, counts, and damage to the file. Cheap for a mapped trace of any size,
 * because only the small tables are read. */
#ifndef STRATA_ANALYZE_QUALITY_CENSUS_H
#define STRATA_ANALYZE_QUALITY_CENSUS_H

#include "trace/trace.h"

/* What the recorder was set to record; unknown if the file neither says nor shows it. */
enum census_flag { FLAG_UNKNOWN, FLAG_OFF, FLAG_ON };

struct census_version {
    const char *what; /* "CUDA runtime" */
    const char *key;  /* "cuda_runtime": for JSON */
    char text[40];    /* "13.0" */
};

#define CENSUS_VERSIONS 12

struct census_cat {
    struct str name; /* as written; empty for events without one */
    enum row_kind kind;
    uint32_t events;
};

struct census {
    uint64_t n_events; /* rows and flows */
    struct trace_counts counts;
    struct census_cat *cats; /* most events first */
    uint32_t n_cats;

    struct census_version versions[CENSUS_VERSIONS];
    int n_versions;
    enum census_flag stacks, shapes, memory, modules, flops;
    int64_t rank, world_size; /* -1 when not distributed */

    uint32_t n_processes, n_threads, n_streams; /* those with rows; processes exclude devices */
    int64_t span_ns;                            /* first start to last end */
    int64_t window_ns;                          /* the profiler's own window; -1 when not written */
    int64_t wall_begin_ns; /* since 1970; -1 when the file has no wall-clock time */

    struct str *other_keys; /* metadata we know nothing about: names only, values may be secret */
    uint32_t n_other_keys;
};

/* Memory from `mem`. */
int census_run(const struct trace *t, struct arena *mem, struct census *ret,
               struct err *e) MUST_USE;

/* Rows of a lane. */
static inline uint32_t census_lane_rows(const struct lane *l)
{
    return l->end - l->begin;
}

#endif
