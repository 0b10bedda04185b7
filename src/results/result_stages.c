/* result_stages.c: the parts of the program, and what lies between them. */
#include "analyze/stages/stages.h"
#include "base/stats.h"
#include "results/results.h"

static const struct stage *stages_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static struct value stages_kind(const struct rows *r, uint32_t i)
{
    const struct stage *s = stages_at(r, i);
    if (s->backward) return value_cstr("backward");
    return value_cstr(s->user ? "user" : s->derived ? "derived" : "compiled");
}

static struct value stages_from(const struct rows *r, uint32_t i)
{
    return value_cstr(origin_name(stages_at(r, i)->from));
}

static struct value stages_share(const struct rows *r, int64_t part, int64_t whole)
{
    return whole > 0 ? value_num(stats_pct((double)part, (double)whole)) : value_none();
}

static struct value stages_cpu_share(const struct rows *r, uint32_t i)
{
    const struct stages *all = r->with;
    return stages_share(r, stages_at(r, i)->step_cpu_ns, all->steps_cpu_ns);
}

static struct value stages_gpu_share(const struct rows *r, uint32_t i)
{
    const struct stages *all = r->with;
    if (all->steps_cpu_ns <= 0) return value_none();
    return stages_share(r, stages_at(r, i)->step_gpu_ns, all->steps_gpu_ns);
}

/* clang-format off */

/* What a stage and what lies between the stages have in common. */
#define STAGES_WORK(T) \
    FIELD(NS, "gpu_us", "GPU", T, gpu.sum_ns, "device work launched inside, whenever it ran: durations added", .column = "gpu_ns", .page = PAGE_BAR), \
    FIELD(NS, "gpu_busy_us", "GPU busy", T, gpu.union_ns, "time in which any of that work runs", .term = "busy"), \
    FIELD(NS, "gpu_span_us", "GPU span", T, gpu.span_ns, "first start to last end of that work, per call and added"), \
    FIELD(NS, "span_idle_us", "span idle", T, gpu.idle_ns, "idle time of the device inside that span", .trust = TRUST_IDLE), \
    FIELD(NS, "idle_us", "GPU idle", T, idle_meanwhile_ns, "idle time of the device while the CPU was in it", \
          .trust = TRUST_IDLE, .term = "idle", .column = "gpu_idle_ns", .page = PAGE_COLUMN), \
    FIELD(NS, "idle_meanwhile_us", "", T, idle_meanwhile_ns, "the older key of `idle_us`", .trust = TRUST_IDLE, .json_only = true), \
    FIELD(COUNT, "kernels", "kernels", T, gpu.kernels, "kernels launched inside", .page = PAGE_COLUMN), \
    FIELD(COUNT, "copies", "copies", T, gpu.copies, "copies launched inside, without memsets"), \
    FIELD(COUNT, "memsets", "memsets", T, gpu.sets, "memsets launched inside"), \
    FIELD(BYTES, "copy_bytes", "copied", T, gpu.copy_bytes, "bytes of those copies")

