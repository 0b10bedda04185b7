/* view_dive_json.c: the keys of `strata dive --json`. */
#include <math.h>

#include "base/jout.h"
#include "report/view_dive.h"
#include "report/view_quality.h"

static void put_size(struct jout *j, const char *key, const uint32_t v[3])
{
    jout_arr(j, key);
    for (int i = 0; i < 3; i++) jout_uint(j, NULL, v[i]);
    jout_end_arr(j);
}

static void put_target(struct jout *j, const struct target *t)
{
    jout_uint(j, "calls", t->calls);
    jout_uint(j, "graph_calls", t->graph_calls);
    jout_us(j, "exposed_us", t->exposed_ns);
    jout_num(j, "share_pct", t->share_pct, 2);
    jout_num(j, "traced_us", target_mean_ns(t) / 1e3, 3);
    jout_us(j, "launch_us", t->row_ns);
    jout_uint(j, "sizes", t->n_configs);
    jout_uint(j, "ordinal", t->ordinal);
    put_size(j, "grid", t->config.grid);
    put_size(j, "block", t->config.block);
}

static void put_rates(struct jout *j, const struct dive_kernel *k, const struct ceilings *c)
{
    const struct profile *p = &k->profile;
    double most = p->main < PRECISIONS ? c->compute[p->main].per_s : NAN;
    jout_num(j, "time_us", p->time_ns / 1e3, 3);
    jout_num(j, "flops", p->flops, 0);
    jout_num(j, "bytes", p->bytes, 0);
    jout_num(j, "tflop_per_s", p->flop_per_s / 1e12, 4);
    jout_num(j, "gb_per_s", p->bytes_per_s / 1e9, 3);
    jout_num(j, "ai_flop_per_byte", p->flop_per_byte, 4);
    jout_cstr(j, "precision", p->main < PRECISIONS ? precision_name(p->main) : NULL);
    jout_num(j, "compute_pct", 100 * p->flop_per_s / most, 2);
    jout_num(j, "memory_pct", 100 * p->bytes_per_s / c->memory.per_s, 2);
    jout_num(j, "roof_pct", k->roof_pct, 2);
}

