/* view_report.c: the answer on one screen: the result, the findings (view_report_findings.c), what
 * looks slow and is not, one line of state. A fixed number of lines: what does not fit is behind
 * -v, and the screen says so. */
#include "report/diagnosis/view_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyze/answer/hot_spots.h"
#include "analyze/device/gpu_sharing.h"
#include "analyze/kernels/known.h"
#include "analyze/kernels/top_kernels.h"
#include "analyze/ops/cpu_hot.h"
#include "analyze/recorded/recorded.h"
#include "base/human.h"
#include "base/shell.h"
#include "base/stats.h"
#include "base/utf8.h"
#include "report/diagnosis/view_excerpt.h"
#include "report/lists/views_kernels.h"
#include "report/lists/views_time.h"
#include "report/report_private.h"
#include "results/results.h"

/* Lines of the whole screen. */
#define MOST_LINES 25
/* Columns of the first line, and the fewest of the trace's name in it. */
#define TITLE_WIDTH 100
#define TITLE_NAME  24
/* Time that faster kernels could save, of the wall clock, below which none is named. */
#define VIEW_REPORT_LEAST_SAVED_PCT 0.05
/* Families of kernels until this share of the GPU's time, at most so many. */
#define FAMILIES_PCT  95.0
#define FAMILIES_MOST 4
/* Columns of the places of hot spots, of the names that go before places, and of all that stands
 * beside name and place. */
#define HOT_WHERE   38
#define HOT_NAME    26
#define HOT_FIGURES 38
/* Parts of a step that took too long. */
#define ODD_PARTS_MOST 3
/* Rows of stages, and of hot operators and functions below them, without GPU work. */
#define CPU_STAGES_MOST 4
#define CPU_STAGED_MOST 2

int view_report_need(struct context *cx, struct err *e)
{
    TRY(context_need(cx, &checklist_pass, e));
    TRY(context_need(cx, &ladder_pass, e));
    TRY(context_need(cx, &answer_pass, e));
    TRY(context_need(cx, &cpu_hot_pass, e));
    TRY(context_need(cx, &odd_step_pass, e));
    TRY(context_need(cx, &requests_pass, e));
    TRY(context_need(cx, &messages_pass, e));
    TRY(context_need(cx, &mps_pass, e));
    if (cx->t->deep) TRY(context_need(cx, &known_pass, e));
    return context_need(cx, &no_gain_pass, e);
}

static void view_report_put_version(struct buf *out, const struct trace *t, const char *key,
                                    const char *name)
{
    struct str v = trace_meta(t, key);
    long n = 0;
    for (size_t i = 0; v.p && i < v.n && v.p[i] >= '0' && v.p[i] <= '9'; i++)
        n = n * 10 + (v.p[i] - '0');
    if (n >= 1000) buf_printf(out, ", %s %ld.%ld", name, n / 1000, n % 1000 / 10);
}

/* The name of a file, or of a folder that may be written with a slash at its end. */
static struct str view_report_last_part(const char *path)
{
    struct str s = str_c(path);
    while (s.n > 1 && s.p[s.n - 1] == '/') s.n--;
    for (size_t i = s.n; i > 0; i--)
        if (s.p[i - 1] == '/' && i < s.n) return (struct str){s.p + i, s.n - i};
    return s;
}

/* A time with the profiler that differs by less is the same. */
#define VIEW_REPORT_PROFILER_PCT 1.0

/* The time without the profiler, and with it where that differs. */
static void view_report_put_wall(struct buf *out, const struct context *cx)
{
    const struct wall *w = wall_of(cx);
    struct human plain = human_time(answer_of(cx)->wall_ns), traced = human_time(w->wall_ns);
    buf_printf(out, "   %s", plain.s);
    double more = stats_pct((double)(w->wall_ns - answer_of(cx)->wall_ns), (double)w->wall_ns);
    if (fabs(more) >= VIEW_REPORT_PROFILER_PCT)
        buf_printf(out, " (%s with the profiler)", traced.s);
}

