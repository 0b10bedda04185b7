/* tables.h: the trace of one rank as small tables for databases: what thousands of ranks are
 * compared by, without any of their traces.
 *
 *     FOLDER/kernels/run=NAME/rank=3/part.parquet
 *
 * One file per table and rank, named by what it is about: ranks are written in any order, by any
 * number of processes, and a rank that is written again replaces itself. `runs` comes last, so that
 * a rank that stands there is complete. Times are nanoseconds; what begins at some moment says it
 * since 1970, by the clock of the rank's host. */
#ifndef STRATA_TABLES_TABLES_H
#define STRATA_TABLES_TABLES_H

#include "analyze/ranks/rank_summary.h"
#include "export/parquet.h"

struct tables_in {
    struct context *cx;
    const struct rank_summary *rank;
};

struct table {
    const char *name;
    const struct pass *const *needs; /* NULL-terminated, or NULL */
    const struct parquet_column *columns;
    uint32_t n_columns;
    int (*fill)(const struct tables_in *in, struct parquet *p, struct err *e);
};

extern const struct table *const tables[]; /* NULL-terminated, in the order they are written */

/* A name as it can stand in such a path, in `mem`: what readers treat specially becomes "_", and
 * what does not begin with a letter gets "run_" in front: they would guess a number or a date. NULL
 * when out of memory. */
const char *tables_run_name(const char *run, struct arena *mem);

/* `run` is such a name. */
int tables_write(const struct tables_in *in, const char *folder, const char *run,
                 struct err *e) MUST_USE;

#endif
