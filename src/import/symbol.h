/* symbol.h: what stands at an address of a program. */
#ifndef STRATA_IMPORT_SYMBOL_H
#define STRATA_IMPORT_SYMBOL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

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

#endif
