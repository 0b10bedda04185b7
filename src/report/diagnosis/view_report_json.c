/* view_report_json.c: the diagnosis for programs: complete, with stable keys. */
#include "analyze/findings/rule.h"
#include "analyze/recorded/recorded.h"
#include "base/jout.h"
#include "report/diagnosis/view_report.h"
#include "report/report_private.h"
#include "results/result_json.h"
#include "results/results.h"

/* ---- answer */

static const struct finding *not_slow_finding(const struct rows *r, uint32_t i)
{
    return ((const struct not_slow *)rows_at(r, i))->finding;
}

static struct value not_slow_source(const struct rows *r, uint32_t i)
{
    const struct finding *f = not_slow_finding(r, i);
    if (!f->file) return value_none();
    return value_place((struct frame){.file = str_c(f->file),
                                      .line = f->line,
                                      .function = str_c(f->function ? f->function : "")});
}

static const struct answer *answer_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

VALUE_OF(not_slow_blocked, value_int(not_slow_finding(r, i)->blocked_ns))
VALUE_OF(not_slow_alone, value_int(finding_alone_ns(not_slow_finding(r, i))))
VALUE_OF(answer_kind_of, value_cstr(answer_kind_name(answer_at(r, i)->kind)))
VALUE_OF(answer_limit, value_cstr(limit_name(answer_at(r, i)->limit)))
VALUE_OF(answer_opportunity, value_cstr(answer_opportunity_name(answer_at(r, i)->opportunity)))
VALUE_OF(answer_sure, value_cstr(answer_sure_name(answer_at(r, i)->sure)))
VALUE_OF(answer_busy, value_num(wall_of(r->cx)->plain.busy_pct))
ROWS_OF(answer_not_slow, .list = answer_at(r, i)->not_slow, .n = answer_at(r, i)->n_not_slow)

/* clang-format off */
static const struct field not_slow_fields[] = {
    FIELD(TEXT, "what", "", struct not_slow, what, "the call that waits, or the title of a finding"),
    FIELD_GET(NS, "blocked_us", "", not_slow_blocked, "CPU time it takes"),
    FIELD(NS, "gain_us", "", struct not_slow, gain_ns, "what fixing it gains; where waits hide each other and it is more, if all of these are fixed"),
    FIELD_GET(NS, "gain_alone_us", "", not_slow_alone, "what fixing it alone gains, as `strata whatif` says"),
    FIELD_GET(PLACE, "source", "", not_slow_source, "where it is"),
};
static const struct result result_not_slow = RESULT("not_slow", "what looks slow and is not", not_slow_fields, struct not_slow);

static const struct field answer_fields[] = {
    FIELD_GET(WORD, "kind", "", answer_kind_of, "`faster` (fixes with a gain are known), `already_fast`, `no_gpu_work`, `cannot_tell`"),
    FIELD(TEXT, "headline", "", struct answer, headline, "the result, in a sentence"),
    FIELD(TEXT, "detail", "", struct answer, detail, "what has to be known beside it", .null = NULL_SOMETIMES),
    FIELD_GET(WORD, "limit", "", answer_limit, "`gpu`, `cpu`, `launch`, `transfer`, `sync`, `communication`, `data`, `mixed`", .null = NULL_SOMETIMES),
    FIELD(NS, "wall_us", "", struct answer, wall_ns, "the wall clock without the profiler"),
    FIELD(NS, "after_us", "", struct answer, after_ns, "the same with the first `fixes` findings fixed"),
    FIELD(PCT, "gain_pct", "", struct answer, gain_pct, "what these gain", .decimals = 3),
    FIELD(COUNT, "fixes", "", struct answer, fixes, "how many findings that are"),
    FIELD(PCT, "worth_pct", "", struct answer, worth_pct, "findings that gain less are not shown in full", .decimals = 1),
    FIELD_GET(WORD, "opportunity", "", answer_opportunity, "`large`, `some`, `none`, `unknown`"),
    FIELD_GET(WORD, "sure", "", answer_sure, "`high`, `medium`, `low`"),
    FIELD_GET(PCT, "gpu_busy_pct", "", answer_busy, "share of the wall clock in which the busiest device works, without the profiler", .decimals = 3),
    FIELD_IN(LIST, "not_slow", "", &result_not_slow, answer_not_slow, "what looks slow in a viewer of traces and is not"),
    FIELD(TEXT, "state", "", struct answer, state, "the state of the program in one line"),
};
static const struct result result_answer = RESULT("answer", "the one decision that every view prints", answer_fields, struct answer);
/* clang-format on */

