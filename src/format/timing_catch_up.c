/* timing_catch_up.c: a timing file that a process wrote before its end, and what its rings say; see
 * timing.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "format/timing.h"

static int by_path(const void *a, const void *b)
{
    const struct timing_stage *const *x = a, *const *y = b;
    return strcmp((*x)->path, (*y)->path);
}

/* Pointers to the stages, in the order of their paths. */
static struct timing_stage **timing_catch_up_sorted(const struct timing *t, struct arena *mem)
{
    struct timing_stage **list = arena_alloc(mem, (t->n_stages + 1) * sizeof *list);
    if (!list) return NULL;
    for (uint32_t i = 0; i < t->n_stages; i++) list[i] = &t->stages[i];
    if (t->n_stages) qsort(list, t->n_stages, sizeof *list, by_path);
    return list;
}

/* What the rings do not hold; device times were taken of fewer calls. */
static void timing_catch_up_keep(struct timing_stage *s, const struct timing_stage *file)
{
    double more = file->count ? (double)s->count / (double)file->count : 1;
    s->gpu_ns = file->gpu_ns < 0 ? -1 : (int64_t)((double)file->gpu_ns * more);
    s->gpu_median_ns = file->gpu_median_ns;
    s->peak_bytes = file->peak_bytes;
    s->peak_on_device = file->peak_on_device;
    s->document = file->document;
    if (s->count != file->count) return;
    s->active_ns = file->active_ns; /* of all calls */
    s->awaited_ns = file->awaited_ns;
}

int timing_catch_up(struct timing *file, const struct timing *rings, struct arena *mem,
                    struct err *e)
{
    uint32_t n = rings->n_stages;
    struct timing_stage *list = arena_alloc(mem, (n + file->n_stages + 1) * sizeof *list);
    struct timing_stage **known = timing_catch_up_sorted(file, mem),
                        **seen = timing_catch_up_sorted(rings, mem);
    if (!list || !known || !seen) return err_nomem(e);
    for (uint32_t i = 0; i < rings->n_stages; i++) {
        const struct timing_stage *key = &rings->stages[i];
        struct timing_stage **at = bsearch(&key, known, file->n_stages, sizeof *known, by_path);
        list[i] = *key;
        if (at) timing_catch_up_keep(&list[i], *at);
    }
    for (uint32_t i = 0; i < file->n_stages; i++) {
        const struct timing_stage *key = &file->stages[i];
        if (!bsearch(&key, seen, rings->n_stages, sizeof *seen, by_path)) list[n++] = *key;
    }
    file->stages = list;
    file->n_stages = n;
    file->total_ns = rings->total_ns;
    if (rings->wall_ns > file->wall_ns) file->wall_ns = rings->wall_ns;
    file->lost_records = rings->lost_records;
    file->recovered = rings->recovered;
    return 0;
}

int64_t timing_start_ns(const struct timing *t)
{
    struct tm at = {0};
    int us = 0;
    const char *s = t->timestamp ? t->timestamp : "";
    int n = sscanf(s, "%4d-%2d-%2dT%2d:%2d:%2d.%6d", &at.tm_year, &at.tm_mon, &at.tm_mday,
                   &at.tm_hour, &at.tm_min, &at.tm_sec, &us);
    if (n < 6 || !strstr(s, "+00:00") || at.tm_year < 1970 || at.tm_year > 2200 || us < 0)
        return -1;
    at.tm_year -= 1900;
    at.tm_mon -= 1;
    time_t seconds = timegm(&at);
    return seconds < 0 ? -1 : (int64_t)seconds * 1000000000 + (n == 7 ? us * 1000 : 0);
}
