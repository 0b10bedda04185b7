/* symbols.h: what stands at addresses of a program or library: function, file and line.
 *
 * By elfutils' libdw where it is installed (it is searched for at run time, and asks no server for
 * debug information unless STRATA_TEST_DEBUGINFOD=on), else by addr2line; by neither with
 * STRATA_NATIVE=off. A recording names the files, and may come from a stranger: only regular files
 * are looked into, with the build id that was recorded or, where they had none, of this user or of
 * root. */
#ifndef STRATA_IMPORT_RING_SYMBOLS_H
#define STRATA_IMPORT_RING_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"

/* What stands at an address of a program. */

struct symbol {
    const char *function; /* as people write it; NULL when not known */
    const char *file;     /* NULL when not known */
    uint32_t line;        /* 0 when not known */
};

/* Files whose functions only hand on to others: headers of CUDA and of the C++ library, and stubs
 * that nvcc writes. Those who called them are of interest. */
static inline bool symbol_hands_on(const char *file)
{
    static const char *const parts[] = {"/targets/x86_64-linux/include/",
                                        "/targets/sbsa-linux/include/", "/cuda/include/",
                                        "/include/c++/", ".stub.c"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(file, parts[i])) return true;
    return false;
}

struct symbol_file {
    const char *path;
    const uint8_t *build_id; /* of the file that was recorded; n_build_id is 0 where it had none */
    uint32_t n_build_id;
};

/* Fills `ret` for `n` addresses; what is not known stays empty, as everything does where the file
 * is gone or another one by now. ERR_NOMEM alone is a failure. */
int symbols_find(const struct symbol_file *f, const uint64_t *addresses, size_t n,
                 struct arena *mem, struct symbol *ret) MUST_USE;

/* symbols_addr2line.c: symbols by the program of binutils. */

int symbols_addr2line(const char *path, const uint64_t *addresses, size_t n, struct arena *mem,
                      struct symbol *ret) MUST_USE;

/* symbols_libdw.c: symbols by elfutils' libdw, which is loaded if it is there. */

/* *ret_known is false when the library is not there or does not know the file. */
int symbols_libdw(const char *path, const uint64_t *addresses, size_t n, struct arena *mem,
                  struct symbol *ret, bool *ret_known) MUST_USE;

#endif
