/* view_dive_json.c: the keys of `strata dive --json`. */
#include <math.h>

#include "base/jout.h"
#include "report/dive/views_dive.h"
#include "results/result_json.h"
#include "results/results.h"

static const struct dive *dive_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static const struct dive_kernel *kernel_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static const struct ceilings *ceilings_with(const struct rows *r)
{
    return r->with;
}

/* ---- what it is, and its launch in the trace */

static struct value target_num(const struct rows *r, uint32_t i,
                               double (*get)(const struct target *t))
{
    const struct target *t = kernel_at(r, i)->target;
    return t ? value_num(get(t)) : value_none();
}

static double target_share(const struct target *t)
{
    return t->share_pct;
}

static struct value target_int(const struct rows *r, uint32_t i, size_t offset)
{
    const char *t = (const char *)kernel_at(r, i)->target;
    return t ? value_int(*(const int64_t *)(t + offset)) : value_none();
}

static struct value target_count(const struct rows *r, uint32_t i, size_t offset)
{
    const char *t = (const char *)kernel_at(r, i)->target;
    return t ? value_int(*(const uint32_t *)(t + offset)) : value_none();
}

static struct rows dive_size(const uint32_t *size)
{
    return (struct rows){.list = size, .n = size ? 3 : 0};
}

static struct rows kernel_grid(const struct rows *r, uint32_t i)
{
    const struct target *t = kernel_at(r, i)->target;
    return dive_size(t ? t->config.grid : NULL);
}

static struct rows kernel_block(const struct rows *r, uint32_t i)
{
    const struct target *t = kernel_at(r, i)->target;
    return dive_size(t ? t->config.block : NULL);
}

static struct rows kernel_measured_grid(const struct rows *r, uint32_t i)
{
    const struct ncu_launch *l = kernel_at(r, i)->launch;
    return dive_size(l ? l->grid : NULL);
}

static struct rows kernel_measured_block(const struct rows *r, uint32_t i)
{
    const struct ncu_launch *l = kernel_at(r, i)->launch;
    return dive_size(l ? l->block : NULL);
}

VALUE_OF(kernel_name, value_text(kernel_at(r, i)->target ? kernel_at(r, i)->target->name
                                                         : kernel_at(r, i)->launch->name))
VALUE_OF(kernel_family_of, value_cstr(kernel_family_name(kernel_at(r, i)->family)))
VALUE_OF(kernel_matched,
         kernel_at(r, i)->target ? value_cstr(pairing_key(kernel_at(r, i)->pairing)) : value_none())
VALUE_OF(kernel_calls, target_int(r, i, offsetof(struct target, calls)))
VALUE_OF(kernel_graph_calls, target_int(r, i, offsetof(struct target, graph_calls)))
VALUE_OF(kernel_exposed, target_int(r, i, offsetof(struct target, exposed_ns)))
VALUE_OF(kernel_share, target_num(r, i, target_share))
VALUE_OF(kernel_traced, target_num(r, i, target_mean_ns))
VALUE_OF(kernel_launch, target_int(r, i, offsetof(struct target, row_ns)))
VALUE_OF(kernel_sizes, target_count(r, i, offsetof(struct target, n_configs)))
VALUE_OF(kernel_ordinal, target_count(r, i, offsetof(struct target, ordinal)))

/* ---- what was measured */

static struct value kernel_compute(const struct rows *r, uint32_t i)
{
    const struct profile *p = &kernel_at(r, i)->profile;
    double most = p->main < PRECISIONS ? ceilings_with(r)->compute[p->main].per_s : NAN;
    return value_num(100 * p->flop_per_s / most);
}

static struct value kernel_precision(const struct rows *r, uint32_t i)
{
    enum precision p = kernel_at(r, i)->profile.main;
    return p < PRECISIONS ? value_cstr(precision_name(p)) : value_none();
}

static struct value kernel_tensor_cores(const struct rows *r, uint32_t i)
{
    const struct profile *p = &kernel_at(r, i)->profile;
    return p->tensor_known ? value_int(p->tensor_used) : value_none();
}

