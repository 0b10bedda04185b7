/* sql.h: the SQL that ships with the package: views over the tables of `strata export --to tables`
 * for each database, and named queries that all of them run. Texts live in `mem`. */
#ifndef STRATA_CLI_SQL_SQL_H
#define STRATA_CLI_SQL_SQL_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/folder.h"

/* The folder of those files. */
int sql_folder(struct arena *mem, const char **ret, struct err *e) MUST_USE;

/* Statements that make the views; `database` is "duckdb" or "clickhouse". `tables` is a folder, or
 * a pattern or address that the database understands. */
int sql_views(const char *database, const char *tables, struct arena *mem, const char **ret,
              struct err *e) MUST_USE;

/* The query of that name; ERR_USAGE with the nearest one when there is none. */
int sql_query(const char *name, struct arena *mem, const char **ret, struct err *e) MUST_USE;

struct sql_named {
    const char *name, *summary;
};

struct sql_list {
    struct sql_named *all; /* by name */
    uint32_t n;
};

int sql_list(struct arena *mem, struct sql_list *ret, struct err *e) MUST_USE;

/* sql_engine.c: running SQL on the DuckDB that is installed: its Python package or its program. It
 * is started, not linked. */

struct sql_engine {
    const char *views, *query;
    const char *python; /* the only one to try; NULL: those beside this program and on the path */
    bool json;          /* else CSV */
};

/* Appends the result to `out`. ERR_USAGE when DuckDB refuses the query, whose reason is on standard
 * error by then; ERR_UNSUPPORTED when there is no DuckDB, with what to install. */
int sql_engine_run(const struct sql_engine *q, struct arena *mem, struct buf *out,
                   struct err *e) MUST_USE;

#endif
