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
#include "results/result.h"

struct tables_in {
    struct context *cx;
    const struct rank_summary *rank;
};

/* A result as a table: its columns are the fields that stand for one value each. */
struct table {
    const char *name;
    const struct result *of;
    int (*rows)(const struct tables_in *in, struct rows *ret, struct err *e); /* runs the passes */
};

extern const struct table *const tables[]; /* NULL-terminated, in the order they are written */

/* Fills `p` with the table; parquet_done is due also after a failure. */
int tables_fill(const struct tables_in *in, const struct table *t, struct parquet *p,
                struct err *e) MUST_USE;

/* A name as it can stand in such a path, in `mem`: what readers treat specially becomes "_", and
 * what does not begin with a letter gets "run_" in front: they would guess a number or a date. NULL
 * when out of memory. */
const char *tables_run_name(const char *run, struct arena *mem);

/* `run` is such a name. */
int tables_write(const struct tables_in *in, const char *folder, const char *run,
                 struct err *e) MUST_USE;

/* The folders that the file `path` lies in. */
int tables_make_folders(char *path, struct err *e) MUST_USE;

/* ask.c: SQL over one trace, inside this process. `events` is the trace itself, row by row; the
 * other tables are those of tables.h. Nothing is copied of the events, no file is opened and none
 * can be: a query may only read these tables. */

struct ask;

struct ask_page {
    uint32_t offset, limit; /* rows of the result */
    size_t most_bytes;      /* of a text, cut in the middle beyond; 0: any */
};

/* The trace of `in` must outlive it. */
int ask_new(const struct tables_in *in, struct ask **ret, struct err *e) MUST_USE;
void ask_free(struct ask *a);

/* One SELECT; its result as JSON: "columns", "rows", "more". Stops with ERR_LIMIT after
 * ASK_MOST_S seconds. */
enum { ASK_MOST_S = 10 };
int ask_run(struct ask *a, const char *query, const struct ask_page *page, struct buf *out,
            struct err *e) MUST_USE;

#endif
