/* parquet_file.h: reading flat tables out of Parquet files: the columns of a row group, one at a
 * time. Plain and dictionary encodings, pages of both versions, not packed or by Snappy, zstd or
 * gzip: what Arrow writes. Columns of other kinds read as NULL. */
#ifndef STRATA_IMPORT_PARQUET_FILE_H
#define STRATA_IMPORT_PARQUET_FILE_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum parquet_type {
    PARQUET_BOOL = 0,
    PARQUET_INT32 = 1,
    PARQUET_INT64 = 2,
    PARQUET_FLOAT = 4,
    PARQUET_DOUBLE = 5,
    PARQUET_TEXT = 6,
    PARQUET_OTHER = 99
};

struct parquet_column {
    struct str name;
    enum parquet_type type;
    bool optional;
};

/* Where a column of a row group lies. */
struct parquet_chunk {
    int64_t codec, n_values, packed_bytes, data_offset, dictionary_offset;
};

struct parquet_group {
    int64_t n_rows;
    struct parquet_chunk *chunks; /* by column */
};

struct parquet_file {
    struct str bytes;
    struct parquet_column *columns;
    struct parquet_group *groups;
    uint32_t n_columns, n_groups;
};

/* One value; texts point into memory of the reader. */
struct parquet_value {
    enum { PARQUET_NULL, PARQUET_IS_INT, PARQUET_IS_REAL, PARQUET_IS_TEXT } kind;
    union {
        int64_t number;
        double real;
        struct str text;
    };
};

/* The file's description, in `mem`. `bytes` must outlive it. */
int parquet_open(struct str bytes, struct arena *mem, struct parquet_file *ret,
                 struct err *e) MUST_USE;

/* All values of a column of a row group: groups[group].n_rows of them, in `mem`. */
int parquet_read(const struct parquet_file *p, uint32_t group, uint32_t column, struct arena *mem,
                 struct parquet_value **ret, struct err *e) MUST_USE;

#endif
