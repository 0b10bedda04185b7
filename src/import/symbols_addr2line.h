/* symbols_addr2line.h: symbols by the program of binutils. */
#ifndef STRATA_IMPORT_SYMBOLS_ADDR2LINE_H
#define STRATA_IMPORT_SYMBOLS_ADDR2LINE_H

#include "base/arena.h"
#include "base/err.h"
#include "import/symbol.h"

int symbols_addr2line(const char *path, const uint64_t *addresses, size_t n, struct arena *mem,
                      struct symbol *ret) MUST_USE;

#endif
