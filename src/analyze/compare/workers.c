/* workers.c: see workers.h. */
#include "analyze/compare/workers.h"

#include <string.h>

#include "base/intern.h"
#include "base/map.h"

static bool is_main(const struct timing *t)
{
    const char *slash = t->file ? strrchr(t->file, '/') : NULL;
    const char *name = slash ? slash + 1 : t->file ? t->file : "";
    return strstr(name, "_pid") == NULL;
}

static void workers_add_stage(struct timing_stage *into, const struct timing_stage *x)
{
    if (x->count > into->count) {
        into->median_ns = x->median_ns;
        into->p95_ns = x->p95_ns;
        into->std_ns = x->std_ns;
        into->gpu_median_ns = x->gpu_median_ns;
    }
    into->count += x->count;
    into->errors += x->errors;
    into->unfinished += x->unfinished;
    into->total_ns += x->total_ns;
    into->self_ns = into->self_ns < 0 || x->self_ns < 0 ? -1 : into->self_ns + x->self_ns;
    if (x->min_ns >= 0 && (into->min_ns < 0 || x->min_ns < into->min_ns)) into->min_ns = x->min_ns;
    if (x->max_ns > into->max_ns) into->max_ns = x->max_ns;
    if (x->gpu_ns > 0) into->gpu_ns = (into->gpu_ns > 0 ? into->gpu_ns : 0) + x->gpu_ns;
    if (x->peak_bytes > into->peak_bytes) into->peak_bytes = x->peak_bytes;
}

/* Where the stage of this path is in `list`, appended if it is new; NULL when out of memory. */
static struct timing_stage *find_stage(struct map *at, struct timing_stage *list, uint32_t *n,
                                       const struct timing_stage *x, bool *ret_new)
{
    uint32_t *slot = map_at(at, intern_hash(str_c(x->path)));
    if (!slot) return NULL;
    *ret_new = *slot == MAP_NONE;
    if (*ret_new) *slot = (*n)++;
    return &list[*slot];
}

static int workers_add_stages(struct map *at, struct timing_stage *list, uint32_t *n,
                              const struct timing *from)
{
    for (uint32_t i = 0; i < from->n_stages; i++) {
        bool is_new;
        struct timing_stage *s = find_stage(at, list, n, &from->stages[i], &is_new);
        if (!s) return ERR_NOMEM;
        if (is_new) *s = from->stages[i];
        else workers_add_stage(s, &from->stages[i]);
    }
    return 0;
}

static int workers_add_process(struct timing *into, const struct timing *from, struct arena *mem)
{
    struct timing_stage *list =
        arena_zalloc(mem, (size_t)into->n_stages + from->n_stages + 1, sizeof *list);
    struct map at;
    uint32_t n = 0;
    if (!list) return ERR_NOMEM;
    map_init(&at);
    int rc = workers_add_stages(&at, list, &n, into);
    if (rc == 0) rc = workers_add_stages(&at, list, &n, from);
    map_done(&at);
    into->stages = list;
    into->n_stages = n;
    into->lost_records += from->lost_records;
    into->running |= from->running;
    return rc;
}

/* Of a rank; of processes without one too. */
static uint64_t workers_key_of(const struct timing *t)
{
    return (uint64_t)((int64_t)t->rank + 1);
}

/* The entry of each rank that the others of it work for. */
static int find_mains(const struct timing_run *run, struct map *mains)
{
    for (uint32_t i = 0; i < run->n; i++) {
        uint32_t *at = map_at(mains, workers_key_of(&run->list[i]));
        if (!at) return ERR_NOMEM;
        if (*at == MAP_NONE || (is_main(&run->list[i]) && !is_main(&run->list[*at]))) *at = i;
    }
    return 0;
}

static int workers_do_fold(struct timing_run *run, const struct map *mains, struct arena *mem)
{
    bool ranks = false;
    uint32_t n = 0;
    for (uint32_t i = 0; i < run->n; i++) {
        uint32_t owner = map_find(mains, workers_key_of(&run->list[i]));
        ranks |= run->list[i].rank >= 0;
        if (owner != i) TRY(workers_add_process(&run->list[owner], &run->list[i], mem));
    }
    for (uint32_t i = 0; i < run->n; i++) {
        bool main = map_find(mains, workers_key_of(&run->list[i])) == i;
        if (main && (!ranks || run->list[i].rank >= 0)) run->list[n++] = run->list[i];
    }
    run->n_workers = run->n - n;
    run->n = n;
    return 0;
}

int workers_fold(struct timing_run *run, struct arena *mem, struct err *e)
{
    struct map mains;
    map_init(&mains);
    int rc = find_mains(run, &mains);
    if (rc == 0) rc = workers_do_fold(run, &mains, mem);
    map_done(&mains);
    return rc < 0 ? err_nomem(e) : 0;
}
