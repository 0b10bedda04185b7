/* symbols_libdw.h: symbols by elfutils' libdw, which is loaded if it is there. */
#ifndef STRATA_IMPORT_SYMBOLS_LIBDW_H
#define STRATA_IMPORT_SYMBOLS_LIBDW_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "import/symbol.h"

/* *ret_known is false when the library is not there or does not know the file. */
int symbols_libdw(const char *path, const uint64_t *addresses, size_t n, struct arena *mem,
                  struct symbol *ret, bool *ret_known) MUST_USE;

#endif
