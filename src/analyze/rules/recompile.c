/* recompile.c: torch.compile compiles again after the first step: a guard failed (another shape,
 * dtype or Python value), and the step waits for the compiler. Advice only: it happens once per new
 * value, so the trace does not show what it costs a long run. */
#include "analyze/rules/rule.h"
#include "base/human.h"

/* Only microseconds pass between the cache lookup and the compiled region unless something is
 * compiled. */
#define LEAST_COMPILE_NS 20000000

struct recompiles {
    uint32_t n;
    int64_t ns;
    row_t first; /* the compiled region that was waited for */
};

/* Looks in the rows of one thread, ordered by start, for regions that begin long after the lookup
 * before them. */
static void look_at(const struct context *cx, const struct lane *lane, struct recompiles *c)
{
    const struct trace *t = cx->t;
    const struct steps *steps = steps_of(cx);
    int64_t from = steps->n_steps ? steps->steps[0].cpu.end_ns : INT64_MIN, looked_up = INT64_MAX;
    for (row_t r = lane->begin; r < lane->end; r++) {
        if (t->kind[r] != KIND_OP || t->ts_ns[r] < from) continue;
        struct str name = trace_name(t, r);
        if (str_starts(name, "TorchDynamo Cache Lookup")) looked_up = trace_end_ns(t, r);
        if (!str_starts(name, "Torch-Compiled Region")) continue;
        if (looked_up < t->ts_ns[r] && t->ts_ns[r] - looked_up >= LEAST_COMPILE_NS) {
            if (c->n++ == 0) c->first = r;
            c->ns += t->ts_ns[r] - looked_up;
        }
        looked_up = INT64_MAX;
    }
}

static int report(const struct context *cx, const struct recompiles *c, struct findings *out,
                  struct err *e);

static int run(const struct context *cx, struct findings *out, struct err *e)
{
    struct recompiles c = {.first = ROW_NONE};
    for (lane_id l = 0; l < cx->t->n_lanes; l++)
        if (cx->t->lanes[l].kind == LANE_THREAD) look_at(cx, &cx->t->lanes[l], &c);
    return c.n ? report(cx, &c, out, e) : 0;
}

const struct rule rule_recompile = {
    .id = "recompile",
    .summary = "torch.compile recompiles after the first step",
    .run = run,
};

static int report(const struct context *cx, const struct recompiles *c, struct findings *out,
                  struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_recompile, e);
    if (!f) return ERR_NOMEM;
    f->advice = true;
    f->title = "torch.compile recompiles inside the loop";
    f->subject = rule_name(cx, trace_name(cx->t, c->first), 60);
    f->why = rule_text(
        cx, "A guard failed %u time%s and the code was compiled again, which took %s in total.",
        c->n, c->n == 1 ? "" : "s", human_time(c->ns).s);
    f->fix =
        "TORCH_LOGS=recompiles names the guard that failed. Keep shapes and Python values the "
        "same in every step, or mark them as dynamic (torch.compile(dynamic=True), mark_dynamic).";
    f->show = "steps %s";
    f->blocked_ns = f->exposed_ns = c->ns;
    finding_note(f, cx->mem, cx->t->ts_ns[c->first], c->first,
                 "the first recompiled region begins only here");
    return 0;
}