/* "   NVIDIA H200, CUDA 13.0   3 steps   156 ms" */
static void view_report_put_facts(struct buf *out, const struct context *cx)
{
    const struct trace *t = cx->t;
    char cut[160];
    if (t->n_devices && trace_str(t, t->devices[0].name).n) {
        buf_printf(out, "   %s", human_cut(trace_str(t, t->devices[0].name), 40, cut, sizeof cut));
        if (timeline_of(cx)->n_devices > 1) buf_printf(out, " x %u", timeline_of(cx)->n_devices);
        view_report_put_version(out, t, "cuda_runtime_version", "CUDA");
    }
    if (steps_of(cx)->n_steps)
        buf_printf(out, "   %s step%s", human_count(steps_of(cx)->n_steps).s,
                   steps_of(cx)->n_steps == 1 ? "" : "s");
    view_report_put_wall(out, cx);
}

void view_report_title(struct buf *out, const struct context *cx, const char *path)
{
    struct buf facts;
    char cut[256];
    buf_init(&facts);
    view_report_put_facts(&facts, cx);
    int room = TITLE_WIDTH - utf8_width(buf_str(&facts));
    buf_adds(out, human_cut(view_report_last_part(path), room > TITLE_NAME ? room : TITLE_NAME, cut,
                            sizeof cut));
    buf_add_str(out, buf_str(&facts));
    buf_addc(out, '\n');
    if (facts.failed) out->failed = true;
    buf_done(&facts);
}

void view_report_verdict(struct buf *out, const struct context *cx)
{
    const struct answer *a = answer_of(cx);
    size_t n = strlen(a->headline);
    buf_adds(out, a->headline);
    if (a->detail) buf_printf(out, "%s %s", n && a->headline[n - 1] == '.' ? "" : ".", a->detail);
}

int view_report_lines(const struct buf *b)
{
    int n = 0;
    for (size_t i = 0; i < b->n; i++) n += b->p[i] == '\n';
    return n;
}

/* ---- the head: what was recorded, and the result ---- */

static enum text_style view_report_color(const struct answer *a)
{
    return a->opportunity == OPPORTUNITY_LARGE  ? TEXT_RED
           : a->opportunity == OPPORTUNITY_SOME ? TEXT_YELLOW
           : a->opportunity == OPPORTUNITY_NONE ? TEXT_GREEN
                                                : TEXT_BOLD;
}

/* The worst problem of the trace, in a line or two; -v has all of them. */
static void view_report_put_problem(const struct screen *s, const struct context *cx)
{
    const struct integrity *q = integrity_of(cx);
    if (q->quality == QUALITY_GOOD) return;
    bool more = q->n_problems > 1 && q->problems[1].level > QUALITY_GOOD;
    struct buf text;
    buf_init(&text);
    buf_printf(&text, "%s: %s%s", q->problems[0].what, q->problems[0].means,
               more ? " (-v lists all problems)" : "");
    text_styled(s->out, q->problems[0].level >= QUALITY_DOUBTFUL ? TEXT_RED : TEXT_YELLOW, s->color,
                "  !  ");
    text_wrap(s->out, buf_c(&text), 5, s->width);
    buf_done(&text);
}

/* "[4711] 4711" is 4711: what stands before it keeps processes apart. */
static struct str view_report_pid(struct str text)
{
    size_t n = 0;
    while (n < text.n && text.p[text.n - 1 - n] != ' ') n++;
    return str_from(text.p + text.n - n, n);
}

/* A device that several processes use is busy with the work of all of them. */
void view_report_put_sharing(const struct screen *s, const struct context *cx)
{
    const struct mps *h = mps_of(cx);
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
        else buf_add_str(&text, view_report_pid(trace_str(t, p->pid_text)));
    }
    buf_addc(&text, '\n');
    text_wrap(s->out, buf_c(&text), 0, s->width);
    buf_done(&text);
}

/* What a busy machine took, which no change of the code gives back. */
static void view_report_put_lost(const struct screen *s, const struct context *cx)
{
    double lost = (double)gaps_host_late_ns(gaps_of(cx)), wall = (double)wall_of(cx)->wall_ns;
    struct buf text;
    if (lost < VIEW_LOST_SHARE * wall || wall <= 0) return;
    buf_init(&text);
    buf_printf(
        &text,
        "late host: for %s of the wall clock the GPU was idle because a thread that launches "
        "had no core: other programs, or too many threads of this one (strata gaps)\n",
        human_pct(stats_pct(lost, wall)).s);
    text_wrap(s->out, buf_c(&text), 0, s->width);
    buf_done(&text);
}