static void kernel_busy(struct jout *j, const struct rows *r, uint32_t i)
{
    const struct profile *p = &kernel_at(r, i)->profile;
    for (int k = 0; k < UNITS; k++) jout_num(j, unit_key((enum unit)k), p->busy_pct[k], 2);
}

VALUE_OF(kernel_tflop_rate, value_num(kernel_at(r, i)->profile.flop_per_s / 1e12))
VALUE_OF(kernel_byte_rate, value_num(kernel_at(r, i)->profile.bytes_per_s / 1e9))
VALUE_OF(kernel_memory,
         value_num(100 * kernel_at(r, i)->profile.bytes_per_s / ceilings_with(r)->memory.per_s))
VALUE_OF(kernel_active, value_num(100 * kernel_at(r, i)->profile.active_share))
VALUE_OF(stall_reason,
         value_cstr(ncu_stall_names[((const struct stall_share *)rows_at(r, i))->stall]))
VALUE_OF(stall_about,
         value_cstr(ncu_stall_about(((const struct stall_share *)rows_at(r, i))->stall)))
ROWS_OF(kernel_stalls, .list = kernel_at(r, i)->profile.stalls,
        .n = (uint32_t)kernel_at(r, i)->profile.n_stalls)

/* ---- what it means */

static struct value kernel_part(const struct rows *r, uint32_t i)
{
    const struct verdict *v = &kernel_at(r, i)->verdict;
    return v->limiter != LIMITER_NONE && v->unit < UNITS ? value_cstr(unit_key(v->unit))
                                                         : value_none();
}

VALUE_OF(kernel_limiter, value_cstr(limiter_key(kernel_at(r, i)->verdict.limiter)))
VALUE_OF(kernel_confidence, value_cstr(confidence_name(kernel_at(r, i)->verdict.confidence)))
VALUE_OF(kernel_nearest, value_cstr(limiter_key(kernel_at(r, i)->verdict.nearest)))
VALUE_OF(sign_text, value_cstr(((const struct sign *)rows_at(r, i))->text))
ROWS_OF(kernel_signs, .list = kernel_at(r, i)->verdict.signs,
        .n = (uint32_t)kernel_at(r, i)->verdict.n_signs)

/* clang-format off */
static const struct field size_fields[] = {FIELD_BARE(COUNT, uint32_t)};
static const struct result result_size = RESULT("size", "x, y, z", size_fields, uint32_t);

static const struct field stall_fields[] = {
    FIELD_GET(TEXT, "reason", "", stall_reason, "ncu's word"),
    FIELD(PCT, "pct", "", struct stall_share, pct, "share of the time of its warps", .decimals = 1),
    FIELD_GET(TEXT, "about", "", stall_about, "what it means", .null = NULL_SOMETIMES),
};
static const struct result result_stalls = RESULT("stalls", "why warps wait", stall_fields, struct stall_share);

static const struct field sign_fields[] = {
    FIELD(FLAG, "agrees", "", struct sign, agrees, "whether it speaks for the verdict"),
    FIELD_GET(TEXT, "text", "", sign_text, "what was seen"),
};
static const struct result result_signs = RESULT("signs", "signs for and against", sign_fields, struct sign);

