/* resident.c: see scheme.h. Greedy is exact enough: modules are small against the limit.
 */
#include "offload/scheme.h"

#include <stdlib.h>

static double resident_rank_of(const struct resident_query *q, uint32_t i)
{
    const struct resident_item *m = &q->items[i];
    switch (q->order) {
    case RESIDENT_SMALLEST: return (double)m->bytes;
    case RESIDENT_LARGEST: return -(double)m->bytes;
    case RESIDENT_BEST: return m->bytes > 0 ? -m->worth / (double)m->bytes : 0;
    }
    return 0;
}

static int resident_by_rank(const void *a, const void *b, void *ctx)
{
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    double x = resident_rank_of(ctx, i), y = resident_rank_of(ctx, j);
    if (x != y) return x < y ? -1 : 1;
    return i < j ? -1 : i > j;
}

int resident_choose(const struct resident_query *q, struct arena *mem, bool *ret,
                    int64_t *ret_bytes)
{
    struct arena_mark mark = arena_mark(mem);
    uint32_t *order = arena_alloc(mem, (q->n + (size_t)1) * sizeof *order);
    if (!order) return ERR_NOMEM;
    for (uint32_t i = 0; i < q->n; i++) order[i] = i;
    qsort_r(order, q->n, sizeof *order, resident_by_rank, (void *)q);
    *ret_bytes = 0;
    for (uint32_t k = 0; k < q->n; k++) {
        int64_t bytes = q->items[order[k]].bytes;
        ret[order[k]] = bytes <= q->limit - *ret_bytes;
        if (ret[order[k]]) *ret_bytes += bytes;
    }
    arena_reset_to(mem, mark);
    return 0;
}
