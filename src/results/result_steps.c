/* result_steps.c: the rounds of the main loop, and the levels it is found among. */
#include "analyze/comm/comm.h"
#include "analyze/steps/steps.h"
#include "base/jout.h"
#include "results/results.h"

static const struct step *steps_row(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static struct value steps_index(const struct rows *r, uint32_t i)
{
    return value_int(steps_row(r, i) - steps_of(r->cx)->steps);
}

/* As people count them: N of ProfilerStep#N where the profiler marks them. */
static struct value steps_step(const struct rows *r, uint32_t i)
{
    const struct step *s = steps_row(r, i);
    return s->number >= 0 ? value_int(s->number) : steps_index(r, i);
}

static struct value steps_name(const struct rows *r, uint32_t i)
{
    str_id name = steps_row(r, i)->name;
    return name == STR_NONE ? value_none() : value_text(trace_str(r->cx->t, name));
}

static struct value steps_wall(const struct rows *r, uint32_t i)
{
    return value_int(span_ns(steps_row(r, i)->cpu));
}

static struct value steps_gpu_start(const struct rows *r, uint32_t i)
{
    const struct work_sum *w = &steps_row(r, i)->gpu;
    return work_sum_count(w) ? value_int(w->extent.begin_ns) : value_none();
}

static struct value steps_comm(const struct rows *r, uint32_t i)
{
    return value_int(comm_of(r->cx)->steps[steps_index(r, i).i].comm_ns);
}

static struct value steps_exposed_comm(const struct rows *r, uint32_t i)
{
    return value_int(comm_of(r->cx)->steps[steps_index(r, i).i].exposed_ns);
}

static void steps_flags(struct jout *j, const struct rows *r, uint32_t i)
{
    uint8_t flags = steps_row(r, i)->flags;
    if (flags & STEP_SLOW_FIRST) jout_cstr(j, NULL, "slow_first");
    if (flags & STEP_OUTLIER) jout_cstr(j, NULL, "outlier");
    if (flags & STEP_NO_WORK) jout_cstr(j, NULL, "no_gpu_work");
}

/* clang-format off */
static const struct field steps_fields[] = {
    FIELD_GET(INT, "index", "", steps_index, "its place in the list, from 0"),
    FIELD_GET(INT, "step", "step", steps_step, "N of ProfilerStep#N where the profiler marks steps, else `index`", .page = PAGE_COLUMN),
    FIELD_GET(TEXT, "name", "", steps_name, "its first label", .null = NULL_SOMETIMES, .sparse = true),
    FIELD(INT, "number", "", struct step, number, "N of ProfilerStep#N", .null = NULL_NEGATIVE, .sparse = true),
    FIELD(AT, "start_us", "start", struct step, cpu.begin_ns, "its begin on the CPU", .column = "begin_ns", .page = PAGE_COLUMN),
    FIELD_GET(NS, "dur_us", "wall", steps_wall, "to the start of the next step; the last one to its own end", .page = PAGE_BAR),
    FIELD(NS, "cpu_us", "CPU", struct step, cpu_ns, "to the end of its last label or launch", .page = PAGE_COLUMN),
    FIELD(NS, "blocked_us", "blocked", struct step, blocked_ns, "CPU time in calls that wait for the device", .page = PAGE_COLUMN),
    FIELD(NS, "profiler_us", "profiler", struct step, profiler_ns, "time the profiler spent on its own buffers"),
    FIELD(NS, "gpu_us", "GPU", struct step, gpu.sum_ns, "device work launched in the step: durations added", .page = PAGE_BAR),
    FIELD(NS, "gpu_busy_us", "GPU busy", struct step, gpu.union_ns, "time in which any of that work runs", .term = "busy"),
    FIELD_GET(AT, "gpu_start_us", "", steps_gpu_start, "first start of that work", .null = NULL_SOMETIMES, .sparse = true),
    FIELD(NS, "gpu_span_us", "GPU span", struct step, gpu.span_ns, "first start to last end of that work"),
    FIELD(NS, "gpu_idle_us", "span idle", struct step, gpu.idle_ns, "idle time of the device inside that span", .trust = TRUST_IDLE, .term = "idle", .page = PAGE_COLUMN),
    FIELD_GET(NS, "comm_us", "communication", steps_comm, "communication kernels launched in the step: durations added"),
    FIELD_GET(NS, "exposed_comm_us", "comm alone", steps_exposed_comm, "the part of them that no other device work overlaps", .term = "overlap"),
    FIELD(COUNT, "kernels", "kernels", struct step, gpu.kernels, "kernels launched in the step", .page = PAGE_COLUMN),
    FIELD(COUNT, "copies", "copies", struct step, gpu.copies, "copies launched in the step, without memsets"),
    FIELD(COUNT, "memsets", "memsets", struct step, gpu.sets, "memsets launched in the step"),
    FIELD(BYTES, "copy_bytes", "copied", struct step, gpu.copy_bytes, "bytes of those copies"),
    FIELD(COUNT, "launches", "launches", struct step, launches, "calls that put work on the device"),
    FIELD(COUNT, "syncs", "syncs", struct step, syncs, "calls that wait for the device", .page = PAGE_COLUMN),
    FIELD_PUT(TEXTS, "flags", "notes", steps_flags, "`slow_first`, `outlier`, `no_gpu_work`", .page = PAGE_COLUMN),
};
/* clang-format on */

const struct result result_steps =
    RESULT("steps", "one row per round of the main loop", steps_fields, struct step);

struct rows rows_steps(const struct context *cx, uint32_t most, struct buf *text)
{
    const struct steps *s = steps_of(cx);
    return (struct rows){&result_steps, cx, s->steps, s->n_steps < most ? s->n_steps : most, s,
                         text};
}

/* ---- what repeats, outer to inner */

const char *level_role(const struct steps *s, uint32_t i)
{
    if (i == s->level) return "step";
    if (i < s->level) return "call";
    return s->levels[i].layers ? "layer" : "part";
}

static struct value levels_role(const struct rows *r, uint32_t i)
{
    return value_cstr(level_role(steps_of(r->cx), i));
}

static struct value levels_found_by(const struct rows *r, uint32_t i)
{
    return value_cstr(origin_name(((const struct loop_level *)rows_at(r, i))->from));
}

static struct value dead_label(const struct rows *r, uint32_t i)
{
    return value_name(r->cx->t, ((const struct dead_window *)rows_at(r, i))->label);
}

static struct value dead_first_op(const struct rows *r, uint32_t i)
{
    return value_name(r->cx->t, ((const struct dead_window *)rows_at(r, i))->first_op);
}

static struct value dead_start(const struct rows *r, uint32_t i)
{
    return value_int(r->cx->t->ts_ns[((const struct dead_window *)rows_at(r, i))->label]);
}

static struct value dead_step(const struct rows *r, uint32_t i)
{
    uint32_t step = ((const struct dead_window *)rows_at(r, i))->step;
    return step == UINT32_MAX ? value_none() : value_int(step);
}

/* clang-format off */
static const struct field levels_fields[] = {
    FIELD_GET(WORD, "role", "", levels_role, "`call`, `step`, `part`, `layer`"),
    FIELD(TEXT, "name", "", struct loop_level, name, "what is called", .null = NULL_ZERO),
    FIELD(COUNT, "count", "", struct loop_level, count, "in total"),
    FIELD(COUNT, "per_outer", "", struct loop_level, per_outer, "in one of the level around it, median"),
    FIELD(NS, "median_us", "", struct loop_level, median_ns, "how long one takes, median"),
    FIELD_GET(WORD, "found_by", "", levels_found_by, "as `found_by` of the steps"),
};
const struct result result_levels = RESULT("levels", "all that repeats, outer to inner", levels_fields, struct loop_level);

static const struct field dead_fields[] = {
    FIELD_GET(TEXT, "label", "", dead_label, "a label"),
    FIELD_GET(TEXT, "first_op", "", dead_first_op, "its first operator", .null = NULL_SOMETIMES),
    FIELD_GET(AT, "start_us", "", dead_start, "when it begins"),
    FIELD(NS, "dead_us", "", struct dead_window, dead_ns, "time in it before that operator, with nothing recorded"),
    FIELD(NS, "usual_us", "", struct dead_window, usual_ns, "the same over all calls, median"),
    FIELD_GET(INT, "step", "", dead_step, "the step it is in", .null = NULL_SOMETIMES, .sparse = true),
};
const struct result result_dead = RESULT("dead_windows", "first calls of a label in which nothing is recorded", dead_fields, struct dead_window);
/* clang-format on */
