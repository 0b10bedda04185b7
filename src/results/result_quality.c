/* result_quality.c: how far a trace can be trusted, in every document about one. */
#include "analyze/quality/integrity.h"
#include "base/jout.h"
#include "results/results.h"

static struct value quality_verdict(const struct rows *r, uint32_t i)
{
    return value_cstr(quality_name(((const struct integrity *)rows_at(r, i))->quality));
}

static void quality_recorded(struct jout *j, const struct rows *r, uint32_t i)
{
    const struct integrity *q = rows_at(r, i);
    for (int k = 0; k < N_RECORDED; k++)
        if (q->recording.flags & recorded_words[k].flag) jout_cstr(j, NULL, recorded_words[k].name);
}

static struct value coverage_pct(const struct rows *r, uint32_t i)
{
    return value_num(share_pct(((const struct coverage *)rows_at(r, i))->all));
}

static struct value coverage_device_pct(const struct rows *r, uint32_t i)
{
    return value_num(share_pct(((const struct device_share *)rows_at(r, i))->launches));
}

static struct rows coverage_devices(const struct rows *r, uint32_t i)
{
    const struct coverage *c = rows_at(r, i);
    return (struct rows){.list = c->devices, .n = c->n_devices};
}

static struct rows quality_problems(const struct rows *r, uint32_t i)
{
    const struct integrity *q = rows_at(r, i);
    return (struct rows){.list = q->problems, .n = q->n_problems};
}

static const struct problem *problems_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static struct value problems_id(const struct rows *r, uint32_t i)
{
    return value_cstr(problems_at(r, i)->kind->id);
}

static struct value problems_level(const struct rows *r, uint32_t i)
{
    return value_cstr(quality_name(problems_at(r, i)->level));
}

static void problems_takes(struct jout *j, const struct rows *r, uint32_t i)
{
    for (int k = 0; k < N_FIGURES; k++)
        if (problems_at(r, i)->takes & figures_words[k].flag)
            jout_cstr(j, NULL, figures_words[k].name);
}

static struct value problems_handled(const struct rows *r, uint32_t i)
{
    return value_int(problems_at(r, i)->kind->handled);
}

static struct rows problems_examples(const struct rows *r, uint32_t i)
{
    const struct problem *p = problems_at(r, i);
    return (struct rows){.list = p->examples, .n = p->n_examples};
}

static row_t examples_row(const struct rows *r, uint32_t i)
{
    return *(const row_t *)rows_at(r, i);
}

static struct value examples_name(const struct rows *r, uint32_t i)
{
    return value_name(r->cx->t, examples_row(r, i));
}

static struct value examples_start(const struct rows *r, uint32_t i)
{
    return value_int(r->cx->t->ts_ns[examples_row(r, i)]);
}

/* clang-format off */
static const struct field recording_fields[] = {
    FIELD(COUNT, "ops", "", struct recording_cost, ops, "operators recorded on the thread with the highest cost"),
    FIELD(COUNT, "calls", "", struct recording_cost, calls, "its runtime calls"),
    FIELD(COUNT, "python_frames", "", struct recording_cost, frames, "its Python frames"),
    FIELD(COUNT, "memory_events", "", struct recording_cost, instants, "its allocations"),
    FIELD(NS, "cost_us", "", struct recording_cost, cost_ns, "what recording them took, estimated"),
    FIELD(NS, "working_us", "", struct recording_cost, working_ns, "time of the thread without waits"),
};
static const struct result result_recording = RESULT("recording", "what that estimate consists of", recording_fields, struct recording_cost);

static const struct field coverage_device_fields[] = {
    FIELD(INT, "device", "", struct device_share, device, "its number"),
    FIELD_GET(PCT, "pct", "", coverage_device_pct, "its launches that left a record", .decimals = 3),
};
static const struct result result_coverage_devices = RESULT("devices", "devices", coverage_device_fields, struct device_share);

