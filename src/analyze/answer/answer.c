/* answer.c: see answer.h. */
#include "analyze/answer/answer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyze/answer/energy.h"
#include "analyze/answer/hot_spots.h"
#include "analyze/answer/ladder.h"
#include "analyze/answer/mfu.h"
#include "analyze/answer/no_gain.h"
#include "analyze/comm/comm.h"
#include "analyze/comm/host_messages.h"
#include "analyze/kernels/top_kernels.h"
#include "analyze/names/collective.h"
#include "analyze/names/program.h"
#include "analyze/names/readback.h"
#include "analyze/names/torch_words.h"
#include "analyze/ops/cpu_hot.h"
#include "analyze/recorded/recorded.h"
#include "base/human.h"
#include "base/stats.h"

const char *answer_kind_name(enum answer_kind k)
{
    static const char *const names[] = {"faster", "already_fast", "no_gpu_work", "cannot_tell"};
    return names[k];
}

const char *answer_opportunity_name(enum opportunity o)
{
    static const char *const names[] = {"none", "some", "large", "unknown"};
    return names[o];
}

const char *answer_sure_name(enum sure s)
{
    static const char *const names[] = {"low", "medium", "high"};
    return names[s];
}

static bool answer_is_priced(const struct finding *f)
{
    return !f->advice && f->n_edits > 0;
}

bool answer_is_worth(const struct answer *a, const struct finding *f)
{
    return !a->cold && answer_is_priced(f) && f->gain_pct >= a->worth_pct;
}

struct human_change answer_change(int64_t before_ns, int64_t after_ns)
{
    struct human b = human_time(before_ns), a = human_time(after_ns);
    struct human_change out;
    char *unit = strchr(b.s, ' ');
    const char *other = strchr(a.s, ' ');
    if (unit && other && strcmp(unit, other) == 0) *unit = '\0';
    snprintf(out.s, sizeof out.s, "%s -> %s", b.s, a.s);
    return out;
}

/* ---- what to do, and what it gains ---- */

/* How many of the first findings have most of what all of them gain; those that gain only together
 * come together. */
static void answer_count_fixes(const struct findings *f, struct answer *a)
{
    int64_t all = 0, sum = 0;
    bool together = false;
    for (uint32_t i = 0; i < f->n; i++) {
        if (answer_is_priced(f->items[i])) all += f->items[i]->gain_ns;
        a->worth += answer_is_worth(a, f->items[i]);
    }
    for (uint32_t i = 0; i < f->n; i++) {
        const struct finding *x = f->items[i];
        if (!answer_is_worth(a, x)) continue;
        if ((double)sum >= answer_most_share * (double)all && !(together && x->together)) continue;
        sum += x->gain_ns;
        together |= x->together;
        a->fixes++;
    }
    a->after_ns = a->wall_ns - sum;
    a->gain_pct = stats_pct((double)sum, (double)a->wall_ns);
}

static const struct finding *answer_first(const struct findings *f, const struct answer *a)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (answer_is_worth(a, f->items[i])) return f->items[i];
    return NULL;
}

/* The way to fix the first finding that its gain is about, where it has several; or NULL. */
static const struct finding_option *answer_priced_by(const struct finding *first)
{
    for (uint32_t i = 0; i < first->n_options; i++)
        if (fabs(first->options[i].gain_pct - first->alone.gain_pct) < answer_same_points &&
            first->options[i].times <= 1)
            return &first->options[i];
    return NULL;
}

/* "one change", "3 changes", or the way that the gain is about. */
static const char *answer_changes(const struct context *cx, const struct answer *a,
                                  const struct finding *first)
{
    if (a->fixes > 1) return rule_text(cx, "%s changes", human_count(a->fixes).s);
    const struct finding_option *o = answer_priced_by(first);
    return o ? o->what : "one change";
}

/* ", bf16 -87 %": another way gains more than the one of the headline. */
static const char *answer_better(const struct context *cx, const struct answer *a,
                                 const struct finding *first)
{
    const struct finding_option *best = answer_priced_by(first);
    const struct finding_option *priced = best;
    if (a->fixes != 1 || !best) return "";
    for (uint32_t i = 0; i < first->n_options; i++) {
        const struct finding_option *o = &first->options[i];
        if (o->times <= 1 && !o->no_headline &&
            o->gain_pct >= best->gain_pct + answer_better_points)
            best = o;
    }
    return best == priced ? "" : rule_text(cx, "; %s -%.0f %%", best->what, best->gain_pct);
}

