/* tables_private.h: what tables share. */
#ifndef STRATA_TABLES_TABLES_PRIVATE_H
#define STRATA_TABLES_TABLES_PRIVATE_H

#include "analyze/names/source_place.h"
#include "export/parquet.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* clang-format off */
#define INT(name)  {name, PARQUET_INT, false}
#define INT0(name) {name, PARQUET_INT, true}
#define NUM0(name) {name, PARQUET_NUM, true}
#define TEXT(name) {name, PARQUET_TEXT, false}
#define TEXT0(name) {name, PARQUET_TEXT, true}
#define PLACE_COLUMNS TEXT0("file"), INT0("line"), TEXT0("function")
/* clang-format on */

/* The cells of PLACE_COLUMNS: null when `line` is 0 or less. */
void table_place(struct parquet *p, struct str file, int32_t line, struct str function);

/* The same for the row of a Python frame, or ROW_NONE. */
void table_frame(struct parquet *p, const struct trace *t, row_t frame);

#endif
