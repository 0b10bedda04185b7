/* view_report_full.c: all of the diagnosis: the answer, the stages, the kernels, the findings in
 * full, the checklist and the ladder. The one screen of it is in view_report.c. */
#include "report/diagnosis/view_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/answer/energy.h"
#include "analyze/answer/mfu.h"
#include "analyze/findings/rule.h"
#include "analyze/ops/cpu_hot.h"
#include "analyze/recorded/recorded.h"
#include "base/human.h"
#include "base/stats.h"
#include "report/diagnosis/view_excerpt.h"
#include "report/lists/stage_pick.h"
#include "report/lists/views_kernels.h"
#include "report/lists/views_time.h"

#define STAGES_SHOWN  8 /* with -v */
#define DEEPEST_STAGE 2
#define INDENT        12
/* Clocks that differ by this part of their time are both named. */
#define CLOCKS_DIFFER 50
/* Columns a subject gets however long the title is. */
#define LEAST_SUBJECT 20

static void view_report_full_put_problem(const struct screen *s, const struct problem *p)
{
    struct buf text;
    buf_init(&text);
    buf_printf(&text, "%s: %s", p->what, p->means);
    if (*p->instead) buf_printf(&text, ". To fix it: %s", p->instead);
    text_styled(s->out, p->level >= QUALITY_DOUBTFUL ? TEXT_RED : TEXT_YELLOW, s->color, "  !  ");
    text_wrap(s->out, buf_c(&text), 5, s->width);
    buf_done(&text);
}

static void put_quality(const struct screen *s, const struct context *cx)
{
    const struct undistort *u = undistort_of(cx);
    buf_printf(s->out, "trace quality: %s (replay error %.1f %%",
               quality_name(integrity_of(cx)->quality), fabs(undistort_error_pct(u)));
    if (u->plain_ns > 0 && u->traced_ns > u->plain_ns && !findings_of(cx)->unpriced &&
        !view_cpu_only(cx))
        buf_printf(s->out, "; about %s without the profiler, %s with it", human_time(u->plain_ns).s,
                   human_time(u->traced_ns).s);
    buf_adds(s->out, ")\n");
    if (integrity_of(cx)->recording.sample_ns)
        buf_printf(s->out, "Python functions are sampled: their times are accurate to about %s\n",
                   human_time(integrity_of(cx)->recording.sample_ns).s);
    for (uint32_t i = 0; i < integrity_of(cx)->n_problems; i++)
        if (integrity_of(cx)->problems[i].level > QUALITY_GOOD)
            view_report_full_put_problem(s, &integrity_of(cx)->problems[i]);
}

/* A run has two clocks: the trace's, and the program's own, which starts when strata is loaded and
 * stops when timing.json is written, mostly at the end. Where they differ, both are named; not
 * where a part is shown, which says itself what it leaves out. */
void view_report_put_clocks(struct buf *out, const struct context *cx)
{
    int64_t apart = llabs(cx->program_ns - wall_of(cx)->wall_ns);
    if (view_excerpt_is(cx->t)) return;
    if (!cx->program_ns || apart * CLOCKS_DIFFER < cx->program_ns) return;
    bool longer = cx->program_ns >= wall_of(cx)->wall_ns;
    buf_printf(out, "first to last event %s; timing.json: %s, from loading strata %s\n",
               human_time(wall_of(cx)->wall_ns).s, human_time(cx->program_ns).s,
               longer ? "to the end" : "until it was written");
}

/* Under the table: what it does not show, and what its rows were made from. */
static void put_stage_notes(const struct screen *s, const struct stage_pick *pick, bool derived)
{
    char left[128] = "";
    if (pick->n_left)
        snprintf(left, sizeof left,
                 "  (%s smaller stage%s left out; strata stages shows every stage)\n",
                 human_count(pick->n_left).s, pick->n_left == 1 ? " is" : "s are");
    text_styled(s->out, TEXT_DIM, s->color, left);
    if (derived)
        text_styled(s->out, TEXT_DIM, s->color,
                    "  (derived: no label covers them; strata stages shows every one)\n");
}