/* What kind of recording this is, where that is unusual. */
void view_report_put_recorded(const struct screen *s, const struct context *cx)
{
    if (*recorded_of(cx)->sentence) text_wrap(s->out, recorded_of(cx)->sentence, 0, s->width);
}

/* Which part of the recording is shown, and what is left out. */
static void view_report_put_excerpt(const struct screen *s, const struct context *cx)
{
    struct buf text;
    buf_init(&text);
    view_excerpt_brief(&text, cx->t);
    if (text.n) text_wrap(s->out, buf_c(&text), 0, s->width);
    if (text.failed) s->out->failed = true;
    buf_done(&text);
}

static void view_report_put_head(const struct screen *s, const struct context *cx)
{
    const struct answer *a = answer_of(cx);
    struct buf text;
    buf_init(&text);
    view_report_title(s->out, cx, s->path);
    view_report_put_excerpt(s, cx);
    view_report_put_clocks(s->out, cx);
    view_odd_step_text(s, cx, ODD_PARTS_MOST);
    view_report_put_sharing(s, cx);
    view_report_put_lost(s, cx);
    view_report_put_problem(s, cx);
    buf_adds(s->out, "\n  ");
    text_wrap(&text, a->headline, 2, s->width);
    text_styled(s->out, view_report_color(a), s->color, buf_c(&text));
    if (a->detail) {
        buf_adds(s->out, "  ");
        text_wrap(s->out, a->detail, 2, s->width);
    }
    if (text.failed) s->out->failed = true;
    buf_done(&text);
}

/* ---- where there is nothing to fix: what fills the time ---- */

static double view_report_family_num(const struct rows *r, uint32_t i, const char *key)
{
    return rows_value(r, i, result_field(&result_family_sums, key)).num;
}

static void view_report_put_family(struct text_table *table, const struct rows *r, uint32_t i)
{
    double tflops = view_report_family_num(r, i, "tflop_per_s"),
           gbytes = view_report_family_num(r, i, "gb_per_s"),
           best = view_report_family_num(r, i, "of_roof_pct");
    text_table_row(table, TEXT_PLAIN);
    struct str name = rows_value(r, i, result_field(&result_family_sums, "family")).text;
    text_table_cellf(table, 0, STR_FMT, STR_ARG(name));
    text_table_cellf(table, 1, "%.0f %%", view_report_family_num(r, i, "share_pct"));
    if (isfinite(tflops)) text_table_cellf(table, 2, "%.0f TFLOP/s", tflops);
    else if (isfinite(gbytes)) text_table_cellf(table, 2, "%.2f TB/s", gbytes / 1e3);
    else text_table_cell(table, 2, "-");
    if (!isfinite(best)) return;
    int64_t saved = rows_value(r, i, result_field(&result_family_sums, "could_save_us")).i;
    double saved_pct = view_report_family_num(r, i, "could_save_pct");
    text_table_cellf(table, 3, "%.0f %%", best);
    if (saved_pct < VIEW_REPORT_LEAST_SAVED_PCT) {
        text_table_cell(table, 4, "-");
        return;
    }
    text_table_cellf(table, 4, "%s", human_time(saved).s);
    text_table_cellf(table, 5, "%.1f %%", saved_pct);
}

/* "GPU time: gemm 59 %, attention 22 %": where no speed is known, shares are all there is. */
static void view_report_put_shares(const struct screen *s, const struct rows *r)
{
    struct buf line;
    buf_init(&line);
    for (uint32_t i = 0; i < r->n && i < FAMILIES_MOST; i++) {
        struct str name = rows_value(r, i, result_field(&result_family_sums, "family")).text;
        buf_printf(&line, "%s" STR_FMT " %.0f %%", i ? ", " : "GPU time: ", STR_ARG(name),
                   view_report_family_num(r, i, "share_pct"));
    }
    buf_adds(s->out, "\n  ");
    text_wrap(s->out, buf_c(&line), 2, s->width);
    if (line.failed) s->out->failed = true;
    buf_done(&line);
}

