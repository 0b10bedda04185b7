/* parquet_cells.h: the cells of a table in memory, read back in the order they were added. */
#ifndef STRATA_EXPORT_PARQUET_CELLS_H
#define STRATA_EXPORT_PARQUET_CELLS_H

#include "export/parquet.h"

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
