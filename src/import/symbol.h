/* symbol.h: what stands at an address of a program. */
#ifndef STRATA_IMPORT_SYMBOL_H
#define STRATA_IMPORT_SYMBOL_H

#include <stdint.h>

struct symbol {
    const char *function; /* as people write it; NULL when not known */
    const char *file;     /* NULL when not known */
    uint32_t line;        /* 0 when not known */
};

#endif
