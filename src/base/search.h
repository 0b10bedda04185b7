/* search.h: binary search, in the place where it is needed.
 *
 *     uint32_t i = 0;
 *     SEARCH_PAST(i, s->n_steps, s->steps[i].end_ns <= ts_ns);
 *
 * leaves in `i` the first step that ends after `ts_ns`, s->n_steps when there is none. */
#ifndef STRATA_BASE_SEARCH_H
#define STRATA_BASE_SEARCH_H

/* Moves the variable `i` past the indexes of [i, end) for which `before`, an expression over `i`,
 * holds: to the first for which it does not, or to `end`. Those for which it holds must be the
 * first ones. `end` is evaluated once, `before` about log2(end - i) times. */
#define SEARCH_PAST(i, end, before)                         \
    do {                                                    \
        __typeof__(i) search_lo_ = (i);                     \
        __typeof__(i) search_hi_ = (end);                   \
        while (search_lo_ < search_hi_) {                   \
            i = search_lo_ + (search_hi_ - search_lo_) / 2; \
            if (before) search_lo_ = i + 1;                 \
            else search_hi_ = i;                            \
        }                                                   \
        i = search_lo_;                                     \
    } while (0)

#endif
