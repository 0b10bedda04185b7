/* profile.c: see profile.h. */
#include "dive/profile.h"

#include <math.h>

const char *unit_name(enum unit u)
{
    static const char *const names[UNITS] = {"DRAM",        "L2",         "L1 and shared memory",
                                             "tensor pipe", "FP32 pipe",  "integer pipe",
                                             "FP64 pipe",   "issue slots"};
    return names[u];
}

const char *unit_key(enum unit u)
{
    static const char *const keys[UNITS] = {"dram", "l2",  "l1",   "tensor",
                                            "fp32", "alu", "fp64", "issue"};
    return keys[u];
}

void profile_init(struct profile *p)
{
    *p = (struct profile){.time_ns = NAN,
                          .flops = NAN,
                          .tensor_flops = NAN,
                          .main = PRECISIONS,
                          .bytes = NAN,
                          .l2_bytes = NAN,
                          .memory_pct = NAN,
                          .sm_pct = NAN,
                          .occupancy_pct = NAN,
                          .occupancy_most_pct = NAN,
                          .eligible_warps = NAN,
                          .waves = NAN,
                          .grid_blocks = NAN,
                          .sms = NAN,
                          .active_share = NAN,
                          .memory_stall_pct = NAN,
                          .issuing_pct = NAN};
    for (int i = 0; i < UNITS; i++) p->busy_pct[i] = NAN;
    for (int i = 0; i < PRECISIONS; i++) p->flops_of[i] = NAN;
}

/* Sum of what is known; NaN when nothing is. */
static double sum_known(const double *v, int n)
{
    double sum = NAN;
    for (int i = 0; i < n; i++)
        if (!isnan(v[i])) sum = (isnan(sum) ? 0 : sum) + v[i];
    return sum;
}

/* Operations of ordinary instructions: an add or a multiply is one, a fused one two; fp16
 * instructions do two numbers at once. Given a cycle, they are spread over the cycles it took. */
static double scalar_flops(const struct ncu_launch *l, enum ncu_metric add, enum ncu_metric a_cycle,
                           double each)
{
    const double *v = l->value;
    const double counts[] = {v[add] * each, v[add + 1] * each, v[add + 2] * 2 * each};
    double total = sum_known(counts, 3);
    if (!isnan(total)) return total;
    return sum_known(v + a_cycle, 3) * v[NCU_ELAPSED_CYCLES];
}

static void fill_flops(const struct ncu_launch *l, struct profile *p)
{
    double tensor[PRECISIONS];
    for (int i = 0; i < PRECISIONS; i++)
        tensor[i] = isnan(l->tensor_ops[i]) ? l->tensor_part_ops[i] : l->tensor_ops[i];
    double scalar[PRECISIONS] = {
        [FP64] = scalar_flops(l, NCU_DADD, NCU_DADD_A_CYCLE, 1),
        [FP32] = scalar_flops(l, NCU_FADD, NCU_FADD_A_CYCLE, 1),
        [TF32] = NAN,
        [HALF] = scalar_flops(l, NCU_HADD, NCU_HADD2_A_CYCLE, 2),
        [FP8] = NAN,
        [INT8] = NAN,
    };
    p->main = PRECISIONS;
    double most = 0;
    for (int i = 0; i < PRECISIONS; i++) {
        const double both[] = {tensor[i], scalar[i]};
        p->flops_of[i] = sum_known(both, 2);
        if (p->flops_of[i] > most) most = p->flops_of[i], p->main = (enum precision)i;
    }
    p->tensor_flops = sum_known(tensor, PRECISIONS);
    p->flops = sum_known(p->flops_of, PRECISIONS);
}

static void profile_fill_bytes(const struct ncu_launch *l, struct profile *p)
{
    const double *v = l->value;
    p->bytes = sum_known(v + NCU_DRAM_READ_BYTES, 2);
    if (isnan(p->bytes)) p->bytes = v[NCU_DRAM_BYTES];
    if (isnan(p->bytes)) p->bytes = v[NCU_DRAM_BYTES_PER_S] * p->time_ns / 1e9;
    p->l2_bytes = v[NCU_L2_BYTES];
}

static void fill_rates(struct profile *p)
{
    double s = p->time_ns > 0 ? p->time_ns / 1e9 : NAN;
    p->flop_per_s = p->flops / s;
    p->bytes_per_s = p->bytes / s;
    p->flop_per_byte = p->bytes > 0 ? p->flops / p->bytes : NAN;
}

