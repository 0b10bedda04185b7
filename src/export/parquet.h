/* parquet.h: a table as a Parquet file: the few features that every reader has.
 *
 *     "PAR1"
 *     column 0: page header, page (zstd)      one page per column, one row group per file
 *     column 1: page header, page (zstd)
 *     ...
 *     footer (Thrift), its length, "PAR1"
 *
 * A page holds plain values: 8-byte integers and floats, strings with their length in front. A
 * column that may be null has one bit per row before them, run-length encoded. Cells are added row
 * by row in the order of the columns; they stay in memory until the file is written, so tables are
 * small ones. */
#ifndef STRATA_EXPORT_PARQUET_H
#define STRATA_EXPORT_PARQUET_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum parquet_type { PARQUET_INT, PARQUET_NUM, PARQUET_TEXT };

struct parquet_column {
    const char *name;
    enum parquet_type type;
    bool may_be_null;
};

struct parquet_values {
    struct buf plain;  /* values that are not null */
    struct buf levels; /* runs of nulls and others, as in the file; without the open one */
    uint64_t run;      /* length of the open one */
    bool there;        /* whether its values are */
};

struct parquet {
    const struct parquet_column *columns;
    uint32_t n_columns;
    struct parquet_values *values; /* by column */
    uint64_t n_rows;
    uint32_t at; /* the next cell's column */
    struct buf scratch;
};

/* `columns` must outlive it. parquet_done is due also after a failure. */
int parquet_begin(struct parquet *p, const struct parquet_column *columns, uint32_t n,
                  struct err *e) MUST_USE;
void parquet_done(struct parquet *p);

/* One cell each. Bytes that are not UTF-8 are replaced. */
void parquet_int(struct parquet *p, int64_t v);
void parquet_num(struct parquet *p, double v); /* NaN is null */
void parquet_text(struct parquet *p, struct str s);
void parquet_null(struct parquet *p);

/* Null when there is none. */
void parquet_cstr(struct parquet *p, const char *s);
void parquet_int_unless(struct parquet *p, int64_t v, int64_t none);

/* Writes the file whole or not at all; failed appends are noticed here. */
int parquet_write(struct parquet *p, const char *path, struct err *e) MUST_USE;

/* parquet_cells.c: the cells of a table in memory, read back in the order they were added. */

struct parquet_cell {
    bool is_null;
    int64_t integer; /* PARQUET_INT */
    double number;   /* PARQUET_NUM */
    struct str text; /* PARQUET_TEXT: in the table */
};

struct parquet_cells {
    const struct parquet *p;
    struct parquet_cells_at *at; /* by column */
};

/* The table must not change meanwhile. parquet_cells_done is due also after a failure. */
int parquet_cells_begin(struct parquet_cells *c, const struct parquet *p, struct err *e) MUST_USE;
void parquet_cells_done(struct parquet_cells *c);

/* The next cell of a column; it must have one. */
struct parquet_cell parquet_cells_next(struct parquet_cells *c, uint32_t column);

#endif