static void view_report_put_families(const struct screen *s, const struct context *cx)
{
    static const char *const heads[] = {"GPU time", "share",      "speed",
                                        "of best",  "could save", "of wall"};
    struct rows r = rows_family_sums(cx);
    struct text_table table;
    double sum = 0;
    bool known = false;
    for (uint32_t i = 0; i < r.n && i < FAMILIES_MOST; i++)
        known |= isfinite(view_report_family_num(&r, i, "of_roof_pct"));
    if (!known) {
        view_report_put_shares(s, &r);
        return;
    }
    text_table_init(&table);
    for (int i = 0; i < 6; i++) text_table_col(&table, heads[i], i ? TEXT_RIGHT : TEXT_LEFT);
    for (uint32_t i = 0; i < r.n && i < FAMILIES_MOST && sum < FAMILIES_PCT; i++) {
        view_report_put_family(&table, &r, i);
        sum += view_report_family_num(&r, i, "share_pct");
    }
    buf_addc(s->out, '\n');
    screen_table(s, &table);
    text_table_done(&table);
}

static const char *view_report_hot_where(const struct hot_spot *x, int most, char *cut, size_t cap)
{
    return x->where ? human_cut_path(str_c(x->where), most, cut, cap) : "-";
}

/* Columns for places: what the names leave, which are needed more. */
static int view_report_hot_columns(const struct hot_spots *h, int columns)
{
    char cut[256];
    int name = 0, where = 5;
    for (uint32_t i = 0; i < h->n; i++) {
        int n = utf8_width(str_c(h->list[i].what));
        if (n > name) name = n;
    }
    int room = columns - HOT_FIGURES - (name < HOT_NAME ? name : HOT_NAME);
    if (room > HOT_WHERE) room = HOT_WHERE;
    for (uint32_t i = 0; i < h->n; i++) {
        int n = utf8_width(str_c(view_report_hot_where(&h->list[i], room, cut, sizeof cut)));
        if (n > where) where = n;
    }
    return where;
}

/* Which operators and lines hold the time, and the most that a change there gains. */
static void view_report_put_hot_spots(const struct screen *s, const struct context *cx)
{
    const struct hot_spots *h = hot_spots_of(cx);
    struct text_table table;
    char cut[256];
    int columns = s->columns ? s->columns : s->width;
    int where = view_report_hot_columns(h, columns);
    if (!h->n) return;
    text_table_init(&table);
    text_table_col(&table, "holds GPU time", TEXT_LEFT);
    text_table_col(&table, "kind", TEXT_LEFT);
    text_table_col(&table, "share", TEXT_RIGHT);
    text_table_col(&table, "without it", TEXT_RIGHT);
    text_table_col(&table, "where", TEXT_LEFT);
    for (uint32_t i = 0; i < h->n; i++) {
        const struct hot_spot *x = &h->list[i];
        text_table_row(&table, TEXT_PLAIN);
        text_table_cell(&table, 0,
                        human_cut(str_c(x->what), columns - where - HOT_FIGURES, cut, sizeof cut));
        text_table_cell(&table, 1, x->kind);
        text_table_cellf(&table, 2, "%.0f %%", x->share_pct);
        text_table_cellf(&table, 3, "at most -%.0f %%", x->gain_pct);
        text_table_cell(&table, 4, view_report_hot_where(x, where, cut, sizeof cut));
    }
    buf_addc(s->out, '\n');
    screen_table(s, &table);
    text_table_done(&table);
}

/* What the GPU waits for, where no finding explains it. */
static void view_report_put_idle(const struct screen *s, const struct context *cx)
{
    const struct no_gain *n = no_gain_of(cx);
    if (!n->n_fills) return;
    buf_adds(s->out, "\n  the GPU waits for\n");
    for (uint32_t i = 0; i < n->n_fills && i < FAMILIES_MOST; i++) {
        char cut[160];
        buf_printf(s->out, "  %5.1f %%  %s\n", n->fills[i].share_pct,
                   human_cut(str_c(n->fills[i].what), s->width - 12, cut, sizeof cut));
    }
}

