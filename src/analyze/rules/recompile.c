/* recompile.c: torch.compile compiles again: a guard failed (another shape, dtype or Python value),
 * and the step waits for the compiler. Once is advice only: it happens once for each new value, and
 * the trace does not show how many will come. Again and again it is priced. */
#include "analyze/findings/host_side.h"

#include <ctype.h>

#include "analyze/names/host_cause.h"
#include "analyze/names/torch_words.h"
#include "analyze/rules/rules_constants.h"
#include "base/human.h"
#include "base/vec.h"

struct recompiles {
    struct sim_cut *spans;
    size_t cap;
    uint32_t n;
    int64_t ns;
    row_t longest; /* the compiler at work, or the region that waited for it */
    int64_t longest_ns;
    bool unsure; /* nothing says that it is not the first time */
};

/* N of ".../N" at the end of a name or before a blank: how often it was compiled before; -1 when
 * nothing is said. */
static int compiled_before(struct str name)
{
    for (size_t i = name.n; i-- > 1;) {
        if (name.p[i - 1] != '/' || !isdigit((unsigned char)name.p[i])) continue;
        return name.p[i] != '0' || (i + 1 < name.n && isdigit((unsigned char)name.p[i + 1]));
    }
    return -1;
}

/* The region that the compiler made, which begins when it is done. */
static struct str region_after(const struct trace *t, row_t compiler)
{
    lane_id l = t->lane[compiler];
    int64_t end = trace_end_ns(t, compiler);
    for (row_t r = trace_lower_bound(t, l, end); r < t->lanes[l].end; r++) {
        if (t->ts_ns[r] > end + recompile_region_ns) break;
        if (torch_is_numbered_region(trace_name(t, r))) return trace_name(t, r);
    }
    return (struct str){"", 0};
}

/* 1 when it is not the first time: said by a number, or it is not the first step. 0 when it is, -1
 * when nothing says it. */
static int is_again(const struct context *cx, row_t compiler)
{
    const struct trace *t = cx->t;
    const struct steps *s = steps_of(cx);
    bool ours = str_starts(trace_name(t, compiler), "TorchDynamo compile: ");
    int before = compiled_before(ours ? trace_name(t, compiler) : region_after(t, compiler));
    if (before <= 0 && s->n_steps > 1) return t->ts_ns[compiler] >= s->steps[0].cpu.end_ns;
    return before;
}

static int recompile_add(const struct context *cx, struct recompiles *c, row_t r, struct span s)
{
    const struct sim_model *m = model_of(cx);
    uint32_t thread = sim_thread_of(m, cx->t->lane[r]);
    if (thread == SIM_NONE) return 0;
    if (c->n == c->cap) {
        size_t cap = c->cap ? c->cap * 2 : 16;
        struct sim_cut *more = arena_alloc(cx->mem, cap * sizeof *more);
        if (!more) return ERR_NOMEM;
        if (c->n) memcpy(more, c->spans, c->n * sizeof *more);
        c->spans = more;
        c->cap = cap;
    }
    c->spans[c->n++] =
        (struct sim_cut){.thread = thread, .begin_ns = s.begin_ns, .end_ns = s.end_ns};
    c->ns += span_ns(s);
    if (span_ns(s) <= c->longest_ns) return 0;
    c->longest = r;
    c->longest_ns = span_ns(s);
    return 0;
}

/* The compiler at work, as it was recorded. */
static int find_compilers(const struct context *cx, struct recompiles *c)
{
    const struct trace *t = cx->t;
    const struct host_causes *causes = host_causes_of(cx);
    for (row_t r = 0; r < t->n_rows; r++) {
        if (host_causes_row(causes, r) != HOST_COMPILE || t->dur_ns[r] < recompile_ns) continue;
        row_t up = t->parent[r] == ROW_NONE ? ROW_NONE : host_causes_around(causes, t->parent[r]);
        if (up != ROW_NONE && host_causes_row(causes, up) == HOST_COMPILE) continue;
        int again = is_again(cx, r);
        c->unsure |= again < 0;
        if (again) TRY(recompile_add(cx, c, r, (struct span){t->ts_ns[r], trace_end_ns(t, r)}));
    }
    return 0;
}

