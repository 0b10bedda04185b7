/* sharing.c: see sharing.h. */
#include "analyze/device/sharing.h"

#include "base/map.h"

enum { MOST_DEVICES = 256 };

/* Counts a process of a device when it is first met. */
static int see(struct map *seen, const struct trace *t, const struct gpu_info *g, uint32_t *users)
{
    if (g->launch == ROW_NONE || g->device < 0 || g->device >= MOST_DEVICES) return 0;
    uint32_t process = t->lanes[t->lane[g->launch]].process;
    uint32_t *slot = map_at(seen, map_mix(((uint64_t)process << 8 | (uint32_t)g->device) + 1));
    if (!slot) return ERR_NOMEM;
    if (*slot == MAP_NONE) users[g->device]++;
    *slot = 0;
    return 0;
}

static int run_pass(struct context *cx, void *ret, struct err *e)
{
    struct sharing *out = ret;
    const struct trace *t = cx->t;
    uint32_t users[MOST_DEVICES] = {0};
    struct map seen;
    int rc = 0;
    if (!trace_meta(t, TRACE_META_RECORDED).p) return 0;
    map_init(&seen);
    for (uint32_t i = 0; i < t->n_gpu && rc == 0; i++) rc = see(&seen, t, &t->gpu[i], users);
    map_done(&seen);
    for (int32_t d = 0; d < MOST_DEVICES; d++)
        if (users[d] > out->n_processes) *out = (struct sharing){users[d], d};
    return rc < 0 ? err_nomem(e) : 0;
}

const struct pass sharing_pass = {
    .id = PASS_SHARING,
    .size = sizeof(struct sharing),
    .run = run_pass,
};
