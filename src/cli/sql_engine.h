/* sql_engine.h: running SQL on the DuckDB that is installed: its Python package or its program. It
 * is started, not linked. */
#ifndef STRATA_CLI_SQL_ENGINE_H
#define STRATA_CLI_SQL_ENGINE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

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
