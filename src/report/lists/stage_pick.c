/* stage_pick.c: see stage_pick.h. */
#include "report/lists/stage_pick.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/human.h"
#include "base/mem.h"
#include "results/results.h"

struct candidate {
    uint32_t index;
    int64_t ns; /* CPU or GPU time, whichever is more */
};

static int stage_pick_largest_first(const void *a, const void *b)
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
    if (n) qsort(all, n, sizeof *all, stage_pick_largest_first);
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

const char *stage_label(const struct stage *s, char *out, size_t cap)
{
    char name[160];
    snprintf(out, cap, "%*s%s%s", 2 * (int)s->depth, "", human_cut(s->name, 60, name, sizeof name),
             s->backward ? " (backward)" : "");
    return out;
}

void stage_table(struct result_text *t, const struct context *cx, const struct stage_pick *pick,
                 bool cpu_only)
{
    static const char *const all[] = {"path",    "count",   "cpu_us", "gpu_us",
                                      "idle_us", "kernels", "syncs",  NULL};
    static const char *const on_cpu[] = {"path", "count", "cpu_us", NULL};
    const struct stages *st = stages_of(cx);
    struct rows stages = rows_stages(cx, st, NULL), between = rows_between(cx, st, NULL);
    result_text_begin(t, &result_stages, NULL, cpu_only ? on_cpu : all);
    result_text_fit(t, &stages);
    for (uint32_t i = 0; i < pick->n; i++) {
        char label[256];
        result_text_add(t, &stages, pick->list[i],
                        stage_label(&st->list[pick->list[i]], label, sizeof label), TEXT_PLAIN);
    }
    if (st->between.cpu_ns || st->between.launches)
        result_text_add(t, &between, 0, "(between stages)", TEXT_DIM);
}