/* A program without GPU work: its stages, its requests, and what it spends the time in. */
static void view_report_put_cpu(const struct screen *s, const struct context *cx)
{
    bool staged = stages_of(cx)->n > 0;
    if (staged) view_report_put_stages(s, cx, CPU_STAGES_MOST);
    view_requests_brief(s, cx);
    view_cpu_text(s, cx, staged ? CPU_STAGED_MOST : VIEW_CPU_MOST);
}

static void view_report_put_filling(const struct screen *s, const struct context *cx)
{
    const struct answer *a = answer_of(cx);
    if (a->kind == ANSWER_NO_GPU_WORK) view_report_put_cpu(s, cx);
    else if (a->kind == ANSWER_FASTER || wall_of(cx)->abstains) return;
    else if (a->limit == LIMIT_GPU && top_kernels_of(cx)->by_op.n_rows) {
        view_report_put_families(s, cx);
        view_report_put_hot_spots(s, cx);
        if (wall_of(cx)->plain.busy_pct < answer_busy_pct) view_report_put_idle(s, cx);
    } else view_report_put_idle(s, cx);
}

/* ---- the end ---- */

/* "* if all such waits are removed; alone 369 us, 621 us": waits that hide each other */
static void view_report_put_alone(const struct screen *s, const struct answer *a)
{
    struct buf text;
    buf_init(&text);
    for (uint32_t i = 0; i < a->n_not_slow; i++)
        if (a->not_slow[i].shared)
            buf_printf(&text, "%s%s", text.n ? ", " : "",
                       human_time(finding_alone_ns(a->not_slow[i].finding)).s);
    if (text.n) buf_printf(s->out, "  * if all such waits are removed; alone %s\n", buf_c(&text));
    if (text.failed) s->out->failed = true;
    buf_done(&text);
}

static void view_report_put_not_slow(const struct screen *s, const struct context *cx)
{
    static const char *const heads[] = {"looks slow and is not", "blocks", "gains", "where"};
    const struct answer *a = answer_of(cx);
    struct text_table table;
    struct buf place;
    if (!a->n_not_slow) return;
    buf_init(&place);
    text_table_init(&table);
    for (int i = 0; i < 4; i++)
        text_table_col(&table, heads[i], i == 1 || i == 2 ? TEXT_RIGHT : TEXT_LEFT);
    for (uint32_t i = 0; i < a->n_not_slow; i++) {
        const struct not_slow *x = &a->not_slow[i];
        const struct finding *f = x->finding;
        text_table_row(&table, TEXT_PLAIN);
        text_table_cell(&table, 0, x->what);
        text_table_cell(&table, 1, human_time(f->blocked_ns).s);
        text_table_cellf(&table, 2, "%s%s", x->gain_ns > 0 ? human_time(x->gain_ns).s : "nothing",
                         x->shared ? "*" : "");
        const char *where = view_report_place(f, VIEW_REPORT_PLACE, &place);
        text_table_cell(&table, 3, strcmp(where, x->what) != 0 ? where : "-");
    }
    buf_addc(s->out, '\n');
    screen_table(s, &table);
    view_report_put_alone(s, a);
    text_table_done(&table);
    if (place.failed) s->out->failed = true;
    buf_done(&place);
}

/* Findings that no time is gained by. */
static void view_report_put_advice(const struct screen *s, const struct context *cx)
{
    const struct findings *f = findings_of(cx);
    struct buf note;
    char cut[80];
    buf_init(&note);
    for (uint32_t i = 0; i < f->n; i++) {
        const struct finding *x = f->items[i];
        if (!x->advice) continue;
        buf_reset(&note);
        buf_printf(&note, "note: %s", x->title);
        if (x->subject && x->subject[0])
            buf_printf(&note, " (%s)", human_cut(str_c(x->subject), 40, cut, sizeof cut));
        buf_printf(&note, ": strata explain %s", x->rule->id);
        buf_adds(s->out, "  ");
        text_wrap(s->out, buf_c(&note), 8, s->width);
    }
    if (note.failed) s->out->failed = true;
    buf_done(&note);
}