/* What of the headline's gain may not come, for reasons that the trace does not show. */
static double answer_doubt(const struct context *cx, const struct answer *a)
{
    const struct findings *f = findings_of(cx);
    double pct = 0;
    for (uint32_t i = 0, n = 0; i < f->n && n < a->fixes; i++) {
        if (!answer_is_worth(a, f->items[i])) continue;
        n++;
        pct += f->items[i]->doubt * f->items[i]->gain_pct;
    }
    return pct;
}

/* Of one change, as its replay says; of several where one of them may not be possible. */
static const char *answer_range(const struct context *cx, const struct answer *a,
                                const struct finding *first)
{
    double doubt = answer_doubt(cx, a), least = a->gain_pct - doubt;
    if (a->fixes > 1 && doubt >= answer_range_points)
        return rule_text(cx, ", likely -%.0f to -%.0f %%", least > 0 ? least : 0, a->gain_pct);
    if (a->fixes != 1 || first->high_pct - first->low_pct < answer_range_points) return "";
    if (first->low_pct < answer_nothing_pct)
        return rule_text(cx, ", likely 0 to -%.0f %%", first->high_pct);
    return rule_text(cx, ", likely -%.0f to -%.0f %%", first->low_pct, first->high_pct);
}

/* Time of today in which the device is idle and which no fix of the headline fills. Fixes of
 * kernels, copies and communication shorten busy time instead. */
static int64_t answer_idle_unfixed(const struct context *cx, const struct answer *a)
{
    const struct findings *f = findings_of(cx);
    double idle_pct = 100 - wall_of(cx)->plain.busy_pct;
    for (uint32_t i = 0, n = 0; i < f->n && n < a->fixes; i++) {
        enum limit l = f->items[i]->rule->limit;
        if (!answer_is_worth(a, f->items[i])) continue;
        n++;
        if (l != LIMIT_GPU && l != LIMIT_COMM && l != LIMIT_TRANSFER)
            idle_pct -= f->items[i]->gain_pct;
    }
    return idle_pct > 0 ? (int64_t)(idle_pct / 100 * (double)a->wall_ns) : 0;
}

/* The largest cause of idle time that no change of the program removes directly, where it is most
 * of what the fixes leave; NULL otherwise. */
static const char *answer_left_cause(const struct context *cx, double left_pct)
{
    const struct gaps *g = gaps_of(cx);
    for (uint32_t i = 0; i < g->n_causes; i++) {
        const struct gap_cause *c = &g->causes[i];
        bool own = c->kind == CAUSE_DEVICE || c->kind == CAUSE_DEPENDENCY ||
                   c->kind == CAUSE_GRAPH || c->kind == CAUSE_UNTRACED || c->kind == CAUSE_UNKNOWN;
        double pct = stats_pct((double)c->idle_ns, (double)wall_of(cx)->wall_ns);
        if (g->devices[c->device].device != wall_of(cx)->parts.device || !own) continue;
        if (2 * pct < left_pct) return NULL;
        return rule_text(cx, "%s (%s)", rule_name(cx, c->name, 60), human_pct(pct).s);
    }
    return NULL;
}

/* What is still lost once the fixes are made, where that is a good part of today's time. */
static const char *answer_left(const struct context *cx, const struct answer *a)
{
    int64_t gpu = ladder_of(cx)->gpu_ns;
    int64_t idle = answer_idle_unfixed(cx, a), lost = a->after_ns - gpu;
    double left = stats_pct((double)(lost < idle ? lost : idle), (double)a->wall_ns);
    if (gpu <= 0 || left < answer_idle_left_pct) return NULL;
    const char *cause = answer_left_cause(cx, left);
    if (cause)
        return rule_text(cx,
                         "For another %.0f %% of the time the GPU is idle, and no fix is known. "
                         "Largest cause: %s; strata gaps shows all.",
                         left, cause);
    return rule_text(cx,
                     "For another %.0f %% of the time the GPU is idle, and no fix is known (strata "
                     "gaps shows why).",
                     left);
}

/* "Communication alone takes 64 % of the time. ", where the profiler hardly changes the time that
 * this is a share of. */
static const char *answer_communicates(const struct context *cx)
{
    const struct wall *w = wall_of(cx);
    double pct = comm_exposed_pct(comm_of(cx));
    bool alike = (double)w->plain.wall_ns >= answer_alike_share * (double)w->wall_ns;
    if (!alike || !(pct >= answer_copying_pct)) return "";
    return rule_text(cx, "Communication alone takes %.0f %% of the time. ", pct);
}

