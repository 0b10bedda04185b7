/* verdict.c: see verdict.h. A candidate is a limiter with its gate (without which it is not
 * considered at all) and its signs. The one with the best balance of signs wins; two must agree. */
#include "dive/verdict.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "analyze/names/torch_words.h"
#include "dive/dive_private.h"

/* Thresholds, in % of a part's peak unless said otherwise. */
enum {
    BUSY = 60,      /* from here on a part can be what limits */
    VERY_BUSY = 65, /* from here on it is a sign by itself */
    IN_REACH = 60,  /* of a ceiling: worth looking at */
    NEAR_CEILING = 75,
    MOSTLY = 40,    /* of the time of warps */
    FEW_WARPS = 50, /* occupancy */
    LOST_SMS = 80,  /* share of the GPU that a launch can keep busy */
};

const char *limiter_key(enum limiter l)
{
    static const char *const keys[LIMITERS] = {"none",  "memory",  "tensor",    "compute",
                                               "issue", "latency", "occupancy", "tail"};
    return keys[l];
}

const char *limiter_name(enum limiter l)
{
    static const char *const names[LIMITERS] = {
        "no verdict",  "memory",  "tensor cores", "arithmetic",
        "issue slots", "latency", "occupancy",    "tail",
    };
    return names[l];
}

const char *confidence_name(enum confidence c)
{
    static const char *const names[] = {"none", "low", "medium", "high"};
    return names[c];
}

/* ---- candidates ---- */

__attribute__((format(printf, 4, 5))) static void add_sign(struct verdict *v, double value,
                                                           bool agrees, const char *fmt, ...)
{
    if (isnan(value) || v->n_signs == VERDICT_SIGNS) return;
    struct sign *s = &v->signs[v->n_signs++];
    s->agrees = agrees;
    v->n_agree += agrees;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(s->text, sizeof s->text, fmt, ap);
    va_end(ap);
}

static double pct_of(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : NAN;
}

static bool of_memory(enum unit u)
{
    return u == UNIT_DRAM || u == UNIT_L2 || u == UNIT_L1;
}

/* The busiest of the parts but `except`; 0 when none is known. Where parts are not distinguished,
 * ncu's own summary of the other half of the GPU stands for them. */
static double busiest_other(const struct profile *p, enum unit except)
{
    double most = 0;
    for (int i = 0; i < UNITS; i++)
        if (i != (int)except && p->busy_pct[i] > most) most = p->busy_pct[i];
    if ((except == UNITS || of_memory(except)) && p->sm_pct > most) most = p->sm_pct;
    if ((except == UNITS || !of_memory(except)) && p->memory_pct > most) most = p->memory_pct;
    return most;
}

static void sign_busy(struct verdict *v, const struct profile *p, enum unit u, double from)
{
    double pct = p->busy_pct[u];
    add_sign(v, pct, pct >= from, "%s busy %.0f %% of the time", unit_name(u), pct);
}

static void sign_busiest(struct verdict *v, const struct profile *p, enum unit u)
{
    double other = busiest_other(p, u);
    add_sign(v, p->busy_pct[u], p->busy_pct[u] > other,
             p->busy_pct[u] > other ? "no other part is busier (next %.0f %%)"
                                    : "another part is busier (%.0f %%)",
             other);
}

static const char *verdict_against(struct ceiling c)
{
    return c.from == CEILING_MEASURED ? "of what this GPU reaches" : "of what such a GPU reaches";
}

static void sign_bandwidth(struct verdict *v, const struct verdict_in *in)
{
    double pct = pct_of(in->profile->bytes_per_s, in->ceilings->memory.per_s);
    add_sign(v, pct, pct >= NEAR_CEILING, "%.2f TB/s is %.0f %% %s",
             in->profile->bytes_per_s / 1e12, pct, verdict_against(in->ceilings->memory));
}

static void sign_arithmetic(struct verdict *v, const struct verdict_in *in, enum precision of)
{
    if (of >= PRECISIONS) return;
    struct ceiling c = in->ceilings->compute[of];
    double pct = pct_of(in->profile->flop_per_s, c.per_s);
    add_sign(v, pct, pct >= NEAR_CEILING, "%.0f TFLOP/s is %.0f %% %s",
             in->profile->flop_per_s / 1e12, pct, verdict_against(c));
}

