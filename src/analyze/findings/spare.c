/* spare.c: see spare.h. */
#include "analyze/findings/spare.h"

#include <stdlib.h>

#include "analyze/findings/host_side.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/vec.h"

int spare_drop(struct spare *x, const struct context *cx, row_t work, struct err *e)
{
    return kernel_fix_add(&x->fix, cx, work, 0, e);
}

int spare_cut(struct spare *x, const struct context *cx, lane_id thread, struct span s,
              struct err *e)
{
    uint32_t of_model = sim_thread_of(model_of(cx), thread);
    if (of_model == SIM_NONE || s.end_ns <= s.begin_ns) return 0;
    if (VEC_RESERVE(x->spans, x->n_spans, x->cap_spans, 1)) return err_nomem(e);
    x->spans[x->n_spans++] = (struct sim_cut){of_model, s.begin_ns, s.end_ns, 0, true, 0};
    x->cpu_ns += span_ns(s);
    return 0;
}

int spare_scale(struct spare *x, const struct context *cx, row_t call, double keep, struct err *e)
{
    struct span s = trace_span(cx->t, call);
    int64_t before = x->cpu_ns;
    uint32_t n = x->n_spans;
    TRY(spare_cut(x, cx, cx->t->lane[call], s, e));
    x->scales = true;
    if (VEC_RESERVE(x->waits, x->n_waits, x->cap_waits, 1)) return err_nomem(e);
    x->waits[x->n_waits++] = call;
    if (x->n_spans == n) return 0;
    x->spans[n].keep = keep;
    x->spans[n].unrecorded = false;
    x->cpu_ns = before + (int64_t)((1 - keep) * (double)span_ns(s));
    return 0;
}

/* The calls of its thread before and after one: where they end and begin. */
static struct span spare_room(const struct context *cx, row_t first, row_t last)
{
    const struct sim_model *m = model_of(cx);
    struct span room = {INT64_MIN, INT64_MAX};
    uint32_t a = sim_find_call(m, first), b = sim_find_call(m, last);
    if (a == SIM_NONE || b == SIM_NONE) return trace_span(cx->t, first);
    const struct sim_thread *th = &m->threads[m->calls[a].thread];
    const uint32_t *calls = m->calls_by_thread + th->calls_at;
    uint32_t i = 0;
    SEARCH_PAST(i, th->n_calls, m->calls[calls[i]].begin_ns < m->calls[a].begin_ns);
    if (i > 0) room.begin_ns = m->calls[calls[i - 1]].end_ns;
    if (m->calls[b].next != SIM_NONE) room.end_ns = m->calls[m->calls[b].next].begin_ns;
    return room;
}

struct span spare_launching(const struct context *cx, row_t first, row_t last)
{
    const struct trace *t = cx->t;
    struct span room = spare_room(cx, first, last);
    row_t a = first, b = last;
    for (row_t r = t->parent[a]; r != ROW_NONE && t->ts_ns[r] >= room.begin_ns; r = t->parent[r])
        if (t->kind[r] == KIND_OP) a = r;
    for (row_t r = t->parent[b]; r != ROW_NONE && trace_end_ns(t, r) <= room.end_ns;
         r = t->parent[r])
        if (t->kind[r] == KIND_OP) b = r;
    return (struct span){t->ts_ns[a], trace_end_ns(t, b)};
}

bool spare_pays(const struct spare *x, const struct context *cx)
{
    return kernel_fix_pays(&x->fix, cx) ||
           (x->n_spans && kernel_share(cx, x->cpu_ns) >= cx->th.value[TH_REPORT_GAIN_PCT]);
}

static int spare_by_place(const void *a, const void *b)
{
    const struct sim_cut *x = a, *y = b;
    if (x->thread != y->thread) return x->thread < y->thread ? -1 : 1;
    return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

/* Of a finding about the CPU alone: how long the device is idle meanwhile. */
static int spare_expose(const struct spare *x, const struct context *cx, struct finding *f,
                        struct err *e)
{
    struct span_set spans;
    if (exposure_begin(&spans, x->n_spans, cx->mem) < 0) return err_nomem(e);
    for (uint32_t i = 0; i < x->n_spans; i++)
        spans.list[spans.n++] = (struct span){x->spans[i].begin_ns, x->spans[i].end_ns};
    f->exposed_ns = exposure_idle(cx, &spans);
    f->thresholds[f->n_thresholds++] = TH_REPORT_GAIN_PCT;
    return 0;
}

static int spare_stop_waiting(const struct spare *x, const struct context *cx, struct finding *f,
                              struct err *e)
{
    row_t *rows = arena_alloc(cx->mem, (x->n_waits + (size_t)1) * sizeof *rows);
    if (!rows) return err_nomem(e);
    if (x->n_waits) memcpy(rows, x->waits, x->n_waits * sizeof *rows);
    f->edits[f->n_edits++] =
        (struct sim_edit){.kind = EDIT_DROP_SYNC, .rows = rows, .n_rows = x->n_waits};
    return 0;
}

int spare_into(struct spare *x, const struct context *cx, struct finding *f, struct err *e)
{
    if (x->fix.n) TRY(kernel_fix_into(&x->fix, cx, f, e));
    else TRY(spare_expose(x, cx, f, e));
    f->blocked_ns = x->cpu_ns;
    if (x->n_waits) TRY(spare_stop_waiting(x, cx, f, e));
    if (!x->n_spans) return 0;
    qsort(x->spans, x->n_spans, sizeof *x->spans, spare_by_place);
    struct sim_cut *spans = arena_alloc(cx->mem, x->n_spans * sizeof *spans);
    if (!spans) return err_nomem(e);
    memcpy(spans, x->spans, x->n_spans * sizeof *spans);
    f->edits[f->n_edits++] =
        (struct sim_edit){.kind = x->scales ? EDIT_SCALE_SPANS : EDIT_DROP_SPANS,
                          .spans = spans,
                          .n_spans = x->n_spans};
    return 0;
}

void spare_done(struct spare *x)
{
    kernel_fix_done(&x->fix);
    mem_free(x->spans);
    mem_free(x->waits);
    *x = (struct spare){.n_spans = 0};
}
