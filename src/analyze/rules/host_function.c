/* host_function.c: a function of the user does many things between two calls to the device, none of
 * which launches: it turns a picture into bytes, splits text, fills lists. Each alone is little,
 * and the function itself does launch or wait somewhere, so that no whole call can be blamed
 * (late_launch). What it does between the calls (host_stretches) is one thing to fix. */
#include "analyze/rules/host_function.h"

#include "analyze/rules/host_stretches.h"
#include "base/human.h"

extern const struct rule rule_lock_wait;

/* Share of the time that one other finding may hold: then that says it better. */
#define MOST_ELSEWHERE 0.8

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
            ns += thread == SIM_NONE ? 0 : host_stretches_share(f->spans, f->n, thread, s);
        }
        if ((double)ns > MOST_ELSEWHERE * (double)f->cpu_ns) return true;
    }
    return false;
}

/* Whether the delay before one launch explains it: slow_launch names that. */
static bool is_one_launch(const struct context *cx, const struct stretched *f)
{
    for (uint32_t g = 0; g < launch_delays_of(cx)->n_groups; g++) {
        const struct launch_delay_group *group = &launch_delays_of(cx)->groups[g];
        int64_t ns = 0;
        for (uint32_t i = 0; i < group->n_pieces; i++) {
            uint32_t thread = sim_thread_of(model_of(cx), group->pieces[i].thread);
            if (thread == SIM_NONE) continue;
            ns += host_stretches_share(f->spans, f->n, thread, group->pieces[i].time);
        }
        if ((double)ns > MOST_ELSEWHERE * (double)f->cpu_ns) return true;
    }
    return false;
}

static int report(const struct context *cx, const struct stretched *f, struct findings *out,
                  struct err *e);

static int run(const struct context *cx, struct findings *out, struct err *e)
{
    struct host_stretches all;
    TRY(host_stretches_find(cx, false, &all, e));
    for (uint32_t i = 0; i < all.n; i++)
        if (host_stretches_matter(cx, &all.list[i]) && !is_one_call(cx, &all.list[i]) &&
            !is_one_launch(cx, &all.list[i]))
            TRY(report(cx, &all.list[i], out, e));
    return 0;
}

const struct rule rule_host_function = {
    .id = "host_function",
    .summary = "a function works on the host between two calls to the GPU",
    .run = run,
};

static bool says(const struct context *cx, const struct stretched *f, const char *const *words)
{
    for (; *words; words++) {
        if (str_has(trace_str(cx->t, f->name), *words)) return true;
        for (uint32_t i = 0; i < f->inside.n; i++)
            if (str_has(trace_str(cx->t, f->inside.list[i].name), *words)) return true;
    }
    return false;
}

static const char *fix(const struct context *cx, const struct stretched *f)
{
    static const char *const text[] = {"tokeni", "Tokeni", NULL};
    static const char *const arrays[] = {"numpy", "PIL/", "cv2", "imageio", NULL};
    if (says(cx, f, text))
        return "Tokenise the next texts in another thread or process while the GPU computes, or "
               "with a tokenizer written in Rust (a fast one).";
    if (says(cx, f, arrays))
        return "Do it on the GPU before the copy (bytes instead of floats also make the copy "
               "smaller), or in another thread or process while the GPU computes.";
    return "Move it out of the loop, cache its result, do it on the GPU, or run it while the GPU "
           "has "
           "queued work.";
}

static void note_parts(const struct context *cx, const struct stretched *f, struct finding *ret)
{
    for (uint32_t i = 0; i < f->inside.n; i++) {
        const struct stretch_part *p = &f->inside.list[i];
        if (p->ns * 20 < f->cpu_ns) continue;
        struct buf text;
        buf_init(&text);
        source_places_print_call(cx->t, p->row, &text);
        finding_note(ret, cx->mem, cx->t->ts_ns[p->row], p->row, "%s of it in %s",
                     human_time(p->ns).s, rule_name(cx, str_c(buf_c(&text)), 80));
        buf_done(&text);
    }
}

static int report(const struct context *cx, const struct stretched *fn, struct findings *out,
                  struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_host_function, e);
    if (!f) return ERR_NOMEM;
    struct place p;
    source_places_find(places_of(cx), fn->frame, &p);
    rule_place(cx, f, &p);
    f->title = "work on the host stalls the GPU";
    f->why = rule_text(cx,
                       "%s works for %s at a time on the CPU without launching anything, and the "
                       "GPU is idle.",
                       f->subject, human_time(fn->cpu_ns / fn->n).s);
    f->fix = fix(cx, fn);
    f->not_fixed = "What it launches and waits for stays.";
    f->show = "gaps %s";
    f->blocked_ns = fn->cpu_ns;
    f->exposed_ns = fn->idle_ns;
    finding_note(f, cx->mem, fn->spans[0].begin_ns, fn->frame,
                 "%u times between two calls, %s in total, at most %s", fn->n,
                 human_time(fn->cpu_ns).s, human_time(fn->longest_ns).s);
    note_parts(cx, fn, f);
    f->edits[f->n_edits++] =
        (struct sim_edit){.kind = EDIT_DROP_SPANS, .spans = fn->spans, .n_spans = fn->n};
    f->thresholds[f->n_thresholds++] = TH_REPORT_GAIN_PCT;
    return 0;
}

bool host_function_holds(const struct context *cx, const struct findings *out, lane_id thread,
                         struct span s)
{
    int64_t ns = 0;
    uint32_t of_model = sim_thread_of(model_of(cx), thread);
    for (uint32_t i = 0; of_model != SIM_NONE && i < out->n; i++) {
        const struct finding *f = out->items[i];
        if (f->rule == &rule_host_function || f->rule == &rule_lock_wait)
            ns += host_stretches_share(f->edits[0].spans, f->edits[0].n_spans, of_model, s);
    }
    return 2 * ns > span_ns(s);
}