ROWS_OF(report_answer, .list = answer_of(r->cx), .n = 1)

/* ---- what was recorded */

static const struct phase *phase_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static const struct recorded *recorded_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

VALUE_OF(phase_name, value_cstr(serving_phase_name(phase_at(r, i)->what.phase)))
VALUE_OF(recorded_kind, value_cstr(recorded_kind_name(recorded_at(r, i)->kind)))
VALUE_OF(recorded_judged,
         value_int(recorded_at(r, i)->judged.end_ns - recorded_at(r, i)->judged.begin_ns))
ROWS_OF(recorded_left_out, .list = r->cx->t->part.left_out_ns, .n = 1)
ROWS_OF(recorded_phases, .list = recorded_at(r, i)->phases.list, .n = recorded_at(r, i)->phases.n)
ROWS_OF(report_recorded, .list = recorded_of(r->cx), .n = 1)

struct left_out_times {
    int64_t ns[LEFT_OUT_KINDS];
};

/* clang-format off */
static const struct field phase_fields[] = {
    FIELD_GET(WORD, "phase", "", phase_name, "`prefill`, `decode`, `mixed`"),
    FIELD(INT, "batch", "", struct phase, what.requests, "requests in a batch; null where not known", .null = NULL_NEGATIVE),
    FIELD(COUNT, "steps", "", struct phase, n, "how many"),
    FIELD(NS, "step_us", "", struct phase, step_ns, "how long one takes, median"),
    FIELD(NUM, "tokens_per_s", "", struct phase, tokens_per_s, "0 where not known", .decimals = 1),
};
static const struct result result_phases = RESULT("phases", "rounds of a server of language models", phase_fields, struct phase);

static const struct field left_out_fields[] = {
    FIELD(NS, "start_up_us", "", struct left_out_times, ns[LEFT_OUT_START_UP], "start-up"),
    FIELD(NS, "graph_capture_us", "", struct left_out_times, ns[LEFT_OUT_CAPTURE], "the capture of graphs"),
    FIELD(NS, "profiler_us", "", struct left_out_times, ns[LEFT_OUT_PROFILER], "the profiler's start and stop"),
    FIELD(NS, "earlier_work_us", "", struct left_out_times, ns[LEFT_OUT_EARLIER], "waiting for work launched before"),
};
static const struct result result_left_out = RESULT("left_out", "what is not judged", left_out_fields, struct left_out_times);

static const struct field recorded_fields[] = {
    FIELD_GET(WORD, "kind", "", recorded_kind, "`warm`; `single_call`: nothing repeats; or what most of the time left out is: `cold` (start-up), `graph_capture`, `profiler` (it starts or stops), `cut` (waiting for what was launched before)"),
    FIELD(NS, "recorded_us", "", struct recorded, whole_ns, "length of the recording"),
    FIELD_GET(NS, "judged_us", "", recorded_judged, "of what is judged"),
    FIELD(PCT, "left_out_pct", "", struct recorded, left_out_pct, "the share left out (`--whole` includes it)", .decimals = 3),
    FIELD_IN(OBJECT, "left_out", "", &result_left_out, recorded_left_out, "the same by reason"),
    FIELD(FLAG, "idle_judged", "", struct recorded, idle_judged, "false if nothing of it is warm: idle time and work of the CPU say nothing then, and only kernels are advised on"),
    FIELD(TEXT, "sentence", "", struct recorded, sentence, "the same for people; empty if nothing is left out"),
    FIELD_IN(LIST, "phases", "", &result_phases, recorded_phases, "rounds of a server of language models"),
};
static const struct result result_recorded = RESULT("recorded", "what kind of recording it is, and what of it is judged", recorded_fields, struct recorded);
/* clang-format on */

