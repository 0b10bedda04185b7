/* nsys_db.h: reading tables out of a SQLite file that nobody vouches for.
 *
 * The file is read where it is mapped and never written; triggers, views and what else a schema can
 * make SQLite run are off. Tables and columns differ between versions: what is missing reads as
 * NULL. */
#ifndef STRATA_IMPORT_NSYS_DB_H
#define STRATA_IMPORT_NSYS_DB_H

#include <sqlite3.h>

#include "base/file.h"

enum { NSYS_DB_COLUMNS = 24 }; /* most columns of one select */

struct nsys_db {
    sqlite3 *db;
    uint64_t rows_left; /* how many rows a file of this size can hold: stops endless trees */
    uint64_t n_broken;  /* tables whose pages are damaged: read as far as possible */
};

/* `f` must outlive the database. */
int nsys_db_open(struct nsys_db *d, struct file_map *f, struct err *e) MUST_USE;

/* An empty database in memory, to be filled by the caller and then read like any other. */
int nsys_db_empty(struct nsys_db *d, struct err *e) MUST_USE;
void nsys_db_close(struct nsys_db *d);

/* Whether there is a real table of that name. */
bool nsys_db_has(struct nsys_db *d, const char *table);

/* A statement that yields the columns named in `columns` (blank-separated) of a table that is
 * there. NULL in *ret where the table cannot be read at all. */
int nsys_db_select(struct nsys_db *d, const char *table, const char *columns, sqlite3_stmt **ret,
                   struct err *e) MUST_USE;

/* 1: a row is there, 0: no more, or an error code. */
int nsys_db_step(struct nsys_db *d, sqlite3_stmt *s, struct err *e) MUST_USE;

/* The value of a column; `otherwise` when it is NULL or not a number. */
int64_t nsys_db_int(sqlite3_stmt *s, int column, int64_t otherwise);

/* .p is NULL when the column is not a text. Good until the next step. */
struct str nsys_db_text(sqlite3_stmt *s, int column);

#endif
