/* ask_events.h: the rows of a trace as a table of SQLite, without a copy. */
#ifndef STRATA_TABLES_ASK_EVENTS_H
#define STRATA_TABLES_ASK_EVENTS_H

#include <sqlite3.h>

#include "trace/trace.h"

/* Makes the table `events` in `db`; `t` must outlive that. A result code of SQLite. */
int ask_events_register(sqlite3 *db, const struct trace *t);

#endif