/* `left`: whether standing on the memory side of the ridge agrees. */
static void sign_ridge(struct verdict *v, const struct verdict_in *in, bool left)
{
    double ridge = ceilings_ridge(in->ceilings, in->profile->main);
    double at = in->profile->flop_per_byte;
    bool is_left = at < ridge;
    add_sign(v, ridge + at, is_left == left, "%.3g FLOP per byte, %s the ridge at %.0f", at,
             is_left ? "below" : "above", ridge);
}

/* Without counted operations, what such kernels do tells the side of the ridge. */
static void sign_kind(struct verdict *v, const struct verdict_in *in)
{
    enum kernel_family f = in->family;
    bool fused = torch_is_fused_chain(in->name);
    bool moves = f == FAMILY_ELEMENTWISE || f == FAMILY_REDUCTION || f == FAMILY_NORM ||
                 f == FAMILY_COPY || f == FAMILY_MEMSET || fused;
    if (isnan(in->profile->flop_per_byte) && moves)
        add_sign(v, 0, true, "kernels of its kind (%s) move more than they compute",
                 kernel_family_name(f));
}

static void sign_memory_stalls(struct verdict *v, const struct profile *p)
{
    add_sign(v, p->memory_stall_pct, p->memory_stall_pct >= MOSTLY,
             "warps wait for memory %.0f %% of their time", p->memory_stall_pct);
}

static bool try_dram(const struct verdict_in *in, struct verdict *v)
{
    const struct profile *p = in->profile;
    double rate = pct_of(p->bytes_per_s, in->ceilings->memory.per_s);
    if (!(p->busy_pct[UNIT_DRAM] >= 50) && !(rate >= IN_REACH)) return false;
    v->limiter = LIMITER_MEMORY;
    v->unit = UNIT_DRAM;
    sign_busy(v, p, UNIT_DRAM, VERY_BUSY);
    sign_bandwidth(v, in);
    sign_ridge(v, in, true);
    sign_kind(v, in);
    sign_memory_stalls(v, p);
    double other = fmax(p->busy_pct[UNIT_TENSOR], p->busy_pct[UNIT_ISSUE]);
    add_sign(v, other, other < BUSY, "the SMs are busy %.0f %%", other);
    return true;
}

static bool try_l2(const struct verdict_in *in, struct verdict *v)
{
    const struct profile *p = in->profile;
    if (!(p->busy_pct[UNIT_L2] >= BUSY) || p->busy_pct[UNIT_DRAM] + 10 > p->busy_pct[UNIT_L2])
        return false;
    v->limiter = LIMITER_MEMORY;
    v->unit = UNIT_L2;
    sign_busy(v, p, UNIT_L2, VERY_BUSY);
    double times = p->bytes > 0 ? p->l2_bytes / p->bytes : NAN;
    add_sign(v, times, times >= 3, "%.1f bytes move through L2 per byte from DRAM", times);
    sign_memory_stalls(v, p);
    sign_busiest(v, p, UNIT_L2);
    return true;
}

static bool try_l1(const struct verdict_in *in, struct verdict *v)
{
    const struct profile *p = in->profile;
    if (!(p->busy_pct[UNIT_L1] >= BUSY)) return false;
    double queues = 0;
    for (int i = 0; i < p->n_stalls; i++) {
        const char *name = ncu_stall_names[p->stalls[i].stall];
        if (strcmp(name, "mio_throttle") == 0 || strcmp(name, "short_scoreboard") == 0 ||
            strcmp(name, "lg_throttle") == 0)
            queues += p->stalls[i].pct;
    }
    v->limiter = LIMITER_MEMORY;
    v->unit = UNIT_L1;
    sign_busy(v, p, UNIT_L1, VERY_BUSY);
    add_sign(v, p->n_stalls ? queues : NAN, queues >= 25,
             "warps wait for shared memory and its queues %.0f %% of their time", queues);
    sign_busiest(v, p, UNIT_L1);
    return true;
}

static double arithmetic_pct(const struct verdict_in *in)
{
    const struct profile *p = in->profile;
    return p->main < PRECISIONS ? pct_of(p->flop_per_s, in->ceilings->compute[p->main].per_s) : NAN;
}

