/* thread_readback.c: the loop waits for a value that another thread reads back for it, as JAX and
 * TensorFlow do: no call of the loop's own thread says that it waits.
 *
 *     loop      [launch]                                      [launch]
 *     reader                        [copy to the host]
 *     device      ################## #
 *     goes              |--------------|
 *
 * The loop launches nothing from before the device is done until after the copy, step after step.
 * Where the library itself says that the loop waits (jax.Array.__float__), that call is what goes.
 */
#include <string.h>

#include "analyze/findings/rule.h"
#include "analyze/names/copy.h"
#include "analyze/rules/rules_constants.h"
#include "base/human.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/vec.h"

struct readbacks {
    const struct context *cx;
    const struct sim_model *m;
    uint32_t loop;   /* thread */
    uint32_t *calls; /* of the loop, in order */
    uint32_t n_calls;
    struct sim_cut *spans; /* what goes, of both threads */
    uint32_t n;
    size_t cap;
    row_t *waits; /* calls in which the loop says that it waits */
    uint32_t n_said;
    size_t cap_said;
    uint32_t n_waits, n_steps, last_step;
    int64_t blocked_ns, idle_ns, until_ns; /* end of the last silence looked at */
    row_t copy;
};

static uint32_t thread_readback_loop_thread(const struct context *cx)
{
    const struct sim_model *m = model_of(cx);
    for (uint32_t i = 0; i < m->n_threads; i++)
        if (m->threads[i].lane == steps_of(cx)->lane) return i;
    return SIM_NONE;
}

static int list_calls(struct readbacks *x)
{
    x->calls = arena_alloc(x->cx->mem, (x->m->n_calls + (size_t)1) * sizeof *x->calls);
    if (!x->calls) return ERR_NOMEM;
    for (uint32_t c = x->m->threads[x->loop].first_call; c != SIM_NONE; c = x->m->calls[c].next)
        x->calls[x->n_calls++] = c;
    return 0;
}

/* The copy to the host that the call makes, or NULL. */
static const struct sim_work *thread_readback_reads(const struct sim_model *m,
                                                    const struct sim_call *c)
{
    if (c->n_work != 1) return NULL;
    const struct sim_work *w = &m->works[m->works_by_call[c->first_work]];
    const struct gpu_info *g = trace_gpu(m->t, w->row);
    bool small = g && g->bytes > 0 && g->bytes <= thread_readback_bytes;
    return small && copy_of(m->t, w->row).way == COPY_TO_HOST ? w : NULL;
}

/* A thread that puts nothing but copies on the device. */
static bool only_copies(const struct sim_model *m, uint32_t thread)
{
    for (uint32_t c = m->threads[thread].first_call; c != SIM_NONE; c = m->calls[c].next)
        for (uint32_t i = 0; i < m->calls[c].n_work; i++)
            if (m->t->kind[m->works[m->works_by_call[m->calls[c].first_work + i]].row] !=
                KIND_MEMCPY)
                return false;
    return true;
}

/* The loop launches nothing in it; `wait` is the call that says so, if there is one. */
struct silence {
    struct span span;
    row_t wait;
};

/* From the loop's last call before a moment to its next. */
static struct silence silence_at(const struct readbacks *x, int64_t ts_ns)
{
    uint32_t i = 0;
    SEARCH_PAST(i, x->n_calls, x->m->calls[x->calls[i]].begin_ns <= ts_ns);
    const struct sim_call *last = i ? &x->m->calls[x->calls[i - 1]] : NULL;
    struct silence s = {{ts_ns, x->m->threads[x->loop].end_ns}, ROW_NONE};
    if (last) {
        bool said = last->end_ns > ts_ns && call_waits(last->kind);
        s.span.begin_ns = said ? last->begin_ns : last->end_ns;
        if (said) s.wait = last->row;
    }
    if (i < x->n_calls) s.span.end_ns = x->m->calls[x->calls[i]].begin_ns;
    return s;
}

/* What goes: where nothing says how long the loop waits, until the copy is done. */
static int add_cuts(struct readbacks *x, uint32_t reader, const struct silence *s, int64_t copied)
{
    if (VEC_RESERVE(x->spans, x->n, x->cap, 2)) return ERR_NOMEM;
    if (VEC_RESERVE(x->waits, x->n_said, x->cap_said, 1)) return ERR_NOMEM;
    if (s->wait != ROW_NONE) x->waits[x->n_said++] = s->wait;
    else
        x->spans[x->n++] =
            (struct sim_cut){.thread = x->loop, .begin_ns = s->span.begin_ns, .end_ns = copied};
    x->spans[x->n++] =
        (struct sim_cut){.thread = reader, .begin_ns = s->span.begin_ns, .end_ns = s->span.end_ns};
    return 0;
}

static int thread_readback_add(struct readbacks *x, uint32_t reader, const struct silence *s,
                               const struct sim_work *copy)
{
    uint32_t step = steps_at(steps_of(x->cx), s->span.begin_ns);
    int64_t until = s->wait == ROW_NONE ? copy->end_ns : trace_end_ns(x->cx->t, s->wait);
    TRY(add_cuts(x, reader, s, copy->end_ns));
    x->n_waits++;
    x->n_steps += step != x->last_step;
    x->last_step = step;
    x->blocked_ns += until - s->span.begin_ns;
    x->idle_ns += timeline_idle_in(timeline_of(x->cx), s->span);
    x->until_ns = s->span.end_ns;
    x->copy = copy->row;
    return 0;
}

