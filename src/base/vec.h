/* vec.h: growable arrays as a pair of macros over plain struct members.
 *
 *     struct row *rows; size_t n_rows, cap_rows;
 *     if (VEC_RESERVE(rows, n_rows, cap_rows, 1)) return ERR_NOMEM;
 *     rows[n_rows++] = row;
 *
 * Hot loops reserve once for a whole batch and then append unchecked. */
#ifndef STRATA_BASE_VEC_H
#define STRATA_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>

/* Makes room for `more` elements after `n`; true on failure, with the array left as it was. */
bool vec_reserve(void **items, size_t n, size_t *cap, size_t more, size_t size);

#define VEC_RESERVE(items, n, cap, more) \
    ((n) + (more) > (cap) && vec_reserve((void **)&(items), (n), &(cap), (more), sizeof *(items)))

#endif
