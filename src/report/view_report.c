/* view_report.c: the diagnosis on one screen. What bounds the run comes first, then the stages,
 * then what can be done about it and what it would gain, then what is not worth doing. */
#include "report/view_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/device/sharing.h"
#include "analyze/ops/cpu_hot.h"
#include "analyze/rules/rule.h"
#include "base/human.h"
#include "base/stats.h"
#include "report/stage_pick.h"
#include "report/view_comm.h"
#include "report/view_cpu.h"
#include "report/view_odd_step.h"
#include "report/view_part.h"
#include "report/view_requests.h"
#include "report/view_top_kernels.h"

#define STAGES_SHOWN  8
#define DEEPEST_STAGE 2
#define INDENT        12
/* Clocks that differ by this part of their time are both named. */
#define CLOCKS_DIFFER 50
/* Time outside the work of the GPU is said from this part of the wall time on. */
#define OUTSIDE_SHOWS 10
/* Points between the gain alone and the gain after the others from which both are said. */
#define ALONE_DIFFERS 0.5
/* Columns a subject gets however long the title is. */
#define LEAST_SUBJECT 20

int view_report_need(struct context *cx, struct err *e)
{
    TRY(context_need(cx, &checklist_pass, e));
    TRY(context_need(cx, &ladder_pass, e));
    TRY(context_need(cx, &cpu_hot_pass, e));
    TRY(context_need(cx, &odd_step_pass, e));
    TRY(context_need(cx, &requests_pass, e));
    TRY(context_need(cx, &messages_pass, e));
    TRY(context_need(cx, &sharing_pass, e));
    return context_need(cx, &no_gain_pass, e);
}

static void put_version(struct buf *out, const struct trace *t, const char *key, const char *name)
{
    struct str v = trace_meta(t, key);
    long n = 0;
    for (size_t i = 0; v.p && i < v.n && v.p[i] >= '0' && v.p[i] <= '9'; i++)
        n = n * 10 + (v.p[i] - '0');
    if (n >= 1000) buf_printf(out, "  %s %ld.%ld", name, n / 1000, n % 1000 / 10);
}

/* The name of a file, or of a folder that may be written with a slash at its end. */
static struct str last_part(const char *path)
{
    struct str s = str_c(path);
    while (s.n > 1 && s.p[s.n - 1] == '/') s.n--;
    for (size_t i = s.n; i > 0; i--)
        if (s.p[i - 1] == '/' && i < s.n) return (struct str){s.p + i, s.n - i};
    return s;
}

void view_report_title(struct buf *out, const struct context *cx, const char *path)
{
    const struct trace *t = cx->t;
    char cut[160];
    buf_adds(out, human_cut(last_part(path), 60, cut, sizeof cut));
    put_version(out, t, "cuda_runtime_version", "CUDA");
    if (t->n_devices)
        buf_printf(out, "  %s", human_cut(trace_str(t, t->devices[0].name), 40, cut, sizeof cut));
    if (timeline_of(cx)->n_devices > 1) buf_printf(out, " x %u", timeline_of(cx)->n_devices);
    if (steps_of(cx)->n_steps)
        buf_printf(out, "  %s step%s", human_count(steps_of(cx)->n_steps).s,
                   steps_of(cx)->n_steps == 1 ? "" : "s");
    uint64_t events = (uint64_t)t->n_rows + t->n_flows;
    buf_printf(out, "  %s event%s\n", human_count(events).s, events == 1 ? "" : "s");
}

static void put_doubt(const struct screen *s, const struct doubt *d)
{
    struct buf text;
    buf_init(&text);
    buf_printf(&text, "%s: %s. To fix it: %s", d->what, d->means, d->instead);
    text_styled(s->out, d->level >= QUALITY_DOUBTFUL ? TEXT_RED : TEXT_YELLOW, s->color, "  !  ");
    text_wrap(s->out, buf_c(&text), 5, s->width);
    buf_done(&text);
}

