/* result_findings.c: what is wrong, what it costs and what a fix gains. */
#include "analyze/answer/answer.h"
#include "base/jout.h"
#include "results/results.h"

static const struct finding *findings_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static struct value findings_rule(const struct rows *r, uint32_t i)
{
    return value_cstr(findings_at(r, i)->rule->id);
}

static struct value findings_place(const struct rows *r, uint32_t i)
{
    (void)r;
    return value_int((int64_t)i + 1);
}

static struct value findings_severity(const struct rows *r, uint32_t i)
{
    return value_cstr(severity_name(findings_at(r, i)->severity));
}

static struct value findings_source(const struct rows *r, uint32_t i)
{
    const struct finding *f = findings_at(r, i);
    if (!f->file) return value_none();
    return value_place((struct frame){.file = str_c(f->file),
                                      .line = f->line,
                                      .function = str_c(f->function ? f->function : "")});
}

static struct value findings_limit(const struct rows *r, uint32_t i)
{
    const char *name = limit_name(findings_at(r, i)->rule->limit);
    return name ? value_cstr(name) : value_none();
}

static struct value findings_effort_words(const struct rows *r, uint32_t i)
{
    return value_cstr(effort_words(findings_at(r, i)->effort));
}

static struct value findings_effort(const struct rows *r, uint32_t i)
{
    return value_cstr(effort_name(findings_at(r, i)->effort));
}

static struct value findings_predicts(const struct rows *r, uint32_t i)
{
    const struct finding *f = findings_at(r, i);
    return value_int(f->n_edits > 0 && !f->advice);
}

static struct value findings_worth(const struct rows *r, uint32_t i)
{
    return value_int(answer_is_worth(answer_of(r->cx), findings_at(r, i)));
}

static void findings_thresholds(struct jout *j, const struct rows *r, uint32_t i)
{
    const struct finding *f = findings_at(r, i);
    for (uint32_t k = 0; k < f->n_thresholds; k++)
        jout_num(j, threshold_name(f->thresholds[k]), r->cx->th.value[f->thresholds[k]], 3);
}

static struct rows findings_options(const struct rows *r, uint32_t i)
{
    const struct finding *f = findings_at(r, i);
    return (struct rows){.list = f->options, .n = f->n_options};
}

static struct rows findings_evidence(const struct rows *r, uint32_t i)
{
    const struct finding *f = findings_at(r, i);
    return (struct rows){.list = f->evidence, .n = f->n_evidence};
}

static struct value options_effort_words(const struct rows *r, uint32_t i)
{
    return value_cstr(effort_words(((const struct finding_option *)rows_at(r, i))->effort));
}

static struct value options_effort(const struct rows *r, uint32_t i)
{
    return value_cstr(effort_name(((const struct finding_option *)rows_at(r, i))->effort));
}

static const struct evidence *evidence_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static struct value evidence_ts(const struct rows *r, uint32_t i)
{
    int64_t ts = evidence_at(r, i)->ts_ns;
    return ts == ID_NONE ? value_none() : value_int(ts);
}

static struct value evidence_row(const struct rows *r, uint32_t i)
{
    row_t row = evidence_at(r, i)->row;
    return row == ROW_NONE ? value_none() : value_int(row);
}

static struct value evidence_byte(const struct rows *r, uint32_t i)
{
    row_t row = evidence_at(r, i)->row;
    return row == ROW_NONE ? value_none() : value_int((int64_t)r->cx->t->src[row]);
}

/* clang-format off */
static const struct field options_fields[] = {
    FIELD(TEXT, "name", "", struct finding_option, name, "`cuda_graph`, `compile`, `larger_batch`, `one_batch`, `tf32`, `bf16`, `overlap`, `ranks_in_time`"),
    FIELD(PCT, "gain_pct", "", struct finding_option, gain_pct, "what it gains alone; for a larger batch, per unit of work", .decimals = 3),
    FIELD(TEXT, "what", "", struct finding_option, what, "the same in a few words"),
    FIELD_GET(TEXT, "effort", "", options_effort, "what it takes"),
    FIELD_GET(TEXT, "effort_words", "", options_effort_words, "the same in words"),
    FIELD(TEXT, "note", "", struct finding_option, note, "in words"),
};
static const struct result result_options = RESULT("options", "ways to fix it", options_fields, struct finding_option);

static const struct field evidence_fields[] = {
    FIELD_GET(AT, "at_us", "", evidence_ts, "when", .null = NULL_SOMETIMES, .sparse = true),
    FIELD_GET(INT, "row", "", evidence_row, "row of the trace", .null = NULL_SOMETIMES, .sparse = true),
    FIELD_GET(INT, "byte_offset", "", evidence_byte, "where that is in the file", .null = NULL_SOMETIMES, .sparse = true),
    FIELD(TEXT, "text", "", struct evidence, text, "what happens"),
};
static const struct result result_evidence = RESULT("evidence", "steps of the reasoning", evidence_fields, struct evidence);