static const char answer_send_less[] = "Send less (a smaller type, only what is needed) or over "
                                       "faster links: -v shows what is sent.";

/* What the program is held up by, where the fixes alone would not say it. */
static const char *answer_held_up(const struct context *cx, const struct answer *a)
{
    const struct wall *w = wall_of(cx);
    double copying = stats_pct((double)w->parts.copy_ns, (double)w->wall_ns);
    if (a->limit == LIMIT_DATA)
        return rule_cpu_only(cx) ? "The loop waits for data. " : "The GPU waits for data. ";
    if (a->limit == LIMIT_TRANSFER && copying >= answer_copying_pct)
        return rule_text(cx, "Copies take %.0f %% of the time. ", copying);
    return answer_communicates(cx);
}

/* "14x faster with one change: 156 -> 11.2 ms (-93 %)"; a small gain is not a factor: "601 -> 580
 * ms
 * (-4 %) with one change". */
static const char *answer_result(const struct context *cx, const struct answer *a,
                                 const struct finding *first)
{
    double times = a->after_ns > 0 ? (double)a->wall_ns / (double)a->after_ns : 0;
    const char *held_up = answer_held_up(cx, a), *changes = answer_changes(cx, a, first);
    const char *gain = rule_text(cx, "%s (-%.*f %%%s%s)", answer_change(a->wall_ns, a->after_ns).s,
                                 a->gain_pct < answer_whole_pct, a->gain_pct,
                                 answer_range(cx, a, first), answer_better(cx, a, first));
    if (times < answer_least_factor) return rule_text(cx, "%s%s with %s", held_up, gain, changes);
    return rule_text(cx, "%s%.*fx faster with %s: %s", held_up, times < 9.95 ? 1 : 0, times,
                     changes, gain);
}

/* The innermost stage that takes most of the time; NULL where none does. */
static const struct stage *answer_main_stage(const struct context *cx)
{
    const struct stage *found = NULL;
    for (uint32_t i = 0; i < stages_of(cx)->n; i++) {
        const struct stage *s = &stages_of(cx)->list[i];
        if (stats_pct((double)s->cpu_ns, (double)wall_of(cx)->wall_ns) < answer_main_stage_pct)
            continue;
        if (!found || s->depth > found->depth) found = s;
    }
    return found;
}

/* The stage that takes most of the time, where that is worth naming; or NULL. */
static const struct stage *answer_largest_stage(const struct context *cx)
{
    const struct stage *found = NULL;
    for (uint32_t i = 0; i < stages_of(cx)->n; i++) {
        const struct stage *s = &stages_of(cx)->list[i];
        if (stats_pct((double)s->cpu_ns, (double)wall_of(cx)->wall_ns) < answer_hot_pct) continue;
        if (!found || s->cpu_ns > found->cpu_ns) found = s;
    }
    return found;
}

/* "32.0 %", or what it is a share of, where that is not the time of the answer. */
static const char *answer_recorded_share(const struct context *cx, const struct answer *a,
                                         double pct)
{
    struct human shown = human_time(a->wall_ns), recorded = human_time(wall_of(cx)->wall_ns);
    if (strcmp(shown.s, recorded.s) == 0) return rule_text(cx, "%s", human_pct(pct).s);
    return rule_text(cx, "%s of the recorded %s", human_pct(pct).s, recorded.s);
}

/* Calls on several threads take more than the wall clock together: then there is no share of it. */
static const char *answer_stage_time(const struct context *cx, const struct answer *a,
                                     const struct stage *stage)
{
    double pct = stats_pct((double)stage->cpu_ns, (double)wall_of(cx)->wall_ns);
    return rule_text(cx, "Largest part: the stage %s, %s in %s call%s (%s).",
                     rule_name(cx, stage->name, 60), human_time(stage->cpu_ns).s,
                     human_count(stage->calls).s, stage->calls == 1 ? "" : "s",
                     pct <= 100 ? answer_recorded_share(cx, a, pct) : "on several threads");
}

/* "Largest part: aten::mul, 14.4 ms in 3 calls (75.4 %)." */
static const char *answer_hot_time(const struct context *cx, const struct answer *a,
                                   const struct cpu_hot_list *l)
{
    const struct cpu_hot_item *top = &l->top[0];
    double pct = stats_pct((double)top->self_ns, (double)wall_of(cx)->wall_ns);
    struct buf name;
    buf_init(&name);
    if (l == &cpu_hot_of(cx)->functions) source_places_print_frame(cx->t, top->longest, &name);
    if (!name.n) buf_add_str(&name, trace_str(cx->t, top->name));
    const char *text =
        rule_text(cx, "Largest part: %s, %s in %s call%s (%s).", rule_name(cx, buf_str(&name), 60),
                  human_time(top->self_ns).s, human_count(top->calls).s, top->calls == 1 ? "" : "s",
                  answer_recorded_share(cx, a, pct));
    buf_done(&name);
    return text;
}

