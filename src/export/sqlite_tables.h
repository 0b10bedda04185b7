/* sqlite_tables.h: the tables of a SQLite export: how each is made and filled. */
#ifndef STRATA_EXPORT_SQLITE_TABLES_H
#define STRATA_EXPORT_SQLITE_TABLES_H

#include <sqlite3.h>

#include "export/export.h"

struct sqlite_fill {
    const struct trace *t;
    const struct export_options *o;
    sqlite3_stmt *insert;
    struct buf scratch, args;
    bool *strings; /* which of them go into the file */
    struct err *e; /* set when a fill fails */
};

struct sqlite_table {
    const char *create;
    const char *insert;
    uint64_t (*count)(const struct sqlite_fill *f); /* how often to call `bind` */

    /* Binds the i-th entry; 1 to insert it, 0 to leave it out, or an error code. */
    int (*bind)(struct sqlite_fill *f, uint64_t i);
};

extern const struct sqlite_table sqlite_tables[];
extern const int sqlite_n_tables;

extern const char sqlite_tables_indexes[]; /* indexes and views, made after the tables are full */

#endif