static void view_report_full_put_table(const struct screen *s, const struct context *cx,
                                       const struct stage_pick *pick)
{
    struct result_text t;
    const struct stages *st = stages_of(cx);
    bool derived = false;
    for (uint32_t i = 0; i < pick->n; i++) derived |= st->list[pick->list[i]].derived;
    stage_table(&t, cx, pick, view_cpu_only(cx));
    buf_addc(s->out, '\n');
    result_text_print(&t, s);
    result_text_done(&t);
    put_stage_notes(s, pick, derived);
}

void view_report_put_stages(const struct screen *s, const struct context *cx, uint32_t most)
{
    struct stage_pick pick;
    if (!stage_pick_run(stages_of(cx), DEEPEST_STAGE, true, most, &pick)) s->out->failed = true;
    if (pick.n) view_report_full_put_table(s, cx, &pick);
    stage_pick_done(&pick);
}

static enum text_style severity_style(enum severity s)
{
    return s == SEVERITY_HIGH ? TEXT_RED : s == SEVERITY_MEDIUM ? TEXT_YELLOW : TEXT_PLAIN;
}

static void view_report_full_put_line(const struct screen *s, const char *text)
{
    if (!text || !text[0]) return;
    buf_pad(s->out, ' ', INDENT);
    text_wrap(s->out, text, INDENT, s->width);
}

/* Reported only because other findings need it. */
static bool is_partner(const struct finding *f)
{
    return f->needed && f->gain_pct < 0.05;
}

static void put_gain(struct buf *out, const struct answer *a, const struct finding *f)
{
    buf_printf(out, "%s: ", f->rule->id);
    if (f->device_ns) buf_printf(out, "%s on the GPU", human_time(f->device_ns).s);
    else rule_print_cost(out, f);
    if (f->advice || !f->n_edits) return;
    if (a->cold) {
        buf_printf(out, "; effort: %s", effort_words(f->effort));
        return;
    }
    if (is_partner(f)) {
        buf_adds(out, "; together: no gain alone, but the others marked 'together' need it");
        return;
    }
    buf_printf(out, ", gain %s = %.1f %%", human_time(f->gain_ns).s, f->gain_pct);
    if (f->high_pct - f->low_pct > 1)
        buf_printf(out, " (%.0f ... %.0f %%)", f->low_pct, f->high_pct);
    if (f->together) buf_adds(out, " together (only if all findings marked 'together' are fixed)");
    if (finding_differs_alone(f))
        buf_printf(out, ", alone %.1f %%", f->alone.gain_pct > 0 ? f->alone.gain_pct : 0);
    buf_printf(out, "; effort: %s", effort_words(f->effort));
}

/* The ways to fix it, one per line: what it gains alone, what it takes. */
static void view_report_full_put_options(const struct screen *s, const struct finding *f)
{
    struct buf line;
    buf_init(&line);
    for (uint32_t i = 0; i < f->n_options; i++) {
        const struct finding_option *o = &f->options[i];
        buf_reset(&line);
        buf_printf(&line, "%-15s %5.1f %%%s  %-10s  ", o->what, o->gain_pct,
                   finding_differs_alone(f) ? " alone" : "", effort_words(o->effort));
        buf_pad(s->out, ' ', INDENT);
        buf_add_str(s->out, buf_str(&line));
        text_wrap(s->out, o->note, INDENT + (int)line.n, s->width);
    }
    buf_done(&line);
}

/* What the finding is about, in what is left of the line after its title. */
static void put_subject(const struct screen *s, const struct finding *f)
{
    char cut[512];
    int room = s->width - INDENT - (int)strlen(f->title) - 3;
    if (!f->subject || !f->subject[0]) return;
    buf_printf(
        s->out, "   %s",
        human_cut(str_c(f->subject), room > LEAST_SUBJECT ? room : LEAST_SUBJECT, cut, sizeof cut));
}