static void profile_fill_occupancy(const struct ncu_launch *l, struct profile *p)
{
    static const struct {
        enum ncu_metric metric;
        const char *name;
    } limits[] = {{NCU_LIMIT_REGISTERS, "registers"},
                  {NCU_LIMIT_SHARED, "shared memory"},
                  {NCU_LIMIT_BLOCKS, "blocks per SM"},
                  {NCU_LIMIT_BARRIERS, "barriers"},
                  {NCU_LIMIT_WARPS, "threads per block"}};
    const double *v = l->value;
    p->occupancy_pct = v[NCU_OCCUPANCY_PCT];
    p->occupancy_most_pct = v[NCU_OCCUPANCY_MOST_PCT];
    double least = INFINITY;
    if (!(p->occupancy_most_pct < 99.5)) return;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (v[limits[i].metric] < least)
            least = v[limits[i].metric], p->occupancy_limit = limits[i].name;
}

static bool stall_is(int stall, const char *name)
{
    return strcmp(ncu_stall_names[stall], name) == 0;
}

/* Issuing is not a wait, and a warp that could issue but was not chosen loses nothing. */
static bool profile_is_wait(int stall)
{
    return !stall_is(stall, "selected") && !stall_is(stall, "not_selected");
}

static void add_stall(struct profile *p, struct stall_share s)
{
    int at = p->n_stalls < PROFILE_STALLS ? p->n_stalls++ : PROFILE_STALLS;
    for (; at > 0 && p->stalls[at - 1].pct < s.pct; at--)
        if (at < PROFILE_STALLS) p->stalls[at] = p->stalls[at - 1];
    if (at < PROFILE_STALLS) p->stalls[at] = s;
}

static void fill_stalls(const struct ncu_launch *l, struct profile *p)
{
    static const char *const of_memory[] = {"long_scoreboard", "lg_throttle", "tex_throttle",
                                            "drain", "membar"};
    double all = sum_known(l->stall, NCU_STALLS);
    p->memory_stall_pct = p->issuing_pct = NAN;
    if (!(all > 0)) return;
    p->memory_stall_pct = p->issuing_pct = 0;
    for (int i = 0; i < NCU_STALLS; i++) {
        double pct = 100 * l->stall[i] / all;
        if (!(pct > 0)) continue;
        for (size_t k = 0; k < sizeof of_memory / sizeof *of_memory; k++)
            if (stall_is(i, of_memory[k])) p->memory_stall_pct += pct;
        if (profile_is_wait(i)) add_stall(p, (struct stall_share){i, pct});
        else p->issuing_pct += pct;
    }
}

static void fill_busy(const struct ncu_launch *l, struct profile *p)
{
    static const enum ncu_metric of[UNITS] = {NCU_DRAM_PCT,   NCU_L2_PCT,   NCU_L1_PCT,
                                              NCU_TENSOR_PCT, NCU_FMA_PCT,  NCU_ALU_PCT,
                                              NCU_FP64_PCT,   NCU_ISSUE_PCT};
    /* Parts of an SM are counted while the SM has work; a kernel takes longer than that. */
    double share = p->active_share > 0 && p->active_share < 1 ? p->active_share : 1;
    for (int i = 0; i < UNITS; i++)
        p->busy_pct[i] = l->value[of[i]] * (i >= UNIT_TENSOR ? share : 1);
    p->memory_pct = l->value[NCU_MEMORY_PCT];
    p->sm_pct = l->value[NCU_SM_PCT];
}

/* The tensor pipe also counts a little of what other instructions do on it. */
static void fill_tensor(const struct ncu_launch *l, struct profile *p)
{
    enum { STRAY_PCT = 5 };
    p->tensor_known = !isnan(p->tensor_flops) || !isnan(l->value[NCU_TENSOR_PCT]);
    p->tensor_used =
        isnan(p->tensor_flops) ? l->value[NCU_TENSOR_PCT] > STRAY_PCT : p->tensor_flops > 0;
}

void profile_of(const struct ncu_launch *l, struct profile *ret)
{
    const double *v = l->value;
    struct profile p = {.time_ns = v[NCU_TIME_NS],
                        .eligible_warps = v[NCU_ELIGIBLE_WARPS],
                        .waves = v[NCU_WAVES],
                        .sms = v[NCU_SMS],
                        .grid_blocks = (double)l->grid[0] * l->grid[1] * l->grid[2],
                        .active_share = v[NCU_SM_ACTIVE_CYCLES] / v[NCU_ELAPSED_CYCLES]};
    fill_flops(l, &p);
    profile_fill_bytes(l, &p);
    fill_rates(&p);
    fill_busy(l, &p);
    profile_fill_occupancy(l, &p);
    fill_stalls(l, &p);
    fill_tensor(l, &p);
    *ret = p;
}