static void put_quality(const struct screen *s, const struct context *cx)
{
    const struct undistort *u = undistort_of(cx);
    buf_printf(s->out, "trace quality: %s (replay error %.1f %%",
               quality_name(integrity_of(cx)->quality), fabs(undistort_error_pct(u)));
    if (u->plain_ns > 0 && u->traced_ns > u->plain_ns && !findings_of(cx)->unpriced)
        buf_printf(s->out, "; about %s without the profiler, %s with it", human_time(u->plain_ns).s,
                   human_time(u->traced_ns).s);
    buf_adds(s->out, ")\n");
    if (integrity_of(cx)->recording.sample_ns)
        buf_printf(s->out, "Python functions are sampled: their times are accurate to about %s\n",
                   human_time(integrity_of(cx)->recording.sample_ns).s);
    for (uint32_t i = 0; i < integrity_of(cx)->n_doubts; i++)
        if (integrity_of(cx)->doubts[i].level > QUALITY_GOOD)
            put_doubt(s, &integrity_of(cx)->doubts[i]);
}

/* "[4711] 4711" is 4711: what stands before it keeps processes apart. */
static struct str pid_in(struct str text)
{
    size_t n = 0;
    while (n < text.n && text.p[text.n - 1 - n] != ' ') n++;
    return str_from(text.p + text.n - n, n);
}

/* A device that several processes use is busy with the work of all of them. */
static void put_sharing(const struct screen *s, const struct context *cx)
{
    const struct sharing *h = sharing_of(cx);
    const struct trace *t = cx->t;
    struct buf text;
    if (h->n_processes < 2) return;
    buf_init(&text);
    buf_printf(&text, "%u processes use GPU %d, which is busy with the work of all of them",
               h->n_processes, h->device);
    if (steps_of(cx)->n_steps && steps_of(cx)->lane < t->n_lanes) {
        const struct process *p = &t->processes[t->lanes[steps_of(cx)->lane].process];
        buf_adds(&text, "; steps are those of process ");
        if (p->pid != ID_NONE) buf_printf(&text, "%lld", (long long)p->pid);
        else buf_add_str(&text, pid_in(trace_str(t, p->pid_text)));
    }
    buf_addc(&text, '\n');
    text_wrap(s->out, buf_c(&text), 0, s->width);
    buf_done(&text);
}

static const char *bound_title(enum bound b)
{
    return b == BOUND_GPU ? "GPU" : b == BOUND_CPU ? "CPU" : bound_name(b);
}

static const char *advice_for(enum bound b)
{
    switch (b) {
    case BOUND_GPU: return "Make the kernels faster";
    case BOUND_CPU: return "It waits for Python and other CPU work";
    case BOUND_LAUNCH:
        return "It waits for launches: use fewer, larger kernels, torch.compile or CUDA graphs";
    case BOUND_TRANSFER: return "Copies hold it up: pin, prefetch, overlap or avoid them";
    case BOUND_SYNC: return "The CPU and the GPU take turns waiting: remove the syncs";
    case BOUND_COMM: return "Run it beside compute, send less, or find the rank that comes late";
    case BOUND_MIXED: return "No single cause stands out: see the findings and strata gaps";
    case BOUND_UNKNOWN: break;
    }
    return "the trace has no device work";
}

/* A run has two clocks: the trace's, and the program's own, which starts when strata is loaded and
 * stops when the program ends. Where they differ, both are named; not where a part is shown, which
 * says itself what it leaves out. */
static void put_program_wall(struct buf *out, const struct context *cx)
{
    int64_t apart = llabs(cx->program_ns - wall_of(cx)->wall_ns);
    if (view_part_is(cx->t)) return;
    if (!cx->program_ns || apart * CLOCKS_DIFFER < cx->program_ns) return;
    if (cx->program_ns < wall_of(cx)->wall_ns) return; /* written before the program ended */
    buf_printf(out, "first to last event (timing.json: %s, from loading strata to the end), ",
               human_time(cx->program_ns).s);
}

/* Where much of the trace lies outside the GPU's work, the share within it is what it is bound by.
 */
static bool starts_late(const struct wall *w)
{
    return w->bound == BOUND_GPU && w->parts.outside_ns > w->wall_ns / OUTSIDE_SHOWS;
}

static void put_busy_within(struct buf *out, const struct wall *w)
{
    double outside = 100.0 * (double)w->parts.outside_ns / (double)w->wall_ns;
    buf_printf(out,
               "from its first to its last work the GPU is busy %s of the time; %s of the wall "
               "time lies before and after. ",
               human_pct(100 * w->busy_pct / (100 - outside)).s, human_pct(outside).s);
}