static const struct field stages_fields[] = {
    FIELD(TEXT, "name", "", struct stage, name, "the label"),
    FIELD(TEXT, "path", "stage", struct stage, path, "all labels around it, joined with `/`", .column = "stage", .page = PAGE_COLUMN),
    FIELD(COUNT, "depth", "", struct stage, depth, "how many stages are around it"),
    FIELD_GET(WORD, "kind", "kind", stages_kind, "`user`, `derived`, `compiled` (with `--all`), `backward` (launched by autograd for the forward stage of that name)"),
    FIELD(FLAG, "derived", "", struct stage, derived, "whether no label named it"),
    FIELD_GET(WORD, "from", "from", stages_from, "what it was found from, as `found_by` of the steps, or `autograd`", .column = "found_by", .page = PAGE_COLUMN),
    FIELD(FLAG, "container", "", struct stage, container, "contains the loop or the stages: its own time counts as between stages"),
    FIELD(COUNT, "count", "calls", struct stage, calls, "its calls", .column = "calls", .page = PAGE_COLUMN),
    FIELD(NS, "cpu_us", "CPU", struct stage, cpu_ns, "how long its calls took", .page = PAGE_BAR),
    FIELD(NS, "self_cpu_us", "self CPU", struct stage, self_cpu_ns, "the same without nested stages", .term = "self"),
    FIELD(NS, "blocked_us", "blocked", struct stage, blocked_ns, "CPU time in calls that wait for the device", .page = PAGE_COLUMN),
    STAGES_WORK(struct stage),
    FIELD(NS, "self_gpu_us", "self GPU", struct stage, self_gpu_ns, "`gpu_us` without nested stages", .term = "self"),
    FIELD(COUNT, "launches", "launches", struct stage, launches, "calls that put work on the device"),
    FIELD(COUNT, "graph_launches", "graph launches", struct stage, graph_launches, "of them, launches of CUDA graphs"),
    FIELD(COUNT, "syncs", "syncs", struct stage, syncs, "calls that wait for the device", .page = PAGE_COLUMN),
    FIELD(COUNT, "allocations", "allocs", struct stage, allocations, "allocations of device memory from the caching allocator"),
    FIELD(BYTES, "alloc_bytes", "allocated", struct stage, alloc_bytes, "bytes of those allocations"),
    FIELD(COUNT, "device_allocs", "mallocs", struct stage, device_allocs, "calls to the driver's allocator, both ways"),
    FIELD(NS, "first_us", "CPU first", struct stage, first_ns, "CPU time of its first call", .page = PAGE_COLUMN),
    FIELD(NS, "median_us", "CPU median", struct stage, median_ns, "CPU time of a call, median", .term = "median", .page = PAGE_COLUMN),
    FIELD(NS, "p95_us", "CPU p95", struct stage, p95_ns, "CPU time of a call, 95th percentile", .term = "p95", .page = PAGE_COLUMN),
    FIELD(NS, "gpu_first_us", "GPU first", struct stage, gpu_first_ns, "GPU time of its first call"),
    FIELD(NS, "gpu_median_us", "GPU median", struct stage, gpu_median_ns, "GPU time of a call, median", .term = "median"),
    FIELD(NS, "gpu_p95_us", "GPU p95", struct stage, gpu_p95_ns, "GPU time of a call, 95th percentile", .term = "p95"),
    FIELD_GET(PCT, "step_cpu_pct", "of step", stages_cpu_share, "share of its CPU time in that of the steps (`steps_cpu_us`)", .decimals = 2),
    FIELD_GET(PCT, "step_gpu_pct", "of step", stages_gpu_share, "share of its GPU time in that of the steps (`steps_gpu_us`)", .decimals = 2),
    FIELD(BYTES, "peak_bytes", "peak memory", struct stage, peak_bytes, "most device memory in use at any time", .null = NULL_NEGATIVE, .page = PAGE_COLUMN),
};

static struct value between_name(const struct rows *r, uint32_t i)
{
    return value_text(trace_str(r->cx->t, ((const struct self_time *)rows_at(r, i))->name));
}

static const struct field top_fields[] = {
    FIELD_GET(TEXT, "name", "between stages, by function", between_name, "a function"),
    FIELD(NS, "self_us", "self", struct self_time, self_ns, "time in it and in nothing that it calls"),
    FIELD(COUNT, "calls", "calls", struct self_time, calls, "its calls"),
};

static const struct result result_top = RESULT("top", "functions between stages", top_fields, struct self_time);

static struct rows between_top(const struct rows *r, uint32_t i)
{
    const struct between *b = rows_at(r, i);
    return (struct rows){.list = b->top, .n = b->n_top};
}

static const struct field between_fields[] = {
    FIELD(NS, "cpu_us", "CPU", struct between, cpu_ns, "CPU time on threads with stages, in none of them"),
    FIELD(NS, "blocked_us", "blocked", struct between, blocked_ns, "CPU time in calls that wait for the device"),
    FIELD(NS, "untraced_us", "untraced", struct between, untraced_ns, "of `cpu_us`, under no recorded row"),
    STAGES_WORK(struct between),
    FIELD(COUNT, "launches", "launches", struct between, launches, "calls that put work on the device"),
    FIELD(COUNT, "syncs", "syncs", struct between, syncs, "calls that wait for the device"),
    FIELD_IN(LIST, "top", "", &result_top, between_top, "functions, by the time in themselves"),
};
/* clang-format on */

const struct result result_stages = RESULT(
    "stages", "one row per stage, by path; figures include nested stages unless they say self",
    stages_fields, struct stage);
static const char *const stages_side_keys[] = {"count",     "cpu_us",  "gpu_us", "idle_us",
                                               "median_us", "kernels", "syncs",  NULL};
static const char *const stages_memory_keys[] = {"path", "peak_bytes", "allocations", "alloc_bytes",
                                                 NULL};
const struct result result_stage_sides = RESULT_KEYS(
    "stages", "a stage on one side of a comparison", stages_fields, stages_side_keys, struct stage);
const struct result result_stage_memory =
    RESULT_KEYS("stages", "memory by stage", stages_fields, stages_memory_keys, struct stage);
const struct result result_between =
    RESULT("between", "what lies between stages", between_fields, struct between);

struct rows rows_stages(const struct context *cx, const struct stages *s, struct buf *text)
{
    return (struct rows){&result_stages, cx, s->list, s->n, s, text};
}

struct rows rows_between(const struct context *cx, const struct stages *s, struct buf *text)
{
    return (struct rows){&result_between, cx, &s->between, 1, s, text};
}

/* The functions between stages. */
struct rows rows_between_top(const struct rows *between)
{
    struct rows top = between_top(between, 0);
    top.of = &result_top;
    top.cx = between->cx;
    top.text = between->text;
    return top;
}
