/* unfused_optimizer.c: an optimizer that goes through its parameters one by one, with a dozen small
 * operators for each (foreach=False), or as passes over all of them that each read and write the
 * same tensors (foreach). A fused step reads and writes every tensor once. */
#include <math.h>

#include "analyze/findings/kernel_fix.h"
#include "analyze/kernels/work_op.h"
#include "analyze/names/torch_words.h"
#include "analyze/rules/rules.h"
#include "analyze/rules/rules_constants.h"
#include "base/human.h"
#include "base/mem.h"
#include "base/vec.h"

/* Operators that run once for each parameter: one of them is in every step. */
static const char *const once_each[] = {"aten::addcdiv_", "aten::lerp_", "aten::addcmul_",
                                        "aten::mul_",     "aten::add_",  NULL};

struct step_of {
    row_t label;
    uint32_t thread; /* of the model */
    uint32_t first, n;
    double elements, each_bytes; /* of all parameters together */
    uint32_t n_parameters;
    int64_t ns;
    bool lists; /* foreach */
};

struct found {
    struct kernel_fix fix;
    struct sim_cut *spans;
    uint32_t n_spans, n_kernels, n_parameters;
    size_t cap_spans;
    bool lists;
    row_t label;
    int64_t cpu_ns;
};

static bool unfused_optimizer_is_step(const struct trace *t, row_t r)
{
    return t->kind[r] == KIND_ANNOTATION && torch_is_optimizer_step(trace_name(t, r));
}

/* How many parameters, and elements of them: of the operator that comes once for each. */
static void count_parameters(const struct context *cx, const row_t *rows, struct step_of *s)
{
    const struct roofline *f = roofline_of(cx);
    for (const char *const *name = once_each; *name && !s->n_parameters; name++)
        for (uint32_t i = 0; i < s->n; i++) {
            if (!str_is(work_op_name(work_op_of(cx, rows[i])), *name)) continue;
            const struct roof_kind *k = roofline_kind(f, cx->t, rows[i]);
            s->n_parameters++;
            s->elements += k->work.elements;
            if (number_bytes(k->work.type) > s->each_bytes)
                s->each_bytes = number_bytes(k->work.type);
        }
    if (!s->n_parameters) s->n_parameters = s->n / unfused_optimizer_parameter_kernels + 1;
}

/* One pass over everything, or a launch for each few parameters; never more than it is now. */
static double unfused_optimizer_fused_ns(const struct context *cx, const struct step_of *s)
{
    const struct ceilings *c = &roofline_of(cx)->ceilings;
    double bytes = unfused_optimizer_tensors * s->elements * s->each_bytes;
    double memory = bytes > 0 ? bytes / c->memory.per_s * 1e9 / unfused_optimizer_share
                              : (double)s->ns * unfused_optimizer_unknown_share;
    double launches =
        ceil(s->n_parameters / unfused_optimizer_launch_parameters) * unfused_optimizer_launch_ns;
    double ns = memory > launches || isnan(memory) ? memory : launches;
    return ns < (double)s->ns ? ns : (double)s->ns;
}

/* What is left of the CPU's time in the step. */
static double keep_of(const struct context *cx, const struct step_of *s)
{
    double launch = (double)model_of(cx)->typical_launch_ns, now = (double)cx->t->dur_ns[s->label];
    double then =
        (unfused_optimizer_around_calls + unfused_optimizer_each_calls * s->n_parameters) * launch;
    return now > 0 && then < now ? then / now : 1;
}

static int unfused_optimizer_add(const struct context *cx, const struct step_of *s,
                                 const row_t *rows, struct found *x, struct err *e)
{
    double ns = unfused_optimizer_fused_ns(cx, s), keep = keep_of(cx, s);
    for (uint32_t i = 0; i < s->n; i++)
        TRY(kernel_fix_add(&x->fix, cx, rows[i], i + 1 == s->n ? ns : 0, e));
    if (VEC_RESERVE(x->spans, x->n_spans, x->cap_spans, 1)) return err_nomem(e);
    if (keep < 1)
        x->spans[x->n_spans++] = (struct sim_cut){
            s->thread, cx->t->ts_ns[s->label], trace_end_ns(cx->t, s->label), keep, false, 0};
    x->n_kernels += s->n;
    x->n_parameters = s->n_parameters;
    x->label = s->label;
    x->cpu_ns += cx->t->dur_ns[s->label];
    return 0;
}

