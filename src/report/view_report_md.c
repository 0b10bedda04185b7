/* view_report_md.c: the diagnosis as markdown, to paste into an issue or hand to a language model.
 * Bounded: the longest part is cut, never the verdict. */
#include "analyze/rules/rule.h"
#include "base/human.h"
#include "report/md.h"
#include "report/stage_pick.h"
#include "report/view_cpu.h"
#include "report/view_part.h"
#include "report/view_report.h"
#include "report/view_top_kernels.h"

#define MOST_BYTES    7900
#define MOST_FINDINGS 12
#define MOST_EVIDENCE 5

static void put_stage(struct buf *out, const struct context *cx, const struct stage *st)
{
    char cut[80];
    buf_adds(out, "| ");
    md_text(out, human_cut(str_c(st->path), 60, cut, sizeof cut));
    buf_printf(out, " | %u | %s |", st->calls, human_time(st->cpu_ns).s);
    if (!view_cpu_only(cx))
        buf_printf(out, " %s | %s | %u | %u |", human_time(st->gpu.sum_ns).s,
                   integrity_of(cx)->idle_trusted ? human_time(st->idle_meanwhile_ns).s : "?",
                   st->gpu.kernels, st->syncs);
    buf_addc(out, '\n');
}

static void put_stages(struct buf *out, const struct context *cx)
{
    struct stage_pick pick;
    if (!stage_pick_run(stages_of(cx), 2, true, 8, &pick)) out->failed = true;
    buf_adds(out, view_cpu_only(cx) ? "\n| stage | calls | CPU |\n|---|--:|--:|\n"
                                    : "\n| stage | calls | CPU | GPU | GPU idle | kernels | syncs "
                                      "|\n|---|--:|--:|--:|--:|--:|--:|\n");
    for (uint32_t i = 0; i < pick.n; i++) put_stage(out, cx, &stages_of(cx)->list[pick.list[i]]);
    if (pick.n_left) buf_printf(out, "\n%u smaller stages are left out.\n", pick.n_left);
    stage_pick_done(&pick);
}

static void put_finding(struct buf *out, const struct context *cx, const struct finding *f,
                        uint32_t number)
{
    buf_printf(out, "\n### %u. %s (%s)\n", number, f->title, severity_name(f->severity));
    if (f->file) {
        buf_adds(out, "- where: ");
        md_text(out, f->file);
        frame_print_line(out, f->line);
        buf_addc(out, ' ');
        md_text(out, f->function);
        buf_addc(out, '\n');
    } else if (f->subject && f->subject[0]) {
        buf_adds(out, "- what: ");
        md_text(out, f->subject);
        buf_addc(out, '\n');
    }
    if (f->device_ns) buf_printf(out, "- %s on the GPU", human_time(f->device_ns).s);
    else
        buf_printf(out, "- blocked %s, exposed %s", human_time(f->blocked_ns).s,
                   human_time(f->exposed_ns).s);
    if (!f->advice && f->n_edits)
        buf_printf(out, "; predicted gain %s = %.1f %% of the wall clock%s",
                   human_time(f->gain_ns).s, f->gain_pct,
                   f->together ? ", together (only if all findings marked 'together' are fixed)"
                               : "");
    if (!f->advice && f->n_edits)
        buf_printf(out, " (alone %.1f %%); effort: %s",
                   f->alone.gain_pct > 0 ? f->alone.gain_pct : 0, effort_name(f->effort));
    buf_printf(out, "\n- why: %s\n- fix: %s\n", f->why, f->fix);
    for (uint32_t i = 0; i < f->n_options; i++)
        buf_printf(out, "- %s: %.1f %%, %s; %s\n", f->options[i].what, f->options[i].gain_pct,
                   effort_name(f->options[i].effort), f->options[i].note);
    for (uint32_t i = 0; i < f->n_evidence && i < MOST_EVIDENCE; i++) {
        if (f->evidence[i].ts_ns == ID_NONE) buf_adds(out, "- ");
        else
            buf_printf(
                out, "- t = %.3f ms: ", (double)trace_since_ns(cx->t, f->evidence[i].ts_ns) / 1e6);
        md_text(out, f->evidence[i].text);
        buf_addc(out, '\n');
    }
}

