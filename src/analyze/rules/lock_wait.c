/* lock_wait.c: a thread that launches waits for another one that does, too: for a lock around the
 * model, or for the GIL. The device runs dry where the one that holds it does something else. */
#include "analyze/findings/host_stretches.h"
#include "base/human.h"

static int lock_wait_report(const struct context *cx, const struct stretched *f,
                            struct findings *out, struct err *e);

static int lock_wait_run(const struct context *cx, struct findings *out, struct err *e)
{
    struct host_stretches all;
    TRY(host_stretches_find(cx, true, &all, e));
    for (uint32_t i = 0; i < all.n; i++)
        if (host_stretches_matter(cx, &all.list[i]))
            TRY(lock_wait_report(cx, &all.list[i], out, e));
    return 0;
}

const struct rule rule_lock_wait = {
    .id = "lock_wait",
    .summary = "a launching thread waits for another one: a lock, or the GIL",
    .limit = LIMIT_CPU,
    .cost = COST_WAIT,
    .claims = CLAIM_TIME,
    .run = lock_wait_run,
};

static int lock_wait_report(const struct context *cx, const struct stretched *s,
                            struct findings *out, struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_lock_wait, e);
    if (!f) return ERR_NOMEM;
    struct place p;
    source_places_find(places_of(cx), s->frame, &p);
    rule_place(cx, f, &p);
    f->title = "a launching thread waits for another thread";
    f->why = rule_text(cx,
                       "%s launches nothing for %s at a time while another thread launches: it "
                       "waits for a lock that one holds, or for the GIL. The GPU is idle for %s "
                       "of that time.",
                       f->subject, human_time(s->cpu_ns / s->n).s, human_time(s->idle_ns).s);
    f->fix = "Hold the lock only around the launches: read results back and do Python work outside "
             "of it. If the lock is the GIL, use processes, or one thread that launches for all.";
    f->not_fixed = "Two threads do not make the GPU faster: their work runs one after the other.";
    f->show = "gaps %s";
    f->blocked_ns = s->cpu_ns;
    f->exposed_ns = s->idle_ns;
    finding_note(f, cx->mem, s->spans[0].begin_ns, s->frame, "%s times, %s in total, at most %s",
                 human_count(s->n).s, human_time(s->cpu_ns).s, human_time(s->longest_ns).s);
    f->edits[f->n_edits++] =
        (struct sim_edit){.kind = EDIT_DROP_SPANS, .spans = s->spans, .n_spans = s->n};
    f->thresholds[f->n_thresholds++] = TH_REPORT_GAIN_PCT;
    return 0;
}
