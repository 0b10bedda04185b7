/* view_report_md.c: the diagnosis as markdown, to paste into an issue or hand to a language model.
 * Bounded: the longest part is cut, never the verdict. */
#include <ctype.h>

#include "analyze/answer/hot_spots.h"
#include "analyze/findings/rule.h"
#include "base/human.h"
#include "report/diagnosis/view_excerpt.h"
#include "report/diagnosis/view_report.h"
#include "report/lists/stage_pick.h"
#include "report/lists/views_kernels.h"
#include "report/md.h"

#define MOST_BYTES    7900
#define MOST_FINDINGS 12
#define MOST_EVIDENCE 5

static void view_report_md_put_stages(struct buf *out, const struct context *cx)
{
    struct stage_pick pick;
    struct result_text t;
    if (!stage_pick_run(stages_of(cx), 2, true, 8, &pick)) out->failed = true;
    stage_table(&t, cx, &pick, view_cpu_only(cx));
    md_table(out, &t.table);
    result_text_done(&t);
    if (pick.n_left) buf_printf(out, "\n%u smaller stages are left out.\n", pick.n_left);
    stage_pick_done(&pick);
}

static void view_report_md_put_option(struct buf *out, const struct finding *f,
                                      const struct finding_option *o)
{
    buf_adds(out, "- ");
    md_text(out, o->what);
    buf_printf(out, ": gain %.1f %%%s, effort: %s; ", o->gain_pct,
               finding_differs_alone(f) ? " alone" : "", effort_words(o->effort));
    md_text(out, o->note);
    buf_addc(out, '\n');
}

static void view_report_md_put_finding(struct buf *out, const struct context *cx,
                                       const struct finding *f, uint32_t number)
{
    buf_printf(out, "\n### %u. ", number);
    md_text(out, f->title);
    buf_printf(out, " (%s, %s)\n", severity_name(f->severity), f->rule->id);
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
    else {
        buf_adds(out, "- ");
        rule_print_cost(out, f);
    }
    bool priced = !f->advice && f->n_edits && !answer_of(cx)->cold;
    if (priced)
        buf_printf(out, "; predicted gain %s = %.1f %% of the wall clock%s",
                   human_time(f->gain_ns).s, f->gain_pct,
                   f->together ? ", together (only if all findings marked 'together' are fixed)"
                               : "");
    if (priced)
        buf_printf(out, " (alone %.1f %%); effort: %s",
                   f->alone.gain_pct > 0 ? f->alone.gain_pct : 0, effort_words(f->effort));
    buf_adds(out, "\n- why: ");
    md_text(out, f->why);
    buf_adds(out, "\n- fix: ");
    md_text(out, f->fix);
    buf_addc(out, '\n');
    for (uint32_t i = 0; i < f->n_options; i++) view_report_md_put_option(out, f, &f->options[i]);
    for (uint32_t i = 0; i < f->n_evidence && i < MOST_EVIDENCE; i++) {
        if (f->evidence[i].ts_ns == ID_NONE) buf_adds(out, "- ");
        else
            buf_printf(
                out, "- t = %.3f ms: ", (double)trace_since_ns(cx->t, f->evidence[i].ts_ns) / 1e6);
        md_text(out, f->evidence[i].text);
        buf_addc(out, '\n');
    }
}

static void view_report_md_put_ladder(struct buf *out, const struct context *cx)
{
    const struct ladder *l = ladder_of(cx);
    if (l->n)
        buf_adds(out, "\n## Ladder\n\n| step, without the profiler | wall clock |\n|---|--:|\n");
    for (uint32_t i = 0; i < l->n && i < MOST_FINDINGS; i++) {
        const struct rung *r = &l->rungs[i];
        if (r->finding) buf_printf(out, "| after %u: ", r->finding);
        else buf_adds(out, "| ");
        md_text(out, r->name);
        buf_printf(out, " | %s |\n", human_time(r->wall_ns).s);
    }
}

static void view_report_md_put_no_gain(struct buf *out, const struct context *cx)
{
    const struct no_gain *n = no_gain_of(cx);
    if (!n->unexplained || !n->n_fills) return;
    if (n->reason) {
        buf_adds(out, "\nNo large gain is predicted: ");
        md_text(out, n->reason);
        buf_adds(out, ".\n");
    }
    buf_adds(out, "\nThe GPU waits for:\n");
    for (uint32_t i = 0; i < n->n_fills; i++) {
        buf_printf(out, "- %.1f %% of the wall clock: ", n->fills[i].share_pct);
        md_text(out, n->fills[i].what);
        buf_addc(out, '\n');
    }
}

static void view_report_md_put_hot_spots(struct buf *out, const struct context *cx)
{
    const struct hot_spots *h = hot_spots_of(cx);
    if (answer_of(cx)->kind == ANSWER_FASTER || !h->n) return;
    buf_adds(out, "\nThese hold the time of the GPU, with the most that a change there gains:\n");
    for (uint32_t i = 0; i < h->n; i++) {
        buf_printf(out, "- %.0f %%, at most -%.0f %%: ", h->list[i].share_pct, h->list[i].gain_pct);
        md_text(out, h->list[i].what);
        buf_printf(out, " (%s)", h->list[i].kind);
        if (h->list[i].where) {
            buf_adds(out, " at ");
            md_text(out, h->list[i].where);
        }
        buf_addc(out, '\n');
    }
}

