/* alike.c: whether rounds that were found without labels are the same thing again.
 *
 * The stages of a convolutional network look like rounds of a loop: the same operators in the same
 * order. But each works on other shapes, so its kernels have other grids; a second step has the
 * grids of the first. Where nothing was launched, the shapes of the operators tell. */
#include <stdlib.h>

#include "analyze/steps/steps.h"
#include "analyze/steps/steps_constants.h"
#include "analyze/steps/steps_private.h"
#include "base/map.h"
#include "base/stats.h"
#include "format/xxh64.h"

static int alike_by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The last shape with a size in "[[32, 64], [64, 10], []]": that of the weights, where an operator
 * has some, which stay when the next batch is longer. Empty where none is known. */
static struct str alike_last_shape(struct str dims)
{
    size_t end = dims.n;
    while (end && (dims.p[end - 1] < '0' || dims.p[end - 1] > '9')) end--;
    size_t begin = end;
    while (begin && dims.p[begin - 1] != '[') begin--;
    return str_from(dims.p + begin, end - begin);
}

/* How large the work of a kernel or an operator is; false for rows that do not say. */
static bool alike_size(const struct trace *t, row_t r, uint64_t *ret)
{
    const struct gpu_info *g = t->kind[r] == KIND_KERNEL ? trace_gpu(t, r) : NULL;
    const struct op_info *op = trace_op(t, r);
    struct str shape = str_c("");
    if (g) *ret = map_mix((uint64_t)g->grid[0] << 32 | g->grid[1]) + g->grid[2];
    else if (op && op->dims != STR_NONE) shape = alike_last_shape(trace_str(t, op->dims));
    if (shape.n) *ret = xxh64(shape.p, shape.n);
    return g || shape.n;
}

/* The kernels or operators of a round by name and size, sorted. */
static uint64_t *alike_keys(const struct trace *t, const row_t *work, uint32_t n, struct arena *mem,
                            uint32_t *ret_n)
{
    uint64_t *keys = arena_alloc(mem, ((size_t)n + 1) * sizeof *keys), size;
    *ret_n = 0;
    if (!keys) return NULL;
    for (uint32_t i = 0; i < n; i++)
        if (alike_size(t, work[i], &size)) keys[(*ret_n)++] = map_mix(size + t->name[work[i]]);
    qsort(keys, *ret_n, sizeof *keys, alike_by_value);
    return keys;
}

/* Share of the larger list that both have. */
static int64_t alike_pct(const uint64_t *a, uint32_t n, const uint64_t *b, uint32_t m)
{
    uint32_t both = 0, i = 0, k = 0;
    while (i < n && k < m) {
        if (a[i] == b[k]) both++, i++, k++;
        else if (a[i] < b[k]) i++;
        else k++;
    }
    uint32_t most = n > m ? n : m;
    return most ? 100 * (int64_t)both / most : 100;
}

int alike_are_rounds(const struct trace *t, row_t *const *work, const uint32_t *n_work, uint32_t n,
                     struct arena *mem, bool *ret)
{
    uint32_t n_before = 0, n_here = 0, n_pairs = 0;
    uint64_t *before = NULL;
    int64_t *pct = arena_alloc(mem, ((size_t)n + 1) * sizeof *pct);
    if (!pct) return ERR_NOMEM;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t *here = alike_keys(t, work[i], n_work[i], mem, &n_here);
        if (!here) return ERR_NOMEM;
        if (i && n_here && n_before) pct[n_pairs++] = alike_pct(before, n_before, here, n_here);
        before = here;
        n_before = n_here;
    }
    if (n_pairs) stats_sort(pct, n_pairs);
    *ret = !n_pairs || stats_median(pct, n_pairs) >= alike_kernels_pct;
    return 0;
}