/* ---- replay, findings and what remains */

static const struct undistort *replay_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static const struct rung *rung_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static const struct checklist_answer *checklist_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

VALUE_OF(replay_error, value_num(undistort_error_pct(replay_at(r, i))))
VALUE_OF(replay_fitted, value_int(replay_at(r, i)->given_ns > 0))
VALUE_OF(rung_kind, value_cstr(rung_kind_name(rung_at(r, i)->kind)))
VALUE_OF(checklist_value,
         checklist_at(r, i)->known ? value_num(checklist_at(r, i)->value) : value_none())
VALUE_OF(checklist_healthy,
         checklist_at(r, i)->known ? value_int(checklist_at(r, i)->healthy) : value_none())
VALUE_OF(report_wall, value_int(wall_of(r->cx)->wall_ns))
VALUE_OF(report_bound, value_cstr(bound_name(wall_of(r->cx)->bound)))
VALUE_OF(report_busy, value_num(wall_of(r->cx)->busy_pct))
VALUE_OF(report_lost, value_int(gaps_host_late_ns(gaps_of(r->cx))))
VALUE_OF(report_abstains, value_int(wall_of(r->cx)->abstains))
VALUE_OF(report_gains_are, value_cstr("without_profiler"))
VALUE_OF(report_all_fixed, value_int(findings_of(r->cx)->all_fixed_ns))
VALUE_OF(report_no_gain, value_cstr(no_gain_of(r->cx)->reason))
VALUE_OF(report_unexplained, value_int(no_gain_of(r->cx)->unexplained))
ROWS_OF(report_replay, .list = undistort_of(r->cx), .n = 1)
ROWS_OF(report_minor, .list = findings_of(r->cx), .n = 1)
ROWS_OF(report_fills, .list = no_gain_of(r->cx)->fills, .n = no_gain_of(r->cx)->n_fills)
ROWS_OF(report_ladder, .list = ladder_of(r->cx)->rungs, .n = ladder_of(r->cx)->n)
ROWS_OF(report_checklist, .list = checklist_of(r->cx)->items, .n = checklist_of(r->cx)->n)

static struct rows report_findings(const struct rows *r, uint32_t i)
{
    (void)i;
    return rows_findings(r->cx);
}

static struct rows report_families(const struct rows *r, uint32_t i)
{
    (void)i;
    return rows_family_sums(r->cx);
}

static struct rows report_hot_spots(const struct rows *r, uint32_t i)
{
    (void)i;
    return rows_hot_spots(r->cx);
}

/* clang-format off */
static const struct field replay_fields[] = {
    FIELD(NS, "traced_us", "", struct undistort, traced_ns, "the wall clock of the trace"),
    FIELD(NS, "replayed_us", "", struct undistort, replayed_ns, "its replay without changes"),
    FIELD_GET(PCT, "error_pct", "", replay_error, "how far that is off", .decimals = 4),
    FIELD(NS, "without_profiler_us", "", struct undistort, plain_ns, "the replay without the cost of recording"),
    FIELD(MEAN_NS, "cost_per_launch_us", "", struct undistort, launch_ns, "what recording a launch costs", .decimals = 3),
    FIELD(MEAN_NS, "cost_per_op_us", "", struct undistort, op_ns, "what recording an operator costs", .decimals = 3),
    FIELD_GET(FLAG, "fitted", "", replay_fitted, "to a given wall clock"),
};
static const struct result result_replay = RESULT("replay", "how well the replay gives the trace back", replay_fields, struct undistort);

