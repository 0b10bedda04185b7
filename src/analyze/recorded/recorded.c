/* recorded.c: see recorded.h. */
#include "analyze/recorded/recorded.h"

#include <stdio.h>

#include "analyze/names/host_cause.h"
#include "analyze/names/overhead.h"
#include "analyze/recorded/recorded_constants.h"
#include "base/buf.h"
#include "base/human.h"
#include "base/stats.h"
#include "trace/cut.h"

static int64_t phases_length(const struct step *s)
{
    int64_t cpu = s->cpu_ns, gpu = s->gpu.span_ns;
    return gpu > cpu ? gpu : cpu;
}

static struct phase *phases_at(struct phases *p, struct serving_label l)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (p->list[i].what.phase == l.phase && p->list[i].what.requests == l.requests &&
            p->list[i].what.decoding == l.decoding)
            return &p->list[i];
    if (p->n == PHASES_MOST) return NULL;
    p->list[p->n] = (struct phase){.what = l};
    return &p->list[p->n++];
}

static bool phases_same(struct serving_label a, struct serving_label b)
{
    return a.phase == b.phase && a.requests == b.requests && a.decoding == b.decoding;
}

int phases_find(const struct context *cx, struct phases *ret)
{
    const struct steps *s = steps_of(cx);
    int64_t *ns = arena_zalloc(cx->mem, (size_t)s->n_steps + 1, sizeof *ns);
    if (!ns) return ERR_NOMEM;
    for (uint32_t i = 0; i < s->n_steps; i++) {
        if (s->steps[i].name == STR_NONE) continue;
        struct serving_label l = serving_label_of(trace_str(cx->t, s->steps[i].name));
        struct phase *p = l.phase == SERVING_NONE ? NULL : phases_at(ret, l);
        if (p) p->n++;
    }
    for (uint32_t k = 0; k < ret->n; k++) {
        struct phase *p = &ret->list[k];
        uint32_t n = 0;
        for (uint32_t i = 0; i < s->n_steps; i++) {
            if (s->steps[i].name == STR_NONE) continue;
            struct serving_label l = serving_label_of(trace_str(cx->t, s->steps[i].name));
            if (phases_same(l, p->what)) ns[n++] = phases_length(&s->steps[i]);
        }
        stats_sort(ns, n);
        p->step_ns = stats_median(ns, n);
        if (p->what.decoding > 0 && p->step_ns > 0)
            p->tokens_per_s = (double)p->what.decoding * 1e9 / (double)p->step_ns;
    }
    return 0;
}

/* What can be judged of a trace. */
struct looking {
    const struct trace *t;
    struct context *cx;
    struct one_time one;
    struct span window; /* without cold steps, and what lies before them */
    uint32_t n_cold;
    int64_t usual_ns; /* a step that is not cold */
    int64_t left_out_ns[LEFT_OUT_KINDS];
};

const char *recorded_kind_name(enum recorded_kind k)
{
    static const char *const names[] = {"warm",     "cold", "graph_capture",
                                        "profiler", "cut",  "single_call"};
    return names[k];
}

static int64_t recorded_wall(const struct step *s)
{
    return s->cpu.end_ns - s->cpu.begin_ns;
}

static int64_t recorded_work(const struct step *s)
{
    return s->gpu.union_ns;
}

/* The usual figure is that of the later half of the steps: those are warm if any are. */
static int64_t recorded_usual(const struct steps *s, int64_t (*of)(const struct step *),
                              int64_t *scratch)
{
    uint32_t half = s->n_steps / 2, n = s->n_steps - half;
    for (uint32_t i = 0; i < n; i++) scratch[i] = of(&s->steps[half + i]);
    stats_sort(scratch, n);
    return stats_median(scratch, n);
}

/* A step that is long because the device has more to do is not cold: a prefill before tokens. */
static bool recorded_is_cold(const struct step *s, int64_t wall_ns, int64_t work_ns)
{
    int64_t more = recorded_wall(s) - wall_ns, worked = recorded_work(s) - work_ns;
    return (double)recorded_wall(s) > recorded_cold_step_ratio * (double)wall_ns &&
           2 * worked < more;
}

/* Whether the device is done with the steps before `n` about when that one begins. One that lags
 * behind is held up by none of them, and its work cannot be left out with them. */
static bool recorded_is_drained(const struct steps *s, uint32_t n, int64_t usual_ns)
{
    int64_t last = INT64_MIN;
    for (uint32_t i = 0; i < n; i++)
        if (s->steps[i].gpu.extent.end_ns > last) last = s->steps[i].gpu.extent.end_ns;
    return last <= s->steps[n].cpu.begin_ns + usual_ns / 4;
}

/* The steps, until the device is done with them. */
static struct span recorded_loop(const struct steps *s)
{
    struct span loop = s->loop;
    for (uint32_t i = 0; i < s->n_steps; i++)
        if (s->steps[i].gpu.extent.end_ns > loop.end_ns)
            loop.end_ns = s->steps[i].gpu.extent.end_ns;
    return loop;
}