/* " gloo:all_reduce runs for 1.03 s of it (80 %) on threads of its own.": no operator of the
 * program has this time. */
static const char *answer_host_collectives(const struct context *cx, const struct answer *a)
{
    const struct host_messages *m = host_messages_of(cx);
    int64_t sum = 0, covered = INT64_MIN;
    for (uint32_t i = 0; i < m->n; i++)
        sum += span_uncovered(&covered, trace_span(cx->t, m->list[i].row));
    double pct = stats_pct((double)sum, (double)wall_of(cx)->wall_ns);
    if (pct < answer_hot_pct) return "";
    return rule_text(cx, " On threads of its own, %s runs for %s (%s).",
                     rule_name(cx, trace_name(cx->t, m->list[0].row), 40), human_time(sum).s,
                     answer_recorded_share(cx, a, pct));
}

/* What the CPU spends its time in. */
static const char *answer_cpu_time(const struct context *cx, const struct answer *a)
{
    const struct cpu_hot *h = cpu_hot_of(cx);
    const struct cpu_hot_list *l =
        h->operators.self_ns >= h->functions.self_ns ? &h->operators : &h->functions;
    const struct stage *stage = answer_main_stage(cx);
    double wall = (double)wall_of(cx)->wall_ns, hot = l->n ? (double)l->top[0].self_ns : 0;
    if (!stage) stage = answer_largest_stage(cx);
    const char *text = stats_pct(hot, wall) >= answer_hot_pct ? answer_hot_time(cx, a, l)
                       : stage                                ? answer_stage_time(cx, a, stage)
                                                              : NULL;
    if (!text && l->n)
        text = rule_text(cx, "No operator or function takes %.0f %% of it.", answer_hot_pct);
    return text ? rule_text(cx, "%s%s", text, answer_host_collectives(cx, a)) : NULL;
}

static void answer_faster(const struct context *cx, struct answer *a, const struct finding *first)
{
    a->kind = ANSWER_FASTER;
    a->limit = first->rule->limit;
    a->opportunity =
        a->gain_pct >= cx->th.value[TH_HIGH_GAIN_PCT] ? OPPORTUNITY_LARGE : OPPORTUNITY_SOME;
    a->headline = answer_result(cx, a, first);
    a->detail = rule_cpu_only(cx) ? answer_cpu_time(cx, a) : answer_left(cx, a);
}

/* ---- where no fix is known ---- */

static enum limit answer_bound(enum bound b)
{
    static const enum limit limits[] = {
        [BOUND_GPU] = LIMIT_GPU,       [BOUND_CPU] = LIMIT_CPU,
        [BOUND_LAUNCH] = LIMIT_LAUNCH, [BOUND_TRANSFER] = LIMIT_TRANSFER,
        [BOUND_SYNC] = LIMIT_SYNC,     [BOUND_COMM] = LIMIT_COMM,
        [BOUND_MIXED] = LIMIT_MIXED,   [BOUND_UNKNOWN] = LIMIT_NONE};
    return limits[b];
}

static void answer_untrusted(const struct context *cx, struct answer *a)
{
    const struct integrity *q = integrity_of(cx);
    bool empty = q->n_problems && q->problems[0].kind == &problem_kinds[PROBLEM_EMPTY];
    a->headline =
        q->shared ? "No diagnosis: another process shared the GPU, so its idle time is unknown"
        : empty   ? "No diagnosis: nothing of the program was recorded"
                  : "No diagnosis: device records are incomplete, so GPU idle time is unknown";
    if (q->n_problems && *q->problems[0].instead)
        a->detail = rule_text(cx, "To fix it: %s", q->problems[0].instead);
}

/* Start-up, capture or the profiler: what a steady run would do is not in it. */
static void answer_cold(const struct context *cx, struct answer *a)
{
    a->cold = true;
    a->worth = a->fixes = 0;
    a->headline = "No diagnosis: the recording contains only start-up, no steady work";
    a->detail = recorded_of(cx)->kind == RECORDED_CAPTURE
                    ? "To get one, record replays of the CUDA graphs, not only their capture."
                    : "To get one, run the code once before recording, and record several steps.";
}