static const struct field kernel_fields[] = {
    FIELD_GET(TEXT, "name", "", kernel_name, "its name, readable and in full"),
    FIELD(TEXT, "short_name", "", struct dive_kernel, short_name, "its name without what every such kernel has"),
    FIELD_GET(TEXT, "family", "", kernel_family_of, "what it does"),
    FIELD(FLAG, "estimated", "", struct dive_kernel, estimated, "from the trace alone"),
    FIELD_GET(WORD, "matched", "", kernel_matched, "`same` (name, grid, block), `other_size`, `absent`; null without a trace", .null = NULL_SOMETIMES),
    FIELD_GET(COUNT, "calls", "", kernel_calls, "launches in the trace", .null = NULL_SOMETIMES, .sparse = true),
    FIELD_GET(COUNT, "graph_calls", "", kernel_graph_calls, "of them, replayed from a CUDA graph", .null = NULL_SOMETIMES, .sparse = true),
    FIELD_GET(NS, "exposed_us", "", kernel_exposed, "time with nothing else on the device", .null = NULL_SOMETIMES, .sparse = true),
    FIELD_GET(PCT, "share_pct", "", kernel_share, "its share", .decimals = 2, .sparse = true),
    FIELD_GET(MEAN_NS, "traced_us", "", kernel_traced, "mean time of the costliest size", .decimals = 3, .sparse = true),
    FIELD_GET(NS, "launch_us", "", kernel_launch, "time of the chosen launch", .null = NULL_SOMETIMES, .sparse = true),
    FIELD_GET(COUNT, "sizes", "", kernel_sizes, "how many sizes there are", .null = NULL_SOMETIMES, .sparse = true),
    FIELD_GET(COUNT, "ordinal", "", kernel_ordinal, "number of that launch among those of its size", .null = NULL_SOMETIMES, .sparse = true),
    FIELD_IN(LIST, "grid", "", &result_size, kernel_grid, "blocks of it", .sparse = true),
    FIELD_IN(LIST, "block", "", &result_size, kernel_block, "threads of a block", .sparse = true),
    FIELD(NUM, "time_ratio", "", struct dive_kernel, time_ratio, "measured over traced time", .decimals = 3),
    FIELD_IN(LIST, "measured_grid", "", &result_size, kernel_measured_grid, "blocks of the launch that was measured", .sparse = true),
    FIELD_IN(LIST, "measured_block", "", &result_size, kernel_measured_block, "threads of a block of it", .sparse = true),
    FIELD(MEAN_NS, "time_us", "", struct dive_kernel, profile.time_ns, "time of the measured launch", .decimals = 3),
    FIELD(NUM, "flops", "", struct dive_kernel, profile.flops, "operations of all precisions"),
    FIELD(NUM, "bytes", "", struct dive_kernel, profile.bytes, "bytes through DRAM"),
    FIELD_GET(NUM, "tflop_per_s", "", kernel_tflop_rate, "the rate of operations", .decimals = 4),
    FIELD_GET(NUM, "gb_per_s", "", kernel_byte_rate, "the rate of bytes", .decimals = 3),
    FIELD(NUM, "ai_flop_per_byte", "", struct dive_kernel, profile.flop_per_byte, "operations per byte", .decimals = 4),
    FIELD_GET(TEXT, "precision", "", kernel_precision, "of most of the work", .null = NULL_SOMETIMES),
    FIELD_GET(PCT, "compute_pct", "", kernel_compute, "share of the ceiling of operations", .decimals = 2),
    FIELD_GET(PCT, "memory_pct", "", kernel_memory, "share of the ceiling of bytes", .decimals = 2),
    FIELD(PCT, "roof_pct", "", struct dive_kernel, roof_pct, "of the most that is possible at its intensity", .decimals = 2),
    FIELD_PUT(MAP, "busy_pct", "", kernel_busy, "how busy `dram`, `l2`, `l1`, `tensor`, `fp32`, `alu`, `fp64`, `issue` are"),
    FIELD(PCT, "occupancy_pct", "", struct dive_kernel, profile.occupancy_pct, "resident warps", .decimals = 2),
    FIELD(PCT, "occupancy_most_pct", "", struct dive_kernel, profile.occupancy_most_pct, "the limit of that", .decimals = 2),
    FIELD(TEXT, "occupancy_limit", "", struct dive_kernel, profile.occupancy_limit, "what sets it", .null = NULL_SOMETIMES),
    FIELD(NUM, "waves", "", struct dive_kernel, profile.waves, "waves of blocks", .decimals = 3),
    FIELD_GET(PCT, "active_pct", "", kernel_active, "share of the time SMs are active", .decimals = 2),
    FIELD(NUM, "eligible_warps", "", struct dive_kernel, profile.eligible_warps, "warps that could issue", .decimals = 3),
    FIELD_GET(FLAG, "tensor_cores", "", kernel_tensor_cores, "whether tensor cores are used", .null = NULL_SOMETIMES),
    FIELD_IN(LIST, "stalls", "", &result_stalls, kernel_stalls, "why warps wait, largest first"),
    FIELD_GET(WORD, "limiter", "", kernel_limiter, "`memory`, `tensor`, `compute`, `issue`, `latency`, `occupancy`, `tail`, `none`", .null = NULL_SOMETIMES),
    FIELD_GET(WORD, "part", "", kernel_part, "the busy part, as in `busy_pct`", .null = NULL_SOMETIMES),
    FIELD(TEXT, "factor", "", struct dive_kernel, verdict.factor, "what limits occupancy", .null = NULL_SOMETIMES),
    FIELD_GET(WORD, "confidence", "", kernel_confidence, "`high`, `medium`, `low`, `none`", .null = NULL_SOMETIMES),
    FIELD_GET(WORD, "nearest", "", kernel_nearest, "the nearest candidate if there is no verdict", .null = NULL_SOMETIMES),
    FIELD_IN(LIST, "signs", "", &result_signs, kernel_signs, "signs for and against"),
    FIELD(TEXT, "advice", "", struct dive_kernel, verdict.advice, "what usually helps", .null = NULL_SOMETIMES),
};
static const struct result result_dive_kernels = RESULT("kernels", "kernels and what limits them", kernel_fields, struct dive_kernel);
/* clang-format on */