static const struct field coverage_fields[] = {
    FIELD(COUNT, "launches_expected", "", struct coverage, all.expected, "launches that must leave a device record"),
    FIELD(COUNT, "launches_recorded", "", struct coverage, all.recorded, "those that did"),
    FIELD_GET(PCT, "pct", "", coverage_pct, "their share", .decimals = 3),
    FIELD_IN(LIST, "devices", "", &result_coverage_devices, coverage_devices, "the same per device"),
};
static const struct result result_coverage = RESULT("coverage", "launches with a device record", coverage_fields, struct coverage);

static const struct field example_fields[] = {
    FIELD_GET(TEXT, "name", "", examples_name, "the name of an event"),
    FIELD_GET(AT, "start_us", "", examples_start, "when it starts"),
};
static const struct result result_examples = RESULT("examples", "events to look at", example_fields, row_t);

static const struct field problem_fields[] = {
    FIELD_GET(TEXT, "id", "", problems_id, "its name; strata help problems lists all"),
    FIELD_GET(WORD, "level", "", problems_level, "a verdict; `good` is a note"),
    FIELD_PUT(TEXTS, "takes", "", problems_takes, "which figures cannot be trusted for it: `idle`, `times`, `links`"),
    FIELD_GET(FLAG, "handled", "", problems_handled, "whether all figures allow for it"),
    FIELD(COUNT, "count", "", struct problem, count, "how often it was seen"),
    FIELD(COUNT, "of", "", struct problem, of, "of how many", .null = NULL_ZERO),
    FIELD(NS, "worst_us", "", struct problem, worst_ns, "the largest error, where it is a time", .null = NULL_ZERO),
    FIELD(TEXT, "what", "", struct problem, what, "what was seen"),
    FIELD(TEXT, "means", "", struct problem, means, "what it does to the figures"),
    FIELD(TEXT, "instead", "", struct problem, instead, "what to record instead"),
    FIELD_IN(LIST, "examples", "", &result_examples, problems_examples, "events to look at"),
};
static const struct result result_problems = RESULT("problems", "what is wrong with it", problem_fields, struct problem);

static const struct field quality_fields[] = {
    FIELD_GET(WORD, "verdict", "", quality_verdict, "`good`, `usable`, `doubtful`, `unusable`: that of the worst problem"),
    FIELD(FLAG, "idle_trusted", "", struct integrity, idle_trusted, "whether idle time can be trusted"),
    FIELD(FLAG, "times_trusted", "", struct integrity, times_trusted, "whether device times can be"),
    FIELD(FLAG, "links_trusted", "", struct integrity, links_trusted, "whether the stage and the step of device work can be"),
    FIELD(PCT, "recording_cost_pct", "", struct integrity, recording.pct, "how much longer the CPU side took because of recording, estimated", .decimals = 1),
    FIELD(NS, "python_sample_us", "", struct integrity, recording.sample_ns, "time between two samples where Python functions are sampled; null where they are exact", .null = NULL_ZERO),
    FIELD_SUB("recording", &result_recording, struct integrity, recording, "what that estimate consists of"),
    FIELD_PUT(TEXTS, "recorded", "", quality_recorded, "what was recorded besides times: `stacks`, `shapes`, `memory`, `modules`, `flops`"),
    FIELD_SUB("coverage", &result_coverage, struct integrity, coverage, "launches that must leave a device record, and those that did"),
    FIELD_IN(LIST, "problems", "", &result_problems, quality_problems, "what is wrong with it, worst first"),
};
/* clang-format on */

const struct result result_quality = RESULT("trace_quality", "how far the recording can be trusted",
                                            quality_fields, struct integrity);

struct rows rows_quality(const struct context *cx)
{
    return (struct rows){.of = &result_quality, .cx = cx, .list = integrity_of(cx), .n = 1};
}

struct rows rows_in_quality(const struct rows *r, uint32_t i)
{
    (void)i;
    return rows_quality(r->cx);
}