static void view_report_full_put_finding(const struct screen *s, const struct context *cx,
                                         uint32_t number)
{
    const struct finding *f = findings_of(cx)->items[number - 1];
    char head[64];
    snprintf(head, sizeof head, "  %-3u%-7s", number, severity_name(f->severity));
    text_styled(s->out, severity_style(f->severity), s->color, head);
    text_styled(s->out, TEXT_BOLD, s->color, f->title);
    put_subject(s, f);
    buf_addc(s->out, '\n');
    if (f->file) {
        buf_pad(s->out, ' ', INDENT);
        buf_adds(s->out, f->file);
        frame_print_line(s->out, f->line);
        buf_addc(s->out, '\n');
    }
    struct buf gain;
    buf_init(&gain);
    put_gain(&gain, answer_of(cx), f);
    view_report_full_put_line(s, buf_c(&gain));
    buf_done(&gain);
    if (is_partner(f)) return;
    view_report_full_put_line(s, f->why);
    view_report_full_put_line(s, f->fix);
    view_report_full_put_options(s, f);
}

/* Where the GPU is idle and the findings do not say why. */
static void put_fills(const struct screen *s, const struct context *cx)
{
    const struct no_gain *n = no_gain_of(cx);
    struct buf text;
    if (!n->unexplained || !n->n_fills) return;
    buf_init(&text);
    buf_printf(&text, "In the trace the GPU is idle for %s of the time.",
               human_pct(100 - wall_of(cx)->busy_pct).s);
    if (n->reason) buf_printf(&text, " No large gain is predicted: %s.", n->reason);
    buf_adds(&text, " It waits for");
    buf_adds(s->out, "\n  ");
    text_wrap(s->out, buf_c(&text), 2, s->width);
    for (uint32_t i = 0; i < n->n_fills; i++) {
        buf_printf(s->out, "    %6.1f %%  ", n->fills[i].share_pct);
        text_wrap(s->out, n->fills[i].what, 14, s->width);
    }
    buf_done(&text);
}

/* Below "no fix was found that gains 2 %" a list of fixes says that each of them is smaller. */
void view_report_findings_head(struct buf *out, const struct context *cx)
{
    const struct answer *a = answer_of(cx);
    static const char gain[] =
        "wall time saved without the profiler, if the findings above are fixed too";
    if (a->cold) buf_adds(out, "findings about kernels; what they gain in steady work is unknown");
    else if (a->worth || !findings_of(cx)->n) buf_printf(out, "findings by gain: %s", gain);
    else buf_printf(out, "findings below %g %%, by gain: %s", a->worth_pct, gain);
}

/* Above findings without gains: why they have none. */
static void put_unpriced(const struct screen *s, const struct context *cx)
{
    struct buf text;
    buf_init(&text);
    buf_printf(&text,
               "findings by cost; the replay misses the trace by %.0f %%, too much to say what "
               "fixing them would gain",
               fabs(undistort_error_pct(undistort_of(cx))));
    buf_adds(s->out, "  ");
    text_wrap(s->out, buf_c(&text), 2, s->width);
    buf_done(&text);
}

static void view_report_full_put_findings(const struct screen *s, const struct context *cx)
{
    const struct findings *f = findings_of(cx);
    buf_addc(s->out, '\n');
    if (wall_of(cx)->abstains) {
        buf_adds(s->out, integrity_of(cx)->shared
                             ? "  no findings: times include what another process ran\n"
                             : "  no findings: the records cannot be trusted\n");
    } else if (f->n == 0) {
        buf_adds(s->out, "  no findings\n");
    } else if (f->unpriced) {
        put_unpriced(s, cx);
    } else {
        struct buf head;
        buf_init(&head);
        buf_adds(&head, "  ");
        view_report_findings_head(&head, cx);
        text_styled(s->out, TEXT_DIM, s->color, buf_c(&head));
        buf_addc(s->out, '\n');
        buf_done(&head);
    }
    for (uint32_t i = 0; i < f->n && i < s->limit; i++) view_report_full_put_finding(s, cx, i + 1);
    if (f->n > s->limit)
        buf_printf(s->out, "  ... and %u more (--limit %u)\n", f->n - s->limit, f->n);
    if (f->n_minor && f->unpriced)
        buf_printf(s->out, "  not worth your time: %u other finding%s (blocked %s in total)\n",
                   f->n_minor, f->n_minor == 1 ? "" : "s", human_time(f->minor_blocked_ns).s);
    else if (f->n_minor)
        buf_printf(s->out,
                   "  not worth your time: %u other finding%s (blocked %s, gain %s in total)\n",
                   f->n_minor, f->n_minor == 1 ? "" : "s", human_time(f->minor_blocked_ns).s,
                   human_time(f->minor_gain_ns).s);
}

