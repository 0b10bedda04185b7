/* deep_match.h: which launch of a unit in depth each other launch is like. Units in depth (t->deep)
 * say of every launch its operator, shapes, module and line; the rest of the recording knows when
 * it launched what, and nothing else.
 *
 *     in depth   a b c b c d              kernels of a thread, in the order of their launches
 *     the rest   a b c b c d a b c x c d  ...
 *                | | | | | | | | |   | |  x is in no unit in depth: not known, and counted
 *
 * Launches are matched by the name of the kernel and by what is launched before and after it on the
 * thread, never by the name alone. A launch that is also of the same size does the same work, but
 * where units in depth themselves show that it differs (a cache that grows).
 *
 * What a match is worth is seen where both sides are known: each unit in depth is followed through
 * the others as if nothing were known of it. Two branches that launch the same kernels show there.
 */
#ifndef STRATA_ANALYZE_DEEP_DEEP_MATCH_H
#define STRATA_ANALYZE_DEEP_DEEP_MATCH_H

#include "analyze/context.h"

struct deep_match {
    const struct trace *deep; /* NULL: nothing was recorded in depth */
    const row_t *twin;        /* by index into trace->gpu: work of `deep`, or ROW_NONE */
    const uint8_t *alike;     /* the same: its twin did the same work */
    const row_t *other;       /* by index into deep->gpu: its twin in another unit, or ROW_NONE */
    const int64_t *begins_ns; /* when units begin, ascending */
    uint32_t n_units;
    int64_t asked_ns; /* kernels that were launched by themselves, not by a graph */
    int64_t found_ns; /* of it, what has a twin */
};

extern const struct pass deep_match_pass;

static inline const struct deep_match *deep_match_of(const struct context *cx)
{
    return context_kept(cx, PASS_DEEP);
}

/* The twin of a row of device work, or ROW_NONE. */
static inline row_t deep_match_twin(const struct deep_match *d, const struct trace *t, row_t r)
{
    return d->deep && t->aux[r] < t->n_gpu ? d->twin[t->aux[r]] : ROW_NONE;
}

/* Of work of a unit in depth: its twin in another unit, or ROW_NONE. */
static inline row_t deep_match_other(const struct deep_match *d, row_t work)
{
    return d->other[d->deep->aux[work]];
}

/* ... that did the same work. */
static inline row_t deep_match_alike(const struct deep_match *d, const struct trace *t, row_t r)
{
    row_t twin = deep_match_twin(d, t, r);
    return twin != ROW_NONE && d->alike[t->aux[r]] ? twin : ROW_NONE;
}

/* The unit in depth in which a row of that trace lies. */
static inline uint32_t deep_match_unit(const struct deep_match *d, row_t r)
{
    uint32_t i = 0;
    while (i < d->n_units && d->begins_ns[i] <= d->deep->ts_ns[r]) i++;
    return i;
}

#endif