/* Whether the steps are what the recording is about: a loop somewhere inside one call is not. */
static bool recorded_is_loop(const struct steps *s, int64_t ns)
{
    return (double)span_ns(recorded_loop(s)) >= recorded_loop_share * (double)ns;
}

static int recorded_count_cold(struct looking *k)
{
    const struct steps *s = steps_of(k->cx);
    struct span from = {s->loop.begin_ns, k->window.end_ns};
    int64_t left =
        span_ns(from) - span_set_ns(&k->one.all, from) + span_set_ns(&k->one.all, s->loop);
    if (s->n_steps < 2 || steps_may_be_layers(s) || !recorded_is_loop(s, left)) return 0;
    int64_t *scratch = arena_alloc(k->cx->mem, s->n_steps * sizeof *scratch);
    if (!scratch) return ERR_NOMEM;
    int64_t wall = recorded_usual(s, recorded_wall, scratch);
    int64_t work = recorded_usual(s, recorded_work, scratch);
    if (!work) return 0;
    while (k->n_cold + 1 < s->n_steps && recorded_is_cold(&s->steps[k->n_cold], wall, work))
        k->n_cold++;
    if (!recorded_is_drained(s, k->n_cold, wall)) k->n_cold = 0;
    k->usual_ns = wall;
    if (k->n_cold) k->window.begin_ns = s->steps[k->n_cold].cpu.begin_ns;
    return 0;
}

/* Adds up what is left out, by reason: before the window all of it. */
static int64_t recorded_add_up(struct looking *k)
{
    struct span before = {k->t->begin_ns, k->window.begin_ns};
    int64_t named = 0, total = 0;
    for (int i = 0; i < LEFT_OUT_KINDS; i++) {
        int64_t ns = span_set_ns(&k->one.of[i], before);
        named += ns;
        k->left_out_ns[i] = ns + span_set_ns(&k->one.of[i], k->window);
    }
    k->left_out_ns[LEFT_OUT_START_UP] += span_ns(before) - named;
    for (int i = 0; i < LEFT_OUT_KINDS; i++) total += k->left_out_ns[i];
    return total;
}

/* Without a span there is no time that anything could be left out of. */
static bool recorded_has_time(const struct looking *k)
{
    return timeline_of(k->cx)->n_devices && k->t->begin_ns != ID_NONE;
}

static int recorded_look(struct looking *k, struct err *e)
{
    static const struct pass *const needs[] = {&calls_pass,    &overheads_pass, &host_causes_pass,
                                               &timeline_pass, &steps_pass,     NULL};
    for (int i = 0; needs[i]; i++) TRY(context_need(k->cx, needs[i], e));
    if (!recorded_has_time(k)) return 0;
    k->window = (struct span){k->t->begin_ns, k->t->end_ns + 1};
    TRY(one_time_find(k->cx, &k->one, e));
    return err_grow(e, recorded_count_cold(k));
}

/* What graphs were captured from says what their kernels are, long after it is left out. */
static int recorded_keep_captures(struct trace *t, const struct looking *k, struct err *e)
{
    const struct span_set *captures = &k->one.of[LEFT_OUT_CAPTURE];
    if (!captures->n || t->captures) return 0;
    return trace_copy_threads(t, captures, &t->captures, e);
}

static int recorded_apply(struct trace **t, struct looking *k, struct err *e)
{
    if (!recorded_has_time(k)) return 0;
    int64_t left_out = recorded_add_up(k);
    if ((double)left_out < recorded_left_out_share * (double)((*t)->end_ns - (*t)->begin_ns))
        return 0;
    const struct steps *s = steps_of(k->cx);
    int64_t cold = 0;
    for (uint32_t i = 0; i < k->n_cold; i++) cold += recorded_wall(&s->steps[i]);
    TRY(recorded_keep_captures(*t, k, e));
    TRY(trace_cut_without(t, k->window, &k->one.all, e));
    struct trace_part *p = &(*t)->part;
    p->judged = true;
    p->n_cold = k->n_cold;
    p->n_calls = k->n_cold ? s->n_steps - k->n_cold : 0;
    p->cold_ns = cold;
    p->usual_ns = k->usual_ns;
    memcpy(p->left_out_ns, k->left_out_ns, sizeof p->left_out_ns);
    p->only_captured = k->one.only_captured;
    return 0;
}

int recorded_cut(struct trace **t, struct context *cx, struct err *e)
{
    if ((*t)->part.whole_end_ns > (*t)->part.whole_begin_ns) return 0;
    struct arena_mark mark = arena_mark(cx->mem);
    struct arena *mem = cx->mem;
    struct looking k = {.t = *t, .cx = cx};
    TRY(recorded_look(&k, e));
    TRY(recorded_apply(t, &k, e));
    if (!(*t)->part.judged) return 0;
    context_done(cx);
    arena_reset_to(mem, mark);
    context_init(cx, *t, mem);
    return 0;
}

/* ---- what was left out, and what the rest can tell ---- */