static const struct field minor_fields[] = {
    FIELD(COUNT, "count", "", struct findings, n_minor, "how many"),
    FIELD(NS, "blocked_us", "", struct findings, minor_blocked_ns, "CPU time they take"),
    FIELD(NS, "gain_us", "", struct findings, minor_gain_ns, "what fixing them gains"),
};
static const struct result result_minor = RESULT("not_worth_it", "findings below the threshold", minor_fields, struct findings);

static const struct field fill_fields[] = {
    FIELD(TEXT, "kind", "", struct time_fill, kind, "as in gaps; `outside`: before the first and after the last work"),
    FIELD(TEXT, "what", "", struct time_fill, what, "what it is"),
    FIELD(NS, "idle_us", "", struct time_fill, idle_ns, "idle time of the device"),
    FIELD(PCT, "share_pct", "", struct time_fill, share_pct, "share of the wall clock", .decimals = 3),
};
static const struct result result_fills = RESULT("idle_causes", "what fills idle time", fill_fields, struct time_fill);

static const struct field rung_fields[] = {
    FIELD_GET(WORD, "kind", "", rung_kind, "`now`, `fix`, `gpu`, `roofline`"),
    FIELD(TEXT, "name", "", struct rung, name, "what it is"),
    FIELD(NS, "wall_us", "", struct rung, wall_ns, "the wall clock there"),
    FIELD(PCT, "gain_pct", "", struct rung, gain_pct, "what this rung takes off the one above, of the wall clock now", .decimals = 3),
    FIELD(COUNT, "finding", "", struct rung, finding, "place of the finding in the list, from 1", .null = NULL_ZERO),
};
static const struct result result_ladder = RESULT("ladder", "how far down the wall clock can go", rung_fields, struct rung);

static const struct field checklist_fields[] = {
    FIELD(TEXT, "id", "", struct checklist_answer, id, "its name"),
    FIELD(TEXT, "question", "", struct checklist_answer, question, "the question"),
    FIELD_GET(NUM, "value", "", checklist_value, "what was measured; null if the trace does not show it", .decimals = 3),
    FIELD(TEXT, "unit", "", struct checklist_answer, unit, "of the value"),
    FIELD_GET(FLAG, "healthy", "", checklist_healthy, "whether no finding about it gains anything", .null = NULL_SOMETIMES),
    FIELD(TEXT, "verdict", "", struct checklist_answer, verdict, "the answer in words"),
};
static const struct result result_checklist = RESULT("checklist", "questions asked of every trace", checklist_fields, struct checklist_answer);

