/* pyread.h: memory of this process that may not be there: read through the kernel, which answers
 * with an error where a load would end the program. */
#ifndef STRATA_BACKEND_PROGRAM_PYREAD_H
#define STRATA_BACKEND_PROGRAM_PYREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the kernel lets us; asked once. */
bool pyread_works(void);

/* All `n` bytes at `from`, or false. */
bool pyread(void *to, uintptr_t from, size_t n);

/* The text at `from`, cut to fit and terminated; its length, 0 if it is not there. */
size_t pyread_text(char *to, uintptr_t from, size_t cap);

/* Several pieces in one call, one after the other in `to`; how many of them were read before the
 * first that is not there. At most PYREAD_MOST. */
#define PYREAD_MOST 18
int pyread_each(void *to, const uintptr_t *from, const size_t *n_bytes, int n);

#endif