/* The CPU computes: one operator takes much of the time, and does not copy. A copy would wait for a
 * device that was not recorded. */
static bool answer_cpu_computes(const struct context *cx)
{
    static const char *const copies[] = {"aten::copy_", "aten::_to_copy"};
    const struct cpu_hot_list *l = &cpu_hot_of(cx)->operators;
    double wall = (double)wall_of(cx)->wall_ns;
    if (!l->n || stats_pct((double)l->top[0].self_ns, wall) < answer_hot_pct) return false;
    struct str name = trace_str(cx->t, l->top[0].name);
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
        if (str_is(name, copies[i])) return false;
    return readback_of(name) == READBACK_NONE;
}

/* Most of the time goes into messages between ranks, which no GPU makes shorter. */
static bool answer_cpu_communicates(const struct context *cx)
{
    const struct cpu_hot_list *l = &cpu_hot_of(cx)->operators;
    return l->n && collective_label(trace_str(cx->t, l->top[0].name)) &&
           stats_pct((double)l->top[0].self_ns, (double)wall_of(cx)->wall_ns) >= answer_hot_pct;
}

/* A GPU is there, and the trace has no work of it. */
static const char *answer_gpu_without_work(const struct context *cx)
{
    char name[96];
    human_cut(trace_str(cx->t, cx->t->devices[0].name), 40, name, sizeof name);
    if (answer_cpu_computes(cx))
        return rule_text(
            cx, "The GPU (%s) has no work: move the model and its inputs to it (.to(\"cuda\")).",
            name);
    return rule_text(
        cx,
        "No work of the GPU (%s) was recorded: record it%s, or, if there is none, move "
        "the model and its inputs to it.",
        name, program_has_torch_profiler(cx->t) ? " (ProfilerActivity.CUDA)" : "");
}

static void answer_without_device(const struct context *cx, struct answer *a)
{
    const struct cpu_hot *h = cpu_hot_of(cx);
    int64_t known = h->operators.self_ns + h->functions.self_ns;
    a->kind = ANSWER_NO_GPU_WORK;
    a->wall_ns = a->after_ns = wall_of(cx)->wall_ns;
    a->headline = rule_text(cx, "No GPU work in this trace: %s %s", human_time(a->wall_ns).s,
                            known ? "of CPU time" : "of which only the stages are known");
    bool unused = cx->t->n_devices && !cx->t->n_calls && !answer_cpu_communicates(cx);
    if (known && unused) a->detail = answer_gpu_without_work(cx);
    else if (known) a->detail = answer_cpu_time(cx, a);
}

static void answer_unpriced(const struct context *cx, struct answer *a)
{
    a->headline = rule_text(
        cx, "%sThe replay misses the trace by %.0f %%, so gains are unknown: findings are by cost",
        answer_held_up(cx, a), fabs(undistort_error_pct(undistort_of(cx))));
}

/* Nothing gains as much as a fix has to: a finding of less would contradict the headline. */
static void answer_has_no_fix(const struct context *cx, struct answer *a)
{
    a->worth_pct = cx->th.value[TH_MEDIUM_GAIN_PCT];
    a->worth = a->fixes = 0;
    a->after_ns = a->wall_ns;
    a->gain_pct = 0;
}

static void answer_idle(const struct context *cx, struct answer *a)
{
    const char *reason = no_gain_of(cx)->reason;
    answer_has_no_fix(cx, a);
    if (a->limit == LIMIT_LAUNCH && no_gain_of(cx)->in_graphs) a->limit = LIMIT_NONE;
    a->headline =
        rule_text(cx,
                  "The GPU is busy only %s of the time, and no fix was found that "
                  "gains %.0f %%.",
                  human_pct(wall_of(cx)->plain.busy_pct).s, cx->th.value[TH_MEDIUM_GAIN_PCT]);
    const char *sends = answer_communicates(cx);
    if (reason) a->detail = rule_text(cx, "Why: %s.", reason);
    else if (*sends) a->detail = rule_text(cx, "%s%s", sends, answer_send_less);
}

/* Of the time of kernels, how much has a known roof. */
static double answer_known_pct(const struct context *cx)
{
    const struct roofline *f = roofline_of(cx);
    return stats_pct((double)f->known_ns, (double)f->kernel_ns);
}

/* Whether all that is known to hold much of the time runs near what the device can do. */
static bool answer_spots_are_fast(const struct context *cx)
{
    const struct hot_spots *h = hot_spots_of(cx);
    bool fast = true;
    for (uint32_t i = 0; i < h->n; i++) fast &= h->list[i].roof_pct >= answer_at_roof_pct;
    return fast;
}

