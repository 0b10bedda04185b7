/* small_copies.c: many small copies to the device in a row, each with a call and often a wait of
 * its own, where one would do.
 *
 *     thread   [copy][wait]  [copy][wait]  [copy][wait]  [launch] ...
 *     goes                  |--------------------------|
 *
 * The first one stays; what the program does between them for longer than a copy takes to make is
 * not part of copying. */
#include <string.h>

#include "analyze/findings/rule.h"
#include "analyze/names/copy.h"
#include "analyze/rules/rules_constants.h"
#include "base/human.h"
#include "base/mem.h"
#include "base/vec.h"

struct copies {
    struct sim_cut *spans; /* by thread, by time */
    uint32_t n;
    size_t cap;
    uint32_t n_runs, n_copies;
    int64_t bytes, cpu_ns, idle_ns;
    uint32_t most; /* copies of the longest run */
    row_t call;    /* its first one */
};

/* The run that is being read. */
struct run {
    uint32_t first_span, n;
    int64_t bytes, end_ns;
    row_t call;
};

/* Bytes of the upload that the call makes and nothing else; 0 when it makes another or more. */
static int64_t small_copies_uploads(const struct sim_model *m, const struct sim_call *c)
{
    if (c->n_work != 1) return 0;
    row_t r = m->works[m->works_by_call[c->first_work]].row;
    const struct gpu_info *g = trace_gpu(m->t, r);
    if (m->t->kind[r] != KIND_MEMCPY || copy_of(m->t, r).way != COPY_TO_DEVICE) return 0;
    return g && g->bytes > 0 && g->bytes <= small_copies_bytes ? g->bytes : 0;
}

static void end_run(const struct context *cx, struct copies *all, struct run *r)
{
    if (r->n < small_copies_in_a_row) all->n = r->first_span;
    else {
        all->n_runs++;
        all->n_copies += r->n;
        all->bytes += r->bytes;
        if (r->n > all->most) all->call = r->call;
        if (r->n > all->most) all->most = r->n;
    }
    for (uint32_t i = r->first_span; i < all->n; i++) {
        all->cpu_ns += all->spans[i].end_ns - all->spans[i].begin_ns;
        all->idle_ns += timeline_idle_in(
            timeline_of(cx), (struct span){all->spans[i].begin_ns, all->spans[i].end_ns});
    }
    *r = (struct run){.first_span = all->n};
}

static int small_copies_add_copy(const struct sim_model *m, const struct sim_call *c,
                                 struct copies *all, struct run *r)
{
    int64_t begin = c->begin_ns - r->end_ns <= small_copies_between_calls * m->typical_launch_ns
                        ? r->end_ns
                        : c->begin_ns;
    if (VEC_RESERVE(all->spans, all->n, all->cap, 1)) return ERR_NOMEM;
    if (r->n)
        all->spans[all->n++] =
            (struct sim_cut){.thread = c->thread, .begin_ns = begin, .end_ns = c->end_ns};
    else r->call = c->row;
    r->n++;
    r->bytes += small_copies_uploads(m, c);
    r->end_ns = c->end_ns;
    return 0;
}

/* The wait that a copy brings along goes with it. */
static void small_copies_add_wait(const struct sim_call *c, struct copies *all, struct run *r)
{
    if (r->n > 1) all->spans[all->n - 1].end_ns = c->end_ns;
    r->end_ns = c->end_ns;
}

static int small_copies_look_at(const struct context *cx, uint32_t thread, struct copies *all)
{
    const struct sim_model *m = model_of(cx);
    struct run r = {.first_span = all->n};
    for (uint32_t i = m->threads[thread].first_call; i != SIM_NONE; i = m->calls[i].next) {
        const struct sim_call *c = &m->calls[i];
        if (small_copies_uploads(m, c)) TRY(small_copies_add_copy(m, c, all, &r));
        else if (r.n && !c->n_work && call_syncs(c->kind)) small_copies_add_wait(c, all, &r);
        else end_run(cx, all, &r);
    }
    end_run(cx, all, &r);
    return 0;
}

static int small_copies_report(const struct context *cx, const struct copies *c,
                               struct findings *out, struct err *e);

static int small_copies_find(const struct context *cx, struct copies *all, struct findings *out,
                             struct err *e)
{
    for (uint32_t i = 0; i < model_of(cx)->n_threads; i++)
        if (small_copies_look_at(cx, i, all)) return err_nomem(e);
    return all->n_runs >= 2 && all->idle_ns >= rule_least_idle_ns(cx)
               ? small_copies_report(cx, all, out, e)
               : 0;
}

static int small_copies_run(const struct context *cx, struct findings *out, struct err *e)
{
    struct copies all = {.call = ROW_NONE};
    int rc = small_copies_find(cx, &all, out, e);
    mem_free(all.spans);
    return rc;
}

const struct rule rule_small_copies = {
    .id = "small_copies",
    .summary = "many small copies to the GPU one by one",
    .limit = LIMIT_TRANSFER,
    .claims = CLAIM_CALLS,
    .run = small_copies_run,
};

static int small_copies_add_edit(const struct context *cx, const struct copies *c,
                                 struct finding *f)
{
    struct sim_cut *spans = arena_alloc(cx->mem, c->n * sizeof *spans);
    if (!spans) return ERR_NOMEM;
    memcpy(spans, c->spans, c->n * sizeof *spans);
    f->edits[f->n_edits++] =
        (struct sim_edit){.kind = EDIT_DROP_SPANS, .spans = spans, .n_spans = c->n};
    return 0;
}

static int small_copies_report(const struct context *cx, const struct copies *c,
                               struct findings *out, struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_small_copies, e);
    if (!f) return ERR_NOMEM;
    struct place p;
    source_places_find(places_of(cx), c->call, &p);
    rule_place(cx, f, &p);
    f->title = "small copies to the GPU one by one";
    f->why = rule_text(cx,
                       "%s copies of %s on average are made one after the other, up to %s in a "
                       "row. Each takes a call and often a wait: %s of CPU time, for %s of data.",
                       human_count(c->n_copies).s, human_bytes(c->bytes / c->n_copies).s,
                       human_count(c->most).s, human_time(c->cpu_ns).s, human_bytes(c->bytes).s);
    f->fix =
        "Gather the values in one tensor in pinned memory (torch.stack or torch.cat with out=, "
        "or a buffer made once) and upload it with one copy, non_blocking=True; use views of "
        "it on the GPU.";
    f->not_fixed = "Gathering the values takes some time on the CPU.";
    f->show = "gaps %s";
    f->blocked_ns = c->cpu_ns;
    f->exposed_ns = c->idle_ns;
    finding_note(f, cx->mem, cx->t->ts_ns[c->call], c->call, "the longest run begins here");
    finding_note(f, cx->mem, ID_NONE, ROW_NONE,
                 "%s runs of %s or more copies; the GPU is idle "
                 "for %s of that time",
                 human_count(c->n_runs).s, human_count(small_copies_in_a_row).s,
                 human_time(c->idle_ns).s);
    f->thresholds[f->n_thresholds++] = TH_REPORT_GAIN_PCT;
    return small_copies_add_edit(cx, c, f) ? err_nomem(e) : 0;
}
