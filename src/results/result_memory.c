/* result_memory.c: memory of devices over the steps, and who allocates. */
#include "analyze/memory/memory.h"
#include "results/results.h"

/* ---- devices */

static const struct memory_line *memory_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static struct value memory_device(const struct rows *r, uint32_t i)
{
    return value_cstr(memory_at(r, i)->device_type == 0 ? "cpu" : "gpu");
}

static struct value memory_device_id(const struct rows *r, uint32_t i)
{
    return value_int(memory_at(r, i)->device_id);
}

static struct value memory_peak_at(const struct rows *r, uint32_t i)
{
    return value_int(r->cx->t->ts_ns[memory_at(r, i)->peak]);
}

static struct value memory_peak_stage(const struct rows *r, uint32_t i)
{
    uint32_t stage = memory_at(r, i)->peak_stage;
    return stage == STAGE_NONE ? value_none() : value_cstr(stages_of(r->cx)->list[stage].path);
}

static struct rows memory_steps(const struct rows *r, uint32_t i)
{
    struct rows steps = rows_memory_steps(r->cx, memory_at(r, i));
    uint32_t most = r->with ? *(const uint32_t *)r->with : UINT32_MAX;
    if (steps.n > most) steps.n = most;
    return steps;
}

static struct value steps_index(const struct rows *r, uint32_t i)
{
    (void)r;
    return value_int(i);
}

/* Since the step before; the first one has none. */
static struct value steps_change(const struct rows *r, uint32_t i)
{
    const struct memory_step *m = rows_at(r, i);
    return i ? value_int(m->end_bytes - m[-1].end_bytes) : value_none();
}

/* clang-format off */
static const struct field growth_fields[] = {
    FIELD(FLAG, "judged", "", struct memory_growth, judged, "whether there are enough steps to tell"),
    FIELD(FLAG, "grows", "", struct memory_growth, grows, "nearly every step ends higher than the one before"),
    FIELD(COUNT, "steps", "", struct memory_growth, n_steps, "steps compared"),
    FIELD(COUNT, "rises", "", struct memory_growth, n_rises, "changes that are upwards"),
    FIELD(BYTES, "per_step_bytes", "", struct memory_growth, per_step, "change from step to step, median"),
    FIELD(BYTES, "total_bytes", "", struct memory_growth, total_bytes, "last level less first level"),
};
static const struct result result_growth = RESULT("growth", "whether memory grows", growth_fields, struct memory_growth);

static const struct field steps_fields[] = {
    FIELD_GET(INT, "index", "step", steps_index, "the step"),
    FIELD(BYTES, "end_bytes", "at end", struct memory_step, end_bytes, "level when it ends"),
    FIELD_GET(BYTES, "change_bytes", "change", steps_change, "the same less that of the step before", .null = NULL_SOMETIMES, .sparse = true),
    FIELD(BYTES, "peak_bytes", "peak", struct memory_step, peak_bytes, "most at any time inside it"),
    FIELD(COUNT, "allocations", "allocations", struct memory_step, allocations, "its allocations"),
    FIELD(BYTES, "alloc_bytes", "allocated", struct memory_step, alloc_bytes, "bytes of them"),
};
const struct result result_memory_steps = RESULT("memory_steps", "one row per step", steps_fields, struct memory_step);

static const struct field memory_fields[] = {
    FIELD_GET(WORD, "device", "", memory_device, "`gpu`, `cpu`"),
    FIELD_GET(INT, "device_id", "", memory_device_id, "its number"),
    FIELD(FLAG, "relative", "", struct memory_line, relative, "levels count from the start of the window"),
    FIELD(BYTES, "begin_bytes", "", struct memory_line, begin_bytes, "level at the start"),
    FIELD(BYTES, "end_bytes", "", struct memory_line, end_bytes, "level at the end"),
    FIELD(BYTES, "peak_bytes", "", struct memory_line, peak_bytes, "most at any time"),
    FIELD_GET(AT, "peak_at_us", "", memory_peak_at, "when that was"),
    FIELD_GET(TEXT, "peak_stage", "", memory_peak_stage, "the stage it was in", .null = NULL_SOMETIMES),
    FIELD(BYTES, "reserved_bytes", "", struct memory_line, reserved_bytes, "most memory held by the allocator", .null = NULL_NEGATIVE),
    FIELD(BYTES, "unused_bytes", "", struct memory_line, unused_bytes, "most of it unused", .null = NULL_NEGATIVE),
    FIELD_SUB("growth", &result_growth, struct memory_line, growth, "whether it grows from step to step"),
    FIELD_IN(LIST, "steps", "", &result_memory_steps, memory_steps, "level and allocations per step"),
};
const struct result result_memory = RESULT("memory", "one row per device", memory_fields, struct memory_line);
/* clang-format on */

struct rows rows_memory_steps(const struct context *cx, const struct memory_line *l)
{
    return (struct rows){
        .of = &result_memory_steps, .cx = cx, .list = l->steps, .n = steps_of(cx)->n_steps};
}

/* ---- who allocates */

static const struct alloc_site *alloc_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static struct value alloc_op(const struct rows *r, uint32_t i)
{
    str_id op = alloc_at(r, i)->op;
    return op == STR_NONE ? value_none() : value_text(trace_str(r->cx->t, op));
}

static struct value alloc_source(const struct rows *r, uint32_t i)
{
    return value_row_place(r->cx->t, alloc_at(r, i)->place.frame);
}

static struct value driver_call(const struct rows *r, uint32_t i)
{
    return value_text(trace_str(r->cx->t, ((const struct driver_alloc *)rows_at(r, i))->name));
}

/* clang-format off */
static const struct field alloc_fields[] = {
    FIELD_GET(TEXT, "op", "allocations in the loop", alloc_op, "the operator", .null = NULL_SOMETIMES),
    FIELD_GET(PLACE, "source", "source", alloc_source, "`file`, `line`, `function`"),
    FIELD(COUNT, "count", "count", struct alloc_site, count, "allocations"),
    FIELD(BYTES, "bytes", "bytes", struct alloc_site, bytes, "bytes of them"),
    FIELD(BYTES, "largest_bytes", "largest", struct alloc_site, largest_bytes, "the largest"),
    FIELD(BYTES, "kept_bytes", "kept", struct alloc_site, kept_bytes, "never freed"),
};
const struct result result_alloc_sites = RESULT("sites", "allocations in the loop, by place", alloc_fields, struct alloc_site);

static const struct field driver_fields[] = {
    FIELD_GET(TEXT, "call", "driver's allocator", driver_call, "the call"),
    FIELD(COUNT, "count", "calls", struct driver_alloc, count, "how often"),
    FIELD(COUNT, "in_steps", "in steps", struct driver_alloc, in_steps, "of them, in steps"),
    FIELD(NS, "total_us", "total", struct driver_alloc, total_ns, "time in them"),
    FIELD(NS, "in_steps_us", "time in steps", struct driver_alloc, in_steps_ns, "of it, in steps"),
};
const struct result result_driver_calls = RESULT("driver_calls", "calls to the driver's allocator", driver_fields, struct driver_alloc);
/* clang-format on */

struct rows rows_alloc_sites(const struct context *cx, const struct memory *m)
{
    return (struct rows){.of = &result_alloc_sites, .cx = cx, .list = m->sites, .n = m->n_sites};
}

struct rows rows_driver_calls(const struct context *cx, const struct memory *m)
{
    return (struct rows){.of = &result_driver_calls, .cx = cx, .list = m->calls, .n = m->n_calls};
}