/* The device works all the time, and no fix is known. */
static void answer_busy(const struct context *cx, struct answer *a)
{
    double roof = top_kernels_of(cx)->roof_pct, busy = wall_of(cx)->plain.busy_pct;
    const struct wall *w = wall_of(cx);
    double copying = stats_pct((double)w->parts.copy_ns, (double)w->wall_ns);
    bool copies = a->limit == LIMIT_TRANSFER && copying >= answer_copying_pct;
    const char *working = a->limit == LIMIT_COMM ? "busy, mostly with communication,"
                          : copies               ? "busy, mostly with copies,"
                                                 : "busy";
    answer_has_no_fix(cx, a);
    if (isfinite(roof) && roof >= answer_at_roof_pct && a->limit == LIMIT_GPU &&
        answer_known_pct(cx) >= answer_fast_known_pct && answer_spots_are_fast(cx)) {
        a->kind = ANSWER_ALREADY_FAST;
        a->opportunity = OPPORTUNITY_NONE;
        a->headline = rule_text(cx,
                                "Already fast: the GPU is busy %s of the time and its kernels "
                                "reach %.0f %% of what it can do.",
                                human_pct(busy).s, roof);
        a->detail = "To go faster, do less: fewer steps, caching, fp8, a smaller model.";
        return;
    }
    a->headline = rule_text(cx,
                            "The GPU is %s %s of the time, and no fix was found that gains "
                            "%.0f %%.",
                            working, human_pct(busy).s, cx->th.value[TH_MEDIUM_GAIN_PCT]);
    const char *sends = answer_communicates(cx);
    if (a->limit == LIMIT_COMM && *sends)
        a->detail = rule_text(cx, "%s%s", sends, answer_send_less);
    if (copies)
        a->detail = rule_text(cx,
                              "Copies take %.0f %% of the time. Copy less: keep on the GPU what "
                              "fits, and copy the rest in 16 or 8 bits.",
                              copying);
    if (a->limit != LIMIT_GPU) return;
    a->detail = isfinite(roof)
                    ? rule_text(cx,
                                "Its kernels reach %.0f %% of what it can do: strata kernels "
                                "--roof shows which are slow.",
                                roof)
                    : "How fast its kernels could be is not known from this trace.";
}

/* ---- how sure ---- */

static enum sure answer_sure(const struct context *cx, const struct answer *a,
                             const struct finding *first)
{
    const struct integrity *q = integrity_of(cx);
    double error = fabs(undistort_error_pct(undistort_of(cx)));
    if (wall_of(cx)->abstains || findings_of(cx)->unpriced) return SURE_LOW;
    if (q->quality >= QUALITY_DOUBTFUL || error > answer_fair_error_pct) return SURE_LOW;
    bool good = q->quality == QUALITY_GOOD && error <= answer_good_error_pct;
    if (a->kind == ANSWER_FASTER && first) {
        double range = first->high_pct - first->low_pct;
        if (first->low_pct < first->gain_pct / 2) return SURE_LOW;
        if (range > first->gain_pct / 4 && range > 5) good = false;
    }
    if (a->kind == ANSWER_CANNOT_TELL || !steps_of(cx)->n_steps) good = false;
    return good ? SURE_HIGH : SURE_MEDIUM;
}

/* ---- what looks slow and is not ---- */

static const char *answer_waiting_call(const struct context *cx, const struct finding *f)
{
    for (uint32_t i = 0; i < f->n_evidence; i++) {
        row_t r = f->evidence[i].row;
        if (r != ROW_NONE && cx->t->kind[r] == KIND_RUNTIME)
            return rule_name(cx, trace_name(cx->t, r), 40);
    }
    return f->title;
}

/* What findings that gain only together gain, all of them. */
static double answer_together_pct(const struct findings *f)
{
    double sum = 0;
    for (uint32_t i = 0; i < f->n; i++)
        if (f->items[i]->together) sum += f->items[i]->gain_pct;
    return sum;
}

