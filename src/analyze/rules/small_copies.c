/* small_copies.c: many small copies to the device in a row, each with a call and often a wait of
 * its own, where one would do.
 *
 *     thread   [copy][wait]  [copy][wait]  [copy][wait]  [launch] ...
 *     goes                  |--------------------------|
 *
 * The first one stays; what the program does between them for longer than a copy takes to make is
 * not part of copying. */
#include "analyze/rules/small_copies.h"

#include "analyze/names/copy.h"
#include "base/human.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/vec.h"

#include <string.h>

/* Larger ones are worth a copy of their own. */
#define MOST_BYTES 65536
/* Fewer in a row are what programs do. */
#define LEAST_COPIES 8
/* Between two of them, in recorded launch calls: the operator around the copy. */
#define MOST_BETWEEN 6

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
static int64_t uploads(const struct sim_model *m, const struct sim_call *c)
{
    if (c->n_work != 1) return 0;
    row_t r = m->works[m->works_by_call[c->first_work]].row;
    const struct gpu_info *g = trace_gpu(m->t, r);
    if (m->t->kind[r] != KIND_MEMCPY || copy_of(m->t, r).way != COPY_TO_DEVICE) return 0;
    return g && g->bytes > 0 && g->bytes <= MOST_BYTES ? g->bytes : 0;
}

static void end_run(const struct context *cx, struct copies *all, struct run *r)
{
    if (r->n < LEAST_COPIES) all->n = r->first_span;
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

static int add_copy(const struct sim_model *m, const struct sim_call *c, struct copies *all,
                    struct run *r)
{
    int64_t begin =
        c->begin_ns - r->end_ns <= MOST_BETWEEN * m->typical_launch_ns ? r->end_ns : c->begin_ns;
    if (VEC_RESERVE(all->spans, all->n, all->cap, 1)) return ERR_NOMEM;
    if (r->n)
        all->spans[all->n++] =
            (struct sim_cut){.thread = c->thread, .begin_ns = begin, .end_ns = c->end_ns};
    else r->call = c->row;
    r->n++;
    r->bytes += uploads(m, c);
    r->end_ns = c->end_ns;
    return 0;
}

/* The wait that a copy brings along goes with it. */
static void add_wait(const struct sim_call *c, struct copies *all, struct run *r)
{
    if (r->n > 1) all->spans[all->n - 1].end_ns = c->end_ns;
    r->end_ns = c->end_ns;
}

static int look_at(const struct context *cx, uint32_t thread, struct copies *all)
{
    const struct sim_model *m = model_of(cx);
    struct run r = {.first_span = all->n};
    for (uint32_t i = m->threads[thread].first_call; i != SIM_NONE; i = m->calls[i].next) {
        const struct sim_call *c = &m->calls[i];
        if (uploads(m, c)) TRY(add_copy(m, c, all, &r));
        else if (r.n && !c->n_work && call_syncs(c->kind)) add_wait(c, all, &r);
        else end_run(cx, all, &r);
    }
    end_run(cx, all, &r);
    return 0;
}

static int report(const struct context *cx, const struct copies *c, struct findings *out,
                  struct err *e);

static int find(const struct context *cx, struct copies *all, struct findings *out, struct err *e)
{
    for (uint32_t i = 0; i < model_of(cx)->n_threads; i++)
        if (look_at(cx, i, all)) return err_nomem(e);
    double least = (double)wall_of(cx)->wall_ns * cx->th.value[TH_REPORT_GAIN_PCT] / 200;
    return all->n_runs >= 2 && (double)all->idle_ns >= least ? report(cx, all, out, e) : 0;
}

static int run(const struct context *cx, struct findings *out, struct err *e)
{
    struct copies all = {.call = ROW_NONE};
    int rc = find(cx, &all, out, e);
    mem_free(all.spans);
    return rc;
}

const struct rule rule_small_copies = {
    .id = "small_copies",
    .summary = "many small copies to the GPU one by one",
    .run = run,
};

static bool is_before(const struct sim_cut *s, uint32_t thread, int64_t ts_ns)
{
    return s->thread < thread || (s->thread == thread && s->end_ns <= ts_ns);
}

static bool holds(const struct context *cx, const struct sim_edit *ed, row_t call)
{
    uint32_t c = sim_find_call(model_of(cx), call), i = 0;
    if (c == SIM_NONE) return false;
    const struct sim_call *k = &model_of(cx)->calls[c];
    SEARCH_PAST(i, ed->n_spans, is_before(&ed->spans[i], k->thread, k->begin_ns));
    return i < ed->n_spans && ed->spans[i].thread == k->thread &&
           ed->spans[i].begin_ns <= k->begin_ns;
}

bool small_copies_hold(const struct context *cx, const struct findings *out, row_t call)
{
    for (uint32_t i = 0; i < out->n; i++)
        if (out->items[i]->rule == &rule_small_copies)
            return holds(cx, &out->items[i]->edits[0], call);
    return false;
}

static int add_edit(const struct context *cx, const struct copies *c, struct finding *f)
{
    struct sim_cut *spans = arena_alloc(cx->mem, c->n * sizeof *spans);
    if (!spans) return ERR_NOMEM;
    memcpy(spans, c->spans, c->n * sizeof *spans);
    f->edits[f->n_edits++] =
        (struct sim_edit){.kind = EDIT_DROP_SPANS, .spans = spans, .n_spans = c->n};
    return 0;
}

static int report(const struct context *cx, const struct copies *c, struct findings *out,
                  struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_small_copies, e);
    if (!f) return ERR_NOMEM;
    struct place p;
    source_places_find(places_of(cx), c->call, &p);
    rule_place(cx, f, &p);
    f->title = "small copies to the GPU one by one";
    f->why = rule_text(cx,
                       "%u copies of %s on average are made one after the other, up to %u in a "
                       "row. Each takes a call and often a wait: %s of CPU time, for %s of data.",
                       c->n_copies, human_bytes(c->bytes / c->n_copies).s, c->most,
                       human_time(c->cpu_ns).s, human_bytes(c->bytes).s);
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
                 "%u runs of %u or more copies; the GPU is idle "
                 "for %s of that time",
                 c->n_runs, LEAST_COPIES, human_time(c->idle_ns).s);
    f->thresholds[f->n_thresholds++] = TH_REPORT_GAIN_PCT;
    return add_edit(cx, c, f) ? err_nomem(e) : 0;
}