/* Regions of one thread that begin long after the lookup before them. */
static int recompile_find_gaps(const struct context *cx, const struct lane *lane,
                               struct recompiles *c)
{
    const struct trace *t = cx->t;
    const struct steps *steps = steps_of(cx);
    int64_t from = steps->n_steps ? steps->steps[0].cpu.end_ns : INT64_MIN, looked_up = INT64_MAX;
    for (row_t r = lane->begin; r < lane->end; r++) {
        if (t->kind[r] != KIND_OP || t->ts_ns[r] < from) continue;
        struct str name = trace_name(t, r);
        if (torch_is_guard_check(name)) looked_up = trace_end_ns(t, r);
        if (!torch_is_numbered_region(name)) continue;
        if (looked_up < t->ts_ns[r] && t->ts_ns[r] - looked_up >= recompile_gap_ns)
            TRY(recompile_add(cx, c, r, (struct span){looked_up, t->ts_ns[r]}));
        looked_up = INT64_MAX;
    }
    return 0;
}

/* The device may still have work queued while the CPU compiles. */
static int recompile_exposed_by(const struct context *cx, const struct recompiles *c,
                                int64_t *ret_ns, struct err *e)
{
    struct span_set spans;
    if (exposure_begin(&spans, c->n, cx->mem) < 0) return err_nomem(e);
    for (uint32_t i = 0; i < c->n; i++)
        spans.list[spans.n++] = (struct span){c->spans[i].begin_ns, c->spans[i].end_ns};
    *ret_ns = exposure_idle(cx, &spans);
    return 0;
}

static int recompile_report(const struct context *cx, const struct recompiles *c,
                            struct findings *out, struct err *e);

static int recompile_run(const struct context *cx, struct findings *out, struct err *e)
{
    struct recompiles c = {.longest = ROW_NONE};
    int rc = find_compilers(cx, &c);
    for (lane_id l = 0; rc == 0 && !c.n && l < cx->t->n_lanes; l++)
        if (cx->t->lanes[l].kind == LANE_THREAD) rc = recompile_find_gaps(cx, &cx->t->lanes[l], &c);
    TRY(err_grow(e, rc));
    if (c.unsure && c.n < 2) return 0;
    return c.n ? recompile_report(cx, &c, out, e) : 0;
}

const struct rule rule_recompile = {
    .id = "recompile",
    .summary = "torch.compile recompiles after the first step",
    .limit = LIMIT_CPU,
    .run = recompile_run,
};

static void say_unsure(const struct context *cx, const struct recompiles *c, struct finding *f)
{
    f->title = "torch.compile compiles while it is recorded";
    f->why = rule_text(cx,
                       "The compiler ran %s times and took %s in total; the program waits for it. "
                       "It is the first call, or a guard fails every time.",
                       human_count(c->n).s, human_time(c->ns).s);
}

static int recompile_report(const struct context *cx, const struct recompiles *c,
                            struct findings *out, struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_recompile, e);
    if (!f) return ERR_NOMEM;
    struct place p;
    source_places_find(places_of(cx), c->longest, &p);
    rule_place(cx, f, &p);
    f->title = "torch.compile recompiles inside the loop";
    if (!f->file) f->subject = rule_row_name(cx, c->longest, 60);
    f->why = rule_text(
        cx, "A guard failed %s time%s and the code was compiled again, which took %s in total.",
        human_count(c->n).s, c->n == 1 ? "" : "s", human_time(c->ns).s);
    f->fix = c->unsure ? "Run a few steps before recording. If it still compiles, "
                         "TORCH_LOGS=recompiles names the guard that failed: keep shapes and "
                         "values the same, or mark them as dynamic (torch.compile(dynamic=True))."
                       : "TORCH_LOGS=recompiles names the guard that failed. Keep shapes and "
                         "Python values the same in every step, or mark them as dynamic "
                         "(torch.compile(dynamic=True), mark_dynamic).";
    if (c->unsure) say_unsure(cx, c, f);
    f->show = "steps %s";
    f->blocked_ns = c->ns;
    TRY(recompile_exposed_by(cx, c, &f->exposed_ns, e));
    finding_note(f, cx->mem, cx->t->ts_ns[c->longest], c->longest,
                 "the longest takes %s and ends here", human_time(c->longest_ns).s);
    f->advice = c->n < 2;
    if (f->advice) return 0;
    f->effort = EFFORT_ONE_LINE;
    f->edits[f->n_edits++] =
        (struct sim_edit){.kind = EDIT_DROP_SPANS, .spans = c->spans, .n_spans = c->n};
    return 0;
}