/* "8 more findings: 1 gains 1 % or more, 7 less (-v)" */
static void view_report_put_rest(const struct screen *s, const struct context *cx, uint32_t left)
{
    const struct findings *f = findings_of(cx);
    const struct answer *a = answer_of(cx);
    uint32_t small = f->n_minor;
    for (uint32_t i = 0; i < f->n; i++)
        small += !f->items[i]->advice && !view_report_lists(cx, f->items[i]);
    small -= a->n_not_slow < small ? a->n_not_slow : small;
    if ((!small && !left) || (a->kind == ANSWER_CANNOT_TELL && wall_of(cx)->bound == BOUND_UNKNOWN))
        return;
    uint32_t all = small + left;
    buf_printf(s->out, "  %u %sfinding%s", all, a->worth || a->n_not_slow ? "more " : "",
               all == 1 ? "" : "s");
    const char *gain = all == 1 ? "gains" : "gain";
    if (small && left)
        buf_printf(s->out, ": %u gain%s %g %% or more, %u less (-v)\n", left, left == 1 ? "s" : "",
                   a->worth_pct, small);
    else if (left) buf_printf(s->out, " %s %g %% or more (-v)\n", gain, a->worth_pct);
    else buf_printf(s->out, " %s less than %g %% (-v)\n", gain, a->worth_pct);
}

static void view_report_put_next(const struct screen *s, const struct context *cx)
{
    const struct findings *f = findings_of(cx);
    struct screen_next next[3];
    int n = 0;
    const char *show = NULL;
    for (uint32_t i = 0; i < f->n && !show; i++)
        if (view_report_lists(cx, f->items[i])) show = f->items[i]->show;
    if (show) next[n++] = (struct screen_next){show, "the evidence of finding 1"};
    else if (wall_of(cx)->abstains)
        next[n++] = (struct screen_next){"info %s --lint", "what is missing or damaged, and where"};
    next[n++] = (struct screen_next){"report %s --html report.html", "with a timeline"};
    next[n++] = (struct screen_next){"report %s -v", "all details"};
    screen_next(s, next, n);
}

/* One line if it can be: that the trace is good goes first. */
static void view_report_put_state(const struct screen *s, const char *state)
{
    static const char good[] = ", trace good";
    struct str all = str_c(state);
    struct buf line;
    if (2 + utf8_width(all) > s->width && str_ends(all, good)) all.n -= sizeof good - 1;
    buf_init(&line);
    buf_add_str(&line, all);
    buf_adds(s->out, "  ");
    text_wrap(s->out, buf_c(&line), 2, s->width);
    if (line.failed) s->out->failed = true;
    buf_done(&line);
}

static void view_report_put_end(const struct screen *s, const struct context *cx, uint32_t left)
{
    buf_addc(s->out, '\n');
    view_report_put_advice(s, cx);
    view_report_put_rest(s, cx, left);
    view_report_put_state(s, answer_of(cx)->state);
    view_report_put_next(s, cx);
}

static int view_report_end_lines(const struct screen *s, const struct context *cx, uint32_t left)
{
    struct buf end;
    struct screen in = *s;
    buf_init(&end);
    in.out = &end;
    view_report_put_end(&in, cx, left);
    int n = view_report_lines(&end);
    if (end.failed) s->out->failed = true;
    buf_done(&end);
    return n;
}

/* The findings get the lines that the rest leaves. The end says how many of them have none, and may
 * need a line more for it. */
void view_report_text(const struct screen *s, const struct context *cx)
{
    struct buf found, middle;
    struct screen in = *s;
    size_t before = s->out->n;
    buf_init(&found);
    buf_init(&middle);
    in.out = &middle;
    view_report_put_head(s, cx);
    int head = view_report_lines(&(struct buf){.p = s->out->p + before, .n = s->out->n - before});
    view_report_put_filling(&in, cx);
    view_report_put_not_slow(&in, cx);
    int lines = MOST_LINES - head - view_report_lines(&middle);
    in.out = &found;
    uint32_t left = view_report_put_findings(&in, cx, lines - view_report_end_lines(s, cx, 0));
    if (left) {
        buf_reset(&found);
        left = view_report_put_findings(&in, cx, lines - view_report_end_lines(s, cx, left));
    }
    buf_add_str(s->out, buf_str(&found));
    buf_add_str(s->out, buf_str(&middle));
    view_report_put_end(s, cx, left);
    if (found.failed || middle.failed) s->out->failed = true;
    buf_done(&found);
    buf_done(&middle);
}
