/* dive.c: see dive.h. */
#include "dive/dive.h"

#include <math.h>

#include "dive/dive_private.h"

static double roof_pct(const struct profile *p, const struct ceilings *c)
{
    if (p->flops > 0) return 100 * p->flop_per_s / ceilings_roof(c, p->main, p->flop_per_byte);
    return 100 * p->bytes_per_s / c->memory.per_s;
}

static void dive_judge(struct dive_kernel *k, const struct ceilings *c)
{
    struct verdict_in in = {&k->profile, c, k->family, k->short_name};
    verdict_of(&in, &k->verdict);
    if (k->estimated && k->verdict.confidence > CONFIDENCE_LOW)
        k->verdict.confidence = CONFIDENCE_LOW;
    k->roof_pct = roof_pct(&k->profile, c);
}

static void dive_measured(struct dive_kernel *k, const struct ncu_launch *l)
{
    k->launch = l;
    profile_of(l, &k->profile);
}

/* Kernels of the trace; those that were not measured are estimated. */
static int dive_with_trace(const struct dive_in *in, struct arena *mem, struct dive *ret,
                           struct err *e)
{
    const struct trace *t = in->cx->t;
    struct op_links links;
    struct pair *pairs = NULL;
    TRY(op_links_run(t, mem, &links, e));
    if (in->report) TRY(pairing_run(in->targets, in->report, mem, &pairs, e));
    for (uint32_t i = 0; i < in->targets->n; i++) {
        const struct target *target = &in->targets->all[i];
        struct dive_kernel *k = &ret->kernels[ret->n++];
        *k = (struct dive_kernel){.target = target,
                                  .pairing = pairs ? pairs[i].how : PAIRING_ABSENT,
                                  .time_ratio = pairs ? pairs[i].time_ratio : NAN,
                                  .short_name = target->short_name,
                                  .family = target->family,
                                  .estimated = !pairs || !pairs[i].launch};
        if (k->estimated) guess_profile(t, &links, target, &k->profile);
        else dive_measured(k, pairs[i].launch);
        ret->n_measured += !k->estimated;
        dive_judge(k, &ret->ceilings);
    }
    return 0;
}

static int without_trace(const struct dive_in *in, struct arena *mem, struct dive *ret,
                         struct err *e)
{
    struct buf name;
    buf_init(&name);
    for (uint32_t i = 0; i < in->report->n_launches; i++) {
        const struct ncu_launch *l = &in->report->launches[i];
        struct dive_kernel *k = &ret->kernels[ret->n++];
        buf_reset(&name);
        pairing_short(l->name, &name);
        *k = (struct dive_kernel){.pairing = PAIRING_SAME,
                                  .time_ratio = NAN,
                                  .family = kernel_family(KIND_KERNEL, l->name)};
        k->short_name = str_from(arena_strdup(mem, buf_str(&name)), name.n);
        if (!buf_ok(&name) || !k->short_name.p) {
            buf_done(&name);
            return err_nomem(e);
        }
        dive_measured(k, l);
        dive_judge(k, &ret->ceilings);
    }
    ret->n_measured = ret->n;
    buf_done(&name);
    return 0;
}

int dive_run(const struct dive_in *in, struct arena *mem, struct dive *ret, struct err *e)
{
    uint32_t most = in->targets ? in->targets->n : in->report->n_launches;
    *ret = (struct dive){.targets = in->targets, .ceilings = in->ceilings};
    ret->kernels = arena_zalloc(mem, most + 1u, sizeof *ret->kernels);
    if (!ret->kernels) return err_nomem(e);
    return in->targets ? dive_with_trace(in, mem, ret, e) : without_trace(in, mem, ret, e);
}
