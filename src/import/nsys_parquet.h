/* nsys_parquet.h: the folder that `nsys export -t parquetdir` makes: a Parquet file for every
 * table.
 */
#ifndef STRATA_IMPORT_NSYS_PARQUET_H
#define STRATA_IMPORT_NSYS_PARQUET_H

#include "import/importer.h"

/* Whether the folder holds event tables of Nsight Systems as Parquet files. */
bool nsys_parquet_in(const char *folder);

int nsys_parquet_open(const char *folder, const struct import_options *o, struct trace **ret,
                      struct err *e) MUST_USE;

#endif
