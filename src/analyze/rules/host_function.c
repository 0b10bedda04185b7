/* host_function.c: a function of the user does many things between two calls to the device, none of
 * which launches: it turns a picture into bytes, splits text, fills lists. Each alone is little,
 * and the function itself does launch or wait somewhere, so that no whole call can be blamed
 * (late_launch). What it does between the calls (host_stretches) is one thing to fix. */
#include "analyze/findings/claims.h"
#include "analyze/findings/host_stretches.h"
#include "analyze/rules/rules.h"
#include "analyze/rules/rules_constants.h"
#include "base/human.h"

/* Whether whole calls of one function explain it: late_launch names those. */
static bool is_one_call(const struct context *cx, const struct stretched *f)
{
    const struct trace *t = cx->t;
    for (uint32_t g = 0; g < launchless_of(cx)->n_groups; g++) {
        const struct launchless_group *group = &launchless_of(cx)->groups[g];
        int64_t ns = 0;
        for (uint32_t i = 0; i < group->n_rows; i++) {
            row_t r = group->rows[i];
            uint32_t thread = sim_thread_of(model_of(cx), t->lane[r]);
            struct span s = {t->ts_ns[r], trace_end_ns(t, r)};
            ns += thread == SIM_NONE ? 0 : claims_share_ns(f->spans, f->n, thread, s);
        }
        if ((double)ns > host_function_elsewhere_share * (double)f->cpu_ns) return true;
    }
    return false;
}

/* Whether the delay before one launch explains it: slow_launch names that. */
static bool host_function_is_one_launch(const struct context *cx, const struct stretched *f)
{
    for (uint32_t g = 0; g < launch_delays_of(cx)->n_groups; g++) {
        const struct launch_delay_group *group = &launch_delays_of(cx)->groups[g];
        int64_t ns = 0;
        for (uint32_t i = 0; i < group->n_pieces; i++) {
            uint32_t thread = sim_thread_of(model_of(cx), group->pieces[i].thread);
            if (thread == SIM_NONE) continue;
            ns += claims_share_ns(f->spans, f->n, thread, group->pieces[i].time);
        }
        if ((double)ns > host_function_elsewhere_share * (double)f->cpu_ns) return true;
    }
    return false;
}

/* Whether findings that say why hold most of it. */
static bool host_function_is_explained(const struct context *cx, const struct findings *out,
                                       const struct stretched *f)
{
    int64_t ns = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        struct span s = {f->spans[i].begin_ns, f->spans[i].end_ns};
        if (claims_time(out, cx, model_of(cx)->threads[f->spans[i].thread].lane, s))
            ns += span_ns(s);
    }
    return 2 * ns > f->cpu_ns;
}

static int host_function_report(const struct context *cx, const struct stretched *f,
                                struct findings *out, struct err *e);

static int host_function_run(const struct context *cx, struct findings *out, struct err *e)
{
    struct host_stretches all;
    TRY(host_stretches_find(cx, false, &all, e));
    for (uint32_t i = 0; i < all.n; i++)
        if (host_stretches_matter(cx, &all.list[i]) && !is_one_call(cx, &all.list[i]) &&
            !host_function_is_one_launch(cx, &all.list[i]) &&
            !host_function_is_explained(cx, out, &all.list[i]))
            TRY(host_function_report(cx, &all.list[i], out, e));
    return 0;
}

const struct rule rule_host_function = {
    .id = "host_function",
    .summary = "a function works on the host between two calls to the GPU",
    .limit = LIMIT_CPU,
    .claims = CLAIM_TIME,
    .yields_to = RULE_LIST(&rule_repeated_work),
    .run = host_function_run,
};

static bool host_function_says(const struct context *cx, const struct stretched *f,
                               const char *const *words)
{
    for (; *words; words++) {
        if (str_has(trace_str(cx->t, f->name), *words)) return true;
        for (uint32_t i = 0; i < f->inside.n; i++)
            if (str_has(trace_str(cx->t, f->inside.list[i].name), *words)) return true;
    }
    return false;
}

/* Whether one of the next launches after a stretch starts attention of cuDNN. */
static bool host_function_ends_in_cudnn(const struct context *cx, const struct sim_cut *s)
{
    const struct sim_model *m = model_of(cx);
    uint32_t c = sim_thread_call_at(m, s->thread, s->end_ns);
    for (int left = host_function_plan_launches; c != SIM_NONE && left > 0; c = m->calls[c].next) {
        const struct sim_call *call = &m->calls[c];
        if (!call->n_work) continue;
        row_t work = m->works[m->works_by_call[call->first_work]].row;
        struct str name = trace_name(cx->t, work);
        if (str_starts(name, "cudnn") && str_has(name, "sdpa")) return true;
        left--;
    }
    return false;
}

