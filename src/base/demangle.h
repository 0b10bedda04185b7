/* demangle.h: C++ names as people write them: _Z3addPfS_i -> add(float*, float*, int).
 *
 * The work is done by the C++ runtime of the machine, loaded when the first mangled name comes
 * along; without one, names stay as they are. */
#ifndef STRATA_BASE_DEMANGLE_H
#define STRATA_BASE_DEMANGLE_H

#include <stdbool.h>

#include "base/buf.h"

struct demangler {
    void *library;
    char *(*fn)(const char *mangled, char *buffer, size_t *size, int *status);
    bool tried;
};

void demangler_init(struct demangler *d);
void demangler_done(struct demangler *d);

/* Appends the readable form of `name` to `out`. False, and nothing appended, when `name` is not
 * mangled or cannot be taken apart. */
bool demangle(struct demangler *d, struct str name, struct buf *out);

#endif