/* ---- roofline */

static struct value point_of(const struct rows *r, uint32_t i, double v)
{
    return kernel_at(r, i)->profile.flops > 0 ? value_num(v) : value_none();
}

static const struct ceiling *ceiling_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static bool ceiling_has(const struct rows *r, uint32_t i)
{
    return ceiling_at(r, i)->from != CEILING_NONE;
}

VALUE_OF(point_intensity, point_of(r, i, kernel_at(r, i)->profile.flop_per_byte))
VALUE_OF(point_gflops, point_of(r, i, kernel_at(r, i)->profile.flop_per_s / 1e9))
VALUE_OF(ceiling_precision, value_cstr(precision_name((enum precision)i)))
VALUE_OF(ceiling_rate, value_num(ceiling_at(r, i)->per_s / 1e12))
VALUE_OF(ceiling_source, value_cstr(ceiling_from_name(ceiling_at(r, i)->from)))
VALUE_OF(roofline_memory, value_num(dive_at(r, i)->ceilings.memory.per_s / 1e9))
VALUE_OF(roofline_memory_from, value_cstr(ceiling_from_name(dive_at(r, i)->ceilings.memory.from)))
ROWS_OF(roofline_compute, .list = dive_at(r, i)->ceilings.compute, .n = PRECISIONS)
ROWS_OF(dive_kernels, .list = dive_at(r, i)->kernels, .n = dive_at(r, i)->n,
        .with = &dive_at(r, i)->ceilings)
ROWS_OF(dive_roofline, .list = dive_at(r, i), .n = 1)

/* clang-format off */
static const struct field ceiling_fields[] = {
    FIELD_GET(TEXT, "precision", "", ceiling_precision, "the precision"),
    FIELD_GET(NUM, "tflop_per_s", "", ceiling_rate, "what the GPU reaches in it", .decimals = 3),
    FIELD_GET(WORD, "from", "", ceiling_source, "as `memory_from`"),
};
static const struct result result_ceilings = RESULT_IF("compute", "ceilings of operations", ceiling_fields, struct ceiling, ceiling_has);