static void recorded_say_cold(struct buf *out, const struct trace *t, double pct)
{
    const struct trace_part *p = &t->part;
    if (p->n_cold == 1)
        buf_printf(out, "The first step takes %s, the others %s", human_time(p->cold_ns).s,
                   human_time(p->usual_ns).s);
    else if (p->n_cold)
        buf_printf(out, "The first %u steps take %s, the others %s each", p->n_cold,
                   human_time(p->cold_ns).s, human_time(p->usual_ns).s);
    else {
        buf_printf(out,
                   "%.0f %% of this recording is one-time start-up (loading code, creating "
                   "contexts and handles, first allocations)",
                   pct);
    }
    if (p->n_cold) buf_printf(out, ": start-up, %.0f %% of this recording, is left out. ", pct);
    else buf_adds(out, " and is left out: run the code once before recording a call. ");
}

static void recorded_say(struct buf *out, const struct trace *t, const struct recorded *r)
{
    const int64_t *ns = t->part.left_out_ns;
    double pct[LEFT_OUT_KINDS];
    for (int i = 0; i < LEFT_OUT_KINDS; i++) pct[i] = stats_pct((double)ns[i], (double)r->whole_ns);
    if (pct[LEFT_OUT_CAPTURE] >= 1)
        buf_printf(out,
                   "%.0f %% of this recording is the capture of CUDA graphs, a one-time cost "
                   "during which nothing runs: it is left out. %s",
                   pct[LEFT_OUT_CAPTURE], r->idle_judged ? "" : "Record replays of the graphs. ");
    if (pct[LEFT_OUT_START_UP] >= 1) recorded_say_cold(out, t, pct[LEFT_OUT_START_UP]);
    if (pct[LEFT_OUT_PROFILER] >= 1)
        buf_printf(out, "The profiler takes %s of this recording to start and stop: left out. ",
                   human_time(ns[LEFT_OUT_PROFILER]).s);
    if (pct[LEFT_OUT_EARLIER] >= 1)
        buf_printf(out,
                   "For %s the GPU works on what was launched before this recording: left out. ",
                   human_time(ns[LEFT_OUT_EARLIER]).s);
    if (out->n) out->n--; /* the blank behind the last sentence */
}

static enum recorded_kind recorded_main_kind(const int64_t *ns)
{
    static const enum recorded_kind kinds[LEFT_OUT_KINDS] = {
        [LEFT_OUT_START_UP] = RECORDED_COLD,
        [LEFT_OUT_CAPTURE] = RECORDED_CAPTURE,
        [LEFT_OUT_PROFILER] = RECORDED_PROFILER,
        [LEFT_OUT_EARLIER] = RECORDED_CUT,
    };
    int most = 0;
    for (int i = 1; i < LEFT_OUT_KINDS; i++)
        if (ns[i] > ns[most]) most = i;
    return kinds[most];
}

/* Steps after the first that put work on the device: one that does nothing shows nothing warm. */
static bool recorded_has_warm(const struct steps *s, struct span judged)
{
    uint32_t with_work = 0;
    if (!recorded_is_loop(s, span_ns(judged))) return false;
    for (uint32_t i = 0; i < s->n_steps; i++) with_work += !(s->steps[i].flags & STEP_NO_WORK);
    return with_work >= 2;
}

static int recorded_run_pass(struct context *cx, void *ret, struct err *e)
{
    const struct trace *t = cx->t;
    const struct trace_part *p = &t->part;
    const struct steps *s = steps_of(cx);
    struct recorded *r = ret;
    bool cut = p->whole_end_ns > p->whole_begin_ns;
    *r = (struct recorded){.judged = {t->begin_ns, t->end_ns}, .idle_judged = true};
    r->whole_ns = cut ? p->whole_end_ns - p->whole_begin_ns : t->end_ns - t->begin_ns;
    r->sentence = "";
    r->kind = s->n_steps < 2 ? RECORDED_LITTLE : RECORDED_WARM;
    if (phases_find(cx, &r->phases) < 0) return err_nomem(e);
    if (!p->judged) return 0;
    int64_t all = 0, cold = p->left_out_ns[LEFT_OUT_START_UP] + p->left_out_ns[LEFT_OUT_CAPTURE];
    for (int i = 0; i < LEFT_OUT_KINDS; i++) all += p->left_out_ns[i];
    r->left_out_pct = stats_pct((double)all, (double)r->whole_ns);
    r->kind = p->only_captured ? RECORDED_CAPTURE : recorded_main_kind(p->left_out_ns);
    bool warm = !p->only_captured && (p->n_cold || recorded_has_warm(s, r->judged));
    r->idle_judged = warm || stats_pct((double)cold, (double)r->whole_ns) < recorded_cold_pct;
    struct buf text;
    buf_init(&text);
    recorded_say(&text, t, r);
    r->sentence = arena_strdup(cx->mem, str_c(buf_c(&text)));
    buf_done(&text);
    return r->sentence ? 0 : err_nomem(e);
}

static const struct pass *const needs[] = {&steps_pass, NULL};

const struct pass recorded_pass = {
    .id = PASS_RECORDED,
    .size = sizeof(struct recorded),
    .needs = needs,
    .run = recorded_run_pass,
};
