/* ask.h: SQL over one trace, inside this process. `events` is the trace itself, row by row; the
 * other tables are those of tables.h. Nothing is copied of the events, no file is opened and none
 * can be: a query may only read these tables. */
#ifndef STRATA_TABLES_ASK_H
#define STRATA_TABLES_ASK_H

#include "tables/tables.h"

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
