/* gpu_sharing.c: see gpu_sharing.h. */
#include "analyze/device/gpu_sharing.h"

#include "analyze/device/gpu_samples.h"
#include "base/map.h"

enum { MOST_DEVICES = 256 };

/* Counts a process of a device when it is first met. */
static int mps_see(struct map *seen, const struct trace *t, const struct gpu_info *g,
                   uint32_t *users)
{
    if (g->launch == ROW_NONE || g->device < 0 || g->device >= MOST_DEVICES) return 0;
    uint32_t process = t->lanes[t->lane[g->launch]].process;
    uint32_t *slot = map_at(seen, map_mix(((uint64_t)process << 8 | (uint32_t)g->device) + 1));
    if (!slot) return ERR_NOMEM;
    if (*slot == MAP_NONE) users[g->device]++;
    *slot = 0;
    return 0;
}

static int mps_run_pass(struct context *cx, void *ret, struct err *e)
{
    struct mps *out = ret;
    const struct trace *t = cx->t;
    uint32_t users[MOST_DEVICES] = {0};
    struct map seen;
    int rc = 0;
    if (!trace_timeline_is_ours(t)) return 0;
    map_init(&seen);
    for (uint32_t i = 0; i < t->n_gpu && rc == 0; i++) rc = mps_see(&seen, t, &t->gpu[i], users);
    map_done(&seen);
    for (int32_t d = 0; d < MOST_DEVICES; d++)
        if (users[d] > out->n_processes) *out = (struct mps){users[d], d};
    return rc < 0 ? err_nomem(e) : 0;
}

const struct pass mps_pass = {
    .id = PASS_SHARING,
    .size = sizeof(struct mps),
    .run = mps_run_pass,
};

enum { MOST_OTHERS = 1 << 20 };

static bool names_others(struct str name, int32_t *ret_device)
{
    struct str title;
    return gpu_sample_name(name, ret_device, &title) && str_is(title, "other processes") &&
           *ret_device < MOST_DEVICES;
}

static void other_processes_add(struct other_processes *g, double others)
{
    if (!(others >= 0 && others < MOST_OTHERS)) return;
    g->n++;
    g->shared += others >= 1;
    if (others > g->others) g->others = (uint32_t)others;
}

static int other_processes_add_rows(const struct context *cx, struct other_processes *by,
                                    struct err *e)
{
    const struct trace *t = cx->t;
    int32_t device;
    double others;
    for (row_t r = 0; r < t->n_rows; r++) {
        if (t->kind[r] != KIND_COUNTER || !names_others(trace_name(t, r), &device)) continue;
        TRY(gpu_sample_value(cx, r, &others, e));
        other_processes_add(&by[device], others);
    }
    return 0;
}

static int other_processes_run_pass(struct context *cx, void *ret, struct err *e)
{
    struct other_processes *most = ret, by[MOST_DEVICES] = {{0}};
    TRY(other_processes_add_rows(cx, by, e));
    for (int32_t i = 0; i < MOST_DEVICES; i++) {
        by[i].device = i;
        if (!by[i].n) continue;
        if (!most->n || (uint64_t)by[i].shared * most->n > (uint64_t)most->shared * by[i].n)
            *most = by[i];
    }
    return 0;
}

const struct pass other_processes_pass = {
    .id = PASS_GPU_SHARING,
    .size = sizeof(struct other_processes),
    .run = other_processes_run_pass,
};
