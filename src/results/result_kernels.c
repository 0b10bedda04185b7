/* result_kernels.c: kernels, copies and fills. */
#include <math.h>

#include "analyze/kernels/kernel_stats.h"
#include "analyze/simulate/undistort.h"
#include "base/stats.h"
#include "results/results.h"

static const struct kernel_row *kernels_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static struct value kernels_kind(const struct rows *r, uint32_t i)
{
    return value_cstr(kind_name(kernels_at(r, i)->kind));
}

static struct value kernels_family(const struct rows *r, uint32_t i)
{
    return value_cstr(kernel_family_name(kernels_at(r, i)->family));
}

static bool kernels_is_kernel(const struct rows *r, uint32_t i)
{
    return kernels_at(r, i)->kind == KIND_KERNEL;
}

static struct value kernels_occupancy(const struct rows *r, uint32_t i)
{
    return value_num(kernels_is_kernel(r, i) ? kernels_at(r, i)->occupancy_pct : NAN);
}

static struct value kernels_occupancy_source(const struct rows *r, uint32_t i)
{
    const struct kernel_row *k = kernels_at(r, i);
    if (!kernels_is_kernel(r, i) || !isfinite(k->occupancy_pct)) return value_none();
    return value_cstr(k->occupancy_recorded ? "recorded" : "computed");
}

static struct value kernels_limiter(const struct rows *r, uint32_t i)
{
    return kernels_is_kernel(r, i) ? value_cstr(kernels_at(r, i)->limiter) : value_none();
}

static struct value kernels_registers(const struct rows *r, uint32_t i)
{
    return kernels_is_kernel(r, i) ? value_int(kernels_at(r, i)->config.registers) : value_none();
}

static struct value kernels_shared(const struct rows *r, uint32_t i)
{
    return kernels_is_kernel(r, i) ? value_int(kernels_at(r, i)->config.shared_bytes)
                                   : value_none();
}

static struct value kernels_configs(const struct rows *r, uint32_t i)
{
    return kernels_is_kernel(r, i) ? value_int(kernels_at(r, i)->n_configs) : value_none();
}

static struct rows kernels_dims(const struct rows *r, uint32_t i, const uint32_t *dims)
{
    return (struct rows){.list = dims, .n = kernels_is_kernel(r, i) ? 3 : 0};
}

static struct rows kernels_grid(const struct rows *r, uint32_t i)
{
    return kernels_dims(r, i, kernels_at(r, i)->config.grid);
}

static struct rows kernels_block(const struct rows *r, uint32_t i)
{
    return kernels_dims(r, i, kernels_at(r, i)->config.block);
}

static struct value kernels_rate(const struct rows *r, uint32_t i)
{
    const struct kernel_row *k = kernels_at(r, i);
    return value_num(k->bytes >= 0 ? k->gb_per_s : NAN);
}

static struct value kernels_flop_rate(const struct rows *r, uint32_t i)
{
    const struct kernel_row *k = kernels_at(r, i);
    return value_num(k->flops ? k->tflop_per_s : NAN);
}

static struct value kernels_precision(const struct rows *r, uint32_t i)
{
    const struct kernel_row *k = kernels_at(r, i);
    return k->flops ? value_cstr(precision_name(k->precision)) : value_none();
}

static struct value kernels_work_from(const struct rows *r, uint32_t i)
{
    return value_cstr(roof_from_name(kernels_at(r, i)->from));
}

static struct value kernels_roof(const struct rows *r, uint32_t i)
{
    const struct kernel_row *k = kernels_at(r, i);
    return value_num(k->known_ns ? k->roof_ns : NAN);
}

static struct value kernels_of_roof(const struct rows *r, uint32_t i)
{
    const struct kernel_row *k = kernels_at(r, i);
    return value_num(k->known_ns ? k->roof_pct : NAN);
}

static struct value kernels_headroom(const struct rows *r, uint32_t i)
{
    const struct kernel_row *k = kernels_at(r, i);
    return k->known_ns ? value_int(k->headroom_ns) : value_none();
}

static struct value kernels_headroom_wall(const struct rows *r, uint32_t i)
{
    const struct kernel_row *k = kernels_at(r, i);
    return k->known_ns && k->wall_ns >= 0 ? value_int(k->wall_ns) : value_none();
}

static struct value kernels_headroom_wall_pct(const struct rows *r, uint32_t i)
{
    const struct kernel_row *k = kernels_at(r, i);
    if (!k->known_ns || k->wall_ns < 0) return value_none();
    return value_num(stats_pct((double)k->wall_ns, (double)undistort_of(r->cx)->plain_ns));
}

static struct rows kernels_source(const struct rows *r, uint32_t i)
{
    const struct kernel_source *s = kernels_at(r, i)->source;
    return (struct rows){.list = s, .n = s && s->place.file.n};
}