/* What the GPU does with its time; communication that no other work overlaps is not work. */
static void put_busy(struct buf *out, const struct context *cx)
{
    const struct wall *w = wall_of(cx);
    struct human busy = human_pct(w->busy_pct), comm = human_pct(comm_exposed_pct(comm_of(cx)));
    if (w->bound == BOUND_COMM)
        buf_printf(out, "for %s of the time the GPU does nothing but communicate (it is busy %s). ",
                   comm.s, busy.s);
    else if (comm_exposed_pct(comm_of(cx)) >= cx->th.value[TH_COMM_SHARE_PCT])
        buf_printf(out, "the GPU is busy %s of the time, %s with communication alone. ", busy.s,
                   comm.s);
    else if (starts_late(w)) put_busy_within(out, w);
    else buf_printf(out, "the GPU is busy %s of the time. ", busy.s);
}

void view_report_verdict(struct buf *out, const struct context *cx)
{
    buf_printf(out, "%s wall, ", human_time(wall_of(cx)->wall_ns).s);
    put_program_wall(out, cx);
    if (wall_of(cx)->abstains) {
        buf_printf(out, "no diagnosis: %s, so GPU idle time is unknown",
                   integrity_of(cx)->shared ? "another process shared the GPU"
                                            : "device records are incomplete");
        return;
    }
    if (view_cpu_only(cx)) {
        const struct cpu_hot *h = cpu_hot_of(cx);
        int64_t known = h->operators.self_ns + h->functions.self_ns;
        buf_adds(out, known ? "all of it on the CPU" : "of which only the stages are known");
        return;
    }
    if (wall_of(cx)->bound == BOUND_UNKNOWN) {
        buf_printf(out, "no GPU diagnosis: %s", advice_for(wall_of(cx)->bound));
        return;
    }
    buf_printf(out, "%s-bound: ", bound_title(wall_of(cx)->bound));
    put_busy(out, cx);
    buf_adds(out, advice_for(wall_of(cx)->bound));
    if (wall_of(cx)->bound == BOUND_GPU)
        buf_printf(out, "; a faster CPU side gains at most %s",
                   human_pct(100 - wall_of(cx)->busy_pct).s);
}

static void put_stage(struct text_table *table, const struct stage *st, int unit,
                      const struct context *cx)
{
    bool idle_trusted = integrity_of(cx)->idle_trusted;
    text_table_row(table, TEXT_PLAIN);
    text_table_cellf(table, 0, "%*s%s", (int)st->depth * 2, "",
                     strrchr(st->path, '/') ? strrchr(st->path, '/') + 1 : st->path);
    text_table_cell(table, 1, human_count(st->calls).s);
    screen_time(table, 2, st->cpu_ns, unit);
    if (view_cpu_only(cx)) return;
    screen_time(table, 3, st->gpu.sum_ns, unit);
    screen_time_if(table, 4, st->idle_meanwhile_ns, unit, idle_trusted);
    screen_count(table, 5, st->gpu.kernels);
    screen_count(table, 6, st->syncs);
}

static void put_between(struct text_table *table, const struct between *b, int unit,
                        const struct context *cx)
{
    bool idle_trusted = integrity_of(cx)->idle_trusted;
    text_table_row(table, TEXT_DIM);
    text_table_cell(table, 0, "(between stages)");
    screen_time(table, 2, b->cpu_ns, unit);
    if (view_cpu_only(cx)) return;
    screen_time(table, 3, b->gpu.sum_ns, unit);
    screen_time_if(table, 4, b->idle_meanwhile_ns, unit, idle_trusted);
    screen_count(table, 5, b->gpu.kernels);
    screen_count(table, 6, b->syncs);
}

/* Under the table: what it does not show, and what its rows were made from. */
static void put_stage_notes(const struct screen *s, const struct stage_pick *pick, bool derived)
{
    char left[96] = "";
    if (pick->n_left)
        snprintf(left, sizeof left, "  (%s smaller stage%s left out; strata stages lists all)\n",
                 human_count(pick->n_left).s, pick->n_left == 1 ? "" : "s");
    text_styled(s->out, TEXT_DIM, s->color, left);
    if (derived)
        text_styled(s->out, TEXT_DIM, s->color,
                    "  (derived: no label covers them; strata stages lists all of them)\n");
}

