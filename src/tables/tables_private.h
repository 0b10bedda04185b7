/* tables_private.h: the tables that are made for databases alone. */
#ifndef STRATA_TABLES_TABLES_PRIVATE_H
#define STRATA_TABLES_TABLES_PRIVATE_H

#include <sqlite3.h>

#include "tables/tables.h"
#include "trace/trace.h"

extern const struct table table_collectives, table_runs;

/* ask_events.c: the rows of a trace as a table of SQLite, without a copy. */

/* Makes the table `events` in `db`; `t` must outlive that. A result code of SQLite. */
int ask_events_register(sqlite3 *db, const struct trace *t);

#endif