/* Kernels of single tensors that the step launched, in order of its calls. */
static int unfused_optimizer_look_at(const struct context *cx, row_t label, row_t *rows,
                                     struct found *x, struct err *e)
{
    const struct sim_model *m = model_of(cx);
    struct step_of s = {.label = label, .thread = sim_thread_of(m, cx->t->lane[label])};
    bool fused = false;
    uint32_t c = sim_call_at(m, cx->t->ts_ns[label]);
    for (; c < m->n_calls && m->calls[c].begin_ns < trace_end_ns(cx->t, label); c++) {
        if (m->calls[c].thread != s.thread) continue;
        for (uint32_t i = 0; i < m->calls[c].n_work; i++) {
            row_t r = m->works[m->works_by_call[m->calls[c].first_work + i]].row;
            const struct roof_kind *k = roofline_kind(roofline_of(cx), cx->t, r);
            fused |= k->traits.many_tensors;
            if (cx->t->kind[r] != KIND_KERNEL || !k->traits.library) continue;
            rows[s.n++] = r;
            s.ns += cx->t->dur_ns[r];
        }
    }
    if (fused || s.thread == SIM_NONE || s.n < unfused_optimizer_kernels) return 0;
    count_parameters(cx, rows, &s);
    return unfused_optimizer_add(cx, &s, rows, x, e);
}

static uint32_t kernels_each(const struct found *x)
{
    uint32_t updates = x->n_parameters * (x->n_spans ? x->n_spans : 1);
    return updates ? x->fix.n / updates + 1 : 1;
}

static int unfused_optimizer_report(const struct context *cx, const struct found *x,
                                    struct findings *out, struct err *e);

/* Either side may be what it costs. */
static bool unfused_optimizer_pays(const struct context *cx, const struct found *x)
{
    double pct = kernel_share(cx, x->cpu_ns);
    return kernel_fix_pays(&x->fix, cx) || (x->n_spans && pct >= cx->th.value[TH_REPORT_GAIN_PCT]);
}

static int unfused_optimizer_run(const struct context *cx, struct findings *out, struct err *e)
{
    struct found x = {.fix = {.others = out}};
    row_t *rows = mem_alloc((cx->t->n_gpu + (size_t)1) * sizeof *rows);
    int rc = rows ? 0 : err_nomem(e);
    int64_t done = INT64_MIN; /* a step inside another one is a part of it */
    for (row_t r = 0; r < cx->t->n_rows && rc == 0; r++) {
        if (r && cx->t->lane[r] != cx->t->lane[r - 1]) done = INT64_MIN;
        if (!unfused_optimizer_is_step(cx->t, r) || cx->t->ts_ns[r] < done) continue;
        done = trace_end_ns(cx->t, r);
        rc = unfused_optimizer_look_at(cx, r, rows, &x, e);
    }
    if (rc == 0 && unfused_optimizer_pays(cx, &x)) rc = unfused_optimizer_report(cx, &x, out, e);
    kernel_fix_done(&x.fix);
    mem_free(x.spans);
    mem_free(rows);
    return rc;
}

const struct rule rule_unfused_optimizer = {
    .id = "unfused_optimizer",
    .summary = "the optimizer step is not fused",
    .limit = LIMIT_GPU,
    .tries = "fused_optimizer",
    .claims = CLAIM_KERNELS,
    .yields_to = RULE_LIST(&rule_growing_cat),
    .run = unfused_optimizer_run,
};

static int unfused_optimizer_report(const struct context *cx, const struct found *x,
                                    struct findings *out, struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_unfused_optimizer, e);
    if (!f) return ERR_NOMEM;
    TRY(kernel_fix_into(&x->fix, cx, f, e));
    struct sim_cut *spans = arena_alloc(cx->mem, (x->n_spans + (size_t)1) * sizeof *spans);
    if (!spans) return err_nomem(e);
    if (x->n_spans) memcpy(spans, x->spans, x->n_spans * sizeof *spans);
    if (x->n_spans)
        f->edits[f->n_edits++] =
            (struct sim_edit){.kind = EDIT_SCALE_SPANS, .spans = spans, .n_spans = x->n_spans};
    struct str name = trace_name(cx->t, x->label);
    f->title = "the optimizer step is not fused";
    f->effort = EFFORT_ONE_LINE;
    f->subject = rule_name(cx, name, 60);
    f->blocked_ns = x->cpu_ns;
    f->why = rule_text(
        cx,
        "Its steps launch %s kernels on single tensors, about %s for each of %s parameters: "
        "%s on the CPU, %s on the GPU.",
        human_count(x->n_kernels).s, human_count(kernels_each(x)).s, human_count(x->n_parameters).s,
        human_time(x->cpu_ns).s, human_time(x->fix.before_ns).s);
    f->fix = "Use the fused optimizer (fused=True): one kernel reads and writes every tensor "
             "once. Where it does not exist, foreach=True launches one kernel for many tensors.";
    f->not_fixed = "The result is the same up to rounding.";
    f->show = "stages %s";
    return 0;
}