static void put_table(const struct screen *s, const struct context *cx,
                      const struct stage_pick *pick)
{
    const struct stages *st = stages_of(cx);
    struct text_table table;
    static const char *const heads[] = {"stage",    "calls",   "CPU",  "GPU",
                                        "GPU idle", "kernels", "syncs"};
    text_table_init(&table);
    int columns = view_cpu_only(cx) ? 3 : 7;
    for (int i = 0; i < columns; i++) text_table_col(&table, heads[i], i ? TEXT_RIGHT : TEXT_LEFT);
    int unit = screen_unit(wall_of(cx)->wall_ns);
    bool derived = false;
    for (uint32_t i = 0; i < pick->n; i++) {
        derived |= st->list[pick->list[i]].derived;
        put_stage(&table, &st->list[pick->list[i]], unit, cx);
    }
    if (st->between.cpu_ns || st->between.launches) put_between(&table, &st->between, unit, cx);
    buf_addc(s->out, '\n');
    text_table_print(&table, s->out, 2, s->width, s->color);
    text_table_done(&table);
    put_stage_notes(s, pick, derived);
}

static void put_stages(const struct screen *s, const struct context *cx)
{
    struct stage_pick pick;
    if (!stage_pick_run(stages_of(cx), DEEPEST_STAGE, true, STAGES_SHOWN, &pick))
        s->out->failed = true;
    if (pick.n) put_table(s, cx, &pick);
    stage_pick_done(&pick);
}

static enum text_style severity_style(enum severity s)
{
    return s == SEVERITY_HIGH ? TEXT_RED : s == SEVERITY_MEDIUM ? TEXT_YELLOW : TEXT_PLAIN;
}

static void put_line(const struct screen *s, const char *text)
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

static void put_gain(struct buf *out, const struct finding *f)
{
    if (f->device_ns) buf_printf(out, "%s on the GPU", human_time(f->device_ns).s);
    else
        buf_printf(out, "blocked %s, exposed %s", human_time(f->blocked_ns).s,
                   human_time(f->exposed_ns).s);
    if (f->advice || !f->n_edits) return;
    if (is_partner(f)) {
        buf_adds(out, "; together: no gain alone, but the others marked 'together' need it");
        return;
    }
    buf_printf(out, ", gain %s = %.1f %%", human_time(f->gain_ns).s, f->gain_pct);
    if (f->high_pct - f->low_pct > 1)
        buf_printf(out, " (%.0f ... %.0f %%)", f->low_pct, f->high_pct);
    if (f->together) buf_adds(out, " together (only if all findings marked 'together' are fixed)");
    if (fabs(f->alone.gain_pct - f->gain_pct) >= ALONE_DIFFERS)
        buf_printf(out, ", alone %.1f %%", f->alone.gain_pct > 0 ? f->alone.gain_pct : 0);
    buf_printf(out, "; effort: %s", effort_name(f->effort));
}