static struct value kernels_where(const struct rows *r, uint32_t i, enum kernel_by by)
{
    const struct kernel_row *k = kernels_at(r, i);
    return k->by == by && k->where.n ? value_text(k->where) : value_none();
}

static struct value kernels_shapes(const struct rows *r, uint32_t i)
{
    return kernels_where(r, i, KERNEL_BY_SHAPE);
}

static struct value kernels_module(const struct rows *r, uint32_t i)
{
    return kernels_where(r, i, KERNEL_BY_MODULE);
}

static struct value kernels_line(const struct rows *r, uint32_t i)
{
    return kernels_where(r, i, KERNEL_BY_LINE);
}

static struct rows kernels_captured(const struct rows *r, uint32_t i)
{
    const struct graph_origin_node *c = kernels_at(r, i)->captured;
    return (struct rows){.list = c, .n = c != NULL};
}

static struct value captured_source(const struct rows *r, uint32_t i)
{
    const struct graph_origin_node *c = rows_at(r, i);
    struct frame f;
    if (!frame_parse(c->place, &f)) return value_none();
    f.file = frame_path(f.file);
    return value_place(f);
}

/* clang-format off */
static const struct field dims_fields[] = {
    FIELD_BARE(COUNT, uint32_t),
};
static const struct result result_dims = RESULT("dims", "x, y, z", dims_fields, uint32_t);

static const struct field source_fields[] = {
    FIELD(TEXT, "file", "", struct kernel_source, place.file, "the file"),
    FIELD(INT, "line", "", struct kernel_source, place.line, "the line"),
    FIELD(TEXT, "function", "", struct kernel_source, place.function, "the function"),
    FIELD(TEXT, "module", "", struct kernel_source, module, "the module it was compiled in", .null = NULL_SOMETIMES),
};
static const struct result result_source = RESULT("source", "what it was compiled from", source_fields, struct kernel_source);

static const struct field captured_fields[] = {
    FIELD(TEXT, "op", "", struct graph_origin_node, op, "the operator", .null = NULL_ZERO),
    FIELD(TEXT, "module", "", struct graph_origin_node, module, "the module", .null = NULL_ZERO),
    FIELD_GET(PLACE, "source", "", captured_source, "the line"),
};
static const struct result result_captured = RESULT("captured", "what ran when its first call was captured", captured_fields, struct graph_origin_node);