static void answer_find_not_slow(const struct context *cx, struct answer *a)
{
    const struct findings *f = findings_of(cx);
    for (uint32_t i = 0; i < f->n && a->n_not_slow < ANSWER_NOT_SLOW; i++) {
        const struct finding *x = f->items[i];
        if (!x->notable || !answer_is_priced(x) || answer_is_worth(a, x)) continue;
        if (x->together && answer_together_pct(f) >= a->worth_pct) continue;
        if (stats_pct((double)x->blocked_ns, (double)wall_of(cx)->wall_ns) < answer_looks_slow_pct)
            continue;
        int64_t alone = finding_alone_ns(x);
        bool shared = x->together && x->gain_ns > alone;
        a->not_slow[a->n_not_slow++] =
            (struct not_slow){.finding = x,
                              .what = answer_waiting_call(cx, x),
                              .gain_ns = x->together && !shared ? alone : x->gain_ns,
                              .shared = shared};
    }
}

/* ---- one line of state ---- */

/* A mean with a fraction is about a whole number: no step has a part of a wait. */
static void answer_state_often(struct buf *out, double per_step)
{
    uint64_t whole = (uint64_t)(per_step + 0.5);
    bool about = fabs(per_step - (double)whole) > answer_nothing_pct / 100 * per_step;
    if (about && whole == 1) buf_adds(out, ", CPU waits at least once per step");
    else
        buf_printf(out, ", CPU waits %s%s times per step", about ? "about " : "",
                   human_count(whole).s);
}

static void answer_state_waits(const struct context *cx, struct buf *out)
{
    const struct syncs *s = syncs_of(cx);
    uint64_t n = syncs_in_loop(s);
    if (!cx->t->n_calls) return; /* calls were not recorded */
    bool elsewhere = s->n_sites && s->n_steps;
    if (!n) buf_adds(out, elsewhere ? ", CPU never waits in the loop" : ", CPU never waits");
    else if (s->n_steps && n == s->n_steps) buf_adds(out, ", CPU waits once per step");
    else if (s->n_steps && n > s->n_steps) answer_state_often(out, (double)n / s->n_steps);
    else if (n <= 2) buf_printf(out, ", CPU waits %s", n == 1 ? "once" : "twice");
    else buf_printf(out, ", CPU waits %s times", human_count(n).s);
}

/* Whether compiled code launches it. */
static bool answer_launches_compiled(const struct trace *t, row_t launch)
{
    if (launch == ROW_NONE) return false;
    for (row_t r = t->parent[launch]; r != ROW_NONE; r = t->parent[r])
        if (torch_is_compiler(trace_name(t, r))) return true;
    return false;
}

struct kernel_modes answer_modes(const struct context *cx)
{
    const struct trace *t = cx->t;
    struct kernel_modes m = {0};
    for (row_t r = 0; r < t->n_rows; r++) {
        if (t->kind[r] == KIND_OP) m.regions += torch_is_region(trace_name(t, r));
        if (t->kind[r] != KIND_KERNEL) continue;
        row_t launch = trace_launch_of(t, r);
        m.kernels++;
        m.launched += launch != ROW_NONE;
        bool fused = torch_is_triton(trace_name(t, r));
        m.fused += fused;
        m.compiled += fused || answer_launches_compiled(t, launch);
        m.replayed +=
            launch != ROW_NONE && calls_kind(calls_of(cx), t, launch) == CALL_GRAPH_LAUNCH;
    }
    return m;
}

bool answer_is_compiled(const struct kernel_modes *m)
{
    return m->kernels && (double)m->compiled >= answer_compiled_share * (double)m->kernels;
}

/* How kernels come to the device: only for programs of torch, which have a choice. */
static void answer_state_mode(const struct context *cx, struct buf *out)
{
    struct kernel_modes m = answer_modes(cx);
    uint64_t kernels = m.kernels;
    if (m.replayed >= answer_whole_share * (double)kernels && kernels)
        buf_adds(out, ", CUDA graphs");
    else if (2 * m.replayed > kernels) buf_adds(out, ", mostly CUDA graphs");
    else if (answer_is_compiled(&m)) buf_adds(out, ", compiled");
    else if (m.launched && program_is_torch(cx->t)) buf_adds(out, ", eager");
    if (steps_of(cx)->n_steps) {
        double n = steps_kernels(steps_of(cx));
        buf_printf(out, ", %s kernel%s per step", human_count((uint64_t)(n + 0.5)).s,
                   (uint64_t)(n + 0.5) == 1 ? "" : "s");
    } else {
        buf_printf(out, ", %s kernel%s", human_count(kernels).s, kernels == 1 ? "" : "s");
    }
}

