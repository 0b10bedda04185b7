/* vec.h: growable arrays as a pair of macros over plain struct members.
 *
 *     struct row *rows; size_t n_rows, cap_rows;
 *     if (VEC_RESERVE(rows, n_rows, cap_rows, 1)) return ERR_NOMEM;
 *     rows[n_rows++] = row;
 *
 * Hot loops reserve once for a whole batch and then append unchecked. */
#ifndef STRATA_BASE_VEC_H
#define STRATA_BASE_VEC_H

#include <stddef.h>

/* `items` with room for `more` elements after `n`, moved if need be and *cap raised; NULL on
 * failure, with the array left as it was. */
void *vec_grow(void *items, size_t n, size_t *cap, size_t more, size_t size);

/* Makes room for `more` elements after `n`; true on failure, with the array left as it was. */
#define VEC_RESERVE(items, n, cap, more)                                             \
    ((n) + (more) > (cap) && __extension__({                                         \
         void *vec_grown_ = vec_grow((items), (n), &(cap), (more), sizeof *(items)); \
         if (vec_grown_) (items) = vec_grown_;                                       \
         !vec_grown_;                                                                \
     }))

#endif
