/* diff_alike.c: see diff.h. Another data type has other kernels, a renamed stage is another stage,
 * and torch.compile hides modules: each alone says nothing. A program that shares neither kernels
 * nor stages with the other one, or has other outermost modules and mostly other kernels, is
 * another program. */
#include "analyze/compare/diff.h"

#include "analyze/compare/compare_constants.h"
#include "base/map.h"
#include "trace/module_name.h"

#define MOST_LEVELS 1000 /* of a stack */

/* What torch.compile puts around a module: it says nothing about what is inside. */
#define COMPILED_MODULE "OptimizedModule"

static bool diff_alike_in_module(const struct trace *t, row_t r)
{
    int levels = 0;
    for (row_t up = t->parent[r]; up != ROW_NONE && levels < MOST_LEVELS;
         up = t->parent[up], levels++)
        if (module_class(trace_name(t, up)).n) return true;
    return false;
}

/* Classes of modules that are called by no other module, by hash. */
static int diff_alike_modules(const struct trace *t, struct map *classes, uint32_t *ret_n)
{
    for (row_t r = 0; r < t->n_rows; r++) {
        struct str class = module_class(trace_name(t, r));
        if (!class.n || str_is(class, COMPILED_MODULE) || diff_alike_in_module(t, r)) continue;
        uint32_t *slot = map_at(classes, intern_hash(class));
        if (!slot) return ERR_NOMEM;
        *ret_n += *slot == MAP_NONE;
        *slot = 0;
    }
    return 0;
}

static int diff_alike_count_modules(struct diff *d)
{
    struct map classes[2];
    int rc = 0;
    for (int s = 0; s < 2; s++) map_init(&classes[s]);
    for (int s = 0; s < 2 && rc == 0; s++)
        rc = diff_alike_modules(d->side[s]->t, &classes[s], &d->n_modules[s]);
    for (size_t i = 0; rc == 0 && classes[0].slots && i <= classes[0].mask; i++)
        d->n_common_modules += classes[0].slots[i].value != MAP_NONE &&
                               map_find(&classes[1], classes[0].slots[i].key) != MAP_NONE;
    for (int s = 0; s < 2; s++) map_done(&classes[s]);
    return rc;
}

int diff_alike_find(struct diff *d)
{
    const struct diff_kernels *k = &d->kernels;
    int other_kernels = 0; /* sides on which most of the time is in kernels that are not common */
    TRY(diff_alike_count_modules(d));
    for (uint32_t i = 0; i < d->n_stages; i++)
        d->n_common += d->stages[i].side[0] && d->stages[i].side[1];
    for (int s = 0; s < 2 && d->device; s++)
        other_kernels += (double)k->common_ns[s] < diff_alike_share * (double)k->ns[s];
    bool modules = d->n_modules[0] && d->n_modules[1] && !d->n_common_modules;
    bool stages = d->n_stages && d->n_common < diff_alike_share * d->n_stages;
    d->unlike = (other_kernels == 2 && stages) || (other_kernels && modules);
    return 0;
}