/* The rungs: what the wall clock would be, and its share of the time now. */
static void view_report_full_put_ladder(const struct screen *s, const struct context *cx)
{
    const struct ladder *l = ladder_of(cx);
    struct text_table table;
    if (!l->n) return;
    text_table_init(&table);
    text_table_col(&table, "ladder, without the profiler", TEXT_LEFT);
    text_table_col(&table, "wall", TEXT_RIGHT);
    text_table_col(&table, "share", TEXT_RIGHT);
    int unit = screen_unit(l->rungs[0].wall_ns);
    for (uint32_t i = 0; i < l->n; i++) {
        const struct rung *r = &l->rungs[i];
        text_table_row(&table, r->kind == RUNG_FIX ? TEXT_PLAIN : TEXT_DIM);
        if (r->finding) text_table_cellf(&table, 0, "after %u: %s", r->finding, r->name);
        else text_table_cell(&table, 0, r->name);
        screen_time(&table, 1, r->wall_ns, unit);
        text_table_cell(&table, 2,
                        human_pct(stats_pct((double)r->wall_ns, (double)l->rungs[0].wall_ns)).s);
    }
    buf_addc(s->out, '\n');
    screen_table(s, &table);
    text_table_done(&table);
}

void view_checklist_text(const struct screen *s, const struct context *cx)
{
    for (uint32_t i = 0; i < checklist_of(cx)->n; i++) {
        const struct checklist_answer *c = &checklist_of(cx)->items[i];
        const char *mark = !c->known ? "?" : c->healthy ? "ok" : "!!";
        buf_adds(s->out, "    ");
        text_styled(s->out,
                    !c->known    ? TEXT_DIM
                    : c->healthy ? TEXT_GREEN
                                 : TEXT_YELLOW,
                    s->color, mark);
        buf_pad(s->out, ' ', 4 - (int)strlen(mark));
        text_wrap(s->out, c->verdict, 8, s->width);
    }
}

static void view_report_full_put_next(const struct screen *s, const struct context *cx)
{
    struct screen_next next[3];
    int n = 0;
    const char *show = findings_of(cx)->n ? findings_of(cx)->items[0]->show : NULL;
    char command[160];
    if (show) {
        snprintf(command, sizeof command, "%s", show);
        next[n++] = (struct screen_next){command, "the evidence, step by step"};
    }
    if (wall_of(cx)->abstains)
        next[n++] = (struct screen_next){"info %s --lint", "what is missing or damaged, and where"};
    else if (wall_of(cx)->bound == BOUND_UNKNOWN)
        next[n++] = cx->t->n_ops ? (struct screen_next){"table %s", "time per operator"}
                                 : (struct screen_next){"stages %s", "time and memory per stage"};
    else if (!show || strcmp(show, "gaps %s") != 0)
        next[n++] = (struct screen_next){"gaps %s", "when the GPU was idle, and why"};
    else next[n++] = (struct screen_next){"stages %s", "which stage waits, and which is busy"};
    next[n++] = (struct screen_next){"report %s --html report.html", "the same with a timeline"};
    buf_addc(s->out, '\n');
    screen_next(s, next, n);
}

static void view_report_full_put_phases(const struct screen *s, const struct context *cx)
{
    const struct phases *p = &recorded_of(cx)->phases;
    for (uint32_t i = 0; i < p->n; i++) {
        const struct phase *x = &p->list[i];
        buf_printf(s->out, "  %s", serving_phase_name(x->what.phase));
        if (x->what.requests >= 0) buf_printf(s->out, ", batch %lld", (long long)x->what.requests);
        buf_printf(s->out, ": %s step%s of %s", human_count(x->n).s, x->n == 1 ? "" : "s",
                   human_time(x->step_ns).s);
        if (x->tokens_per_s > 0)
            buf_printf(s->out, ", %s tokens/s", human_count((uint64_t)x->tokens_per_s).s);
        buf_addc(s->out, '\n');
    }
}