static const struct field point_fields[] = {
    FIELD(TEXT, "name", "", struct dive_kernel, short_name, "a kernel"),
    FIELD_GET(NUM, "ai_flop_per_byte", "", point_intensity, "operations per byte", .decimals = 4),
    FIELD_GET(NUM, "gflops", "", point_gflops, "its rate", .decimals = 3),
    FIELD(MEAN_NS, "time_us", "", struct dive_kernel, profile.time_ns, "its time", .decimals = 3),
    FIELD_GET(PCT, "share_pct", "", kernel_share, "its share of the time with nothing else on the device", .decimals = 2),
    FIELD_GET(WORD, "verdict", "", kernel_limiter, "as `limiter`", .null = NULL_SOMETIMES),
    FIELD_GET(WORD, "confidence", "", kernel_confidence, "as above", .null = NULL_SOMETIMES),
    FIELD_GET(TEXT, "precision", "", kernel_precision, "of most of the work", .null = NULL_SOMETIMES),
    FIELD(FLAG, "estimated", "", struct dive_kernel, estimated, "from the trace alone"),
};
static const struct result result_points = RESULT("points", "kernels below the roofs", point_fields, struct dive_kernel);

static const struct field roofline_fields[] = {
    FIELD(TEXT, "gpu", "", struct dive, ceilings.gpu, "the GPU", .null = NULL_SOMETIMES),
    FIELD_GET(NUM, "memory_gb_per_s", "", roofline_memory, "what its memory reaches", .decimals = 2),
    FIELD_GET(WORD, "memory_from", "", roofline_memory_from, "`measured`, `table`, `unknown`"),
    FIELD_IN(LIST, "compute", "", &result_ceilings, roofline_compute, "what it reaches by precision"),
    FIELD_IN(LIST, "points", "", &result_points, dive_kernels, "the kernels"),
};
static const struct result result_dive_roofline = RESULT("roofline", "roofs and kernels below them", roofline_fields, struct dive);
/* clang-format on */

/* ---- the document */

static struct value dive_source(const struct rows *r, uint32_t i)
{
    const struct dive *d = dive_at(r, i);
    return value_cstr(!d->n_measured ? "trace" : d->targets ? "ncu" : "report");
}

static struct rows dive_quality(const struct rows *r, uint32_t i)
{
    (void)i;
    return r->cx ? rows_quality(r->cx) : (struct rows){0};
}

VALUE_OF(dive_in_trace,
         dive_at(r, i)->targets ? value_int(dive_at(r, i)->targets->n_kernels) : value_none())
VALUE_OF(dive_covered,
         dive_at(r, i)->targets ? value_num(dive_at(r, i)->targets->covered_pct) : value_none())

/* clang-format off */
static const struct field dive_fields[] = {
    FIELD_GET(WORD, "source", "", dive_source, "`ncu`, `report` (no trace), or `trace` (everything is estimated)"),
    FIELD(COUNT, "measured", "", struct dive, n_measured, "kernels that were measured"),
    FIELD_GET(COUNT, "kernels_in_trace", "", dive_in_trace, "different kernels in the trace", .null = NULL_SOMETIMES),
    FIELD_GET(PCT, "covered_pct", "", dive_covered, "share of the time with nothing else on the device that is shown", .decimals = 2),
    FIELD(TEXT, "trouble", "", struct dive, trouble, "why nothing was measured", .null = NULL_SOMETIMES),
    FIELD(TEXT, "remedy", "", struct dive, remedy, "what to do about it", .null = NULL_SOMETIMES),
    FIELD_IN(LIST, "kernels", "", &result_dive_kernels, dive_kernels, "kernels and what limits them; what was not measured is null"),
    FIELD_IN(OBJECT, "roofline", "", &result_dive_roofline, dive_roofline, "roofs and the kernels below them"),
    FIELD_IN(OBJECT, "trace_quality", "", &result_quality, dive_quality, "", .null = NULL_SOMETIMES),
};
/* clang-format on */

const struct result document_dive =
    RESULT("dive", "what limits each kernel", dive_fields, struct dive);

void view_dive_json(struct jout *j, const struct dive *d, const struct context *cx)
{
    document_json(j, NULL, cx, &document_dive, d, NULL);
}