static void view_report_md_put_not_slow(struct buf *out, const struct context *cx)
{
    const struct answer *a = answer_of(cx);
    if (a->n_not_slow) buf_adds(out, "\nLooks slow and is not:\n");
    for (uint32_t i = 0; i < a->n_not_slow; i++) {
        const struct not_slow *x = &a->not_slow[i];
        const struct finding *f = x->finding;
        buf_adds(out, "- ");
        md_text(out, x->what);
        buf_printf(out, " blocks %s, gains %s", human_time(f->blocked_ns).s,
                   x->gain_ns > 0 ? human_time(x->gain_ns).s : "nothing");
        if (x->shared) buf_printf(out, " (alone %s)", human_time(finding_alone_ns(f)).s);
        if (f->file) {
            buf_adds(out, ": ");
            md_text(out, f->file);
            frame_print_line(out, f->line);
        }
        buf_addc(out, '\n');
    }
}

static void put_part(struct buf *out, const struct context *cx)
{
    struct buf shown;
    buf_init(&shown);
    view_excerpt_shown(&shown, cx->t);
    if (shown.n) {
        buf_adds(out, "\n> ");
        md_text(out, buf_c(&shown));
        buf_addc(out, '\n');
    }
    buf_done(&shown);
}

/* What is said in lines of the screen quotes names of the trace, too. */
static void put_verdict(struct buf *out, const struct context *cx)
{
    struct buf text;
    buf_init(&text);
    view_report_verdict(&text, cx);
    md_text(out, buf_c(&text));
    buf_adds(out, "\n\nState: ");
    md_text(out, answer_of(cx)->state);
    buf_printf(out, ". How sure: %s.\n", answer_sure_name(answer_of(cx)->sure));
    out->failed |= !buf_ok(&text);
    buf_done(&text);
}

static void put_problem(struct buf *out, const struct problem *p)
{
    buf_adds(out, "\n> ");
    md_text(out, p->what);
    buf_adds(out, ". ");
    md_text(out, p->means);
    buf_addc(out, '\n');
}

static void put_question(struct buf *out, const struct checklist_answer *c)
{
    buf_printf(out, "- %s: ", !c->known ? "unknown" : c->healthy ? "ok" : "look");
    md_text(out, c->verdict);
    buf_addc(out, '\n');
}

void view_report_md(struct buf *out, const struct context *cx, const char *path)
{
    struct buf one, title;
    buf_init(&one);
    buf_init(&title);
    view_report_title(&title, cx, path);
    if (title.n && title.p[title.n - 1] == '\n') title.n--;
    buf_adds(out, "# ");
    md_text(out, buf_c(&title));
    out->failed |= !buf_ok(&title);
    buf_done(&title);
    buf_adds(out, "\n\n");
    put_verdict(out, cx);
    view_report_md_put_not_slow(out, cx);
    put_part(out, cx);
    for (uint32_t i = 0; i < integrity_of(cx)->n_problems && i < 3; i++)
        if (integrity_of(cx)->problems[i].level > QUALITY_GOOD)
            put_problem(out, &integrity_of(cx)->problems[i]);
    if (stages_of(cx)->n) view_report_md_put_stages(out, cx);
    if (view_cpu_only(cx)) view_cpu_md(out, cx);
    else view_top_kernels_md(out, cx);
    uint32_t questions = view_cpu_only(cx) ? 0 : checklist_of(cx)->n;
    if (questions) buf_adds(out, "\n## Checklist\n");
    for (uint32_t i = 0; i < questions; i++) put_question(out, &checklist_of(cx)->items[i]);
    view_report_md_put_ladder(out, cx);
    buf_adds(out, "\n## Findings\n\n");
    if (findings_of(cx)->n && !findings_of(cx)->unpriced) {
        size_t at = out->n;
        view_report_findings_head(out, cx);
        if (out->n > at) out->p[at] = (char)toupper((unsigned char)out->p[at]);
        buf_adds(out, ".\n");
    }
    view_report_md_put_no_gain(out, cx);
    view_report_md_put_hot_spots(out, cx);
    if (!findings_of(cx)->n && !no_gain_of(cx)->n_fills) buf_adds(out, "\nNo findings.\n");
    uint32_t told = 0;
    for (; told < findings_of(cx)->n && told < MOST_FINDINGS; told++) {
        buf_reset(&one);
        view_report_md_put_finding(&one, cx, findings_of(cx)->items[told], told + 1);
        if (out->n + one.n > MOST_BYTES) break;
        buf_add_str(out, buf_str(&one));
    }
    if (told < findings_of(cx)->n)
        buf_printf(out, "\n%u more %s left out here.\n", findings_of(cx)->n - told,
                   findings_of(cx)->n - told == 1 ? "is" : "are");
    if (one.failed) out->failed = true;
    buf_done(&one);
}
