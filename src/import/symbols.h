/* symbols.h: what stands at addresses of a program or library: function, file and line.
 *
 * By elfutils' libdw where it is installed (it is looked for at run time, and asks no server for
 * debug information unless STRATA_DEBUGINFOD=on), else by addr2line; by neither with
 * STRATA_NATIVE=off. A recording names the files, and may come from anybody: only regular files
 * are looked into, with the build id that was recorded or, where they had none, of this user or of
 * root. */
#ifndef STRATA_IMPORT_SYMBOLS_H
#define STRATA_IMPORT_SYMBOLS_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "import/symbol.h"

struct symbol_file {
    const char *path;
    const uint8_t *build_id; /* of the file that was recorded; n_build_id is 0 where it had none */
    uint32_t n_build_id;
};

/* Fills `ret` for `n` addresses; what is not known stays empty, as everything does where the file
 * is gone or another one by now. ERR_NOMEM alone is a failure. */
int symbols_find(const struct symbol_file *f, const uint64_t *addresses, size_t n,
                 struct arena *mem, struct symbol *ret) MUST_USE;

#endif