static bool try_tensor(const struct verdict_in *in, struct verdict *v)
{
    const struct profile *p = in->profile;
    if (!p->tensor_used) return false;
    if (!(p->busy_pct[UNIT_TENSOR] >= 50) && !(arithmetic_pct(in) >= IN_REACH)) return false;
    v->limiter = LIMITER_TENSOR;
    v->unit = UNIT_TENSOR;
    sign_busy(v, p, UNIT_TENSOR, VERY_BUSY);
    sign_arithmetic(v, in, p->main);
    sign_ridge(v, in, false);
    sign_busiest(v, p, UNIT_TENSOR);
    return true;
}

static bool try_arithmetic(const struct verdict_in *in, struct verdict *v)
{
    const struct profile *p = in->profile;
    enum unit u = UNIT_FP32;
    if (p->busy_pct[UNIT_ALU] > p->busy_pct[u]) u = UNIT_ALU;
    if (p->busy_pct[UNIT_FP64] > p->busy_pct[u]) u = UNIT_FP64;
    bool estimated = isnan(p->busy_pct[u]) && !p->tensor_used && arithmetic_pct(in) >= IN_REACH;
    if (estimated && p->main == FP64) u = UNIT_FP64;
    if (!(p->busy_pct[u] >= BUSY) && !estimated) return false;
    v->limiter = LIMITER_COMPUTE;
    v->unit = u;
    sign_busy(v, p, u, VERY_BUSY);
    if (u != UNIT_ALU) sign_arithmetic(v, in, u == UNIT_FP64 ? FP64 : FP32);
    if (u != UNIT_ALU) sign_ridge(v, in, false);
    double other = fmax(p->busy_pct[UNIT_DRAM], p->busy_pct[UNIT_L2]);
    add_sign(v, other, other < BUSY, "memory is busy %.0f %%", other);
    return true;
}

/* A page without single pipes says that the SMs are busy; when they do not issue much, a pipe is.
 */
static bool try_some_pipe(const struct verdict_in *in, struct verdict *v)
{
    const struct profile *p = in->profile;
    if (!isnan(p->busy_pct[UNIT_TENSOR]) || !(p->sm_pct >= VERY_BUSY)) return false;
    v->limiter = LIMITER_COMPUTE;
    add_sign(v, p->sm_pct, true, "the SMs are busy %.0f %% of the time", p->sm_pct);
    add_sign(v, p->busy_pct[UNIT_ISSUE], p->busy_pct[UNIT_ISSUE] < BUSY, "issue slots %.0f %%",
             p->busy_pct[UNIT_ISSUE]);
    add_sign(v, p->memory_pct, p->memory_pct < p->sm_pct, "memory is busy %.0f %%", p->memory_pct);
    return true;
}

static bool try_issue(const struct verdict_in *in, struct verdict *v)
{
    const struct profile *p = in->profile;
    if (!(p->busy_pct[UNIT_ISSUE] >= BUSY)) return false;
    v->limiter = LIMITER_ISSUE;
    v->unit = UNIT_ISSUE;
    sign_busy(v, p, UNIT_ISSUE, VERY_BUSY);
    add_sign(v, p->eligible_warps, p->eligible_warps >= 1.5,
             "%.1f warps are ready to issue, but only one can", p->eligible_warps);
    add_sign(v, p->issuing_pct, p->issuing_pct >= 25,
             "warps issue or are ready to issue %.0f %% of their time", p->issuing_pct);
    add_sign(v, p->busy_pct[UNIT_DRAM], p->busy_pct[UNIT_DRAM] < VERY_BUSY, "DRAM busy %.0f %%",
             p->busy_pct[UNIT_DRAM]);
    return true;
}

/* Share of the GPU's SMs that have a block in the average wave. */
static double wave_share(const struct profile *p)
{
    if (p->waves < 1 && p->sms > 0) return 100 * fmin(1, p->grid_blocks / p->sms);
    return p->waves >= 1 ? 100 * p->waves / ceil(p->waves) : NAN;
}