static const struct field findings_fields[] = {
    FIELD_GET(INT, "place", "", findings_place, "its place in the list, from 1"),
    FIELD_GET(TEXT, "rule", "", findings_rule, "the rule"),
    FIELD(TEXT, "title", "", struct finding, title, "what is wrong"),
    FIELD(TEXT, "subject", "", struct finding, subject, "what it is about", .null = NULL_SOMETIMES),
    FIELD_GET(WORD, "severity", "", findings_severity, "`low`, `medium` or `high`"),
    FIELD_GET(TEXT, "limit", "", findings_limit, "what it is about, as in `answer`; null for memory and warm-up", .null = NULL_SOMETIMES),
    FIELD_GET(PLACE, "source", "", findings_source, "`file`, `line`, `function`"),
    FIELD(NS, "blocked_us", "", struct finding, blocked_ns, "CPU time it takes, blocked or at work; for transfers, their time"),
    FIELD(NS, "exposed_us", "", struct finding, exposed_ns, "GPU idle time that follows; for transfers, their time that no kernel overlaps"),
    FIELD(NS, "device_us", "", struct finding, device_ns, "of findings about kernels: how long these take", .null = NULL_ZERO),
    FIELD(NS, "predicted_gain_us", "", struct finding, gain_ns, "what its fix gains after the findings above it", .column = "gain_ns"),
    FIELD(PCT, "predicted_gain_pct", "", struct finding, gain_pct, "the same as a share of the wall clock", .decimals = 3, .column = "gain_pct"),
    FIELD(PCT, "predicted_gain_low_pct", "", struct finding, low_pct, "the same for half the cost of recording", .decimals = 3, .column = "gain_low_pct"),
    FIELD(PCT, "predicted_gain_high_pct", "", struct finding, high_pct, "the same for one and a half times that cost", .decimals = 3, .column = "gain_high_pct"),
    FIELD(PCT, "predicted_gain_alone_pct", "", struct finding, alone.gain_pct, "what its fix gains if nothing else is fixed", .decimals = 3, .column = "gain_alone_pct"),
    FIELD_GET(TEXT, "effort", "", findings_effort, "what the fix takes: `one line`, `local` (some lines in one place), `restructuring`"),
    FIELD_GET(TEXT, "effort_words", "", findings_effort_words, "the same in words", .json_only = true),
    FIELD_IN(LIST, "options", "", &result_options, findings_options, "where there are several ways to fix it, each priced alone"),
    FIELD(FLAG, "only_together", "", struct finding, together, "it and others hide each other: the gain is theirs together"),
    FIELD_GET(FLAG, "predicts_gain", "", findings_predicts, "false for advice without a gain"),
    FIELD_GET(FLAG, "worth", "", findings_worth, "whether it gains at least `worth_pct` of `answer`"),
    FIELD(TEXT, "why", "", struct finding, why, "what happens", .null = NULL_SOMETIMES),
    FIELD(TEXT, "fix", "", struct finding, fix, "what to change", .null = NULL_SOMETIMES),
    FIELD(TEXT, "not_fixed", "", struct finding, not_fixed, "what the change will not do", .null = NULL_SOMETIMES),
    FIELD(TEXT, "brief", "", struct finding, brief, "the first sentence of `why`", .null = NULL_SOMETIMES),
    FIELD(TEXT, "fix_brief", "", struct finding, fix_brief, "the first sentence of `fix`", .null = NULL_SOMETIMES),
    FIELD(TEXT, "try", "", struct finding, try_fix, "the fix of `strata try` for it, `attention:flash`; null where there is none", .null = NULL_SOMETIMES),
    FIELD(TEXT, "try_command", "", struct finding, try_command, "the command that tries it; the script is that of the trace, else `SCRIPT`", .null = NULL_SOMETIMES),
    FIELD_PUT(MAP, "thresholds", "", findings_thresholds, "the thresholds it compared with, by name (`strata report --help` lists them)"),
    FIELD_IN(LIST, "evidence", "", &result_evidence, findings_evidence, "steps of the reasoning"),
};
/* clang-format on */

const struct result result_findings = {
    .name = "findings",
    .of = "what can be done, best first",
    .fields = findings_fields,
    .n_fields = sizeof findings_fields / sizeof *findings_fields,
    .by_pointer = true,
};

struct rows rows_findings(const struct context *cx)
{
    const struct findings *f = findings_of(cx);
    return (struct rows){.of = &result_findings, .cx = cx, .list = f->items, .n = f->n};
}