/* The ways to fix it, one per line: what it gains alone, what it takes. */
static void put_options(const struct screen *s, const struct finding *f)
{
    struct buf line;
    buf_init(&line);
    for (uint32_t i = 0; i < f->n_options; i++) {
        const struct finding_option *o = &f->options[i];
        buf_reset(&line);
        buf_printf(&line, "%-15s %5.1f %%  %-8s  ", o->what, o->gain_pct, effort_name(o->effort));
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

static void put_finding(const struct screen *s, const struct finding *f, uint32_t number)
{
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
    put_gain(&gain, f);
    put_line(s, buf_c(&gain));
    buf_done(&gain);
    if (is_partner(f)) return;
    put_line(s, f->why);
    put_line(s, f->fix);
    put_options(s, f);
}

/* Where the GPU is idle and the findings do not say why. */
static void put_fills(const struct screen *s, const struct context *cx)
{
    const struct no_gain *n = no_gain_of(cx);
    struct buf text;
    if (!n->unexplained || !n->n_fills) return;
    buf_init(&text);
    buf_printf(&text, "The GPU is idle for %s of the wall time.",
               human_pct(100 - wall_of(cx)->busy_pct).s);
    if (n->reason) buf_printf(&text, " No gain is promised: %s.", n->reason);
    buf_adds(&text, " It waits for");
    buf_adds(s->out, "\n  ");
    text_wrap(s->out, buf_c(&text), 2, s->width);
    for (uint32_t i = 0; i < n->n_fills; i++) {
        buf_printf(s->out, "    %6.1f %%  ", n->fills[i].share_pct);
        text_wrap(s->out, n->fills[i].what, 14, s->width);
    }
    buf_done(&text);
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

static void put_findings(const struct screen *s, const struct context *cx)
{
    const struct findings *f = findings_of(cx);
    buf_addc(s->out, '\n');
    if (wall_of(cx)->abstains) {
        buf_adds(s->out, integrity_of(cx)->shared
                             ? "  no findings: times include what another process ran\n"
                             : "  no findings: the records cannot be trusted\n");
    } else if (f->n == 0 && (no_gain_of(cx)->n_fills || view_cpu_only(cx))) {
        buf_adds(s->out, "  no findings\n");
    } else if (f->n == 0) {
        text_styled(s->out, TEXT_GREEN, s->color, "  no findings: nothing to fix");
        buf_addc(s->out, '\n');
    } else if (f->unpriced) {
        put_unpriced(s, cx);
    } else {
        text_styled(s->out, TEXT_DIM, s->color,
                    "  findings by gain: wall time saved without the profiler, if the findings "
                    "above are fixed too");
        buf_addc(s->out, '\n');
    }
    for (uint32_t i = 0; i < f->n && i < s->limit; i++) put_finding(s, f->items[i], i + 1);
    if (f->n > s->limit)
        buf_printf(s->out, "  ... and %u more (--top %u)\n", f->n - s->limit, f->n);
    if (f->n_minor && f->unpriced)
        buf_printf(s->out, "  not worth your time: %u other finding%s (blocked %s in total)\n",
                   f->n_minor, f->n_minor == 1 ? "" : "s", human_time(f->minor_blocked_ns).s);
    else if (f->n_minor)
        buf_printf(s->out,
                   "  not worth your time: %u other finding%s (blocked %s, gain %s in total)\n",
                   f->n_minor, f->n_minor == 1 ? "" : "s", human_time(f->minor_blocked_ns).s,
                   human_time(f->minor_gain_ns).s);
}

/* The rungs: what the wall clock would be, and its share of today's. */
static void put_ladder(const struct screen *s, const struct context *cx)
{
    const struct ladder *l = ladder_of(cx);
    struct text_table table;
    if (!l->n) return;
    text_table_init(&table);
    text_table_col(&table, "ladder, without the profiler", TEXT_LEFT);
    text_table_col(&table, "wall", TEXT_RIGHT);
    text_table_col(&table, "of today", TEXT_RIGHT);
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
    text_table_print(&table, s->out, 2, s->width, s->color);
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

static void put_next(const struct screen *s, const struct context *cx)
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
        next[n++] = (struct screen_next){"lint %s", "what is missing or damaged, and where"};
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

void view_report_text(const struct screen *s, const struct context *cx)
{
    view_report_title(s->out, cx, s->path);
    view_part_text(s->out, cx->t);
    view_odd_step_text(s, cx);
    put_quality(s, cx);
    put_sharing(s, cx);
    buf_adds(s->out, "\n  ");
    struct buf verdict;
    buf_init(&verdict);
    view_report_verdict(&verdict, cx);
    text_wrap(s->out, buf_c(&verdict), 2, s->width);
    buf_done(&verdict);
    view_comm_text(s, cx);
    put_stages(s, cx);
    view_requests_text(s, cx);
    if (view_cpu_only(cx)) {
        view_cpu_text(s, cx);
        put_findings(s, cx);
        put_next(s, cx);
        return;
    }
    view_top_kernels_text(s, cx);
    put_findings(s, cx);
    put_fills(s, cx);
    buf_adds(s->out, "\n  checklist\n");
    view_checklist_text(s, cx);
    put_ladder(s, cx);
    put_next(s, cx);
}