static const struct field report_fields[] = {
    FIELD_GET(NS, "wall_us", "", report_wall, "the recorded wall clock"),
    FIELD(NS, "program_wall_us", "", struct context, program_ns, "of a run folder: the wall clock in its timing.json, from loading strata to the end of the program", .null = NULL_ZERO),
    FIELD_IN(OBJECT, "answer", "", &result_answer, report_answer, "the one decision that every view prints; its times are without the profiler"),
    FIELD_GET(WORD, "bound", "", report_bound, "what limits the run: `gpu`, `cpu`, `launch`, `transfer`, `sync`, `communication`, `mixed`, `unknown`"),
    FIELD_GET(PCT, "gpu_busy_pct", "", report_busy, "share of the wall clock in which the busiest device works", .decimals = 3),
    FIELD_GET(NS, "host_late_us", "", report_lost, "the noise of the machine: idle time of the device because a launching thread had no core or was throttled"),
    FIELD_IN(OBJECT, "communication", "", &result_comm, rows_in_comm, "", .null = NULL_SOMETIMES),
    FIELD_IN(OBJECT, "rests", "", &result_rests, rows_in_rests, "the whole run, if it was not recorded throughout; the rests between the parts that were recorded are left out of all else", .sparse = true),
    FIELD_IN(OBJECT, "part", "", &result_excerpt, rows_in_excerpt, "which part of a recording is reported; null if all of it is", .null = NULL_SOMETIMES),
    FIELD_IN(OBJECT, "recorded", "", &result_recorded, report_recorded, "what kind of recording it is, and what of it is judged; all other figures are about that part"),
    FIELD_IN(OBJECT, "snapshot", "", &result_odd_step, rows_in_odd_step, "of a snapshot that a slow step caused: that step", .sparse = true),
    FIELD_IN(OBJECT, "requests", "", &result_requests, rows_in_requests, "of a program that serves: the slow requests and the usual ones", .sparse = true),
    FIELD_GET(FLAG, "abstains", "", report_abstains, "whether the records are too incomplete for a diagnosis"),
    FIELD_IN(OBJECT, "trace_quality", "", &result_quality, rows_in_quality, ""),
    FIELD_GET(WORD, "gains_are", "", report_gains_are, "`without_profiler`: gains are of the wall clock without it"),
    FIELD_IN(OBJECT, "replay", "", &result_replay, report_replay, "how well the replay gives the trace back"),
    FIELD_IN(OBJECT, "roofline", "", &result_roofline, rows_in_roofline, "what the kernels reach of what this GPU can do"),
    FIELD_IN(OBJECT, "energy", "", &result_energy, rows_in_energy, "the energy that the devices took; absent without readings", .sparse = true),
    FIELD_IN(OBJECT, "mfu", "", &result_mfu, rows_in_mfu, "model FLOP utilization; absent where the work of kernels is not known", .sparse = true),
    FIELD_IN(LIST, "kernels", "", &result_top_kernels, rows_in_top_kernels, "those that fill the device's time; keys as in `kernels`"),
    FIELD_IN(LIST, "families", "", &result_family_sums, report_families, "the same by family of kernels"),
    FIELD_IN(LIST, "hot_spots", "", &result_hot_spots, report_hot_spots, "where the GPU is the limit: the operators and lines that hold its time"),
    FIELD_IN(OBJECT, "cpu", "", &result_cpu, rows_in_cpu, "where the CPU spends its time"),
    FIELD_IN(LIST, "findings", "", &result_findings, report_findings, "what can be done, best first; of two that claim the same time the one that takes less"),
    FIELD_IN(OBJECT, "not_worth_it", "", &result_minor, report_minor, "findings below the threshold"),
    FIELD_GET(NS, "all_fixed_us", "", report_all_fixed, "the wall clock with every finding fixed"),
    FIELD_GET(TEXT, "no_gain_reason", "", report_no_gain, "why no gain worth it is predicted although the device is idle", .null = NULL_SOMETIMES),
    FIELD_GET(FLAG, "idle_unexplained", "", report_unexplained, "the findings account for less than half of the time in which the device is idle"),
    FIELD_IN(LIST, "idle_causes", "", &result_fills, report_fills, "what fills the time where the device works less than 80 %"),
    FIELD_IN(LIST, "ladder", "", &result_ladder, report_ladder, "how far down the wall clock can go, rung by rung; empty without a diagnosis"),
    FIELD_IN(LIST, "checklist", "", &result_checklist, report_checklist, "questions asked of every trace"),
};
const struct result document_report = RESULT("report", "what is slow, and what to do about it", report_fields, struct context);

static const struct field checklist_document_fields[] = {
    FIELD_IN(LIST, "checklist", "", &result_checklist, report_checklist, "questions asked of every trace"),
    FIELD_IN(OBJECT, "trace_quality", "", &result_quality, rows_in_quality, ""),
};
static const struct result document_checklist = RESULT("checklist", "questions asked of every trace", checklist_document_fields, struct context);
/* clang-format on */

void view_report_json(struct jout *j, const char *key, const struct context *cx)
{
    document_json(j, key, cx, &document_report, cx, NULL);
}

void view_checklist_json(struct jout *j, const char *key, const struct context *cx)
{
    document_json(j, key, cx, &document_checklist, cx, NULL);
}