static const char *answer_state(const struct context *cx)
{
    struct buf out;
    buf_init(&out);
    if (wall_of(cx)->abstains) buf_adds(&out, "GPU idle time unknown");
    else if (wall_of(cx)->bound == BOUND_UNKNOWN && !timeline_of(cx)->n_devices)
        buf_adds(&out, "no GPU work");
    else buf_printf(&out, "GPU busy %s", human_pct(wall_of(cx)->plain.busy_pct).s);
    if (mfu_of(cx)->pct >= answer_least_mfu_pct)
        buf_printf(&out, ", MFU %s", human_pct(mfu_of(cx)->pct).s);
    if (timeline_of(cx)->n_devices) {
        answer_state_waits(cx, &out);
        answer_state_mode(cx, &out);
    }
    bool cold = wall_of(cx)->bound == BOUND_UNKNOWN && !recorded_of(cx)->idle_judged &&
                timeline_of(cx)->n_devices;
    bool good = !cold && integrity_of(cx)->quality == QUALITY_GOOD;
    if (!good || out.n <= answer_state_columns)
        buf_printf(&out, ", trace %s", cold ? "cold" : quality_name(integrity_of(cx)->quality));
    const char *state = buf_ok(&out) ? rule_text(cx, "%s", buf_c(&out)) : "";
    buf_done(&out);
    return state;
}

/* A result that contradicts its own parts is not given: less than the device alone needs, more than
 * all of the time. */
static void answer_abstain(const struct context *cx, struct answer *a)
{
    bool within = a->after_ns >= 0 && a->after_ns <= a->wall_ns && a->gain_pct <= 100;
    bool possible =
        !a->fixes || (double)a->after_ns >= answer_gpu_share * (double)ladder_of(cx)->gpu_ns;
    if (within && possible) return;
    a->kind = ANSWER_CANNOT_TELL;
    a->opportunity = OPPORTUNITY_UNKNOWN;
    a->sure = SURE_LOW;
    a->after_ns = a->wall_ns;
    a->gain_pct = 0;
    a->fixes = 0;
    a->headline = "No result: the predicted gains of this trace contradict each other";
    a->detail = "The findings are listed with what each of them gains by itself.";
}

/* The wall clock that gains are shares of. Without a device the replay alone knows it. */
static int64_t answer_wall(const struct context *cx)
{
    int64_t replayed = undistort_of(cx)->plain_ns, plain = wall_of(cx)->plain.wall_ns;
    return rule_cpu_only(cx) && replayed > 0 && !findings_of(cx)->unpriced ? replayed : plain;
}

static int answer_run_pass(struct context *cx, void *ret, struct err *e)
{
    (void)e;
    struct answer *a = ret;
    const struct wall *w = wall_of(cx);
    *a = (struct answer){.kind = ANSWER_CANNOT_TELL,
                         .worth_pct = answer_worth_pct,
                         .limit = answer_bound(w->bound),
                         .opportunity = OPPORTUNITY_UNKNOWN,
                         .wall_ns = answer_wall(cx),
                         .after_ns = answer_wall(cx)};
    const struct finding *first = answer_first(findings_of(cx), a);
    bool known = w->bound != BOUND_UNKNOWN || rule_cpu_only(cx);
    bool priced = !w->abstains && known && !findings_of(cx)->unpriced;
    if (priced) answer_count_fixes(findings_of(cx), a);
    bool cold = !recorded_of(cx)->idle_judged && timeline_of(cx)->n_devices;
    if (cold && (w->abstains || w->bound == BOUND_UNKNOWN)) answer_cold(cx, a);
    else if (w->abstains) answer_untrusted(cx, a);
    else if (known && first && a->gain_pct >= cx->th.value[TH_MEDIUM_GAIN_PCT])
        answer_faster(cx, a, first);
    else if (w->bound == BOUND_UNKNOWN) answer_without_device(cx, a);
    else if (findings_of(cx)->unpriced) answer_unpriced(cx, a);
    else if (w->plain.busy_pct < answer_busy_pct && w->bound != BOUND_GPU) answer_idle(cx, a);
    else answer_busy(cx, a);
    a->sure = answer_sure(cx, a, first);
    answer_abstain(cx, a);
    answer_find_not_slow(cx, a);
    a->state = answer_state(cx);
    return 0;
}

static const struct pass *const needs[] = {
    &findings_pass,  &ladder_pass, &no_gain_pass, &cpu_hot_pass,       &top_kernels_pass,
    &hot_spots_pass, &mfu_pass,    &energy_pass,  &host_messages_pass, NULL};

const struct pass answer_pass = {
    .id = PASS_ANSWER,
    .size = sizeof(struct answer),
    .needs = needs,
    .run = answer_run_pass,
};
