/* view_report_json.c: the diagnosis for programs: complete, with stable keys. */
#include "analyze/rules/rule.h"
#include "base/jout.h"
#include "report/view_comm.h"
#include "report/view_cpu.h"
#include "report/view_odd_step.h"
#include "report/view_part.h"
#include "report/view_quality.h"
#include "report/view_report.h"
#include "report/view_requests.h"
#include "report/view_top_kernels.h"

static double since_begin(const struct context *cx, int64_t ts_ns)
{
    return (double)trace_since_ns(cx->t, ts_ns) / 1e3;
}

static void put_source(struct jout *j, const struct finding *f)
{
    if (!f->file) {
        jout_null(j, "source");
        return;
    }
    jout_obj(j, "source");
    jout_cstr(j, "file", f->file);
    jout_int(j, "line", f->line);
    jout_cstr(j, "function", f->function);
    jout_end_obj(j);
}

static void put_evidence(struct jout *j, const struct context *cx, const struct finding *f)
{
    jout_arr(j, "evidence");
    for (uint32_t i = 0; i < f->n_evidence; i++) {
        const struct evidence *ev = &f->evidence[i];
        jout_obj(j, NULL);
        if (ev->ts_ns != ID_NONE) jout_num(j, "at_us", since_begin(cx, ev->ts_ns), 3);
        if (ev->row != ROW_NONE) {
            jout_uint(j, "row", ev->row);
            jout_uint(j, "byte_offset", cx->t->src[ev->row]);
        }
        jout_cstr(j, "text", ev->text);
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

static void put_thresholds(struct jout *j, const struct context *cx, const struct finding *f)
{
    jout_obj(j, "thresholds");
    for (uint32_t i = 0; i < f->n_thresholds; i++)
        jout_num(j, threshold_name(f->thresholds[i]), cx->th.value[f->thresholds[i]], 3);
    jout_end_obj(j);
}

static void put_options(struct jout *j, const struct finding *f)
{
    jout_arr(j, "options");
    for (uint32_t i = 0; i < f->n_options; i++) {
        const struct finding_option *o = &f->options[i];
        jout_obj(j, NULL);
        jout_cstr(j, "name", o->name);
        jout_num(j, "gain_pct", o->gain_pct, 3);
        jout_cstr(j, "effort", effort_name(o->effort));
        jout_cstr(j, "note", o->note);
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

static void put_finding(struct jout *j, const struct context *cx, const struct finding *f)
{
    jout_obj(j, NULL);
    jout_cstr(j, "rule", f->rule->id);
    jout_cstr(j, "title", f->title);
    jout_cstr(j, "subject", f->subject);
    jout_cstr(j, "severity", severity_name(f->severity));
    put_source(j, f);
    jout_us(j, "blocked_us", f->blocked_ns);
    jout_us(j, "exposed_us", f->exposed_ns);
    if (f->device_ns) jout_us(j, "device_us", f->device_ns);
    else jout_null(j, "device_us");
    jout_us(j, "predicted_gain_us", f->gain_ns);
    jout_num(j, "predicted_gain_pct", f->gain_pct, 3);
    jout_num(j, "predicted_gain_low_pct", f->low_pct, 3);
    jout_num(j, "predicted_gain_high_pct", f->high_pct, 3);
    jout_num(j, "predicted_gain_alone_pct", f->alone.gain_pct, 3);
    jout_cstr(j, "effort", effort_name(f->effort));
    put_options(j, f);
    jout_bool(j, "only_together", f->together);
    jout_bool(j, "promises_gain", f->n_edits > 0 && !f->advice);
    jout_cstr(j, "why", f->why);
    jout_cstr(j, "fix", f->fix);
    jout_cstr(j, "not_fixed", f->not_fixed);
    put_thresholds(j, cx, f);
    put_evidence(j, cx, f);
    jout_end_obj(j);
}

static void put_ladder(struct jout *j, const struct context *cx)
{
    const struct ladder *l = ladder_of(cx);
    jout_arr(j, "ladder");
    for (uint32_t i = 0; i < l->n; i++) {
        const struct rung *r = &l->rungs[i];
        jout_obj(j, NULL);
        jout_cstr(j, "kind", rung_kind_name(r->kind));
        jout_cstr(j, "name", r->name);
        jout_us(j, "wall_us", r->wall_ns);
        jout_num(j, "gain_pct", r->gain_pct, 3);
        if (r->finding) jout_uint(j, "finding", r->finding);
        else jout_null(j, "finding");
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

static void put_no_gain(struct jout *j, const struct context *cx)
{
    const struct no_gain *n = no_gain_of(cx);
    if (n->reason) jout_cstr(j, "no_gain_reason", n->reason);
    else jout_null(j, "no_gain_reason");
    jout_bool(j, "idle_unexplained", n->unexplained);
    jout_arr(j, "idle_causes");
    for (uint32_t i = 0; i < n->n_fills; i++) {
        jout_obj(j, NULL);
        jout_cstr(j, "kind", n->fills[i].kind);
        jout_cstr(j, "what", n->fills[i].what);
        jout_us(j, "idle_us", n->fills[i].idle_ns);
        jout_num(j, "share_pct", n->fills[i].share_pct, 3);
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

static void put_checklist(struct jout *j, const struct context *cx)
{
    jout_arr(j, "checklist");
    for (uint32_t i = 0; i < checklist_of(cx)->n; i++) {
        const struct checklist_answer *c = &checklist_of(cx)->items[i];
        jout_obj(j, NULL);
        jout_cstr(j, "id", c->id);
        jout_cstr(j, "question", c->question);
        if (c->known) jout_num(j, "value", c->value, 3);
        else jout_null(j, "value");
        jout_cstr(j, "unit", c->unit);
        if (c->known) jout_bool(j, "healthy", c->healthy);
        else jout_null(j, "healthy");
        jout_cstr(j, "verdict", c->verdict);
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

static void put_profiler(struct jout *j, const struct context *cx)
{
    const struct undistort *u = undistort_of(cx);
    jout_obj(j, "replay");
    jout_us(j, "traced_us", u->traced_ns);
    jout_us(j, "replayed_us", u->replayed_ns);
    jout_num(j, "error_pct", undistort_error_pct(u), 4);
    jout_us(j, "without_profiler_us", u->plain_ns);
    jout_num(j, "cost_per_launch_us", u->launch_ns / 1e3, 3);
    jout_num(j, "cost_per_op_us", u->op_ns / 1e3, 3);
    jout_bool(j, "fitted", u->given_ns > 0);
    jout_end_obj(j);
}

void view_report_json(struct buf *out, const struct context *cx)
{
    struct jout j;
    jout_init(&j, out, true);
    jout_obj(&j, NULL);
    jout_us(&j, "wall_us", wall_of(cx)->wall_ns);
    if (cx->program_ns) jout_us(&j, "program_wall_us", cx->program_ns);
    else jout_null(&j, "program_wall_us");
    jout_cstr(&j, "bound", bound_name(wall_of(cx)->bound));
    jout_num(&j, "gpu_busy_pct", wall_of(cx)->busy_pct, 3);
    view_comm_json(&j, cx);
    view_part_json(&j, "part", cx->t);
    if (odd_step_of(cx)->is_snapshot) view_odd_step_json(&j, "snapshot", cx);
    if (requests_of(cx)->found) view_requests_json(&j, "requests", cx);
    jout_bool(&j, "abstains", wall_of(cx)->abstains);
    view_quality_json(&j, "trace_quality", cx->t, integrity_of(cx));
    jout_cstr(&j, "gains_are", "without_profiler");
    put_profiler(&j, cx);
    view_top_kernels_json(&j, cx);
    view_cpu_json(&j, "cpu", cx);
    jout_arr(&j, "findings");
    for (uint32_t i = 0; i < findings_of(cx)->n; i++)
        put_finding(&j, cx, findings_of(cx)->items[i]);
    jout_end_arr(&j);
    jout_obj(&j, "not_worth_it");
    jout_uint(&j, "count", findings_of(cx)->n_minor);
    jout_us(&j, "blocked_us", findings_of(cx)->minor_blocked_ns);
    jout_us(&j, "gain_us", findings_of(cx)->minor_gain_ns);
    jout_end_obj(&j);
    jout_us(&j, "all_fixed_us", findings_of(cx)->all_fixed_ns);
    put_no_gain(&j, cx);
    put_ladder(&j, cx);
    put_checklist(&j, cx);
    jout_end_obj(&j);
}

void view_checklist_json(struct buf *out, const struct context *cx)
{
    struct jout j;
    jout_init(&j, out, true);
    jout_obj(&j, NULL);
    put_checklist(&j, cx);
    view_quality_json(&j, "trace_quality", cx->t, integrity_of(cx));
    jout_end_obj(&j);
}