static void put_ladder(struct buf *out, const struct context *cx)
{
    const struct ladder *l = ladder_of(cx);
    if (l->n) buf_adds(out, "\n| ladder, without the profiler | wall |\n|---|--:|\n");
    for (uint32_t i = 0; i < l->n && i < MOST_FINDINGS; i++) {
        const struct rung *r = &l->rungs[i];
        if (r->finding) buf_printf(out, "| after %u: ", r->finding);
        else buf_adds(out, "| ");
        buf_printf(out, "%s | %s |\n", r->name, human_time(r->wall_ns).s);
    }
}

static void put_no_gain(struct buf *out, const struct context *cx)
{
    const struct no_gain *n = no_gain_of(cx);
    if (!n->unexplained || !n->n_fills) return;
    if (n->reason) buf_printf(out, "\nNo gain is promised: %s.\n", n->reason);
    buf_adds(out, "\nThe GPU waits for:\n");
    for (uint32_t i = 0; i < n->n_fills; i++) {
        buf_printf(out, "- %.1f %% of the wall clock: ", n->fills[i].share_pct);
        md_text(out, n->fills[i].what);
        buf_addc(out, '\n');
    }
}

static void put_part(struct buf *out, const struct context *cx)
{
    struct buf shown;
    buf_init(&shown);
    view_part_shown(&shown, cx->t);
    if (shown.n) {
        buf_adds(out, "\n> ");
        md_text(out, buf_c(&shown));
        buf_addc(out, '\n');
    }
    buf_done(&shown);
}

void view_report_md(struct buf *out, const struct context *cx, const char *path)
{
    struct buf one;
    buf_init(&one);
    buf_adds(out, "# ");
    view_report_title(out, cx, path);
    buf_addc(out, '\n');
    view_report_verdict(out, cx);
    buf_addc(out, '\n');
    put_part(out, cx);
    for (uint32_t i = 0; i < integrity_of(cx)->n_doubts && i < 3; i++)
        if (integrity_of(cx)->doubts[i].level > QUALITY_GOOD)
            buf_printf(out, "\n> %s. %s\n", integrity_of(cx)->doubts[i].what,
                       integrity_of(cx)->doubts[i].means);
    if (stages_of(cx)->n) put_stages(out, cx);
    if (view_cpu_only(cx)) view_cpu_md(out, cx);
    else view_top_kernels_md(out, cx);
    uint32_t questions = view_cpu_only(cx) ? 0 : checklist_of(cx)->n;
    if (questions) buf_adds(out, "\n## Checklist\n");
    for (uint32_t i = 0; i < questions; i++) {
        const struct checklist_answer *c = &checklist_of(cx)->items[i];
        buf_printf(out, "- %s: %s\n",
                   !c->known    ? "unknown"
                   : c->healthy ? "ok"
                                : "look",
                   c->verdict);
    }
    buf_printf(out, "\n## Findings (gain: wall time saved without the profiler, if the findings "
                    "above are fixed too)\n");
    put_ladder(out, cx);
    put_no_gain(out, cx);
    if (!findings_of(cx)->n && !no_gain_of(cx)->n_fills) buf_adds(out, "\nNo findings.\n");
    uint32_t told = 0;
    for (; told < findings_of(cx)->n && told < MOST_FINDINGS; told++) {
        buf_reset(&one);
        put_finding(&one, cx, findings_of(cx)->items[told], told + 1);
        if (out->n + one.n > MOST_BYTES) break;
        buf_add_str(out, buf_str(&one));
    }
    if (told < findings_of(cx)->n)
        buf_printf(out, "\n%u more %s left out here.\n", findings_of(cx)->n - told,
                   findings_of(cx)->n - told == 1 ? "is" : "are");
    if (one.failed) out->failed = true;
    buf_done(&one);
}
