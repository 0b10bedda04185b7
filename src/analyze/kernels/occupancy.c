/* occupancy.c: see occupancy.h. The rules are those of NVIDIA's occupancy calculator. */
#include "analyze/kernels/occupancy.h"

#include <limits.h>

enum {
    REGISTER_UNIT = 256,      /* registers are given to a warp in these */
    SM_PARTS = 4,             /* an SM is four parts; warps and registers are spread over them */
    SHARED_UNIT = 128,        /* bytes */
    SHARED_SYSTEM_COST = 1024 /* bytes a block costs on top, since compute capability 8.0 */
};

static int64_t round_up(int64_t v, int64_t unit)
{
    return (v + unit - 1) / unit * unit;
}

static int max_blocks_per_sm(const struct device *d)
{
    int cc = d->major * 10 + d->minor;
    if (cc == 75 || cc == 86 || cc == 87) return 16;
    return cc == 89 || d->major == 12 ? 24 : 32;
}

static int64_t blocks_by_registers(const struct device *d, const struct gpu_info *g, int64_t warps)
{
    if (!g->registers || d->regs_per_sm <= 0) return INT_MAX;
    int64_t a_warp = round_up((int64_t)g->registers * d->warp_size, REGISTER_UNIT);
    int64_t fit = d->regs_per_sm / SM_PARTS / a_warp * SM_PARTS;
    return fit / warps;
}

static int64_t blocks_by_shared(const struct device *d, const struct gpu_info *g)
{
    if (d->shared_per_sm <= 0) return INT_MAX;
    int64_t cost = (int64_t)g->shared_bytes + (d->major >= 8 ? SHARED_SYSTEM_COST : 0);
    return cost ? d->shared_per_sm / round_up(cost, SHARED_UNIT) : INT_MAX;
}

static double occupancy_product(const uint32_t v[3])
{
    return (double)v[0] * v[1] * v[2];
}

bool occupancy_of(const struct device *d, const struct gpu_info *g, struct occupancy *ret)
{
    double threads = occupancy_product(g->block), grid = occupancy_product(g->grid);
    if (!d || d->warp_size <= 0 || d->max_threads_per_sm < d->warp_size || d->n_sms <= 0)
        return false;
    if (threads < 1 || threads > d->max_threads_per_sm || grid < 1) return false;
    int64_t warps = ((int64_t)threads + d->warp_size - 1) / d->warp_size;
    int64_t room[] = {
        [LIMIT_GRID] = INT_MAX,
        [LIMIT_THREADS] = d->max_threads_per_sm / d->warp_size / warps,
        [LIMIT_REGISTERS] = blocks_by_registers(d, g, warps),
        [LIMIT_SHARED] = blocks_by_shared(d, g),
        [LIMIT_BLOCKS] = max_blocks_per_sm(d),
    };
    struct occupancy o = {.limit = LIMIT_THREADS};
    for (int i = LIMIT_THREADS; i <= LIMIT_BLOCKS; i++)
        if (room[i] < room[o.limit]) o.limit = (enum occupancy_limit)i;
    if (room[o.limit] < 1) return false;
    o.blocks_per_sm = (int)room[o.limit];
    double full = d->max_threads_per_sm, launched = grid / d->n_sms;
    o.theoretical_pct = o.blocks_per_sm * threads * 100 / full;
    o.pct = o.theoretical_pct;
    if (launched < o.blocks_per_sm) {
        o.limit = LIMIT_GRID;
        o.pct = launched * threads * 100 / full;
    }
    *ret = o;
    return true;
}

const char *occupancy_limit_name(enum occupancy_limit l)
{
    static const char *const names[] = {"grid", "threads", "registers", "shared memory", "blocks"};
    return names[l];
}

const struct device *occupancy_device(const struct trace *t, int32_t id)
{
    for (uint32_t i = 0; i < t->n_devices; i++)
        if (t->devices[i].id == id) return &t->devices[i];
    return NULL;
}