/* Whether most of them end so: then it makes plans, for a new shape each time. */
static bool host_function_plans(const struct context *cx, const struct stretched *f)
{
    int64_t ns = 0;
    for (uint32_t i = 0; i < f->n; i++)
        if (host_function_ends_in_cudnn(cx, &f->spans[i]))
            ns += f->spans[i].end_ns - f->spans[i].begin_ns;
    return 2 * ns > f->cpu_ns;
}

static const char *host_function_fix(const struct context *cx, const struct stretched *f)
{
    static const char *const text[] = {"tokeni", "Tokeni", NULL};
    static const char *const arrays[] = {"numpy", "PIL/", "cv2", "imageio", NULL};
    if (host_function_plans(cx, f))
        return "Attention of cuDNN makes a plan for every new shape (and in every new thread): "
               "torch.backends.cuda.enable_cudnn_sdp(False) leaves it to flash attention; or keep "
               "shapes the same (padding, buckets, a static KV cache).";
    if (host_function_says(cx, f, text))
        return "Tokenise the next texts in another thread or process while the GPU computes, or "
               "with a tokenizer written in Rust (a fast one).";
    if (host_function_says(cx, f, arrays))
        return "Do it on the GPU before the copy (bytes instead of floats also make the copy "
               "smaller), or in another thread or process while the GPU computes.";
    return "Move it out of the loop, cache its result, do it on the GPU, or run it while the GPU "
           "has queued work.";
}

static void note_parts(const struct context *cx, const struct stretched *f, struct finding *ret)
{
    for (uint32_t i = 0; i < f->inside.n; i++) {
        const struct stretch_part *p = &f->inside.list[i];
        if ((double)p->ns < host_function_part_share * (double)f->cpu_ns) continue;
        struct buf text;
        buf_init(&text);
        source_places_print_call(cx->t, p->row, &text);
        finding_note(ret, cx->mem, cx->t->ts_ns[p->row], p->row, "%s of it in %s",
                     human_time(p->ns).s, rule_name(cx, str_c(buf_c(&text)), 80));
        buf_done(&text);
    }
}

/* The line of the function that does most of it, where that is known; else where it starts. */
static void host_function_place(const struct context *cx, const struct stretched *fn,
                                struct place *ret)
{
    const struct stretch_part *most = NULL;
    source_places_find(places_of(cx), fn->frame, ret);
    for (uint32_t i = 0; i < fn->inside.n; i++)
        if (!most || fn->inside.list[i].ns > most->ns) most = &fn->inside.list[i];
    if (!most || !ret->line_is_start) return;
    struct place inner;
    source_places_find(places_of(cx), most->row, &inner);
    bool same = inner.frame != ROW_NONE && cx->t->name[inner.frame] == fn->name;
    if (same && !inner.line_is_start) *ret = inner;
}

static int host_function_report(const struct context *cx, const struct stretched *fn,
                                struct findings *out, struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_host_function, e);
    if (!f) return ERR_NOMEM;
    struct place p;
    host_function_place(cx, fn, &p);
    rule_place(cx, f, &p);
    f->title = "work on the host stalls the GPU";
    f->why = rule_text(cx,
                       "%s works for %s at a time on the CPU without launching anything, and the "
                       "GPU is idle.",
                       f->subject, human_time(fn->cpu_ns / fn->n).s);
    f->fix = host_function_fix(cx, fn);
    f->not_fixed = "What it launches and waits for stays.";
    f->show = "gaps %s";
    f->blocked_ns = fn->cpu_ns;
    f->exposed_ns = fn->idle_ns;
    finding_note(f, cx->mem, fn->spans[0].begin_ns, fn->frame,
                 "%s times between two calls, %s in total, at most %s", human_count(fn->n).s,
                 human_time(fn->cpu_ns).s, human_time(fn->longest_ns).s);
    note_parts(cx, fn, f);
    f->edits[f->n_edits++] =
        (struct sim_edit){.kind = EDIT_DROP_SPANS, .spans = fn->spans, .n_spans = fn->n};
    f->thresholds[f->n_thresholds++] = TH_REPORT_GAIN_PCT;
    return 0;
}
