/* snappy.h: unpacking Snappy, as Parquet files use it. */
#ifndef STRATA_IMPORT_SNAPPY_H
#define STRATA_IMPORT_SNAPPY_H

#include "base/str.h"

/* Fills exactly `n` bytes at `to`; false where the input is damaged or says another size. */
bool snappy_unpack(struct str packed, char *to, size_t n);

#endif