static const struct field kernels_fields[] = {
    FIELD(TEXT, "name", "", struct kernel_row, name, "its name, readable and in full"),
    FIELD(TEXT, "short_name", "kernel", struct kernel_row, short_name, "its name without what every such kernel has", .page = PAGE_COLUMN),
    FIELD_GET(WORD, "kind", "", kernels_kind, "`kernel`, `memcpy`, `memset`"),
    FIELD_GET(TEXT, "family", "family", kernels_family, "what it does: `gemm`, `attention` and others", .page = PAGE_COLUMN),
    FIELD(COUNT, "calls", "calls", struct kernel_row, calls, "how often it ran", .page = PAGE_COLUMN),
    FIELD(COUNT, "graph_calls", "", struct kernel_row, graph_calls, "of them, replayed from a CUDA graph"),
    FIELD(NS, "total_us", "total", struct kernel_row, total_ns, "durations added", .page = PAGE_BAR),
    FIELD(PCT, "share_pct", "share", struct kernel_row, share_pct, "share of all device work in the trace", .decimals = 4, .page = PAGE_COLUMN),
    FIELD(MEAN_NS, "mean_us", "mean", struct kernel_row, mean_ns, "duration of a call, mean", .decimals = 6, .page = PAGE_COLUMN),
    FIELD(NS, "min_us", "min", struct kernel_row, min_ns, "the same, shortest"),
    FIELD(NS, "median_us", "median", struct kernel_row, median_ns, "the same, median", .page = PAGE_COLUMN),
    FIELD(NS, "p95_us", "p95", struct kernel_row, p95_ns, "the same, 95th percentile", .page = PAGE_COLUMN),
    FIELD(NS, "max_us", "max", struct kernel_row, max_ns, "the same, longest", .page = PAGE_COLUMN),
    FIELD_GET(PCT, "occupancy_pct", "occupancy", kernels_occupancy, "share of the warp slots it can fill, weighted by time", .decimals = 2, .page = PAGE_COLUMN),
    FIELD_GET(WORD, "occupancy_source", "", kernels_occupancy_source, "`recorded` or `computed`", .null = NULL_SOMETIMES),
    FIELD_GET(TEXT, "limiter", "limited by", kernels_limiter, "what limits its occupancy, of the most frequent launch", .null = NULL_SOMETIMES),
    FIELD_GET(COUNT, "registers", "registers", kernels_registers, "registers per thread", .null = NULL_SOMETIMES, .sparse = true),
    FIELD_GET(BYTES, "shared_bytes", "shared", kernels_shared, "shared memory per block", .null = NULL_SOMETIMES, .sparse = true),
    FIELD_IN(LIST, "grid", "grid", &result_dims, kernels_grid, "blocks of the most frequent launch", .sparse = true),
    FIELD_IN(LIST, "block", "block", &result_dims, kernels_block, "threads of a block of it", .sparse = true),
    FIELD_GET(COUNT, "configs", "", kernels_configs, "different launch configurations", .null = NULL_SOMETIMES, .sparse = true),
    FIELD(BYTES, "bytes", "bytes", struct kernel_row, bytes, "copied, filled, or read and written at least", .null = NULL_NEGATIVE, .sparse = true),
    FIELD_GET(NUM, "gb_per_s", "GB/s", kernels_rate, "these bytes over its time", .decimals = 3, .sparse = true, .page = PAGE_COLUMN),
    FIELD(COUNT, "flops", "FLOP", struct kernel_row, flops, "of what multiplies", .null = NULL_ZERO, .sparse = true),
    FIELD_GET(NUM, "tflop_per_s", "TFLOP/s", kernels_flop_rate, "these over its time", .decimals = 3, .sparse = true, .page = PAGE_COLUMN),
    FIELD_GET(TEXT, "precision", "", kernels_precision, "most of its time", .null = NULL_SOMETIMES, .sparse = true),
    FIELD_GET(WORD, "work_from", "", kernels_work_from, "how its work is known: `shapes`, `name`, `same_launch`, `unknown`"),
    FIELD_GET(MEAN_NS, "roof_us", "", kernels_roof, "its time at the roofline, where that is known", .decimals = 3, .sparse = true),
    FIELD_GET(PCT, "of_roof_pct", "of its roof", kernels_of_roof, "share of the roofline it reaches", .decimals = 2, .sparse = true, .column = "roof_pct", .term = "roofline", .page = PAGE_COLUMN),
    FIELD_GET(NS, "headroom_us", "headroom, GPU", kernels_headroom, "what it would save on the device at the roofline", .null = NULL_SOMETIMES, .sparse = true, .term = "headroom"),
    FIELD_GET(NS, "headroom_wall_us", "headroom", kernels_headroom_wall, "what it would save on the wall clock", .null = NULL_SOMETIMES, .sparse = true, .page = PAGE_COLUMN),
    FIELD_GET(PCT, "headroom_wall_pct", "", kernels_headroom_wall_pct, "the same as a share of it, without the profiler", .decimals = 3, .sparse = true, .json_only = true),
    FIELD(TEXT, "op", "launched by", struct kernel_row, op, "the operator that launches most of its time, else the call", .null = NULL_SOMETIMES, .term = "operator", .page = PAGE_COLUMN),
    FIELD_GET(TEXT, "shapes", "shapes", kernels_shapes, "by shape: those of the inputs of that operator", .null = NULL_SOMETIMES, .sparse = true),
    FIELD_GET(TEXT, "module", "module", kernels_module, "by module: the class of the module that it belongs to", .null = NULL_SOMETIMES, .sparse = true),
    FIELD_GET(TEXT, "where", "line", kernels_line, "by line: the line of the program", .null = NULL_SOMETIMES, .sparse = true),
    FIELD(COUNT, "ops", "", struct kernel_row, n_ops, "how many different operators launch it"),
    FIELD_IN(OBJECT, "source", "", &result_source, kernels_source, "`file`, `line`, `function`, `module` it was compiled from, where a compiler says so", .sparse = true, .null = NULL_SOMETIMES),
    FIELD_IN(OBJECT, "captured", "", &result_captured, kernels_captured, "of kernels replayed from graphs: the `op`, the `module` and the `source` that ran when its first call was captured", .sparse = true, .null = NULL_SOMETIMES),
};
/* clang-format on */

const struct result result_kernels = RESULT("kernels", "one row per kernel, copy or fill, by name",
                                            kernels_fields, struct kernel_row);

static const char *const kernels_top_keys[] = {"name",
                                               "short_name",
                                               "op",
                                               "family",
                                               "calls",
                                               "total_us",
                                               "share_pct",
                                               "work_from",
                                               "tflop_per_s",
                                               "gb_per_s",
                                               "of_roof_pct",
                                               "headroom_us",
                                               "headroom_wall_us",
                                               "headroom_wall_pct",
                                               NULL};
const struct result result_top_kernels =
    RESULT_KEYS("kernels", "kernels that fill the device's time", kernels_fields, kernels_top_keys,
                struct kernel_row);

struct rows rows_kernels(const struct context *cx, const struct kernel_stats *k, uint32_t most)
{
    return (struct rows){
        .of = &result_kernels, .cx = cx, .list = k->rows, .n = k->n_rows < most ? k->n_rows : most};
}
