/* stage_pick.c: see stage_pick.h. */
#include "report/stage_pick.h"

#include <stdlib.h>

#include "base/mem.h"

struct candidate {
    uint32_t index;
    int64_t ns; /* CPU or GPU time, whichever is more */
};

static int largest_first(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->ns != y->ns) return x->ns > y->ns ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static int by_index(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

bool stage_pick_run(const struct stages *st, uint32_t deepest, bool parts_only, uint32_t most,
                    struct stage_pick *ret)
{
    struct candidate *all = mem_zalloc(st->n + (size_t)1, sizeof *all);
    uint32_t n = 0;
    *ret = (struct stage_pick){.list = mem_zalloc(st->n + (size_t)1, sizeof *ret->list)};
    for (uint32_t i = 0; all && ret->list && i < st->n; i++) {
        const struct stage *s = &st->list[i];
        if (s->depth > deepest || (parts_only && !stage_is_part(s))) continue;
        all[n++] = (struct candidate){i, s->cpu_ns > s->gpu.sum_ns ? s->cpu_ns : s->gpu.sum_ns};
    }
    bool ok = all && ret->list;
    if (n) qsort(all, n, sizeof *all, largest_first);
    ret->n = n < most ? n : most;
    ret->n_left = n - ret->n;
    for (uint32_t i = 0; i < ret->n; i++) ret->list[i] = all[i].index;
    if (ret->n) qsort(ret->list, ret->n, sizeof *ret->list, by_index);
    mem_free(all);
    if (!ok) stage_pick_done(ret);
    return ok;
}

void stage_pick_done(struct stage_pick *p)
{
    mem_free(p->list);
    *p = (struct stage_pick){0};
}