/* "MFU 37.6 %: 412 TFLOP per step at 372 TFLOP/s, of 989 on the datasheet (bf16); 47.7 % of the 780
 * that products reach" */
static void view_report_full_put_mfu(const struct screen *s, const struct context *cx)
{
    const struct mfu *m = mfu_of(cx);
    struct buf text;
    if (!m->known) return;
    buf_init(&text);
    if (m->pct > 0) buf_printf(&text, "MFU %s: ", human_pct(m->pct).s);
    double flop = m->step_flop;
    bool small = flop < 1e11;
    buf_printf(&text, "%.3g %cFLOP%s", flop / (small ? 1e9 : 1e12), small ? 'G' : 'T',
               m->steps ? " per step" : "");
    if (isfinite(m->per_s)) buf_printf(&text, " at %.3g TFLOP/s", m->per_s / 1e12);
    if (m->pct > 0)
        buf_printf(&text, ", of %.0f on the datasheet (%s)", m->peak_per_s / 1e12,
                   precision_name(m->precision));
    if (m->reach_pct > 0)
        buf_printf(&text, "; %s of the %.0f that products reach", human_pct(m->reach_pct).s,
                   m->reach_per_s / 1e12);
    buf_adds(s->out, "  ");
    text_wrap(s->out, buf_c(&text), 4, s->width);
    buf_done(&text);
}

/* "energy 2834 J, 661 W on average and 699 W at most; 57.8 J per step (NVML's counter, read every
 * 501 ms)" */
static void view_report_full_put_energy(const struct screen *s, const struct context *cx)
{
    const struct energy *x = energy_of(cx);
    struct buf text;
    if (!x->devices) return;
    buf_init(&text);
    buf_printf(&text, "energy %.*f J", x->joules < 100 ? 1 : 0, x->joules);
    if (x->devices > 1) buf_printf(&text, " on %u GPUs", x->devices);
    buf_printf(&text, ", %.0f W on average", x->mean_w);
    if (isfinite(x->per_step)) buf_printf(&text, ", %.3g J per step", x->per_step);
    if (isfinite(x->per_token)) buf_printf(&text, ", %.3g J per token", x->per_token);
    buf_printf(&text, " (NVML's %s, read every %s)",
               x->by == ENERGY_BY_COUNTER ? "energy counter" : "power", human_time(x->every_ns).s);
    buf_adds(s->out, "  ");
    text_wrap(s->out, buf_c(&text), 4, s->width);
    buf_done(&text);
}

void view_report_full_text(const struct screen *s, const struct context *cx)
{
    view_report_title(s->out, cx, s->path);
    view_excerpt_text(s->out, cx->t);
    view_odd_step_text(s, cx, UINT32_MAX);
    if (odd_step_of(cx)->found) buf_addc(s->out, '\n');
    put_quality(s, cx);
    view_report_put_sharing(s, cx);
    view_report_put_recorded(s, cx);
    view_report_put_clocks(s->out, cx);
    buf_adds(s->out, "\n  ");
    struct buf verdict;
    buf_init(&verdict);
    view_report_verdict(&verdict, cx);
    text_wrap(s->out, buf_c(&verdict), 2, s->width);
    buf_done(&verdict);
    view_report_full_put_mfu(s, cx);
    view_report_full_put_energy(s, cx);
    view_report_full_put_phases(s, cx);
    view_comm_text(s, cx);
    view_report_put_stages(s, cx, STAGES_SHOWN);
    view_requests_text(s, cx);
    if (view_cpu_only(cx)) {
        view_cpu_text(s, cx, VIEW_CPU_MOST);
        view_report_full_put_findings(s, cx);
        view_report_full_put_next(s, cx);
        return;
    }
    view_top_kernels_text(s, cx);
    view_report_full_put_findings(s, cx);
    put_fills(s, cx);
    buf_adds(s->out, "\n  checklist\n");
    view_checklist_text(s, cx);
    view_report_full_put_ladder(s, cx);
    view_report_full_put_next(s, cx);
}