static bool try_tail(const struct verdict_in *in, struct verdict *v)
{
    const struct profile *p = in->profile;
    double share = wave_share(p), active = 100 * p->active_share;
    double busy = busiest_other(p, UNITS);
    if (!(share < LOST_SMS)) return false;
    v->limiter = LIMITER_TAIL;
    v->unit = UNITS;
    if (p->waves < 1)
        add_sign(v, share, true, "%.0f block%s for %.0f SMs", p->grid_blocks,
                 p->grid_blocks > 1 ? "s" : "", p->sms);
    else
        add_sign(v, share, true, "%.2f waves: the last one fills the GPU to %.0f %%", p->waves,
                 100 * (p->waves - floor(p->waves)));
    add_sign(v, active, active < LOST_SMS, "SMs are active %.0f %% of the time", active);
    add_sign(v, busy, busy < BUSY, "no part is busier than %.0f %%", busy);
    return true;
}

static bool waits_idle(const struct profile *p)
{
    return busiest_other(p, UNITS) < BUSY && !isnan(p->busy_pct[UNIT_ISSUE]);
}

static void sign_idle(struct verdict *v, const struct profile *p)
{
    double busy = busiest_other(p, UNITS);
    add_sign(v, busy, busy < BUSY, "no part is busier than %.0f %%", busy);
    add_sign(v, p->eligible_warps, p->eligible_warps < 1, "%.2f warps are ready to issue per cycle",
             p->eligible_warps);
}

/* Kernels that keep tensor cores at work do so with few warps, on purpose. */
static bool try_occupancy(const struct verdict_in *in, struct verdict *v)
{
    const struct profile *p = in->profile;
    if (!waits_idle(p) || !(p->occupancy_most_pct <= FEW_WARPS)) return false;
    if (p->tensor_used && p->busy_pct[UNIT_TENSOR] >= 40) return false;
    v->limiter = LIMITER_OCCUPANCY;
    v->unit = UNITS;
    v->factor = p->occupancy_limit;
    sign_idle(v, p);
    add_sign(v, p->occupancy_most_pct, true, "room for %.0f %% of the warps, limited by %s",
             p->occupancy_most_pct, v->factor ? v->factor : "its launch");
    add_sign(v, p->occupancy_pct, p->occupancy_pct >= 0.7 * p->occupancy_most_pct,
             "%.0f %% of the warps are resident", p->occupancy_pct);
    return true;
}

static bool try_latency(const struct verdict_in *in, struct verdict *v)
{
    const struct profile *p = in->profile;
    if (!waits_idle(p) || p->occupancy_most_pct <= FEW_WARPS) return false;
    v->limiter = LIMITER_LATENCY;
    v->unit = UNITS;
    sign_idle(v, p);
    double top = p->n_stalls ? p->stalls[0].pct : NAN;
    add_sign(v, top, top >= MOSTLY, "a warp %s %.0f %% of its time",
             p->n_stalls ? ncu_stall_about(p->stalls[0].stall) : "", top);
    add_sign(v, p->occupancy_pct, p->occupancy_pct > FEW_WARPS, "%.0f %% of the warps are resident",
             p->occupancy_pct);
    return true;
}

/* ---- the choice ---- */

static int verdict_balance(const struct verdict *v)
{
    return 2 * v->n_agree - v->n_signs;
}

static enum confidence confidence_of(const struct verdict *v)
{
    int against_it = v->n_signs - v->n_agree;
    if (v->n_agree < 2 || against_it >= v->n_agree) return CONFIDENCE_NONE;
    if (v->n_agree >= 3 && against_it == 0) return CONFIDENCE_HIGH;
    bool medium = against_it == 0 || (v->n_agree >= 3 && against_it == 1);
    return medium ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW;
}

void verdict_of(const struct verdict_in *in, struct verdict *ret)
{
    static bool (*const candidates[])(const struct verdict_in *, struct verdict *) = {
        try_tail,       try_tensor,    try_dram,  try_l2,        try_l1,
        try_arithmetic, try_some_pipe, try_issue, try_occupancy, try_latency,
    };
    struct verdict best = {.unit = UNITS};
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        struct verdict v = {.unit = UNITS};
        if (!candidates[i](in, &v)) continue;
        if (best.limiter == LIMITER_NONE || verdict_balance(&v) > verdict_balance(&best)) best = v;
    }
    best.confidence = confidence_of(&best);
    if (best.confidence == CONFIDENCE_NONE) {
        best.nearest = best.limiter;
        best.limiter = LIMITER_NONE;
    }
    best.advice = advice_kernel(in, &best);
    *ret = best;
}