static int thread_readback_look_at(struct readbacks *x, uint32_t reader)
{
    for (uint32_t c = x->m->threads[reader].first_call; c != SIM_NONE; c = x->m->calls[c].next) {
        const struct sim_work *copy = thread_readback_reads(x->m, &x->m->calls[c]);
        if (!copy || copy->begin_ns < x->until_ns) continue;
        struct silence s = silence_at(x, x->m->calls[c].begin_ns);
        if (copy->begin_ns - s.span.begin_ns < thread_readback_wait_ns ||
            copy->end_ns > s.span.end_ns)
            continue;
        TRY(thread_readback_add(x, reader, &s, copy));
    }
    return 0;
}

static int thread_readback_report(const struct readbacks *x, struct findings *out, struct err *e);

static int thread_readback_find(struct readbacks *x, struct findings *out, struct err *e)
{
    if (list_calls(x)) return err_nomem(e);
    for (uint32_t i = 0; i < x->m->n_threads; i++) {
        x->until_ns = INT64_MIN;
        if (i != x->loop && only_copies(x->m, i) && thread_readback_look_at(x, i))
            return err_nomem(e);
    }
    return x->n_steps > 1 && x->n_steps * 2 > steps_of(x->cx)->n_steps &&
                   x->idle_ns >= rule_least_idle_ns(x->cx)
               ? thread_readback_report(x, out, e)
               : 0;
}

static int thread_readback_run(const struct context *cx, struct findings *out, struct err *e)
{
    struct readbacks x = {.cx = cx,
                          .m = model_of(cx),
                          .loop = thread_readback_loop_thread(cx),
                          .last_step = UINT32_MAX};
    int rc = x.loop == SIM_NONE || steps_of(cx)->n_steps < 2 ? 0 : thread_readback_find(&x, out, e);
    mem_free(x.spans);
    mem_free(x.waits);
    return rc;
}

const struct rule rule_thread_readback = {
    .id = "thread_readback",
    .summary = "the loop waits for a value that another thread reads back",
    .limit = LIMIT_SYNC,
    .cost = COST_WAIT,
    .claims = CLAIM_WAITS,
    .run = thread_readback_run,
};

static void set_place_of(const struct readbacks *x, struct finding *f, row_t r)
{
    struct place p;
    source_places_find(places_of(x->cx), r, &p);
    rule_place(x->cx, f, &p);
}

/* What the loop's thread was in when the copy was made. */
static void thread_readback_set_place(const struct readbacks *x, struct finding *f)
{
    const struct trace *t = x->cx->t;
    if (x->n_said) {
        set_place_of(x, f, x->waits[0]);
        return;
    }
    lane_id lane = x->m->threads[x->loop].lane;
    row_t r = trace_lower_bound(t, lane, t->ts_ns[x->copy]);
    for (row_t up = r > t->lanes[lane].begin ? r - 1 : ROW_NONE; up != ROW_NONE;
         up = t->parent[up]) {
        if (t->kind[up] != KIND_PYTHON || trace_end_ns(t, up) < t->ts_ns[x->copy]) continue;
        set_place_of(x, f, up);
        return;
    }
    f->subject = rule_name(x->cx, trace_name(t, x->copy), 80);
}

static int thread_readback_report(const struct readbacks *x, struct findings *out, struct err *e)
{
    struct finding *f = rule_finding(x->cx, out, &rule_thread_readback, e);
    struct sim_cut *spans = arena_alloc(x->cx->mem, x->n * sizeof *spans);
    row_t *waits = arena_alloc(x->cx->mem, (x->n_said + (size_t)1) * sizeof *waits);
    if (!f || !spans || !waits) return err_nomem(e);
    memcpy(spans, x->spans, x->n * sizeof *spans);
    memcpy(waits, x->waits, x->n_said * sizeof *waits);
    thread_readback_set_place(x, f);
    f->title = "the loop waits for the GPU to read a value";
    f->why = rule_text(x->cx,
                       "Nothing is launched until the GPU is done and another thread has copied a "
                       "value to the CPU, %s times; then the GPU is idle until the next launch.",
                       human_count(x->n_waits).s);
    f->fix = "Do not look at values in every step (float(), print, np.asarray, block_until_ready): "
             "keep them on the GPU, and read them every N steps or one step late.";
    f->not_fixed = "The GPU's own work does not get faster.";
    f->show = x->n_said ? "syncs %s" : "gaps %s";
    f->blocked_ns = x->blocked_ns;
    f->exposed_ns = x->idle_ns;
    finding_note(f, x->cx->mem, x->cx->t->ts_ns[x->copy], x->copy,
                 "the value that is read: %s; the GPU is idle for %s around such copies",
                 rule_name(x->cx, trace_name(x->cx->t, x->copy), 60), human_time(x->idle_ns).s);
    f->edits[f->n_edits++] =
        (struct sim_edit){.kind = EDIT_DROP_SPANS, .spans = spans, .n_spans = x->n};
    if (x->n_said)
        f->edits[f->n_edits++] =
            (struct sim_edit){.kind = EDIT_DROP_SYNC, .rows = waits, .n_rows = x->n_said};
    f->thresholds[f->n_thresholds++] = TH_REPORT_GAIN_PCT;
    return 0;
}
