/* pycode.h: a code object by its address: whose function it is, and which line an instruction
 * belongs to. Everything is read through the kernel (pyread.h) and copied; only pycode_same, which
 * the walk of a running thread asks for every frame, reads directly. */
#ifndef STRATA_BACKEND_PYCODE_H
#define STRATA_BACKEND_PYCODE_H

#include <string.h>

#include "backend/program/pylayout.h"

/* What tells code objects apart that have lived at one address, one after the other. */
struct pycode {
    uintptr_t file, name, lines; /* objects */
    int32_t first_line;
    uint32_t first;       /* offset of the first instruction that is the function's */
    uint64_t n_lines;     /* bytes of the line table */
    uint64_t lines_begin; /* the first of them */
};

enum { PYCODE_BYTES_SIZE = 16, PYCODE_BYTES_DATA = 32 }; /* of a bytes object, in all versions */

/* False if what is at `address` is not a code object. */
bool pycode_read(const struct pyapi *api, uintptr_t address, struct pycode *ret);

/* Whether the code object at `address`, which is alive, is still the one `c` was read from. */
static inline bool pycode_same(const struct pylayout *l, uintptr_t address, const struct pycode *c)
{
    const char *p = (const char *)address;
    return memcmp(p + l->code_file, &c->file, sizeof c->file) == 0 &&
           memcmp(p + l->code_name, &c->name, sizeof c->name) == 0 &&
           memcmp(p + l->code_lines, &c->lines, sizeof c->lines) == 0 &&
           memcmp(p + l->code_first_line, &c->first_line, sizeof c->first_line) == 0 &&
           memcmp((const char *)c->lines + PYCODE_BYTES_SIZE, &c->n_lines, sizeof c->n_lines) ==
               0 &&
           memcmp((const char *)c->lines + PYCODE_BYTES_DATA, &c->lines_begin,
                  sizeof c->lines_begin) == 0;
}

/* Whether a frame of this code at `offset` is a call of the function. One that has not come to the
 * function's first instruction does not count, neither here nor in a traceback: it is being set up,
 * or is the interpreter's own around an __init__ (3.13 on), which never gets there. */
static inline bool pycode_counts(const struct pycode *c, uint32_t offset)
{
    return offset >= c->first;
}

/* The line of the instruction at `offset`; 0 when it has none or the table cannot be read. */
int pycode_line(const struct pyapi *api, const struct pycode *c, uint32_t offset);

/* The text of a str as UTF-8, cut to fit and terminated; its length, 0 if it is not one. */
size_t pycode_text(const struct pyapi *api, uintptr_t str, char *out, size_t cap);

/* The line of `offset` by a line table of Python 3.`minor`. */
int pycode_find_line(int minor, const uint8_t *table, size_t n, int first_line, uint32_t offset);

#endif
