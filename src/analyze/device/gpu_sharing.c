/* gpu_sharing.c: see gpu_sharing.h. */
#include "analyze/device/gpu_sharing.h"

#include "analyze/device/gpu_samples.h"

enum { MOST_DEVICES = 64, MOST_OTHERS = 1 << 20 };

static bool names_others(struct str name, int32_t *ret_device)
{
    struct str title;
    return gpu_sample_name(name, ret_device, &title) && str_is(title, "other processes") &&
           *ret_device < MOST_DEVICES;
}

static void add(struct gpu_sharing *g, double others)
{
    if (!(others >= 0 && others < MOST_OTHERS)) return;
    g->n++;
    g->shared += others >= 1;
    if (others > g->others) g->others = (uint32_t)others;
}

static int add_rows(const struct context *cx, struct gpu_sharing *by, struct err *e)
{
    const struct trace *t = cx->t;
    int32_t device;
    double others;
    for (row_t r = 0; r < t->n_rows; r++) {
        if (t->kind[r] != KIND_COUNTER || !names_others(trace_name(t, r), &device)) continue;
        TRY(gpu_sample_value(cx, r, &others, e));
        add(&by[device], others);
    }
    return 0;
}

static int run_pass(struct context *cx, void *ret, struct err *e)
{
    struct gpu_sharing *most = ret, by[MOST_DEVICES] = {{0}};
    TRY(add_rows(cx, by, e));
    for (int32_t i = 0; i < MOST_DEVICES; i++) {
        by[i].device = i;
        if (!by[i].n) continue;
        if (!most->n || (uint64_t)by[i].shared * most->n > (uint64_t)most->shared * by[i].n)
            *most = by[i];
    }
    return 0;
}

const struct pass gpu_sharing_pass = {
    .id = PASS_GPU_SHARING,
    .size = sizeof(struct gpu_sharing),
    .run = run_pass,
};