static void put_use(struct jout *j, const struct profile *p)
{
    jout_obj(j, "busy_pct");
    for (int i = 0; i < UNITS; i++) jout_num(j, unit_key((enum unit)i), p->busy_pct[i], 2);
    jout_end_obj(j);
    jout_num(j, "occupancy_pct", p->occupancy_pct, 2);
    jout_num(j, "occupancy_most_pct", p->occupancy_most_pct, 2);
    jout_cstr(j, "occupancy_limit", p->occupancy_limit);
    jout_num(j, "waves", p->waves, 3);
    jout_num(j, "active_pct", 100 * p->active_share, 2);
    jout_num(j, "eligible_warps", p->eligible_warps, 3);
    if (p->tensor_known) jout_bool(j, "tensor_cores", p->tensor_used);
    else jout_null(j, "tensor_cores");
    jout_arr(j, "stalls");
    for (int i = 0; i < p->n_stalls; i++) {
        jout_obj(j, NULL);
        jout_cstr(j, "reason", ncu_stall_names[p->stalls[i].stall]);
        jout_num(j, "pct", p->stalls[i].pct, 1);
        jout_cstr(j, "about", ncu_stall_about(p->stalls[i].stall));
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

static void put_verdict(struct jout *j, const struct verdict *v)
{
    jout_cstr(j, "limiter", limiter_key(v->limiter));
    jout_cstr(j, "part", v->limiter != LIMITER_NONE && v->unit < UNITS ? unit_key(v->unit) : NULL);
    jout_cstr(j, "factor", v->factor);
    jout_cstr(j, "confidence", confidence_name(v->confidence));
    jout_cstr(j, "nearest", limiter_key(v->nearest));
    jout_arr(j, "signs");
    for (int i = 0; i < v->n_signs; i++) {
        jout_obj(j, NULL);
        jout_bool(j, "agrees", v->signs[i].agrees);
        jout_cstr(j, "text", v->signs[i].text);
        jout_end_obj(j);
    }
    jout_end_arr(j);
    jout_cstr(j, "advice", v->advice);
}

static void put_kernel(struct jout *j, const struct dive_kernel *k, const struct ceilings *c)
{
    jout_obj(j, NULL);
    jout_str(j, "name", k->target ? k->target->name : k->launch->name);
    jout_str(j, "short_name", k->short_name);
    jout_cstr(j, "family", kernel_family_name(k->family));
    jout_bool(j, "estimated", k->estimated);
    jout_cstr(j, "matched", k->target ? pairing_key(k->pairing) : NULL);
    if (k->target) put_target(j, k->target);
    jout_num(j, "time_ratio", k->time_ratio, 3);
    if (k->launch) {
        put_size(j, "measured_grid", k->launch->grid);
        put_size(j, "measured_block", k->launch->block);
    }
    put_rates(j, k, c);
    put_use(j, &k->profile);
    put_verdict(j, &k->verdict);
    jout_end_obj(j);
}

static void put_point(struct jout *j, const struct dive_kernel *k)
{
    bool placed = k->profile.flops > 0;
    jout_obj(j, NULL);
    jout_str(j, "name", k->short_name);
    jout_num(j, "ai_flop_per_byte", placed ? k->profile.flop_per_byte : NAN, 4);
    jout_num(j, "gflops", placed ? k->profile.flop_per_s / 1e9 : NAN, 3);
    jout_num(j, "time_us", k->profile.time_ns / 1e3, 3);
    jout_num(j, "share_pct", k->target ? k->target->share_pct : NAN, 2);
    jout_cstr(j, "verdict", limiter_key(k->verdict.limiter));
    jout_cstr(j, "confidence", confidence_name(k->verdict.confidence));
    jout_cstr(j, "precision",
              k->profile.main < PRECISIONS ? precision_name(k->profile.main) : NULL);
    jout_bool(j, "estimated", k->estimated);
    jout_end_obj(j);
}

static void put_roofline(struct jout *j, const struct dive *d)
{
    const struct ceilings *c = &d->ceilings;
    jout_obj(j, "roofline");
    jout_str(j, "gpu", c->gpu);
    jout_num(j, "memory_gb_per_s", c->memory.per_s / 1e9, 2);
    jout_cstr(j, "memory_from", ceiling_from_name(c->memory.from));
    jout_arr(j, "compute");
    for (int p = 0; p < PRECISIONS; p++) {
        if (c->compute[p].from == CEILING_NONE) continue;
        jout_obj(j, NULL);
        jout_cstr(j, "precision", precision_name((enum precision)p));
        jout_num(j, "tflop_per_s", c->compute[p].per_s / 1e12, 3);
        jout_cstr(j, "from", ceiling_from_name(c->compute[p].from));
        jout_end_obj(j);
    }
    jout_end_arr(j);
    jout_arr(j, "points");
    for (uint32_t i = 0; i < d->n; i++) put_point(j, &d->kernels[i]);
    jout_end_arr(j);
    jout_end_obj(j);
}

void view_dive_json(struct buf *out, const struct dive *d, const struct context *cx)
{
    struct jout j;
    jout_init(&j, out, true);
    jout_obj(&j, NULL);
    jout_cstr(&j, "source", !d->n_measured ? "trace" : d->targets ? "ncu" : "report");
    jout_uint(&j, "measured", d->n_measured);
    if (d->targets) {
        jout_uint(&j, "kernels_in_trace", d->targets->n_kernels);
        jout_num(&j, "covered_pct", d->targets->covered_pct, 2);
    } else {
        jout_null(&j, "kernels_in_trace");
        jout_null(&j, "covered_pct");
    }
    jout_cstr(&j, "trouble", d->trouble);
    jout_cstr(&j, "remedy", d->remedy);
    jout_arr(&j, "kernels");
    for (uint32_t i = 0; i < d->n; i++) put_kernel(&j, &d->kernels[i], &d->ceilings);
    jout_end_arr(&j);
    put_roofline(&j, d);
    if (cx) view_quality_json(&j, "trace_quality", cx->t, integrity_of(cx));
    else jout_null(&j, "trace_quality");
    jout_end_obj(&j);
    buf_addc(out, '\n');
}
