/* result_ops.c: operators, with the figures of torch's key_averages(). What rows are grouped by is
 * one more field: there is a result for each way. */
#include "analyze/ops/op_table.h"
#include "base/jout.h"
#include "results/results.h"

static const struct op_row *ops_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

/* What was on the stack is one text, a line per frame. */
static void ops_stack(struct jout *j, const struct rows *r, uint32_t i)
{
    for (struct str rest = ops_at(r, i)->group; rest.n;) {
        const char *end = memchr(rest.p, '\n', rest.n);
        size_t n = end ? (size_t)(end - rest.p) : rest.n;
        jout_str(j, NULL, str_from(rest.p, n));
        rest = end ? str_from(end + 1, rest.n - n - 1) : str_from(rest.p, 0);
    }
}

static struct value ops_shapes(const struct rows *r, uint32_t i)
{
    struct str shapes = ops_at(r, i)->group;
    return value_text(shapes.n ? shapes : str_c("[]"));
}

static struct value ops_self_device_pct(const struct rows *r, uint32_t i)
{
    const struct op_row *o = ops_at(r, i);
    bool covers = o->is_annotation && strcmp(o->device, "cpu") != 0;
    return covers ? value_none() : value_num(o->self_device_pct);
}

/* clang-format off */
#define OPS_NAMES \
    FIELD(TEXT, "name", "name", struct op_row, name, "the operator", .page = PAGE_COLUMN), \
    FIELD(TEXT, "device", "on", struct op_row, device, "`cpu`, `cuda`, `xpu` ...: where it runs", .page = PAGE_COLUMN), \
    FIELD(FLAG, "is_annotation", "", struct op_row, is_annotation, "whether it is a label")

#define OPS_FIGURES \
    FIELD(COUNT, "calls", "calls", struct op_row, calls, "its calls", .page = PAGE_COLUMN), \
    FIELD(NS, "self_cpu_us", "self CPU", struct op_row, self_cpu_ns, "CPU time in it and in nothing that it calls", .term = "self", .page = PAGE_BAR), \
    FIELD(PCT, "self_cpu_pct", "of CPU", struct op_row, self_cpu_pct, "share of the total", .decimals = 4), \
    FIELD(NS, "cpu_total_us", "CPU total", struct op_row, cpu_total_ns, "CPU time with what it calls", .page = PAGE_COLUMN), \
    FIELD(PCT, "cpu_total_pct", "of CPU", struct op_row, cpu_total_pct, "share of the total", .decimals = 4), \
    FIELD(MEAN_NS, "cpu_avg_us", "CPU mean", struct op_row, cpu_avg_ns, "`cpu_total_us` per call", .decimals = 6, .page = PAGE_COLUMN), \
    FIELD(NS, "self_device_us", "self GPU", struct op_row, self_device_ns, "device time of the work it launches itself", .term = "self", .page = PAGE_BAR), \
    FIELD_GET(PCT, "self_device_pct", "of GPU", ops_self_device_pct, "share of the total; null for labels on the device, which cover the work of others", .decimals = 4), \
    FIELD(NS, "device_total_us", "GPU total", struct op_row, device_total_ns, "device time with that of what it calls", .page = PAGE_COLUMN), \
    FIELD(MEAN_NS, "device_avg_us", "GPU mean", struct op_row, device_avg_ns, "`device_total_us` per call", .decimals = 6), \
    FIELD(BYTES, "cpu_mem_bytes", "CPU memory", struct op_row, cpu_mem_bytes, "host memory allocated less freed"), \
    FIELD(BYTES, "self_cpu_mem_bytes", "self CPU memory", struct op_row, self_cpu_mem_bytes, "the same, by itself"), \
    FIELD(BYTES, "device_mem_bytes", "GPU memory", struct op_row, device_mem_bytes, "device memory allocated less freed", .page = PAGE_COLUMN), \
    FIELD(BYTES, "self_device_mem_bytes", "self GPU memory", struct op_row, self_device_mem_bytes, "the same, by itself"), \
    FIELD(COUNT, "flops", "FLOP", struct op_row, flops, "as torch estimates them")

static const struct field ops_fields[] = {OPS_NAMES, OPS_FIGURES};
static const struct field ops_shape_fields[] = {
    OPS_NAMES,
    FIELD_GET(JSON, "input_shapes", "input shapes", ops_shapes, "shapes of its inputs"),
    OPS_FIGURES,
};
static const struct field ops_stack_fields[] = {
    OPS_NAMES,
    FIELD_PUT(TEXTS, "stack", "called from", ops_stack, "Python frames, innermost first"),
    OPS_FIGURES,
};
static const struct field ops_module_fields[] = {
    OPS_NAMES,
    FIELD(TEXT, "module", "module", struct op_row, group, "the module it runs in", .null = NULL_SOMETIMES),
    OPS_FIGURES,
};
/* clang-format on */

const struct result results_ops[] = {
    [OP_BY_NAME] = RESULT("table", "one row per operator", ops_fields, struct op_row),
    [OP_BY_SHAPE] = RESULT("table_by_shape", "one row per operator and shapes", ops_shape_fields,
                           struct op_row),
    [OP_BY_STACK] =
        RESULT("table_by_stack", "one row per operator and stack", ops_stack_fields, struct op_row),
    [OP_BY_MODULE] = RESULT("table_by_module", "one row per operator and module", ops_module_fields,
                            struct op_row),
};

struct rows rows_ops(const struct context *cx, const struct op_table *t, enum op_by by,
                     uint32_t most)
{
    return (struct rows){.of = &results_ops[by],
                         .cx = cx,
                         .list = t->rows,
                         .n = t->n_rows < most ? t->n_rows : most};
}
