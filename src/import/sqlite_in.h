/* sqlite_in.h: reading tables out of a SQLite file that may be hostile.
 *
 * The file is read where it is mapped and never written; triggers, views and what else a schema can
 * make SQLite run are off. Tables and columns differ between versions: what is missing reads as
 * NULL. */
#ifndef STRATA_IMPORT_SQLITE_IN_H
#define STRATA_IMPORT_SQLITE_IN_H

#include <sqlite3.h>

#include "base/file.h"

enum { SQLITE_IN_COLUMNS = 24 }; /* most columns of one select */

struct sqlite_in {
    sqlite3 *db;
    uint64_t rows_left;  /* how many rows a file of this size can hold: stops endless trees */
    uint64_t bytes_left; /* the same of texts, each read a few times */
    uint64_t pages_left; /* and of pages: rows may share those that a long value goes on in */
    uint64_t n_broken;   /* tables whose pages are damaged: read as far as possible */
};

/* `f` must outlive the database. */
int sqlite_in_open(struct sqlite_in *d, struct file_map *f, struct err *e) MUST_USE;

void sqlite_in_close(struct sqlite_in *d);

/* Whether there is a real table of that name. */
bool sqlite_in_has(struct sqlite_in *d, const char *table);

/* A statement that yields the columns named in `columns` (blank-separated) of a table that is
 * there. NULL in *ret where the table cannot be read at all. */
int sqlite_in_select(struct sqlite_in *d, const char *table, const char *columns,
                     sqlite3_stmt **ret, struct err *e) MUST_USE;

/* 1: a row is there, 0: no more, or an error code. */
int sqlite_in_step(struct sqlite_in *d, sqlite3_stmt *s, struct err *e) MUST_USE;

/* The value of a column; `otherwise` when it is NULL or not a number. */
int64_t sqlite_in_int(sqlite3_stmt *s, int column, int64_t otherwise);

/* .p is NULL when the column is not a text. Good until the next step. */
struct str sqlite_in_text(sqlite3_stmt *s, int column);

#endif
