/* edits.c: see edits.h. Patterns are matched once against every distinct name, not against rows. */
#include "analyze/simulate/edits.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/names/copy.h"
#include "analyze/names/overhead.h"
#include "analyze/names/readback.h"
#include "analyze/simulate/simulate_constants.h"
#include "analyze/simulate/simulate_private.h"
#include "base/mem.h"
#include "base/pattern.h"
#include "base/vec.h"

/* ---- matching names ---- */

static int match_names(const struct trace *t, const char *pattern, struct arena *mem, uint8_t **ret,
                       struct err *e)
{
    struct pattern re;
    TRY(pattern_init(&re, pattern, e));
    uint8_t *hit = arena_zalloc(mem, t->strings.n, 1);
    for (str_id id = 0; hit && id < t->strings.n; id++)
        hit[id] = pattern_matches(&re, trace_str(t, id));
    pattern_done(&re);
    *ret = hit;
    return hit ? 0 : err_nomem(e);
}

/* ---- cuts ---- */

int plan_cut(struct plan_build *b, struct sim_cut c)
{
    if (c.end_ns <= c.begin_ns) return 0;
    if (VEC_RESERVE(b->cuts, b->n_cuts, b->cap_cuts, 1)) return ERR_NOMEM;
    b->cuts[b->n_cuts++] = c;
    return 0;
}

static int add_cut(struct plan_build *b, uint32_t thread, int64_t begin, int64_t end, double keep)
{
    return plan_cut(b, (struct sim_cut){thread, begin, end, keep, false, 0});
}

int plan_cut_around_calls(struct plan_build *b, struct sim_cut cut)
{
    const struct sim_model *m = b->m;
    struct sim_cut part = cut;
    uint32_t c = sim_thread_call_at(m, cut.thread, cut.begin_ns);
    for (; c != SIM_NONE && m->calls[c].begin_ns < cut.end_ns; c = m->calls[c].next) {
        part.end_ns = m->calls[c].begin_ns;
        TRY(plan_cut(b, part));
        if (m->calls[c].end_ns > part.begin_ns) part.begin_ns = m->calls[c].end_ns;
    }
    part.end_ns = cut.end_ns;
    return plan_cut(b, part);
}

static int cut_around_calls(struct plan_build *b, uint32_t thread, int64_t begin, int64_t end,
                            double keep)
{
    return plan_cut_around_calls(b, (struct sim_cut){thread, begin, end, keep, false, 0});
}

static int edits_by_place(const void *a, const void *b)
{
    const struct sim_cut *x = a, *y = b;
    if (x->thread != y->thread) return x->thread < y->thread ? -1 : 1;
    if (x->begin_ns != y->begin_ns) return x->begin_ns < y->begin_ns ? -1 : 1;
    return x->end_ns < y->end_ns ? -1 : x->end_ns > y->end_ns;
}

/* Makes the cuts disjoint; where two overlap the one that keeps less wins on the overlap. */
static int merge_cuts(struct plan_build *b)
{
    struct sim_plan *p = b->plan;
    if (b->n_cuts) qsort(b->cuts, b->n_cuts, sizeof *b->cuts, edits_by_place);
    p->cuts = arena_alloc(b->mem, (b->n_cuts * 2 + 1) * sizeof *p->cuts);
    if (!p->cuts) return ERR_NOMEM;
    for (size_t i = 0; i < b->n_cuts; i++) {
        struct sim_cut c = b->cuts[i];
        struct sim_cut *last = p->n_cuts ? &p->cuts[p->n_cuts - 1] : NULL;
        if (last && last->thread == c.thread && c.begin_ns < last->end_ns) {
            if (c.keep >= last->keep) {
                c.begin_ns = last->end_ns;
            } else {
                struct sim_cut rest = *last;
                rest.begin_ns = c.end_ns;
                last->end_ns = c.begin_ns;
                if (last->end_ns <= last->begin_ns) p->n_cuts--;
                if (rest.begin_ns < rest.end_ns && p->n_cuts < b->n_cuts * 2) {
                    p->cuts[p->n_cuts++] = c;
                    c = rest;
                }
            }
        }
        if (c.begin_ns < c.end_ns) p->cuts[p->n_cuts++] = c;
    }
    for (uint32_t i = 0; i < p->n_cuts; i++)
        if (p->cuts[i].unrecorded)
            p->cuts[i].weight = recording_weight_of(b->m, p->cuts[i].thread, p->cuts[i].begin_ns,
                                                    p->cuts[i].end_ns);
    return 0;
}

/* ---- the edits ---- */

static bool is_cpu_span(const struct trace *t, row_t r)
{
    uint8_t k = t->kind[r];
    return (k == KIND_OP || k == KIND_ANNOTATION || k == KIND_PYTHON) && t->phase[r] == 'X';
}

/* The ops right after a stretch that is cut out no longer start with cold caches. */
static int warm_up_after(struct plan_build *b, struct cache_warm *w, uint32_t thread, int64_t end)
{
    const struct trace *t = b->m->t;
    lane_id l = b->m->threads[thread].lane;
    for (row_t r = trace_lower_bound(t, l, end);
         r < t->lanes[l].end && t->ts_ns[r] < end + edits_cold_window_ns; r++) {
        if (!cache_warm_is_op(t, r)) continue;
        double share = cache_warm_share(w, r);
        if (share < 1) TRY(cut_around_calls(b, thread, t->ts_ns[r], trace_end_ns(t, r), share));
    }
    return 0;
}

/* Where a thread has been cut up to: nested matches must not be cut twice. */
struct cut_at {
    uint32_t thread;
    int64_t done_ns;
};

static int cut_row(struct plan_build *b, struct cache_warm *w, struct cut_at *at, row_t r,
                   double keep)
{
    const struct trace *t = b->m->t;
    int64_t end = trace_end_ns(t, r);
    if (end <= at->done_ns) return 0;
    int64_t from = t->ts_ns[r] > at->done_ns ? t->ts_ns[r] : at->done_ns;
    at->done_ns = end;
    TRY(cut_around_calls(b, at->thread, from, end, keep));
    return keep == 0 && end - from >= edits_cold_after_ns ? warm_up_after(b, w, at->thread, end)
                                                          : 0;
}

static int edit_cpu(struct plan_build *b, struct sim_edit *ed, struct err *e)
{
    const struct trace *t = b->m->t;
    uint8_t *hit;
    struct cache_warm warm;
    TRY(match_names(t, ed->pattern, b->mem, &hit, e));
    TRY(cache_warm_init(&warm, t, b->mem, e));
    double keep = ed->kind == EDIT_DROP_CPU ? 0 : ed->factor;
    for (uint32_t i = 0; i < b->m->n_threads; i++) {
        const struct lane *lane = &t->lanes[b->m->threads[i].lane];
        struct cut_at at = {i, INT64_MIN};
        for (row_t r = lane->begin; r < lane->end; r++) {
            if (!hit[t->name[r]] || !is_cpu_span(t, r)) continue;
            ed->n_matched++;
            if (cut_row(b, &warm, &at, r, keep)) return err_nomem(e);
        }
    }
    return 0;
}

static int edit_drop_rows(struct plan_build *b, struct sim_edit *ed, struct err *e)
{
    const struct trace *t = b->m->t;
    struct cache_warm warm;
    TRY(cache_warm_init(&warm, t, b->mem, e));
    struct cut_at at = {SIM_NONE, INT64_MIN};
    for (uint32_t i = 0; i < ed->n_rows; i++) {
        uint32_t thread = sim_thread_of(b->m, t->lane[ed->rows[i]]);
        if (thread == SIM_NONE) continue;
        if (thread != at.thread) at = (struct cut_at){thread, INT64_MIN};
        ed->n_matched++;
        if (cut_row(b, &warm, &at, ed->rows[i], 0)) return err_nomem(e);
    }
    return 0;
}

/* The outermost op above the call that exists only to bring a value to the CPU. */
static row_t readback_op(const struct trace *t, row_t call)
{
    row_t found = ROW_NONE;
    for (row_t r = t->parent[call]; r != ROW_NONE && t->kind[r] == KIND_OP; r = t->parent[r])
        if (readback_of(trace_name(t, r)) == READBACK_ONLY) found = r;
    return found;
}

/* Calls of the thread that begin in that time are not made. */
static void edits_drop_calls(struct plan_build *b, uint32_t thread, int64_t begin, int64_t end)
{
    const struct sim_model *m = b->m;
    uint32_t c = sim_thread_call_at(m, thread, begin);
    for (; c != SIM_NONE && m->calls[c].begin_ns < end; c = m->calls[c].next)
        b->plan->mode[c] = SIM_DROP;
}

static int drop_readback(struct plan_build *b, uint32_t thread, row_t op)
{
    const struct trace *t = b->m->t;
    int64_t begin = t->ts_ns[op], end = trace_end_ns(t, op);
    edits_drop_calls(b, thread, begin, end);
    return add_cut(b, thread, begin, end, 0);
}

static int edit_drop_sync(struct plan_build *b, struct sim_edit *ed, struct err *e)
{
    for (uint32_t i = 0; i < ed->n_rows; i++) {
        uint32_t c = sim_find_call(b->m, ed->rows[i]);
        if (c == SIM_NONE) continue;
        ed->n_matched++;
        row_t op = readback_op(b->m->t, ed->rows[i]);
        if (op != ROW_NONE) {
            if (drop_readback(b, b->m->calls[c].thread, op)) return err_nomem(e);
        } else if (b->plan->mode[c] == SIM_KEEP) {
            b->plan->mode[c] = b->m->calls[c].n_work ? SIM_NO_WAIT : SIM_DROP;
        }
    }
    return 0;
}

/* Marks the works an edit is about: by name, or one by one. NULL when out of memory. */
static int match_works(struct plan_build *b, const struct sim_edit *ed, uint8_t **ret,
                       struct err *e)
{
    const struct sim_model *m = b->m;
    uint8_t *hit = arena_zalloc(b->mem, m->n_works + (size_t)1, 1), *names = NULL;
    if (!hit) return err_nomem(e);
    if (ed->pattern) TRY(match_names(m->t, ed->pattern, b->mem, &names, e));
    uint8_t *rows = ed->pattern ? NULL : arena_zalloc(b->mem, m->t->n_gpu + (size_t)1, 1);
    if (!ed->pattern && !rows) return err_nomem(e);
    for (uint32_t i = 0; rows && i < ed->n_rows; i++)
        if (trace_gpu(m->t, ed->rows[i])) rows[m->t->aux[ed->rows[i]]] = 1;
    for (uint32_t w = 0; w < m->n_works; w++) {
        row_t r = m->works[w].row;
        hit[w] = rows ? rows[m->t->aux[r]] : names[m->t->name[r]];
    }
    *ret = hit;
    return 0;
}

/* What an edit before has changed stays so, but for being dropped: of two fixes for the same work
 * the second has nothing left to do. */
static void edits_set_work(struct plan_build *b, uint32_t w, int64_t ns)
{
    const struct sim_work *k = &b->m->works[w];
    if (ns > 0 && b->plan->work_ns[w] >= 0) return;
    b->plan->work_ns[w] = ns;
    if (ns == 0 && k->call != SIM_NONE && b->m->calls[k->call].n_work == 1)
        b->plan->mode[k->call] = SIM_DROP;
}

static int edit_set_work(struct plan_build *b, struct sim_edit *ed, struct err *e)
{
    const struct trace *t = b->m->t;
    int64_t *ns = arena_alloc(b->mem, (t->n_gpu + (size_t)1) * sizeof *ns);
    if (!ns) return err_nomem(e);
    for (uint32_t i = 0; i < t->n_gpu; i++) ns[i] = -1;
    for (uint32_t i = 0; i < ed->n_rows; i++)
        if (trace_gpu(t, ed->rows[i])) ns[t->aux[ed->rows[i]]] = ed->row_ns[i];
    for (uint32_t w = 0; w < b->m->n_works; w++) {
        const struct gpu_info *g = trace_gpu(t, b->m->works[w].row);
        int64_t to = g ? ns[t->aux[b->m->works[w].row]] : -1;
        if (to < 0) continue;
        ed->n_matched++;
        edits_set_work(b, w, to);
    }
    return 0;
}

static int edit_kernels(struct plan_build *b, struct sim_edit *ed, struct err *e)
{
    const struct sim_model *m = b->m;
    uint8_t *hit;
    TRY(match_works(b, ed, &hit, e));
    for (uint32_t w = 0; w < m->n_works; w++) {
        const struct sim_work *k = &m->works[w];
        if (!hit[w]) continue;
        ed->n_matched++;
        double scaled = (double)(k->end_ns - k->begin_ns) * ed->factor + 0.5;
        if (ed->kind == EDIT_DROP_KERNEL) edits_set_work(b, w, 0);
        else if (b->plan->work_ns[w] < 0) b->plan->work_ns[w] = (int64_t)scaled;
    }
    return 0;
}

/* Threads whose stages are captured. A stage looks at the calls of all threads while it lasts, so
 * that many threads at once would cost the square of their number. */
#define MOST_CAPTURING 64

static int capture_stages(struct plan_build *b, struct sim_edit *ed, struct err *e)
{
    const struct trace *t = b->m->t;
    uint8_t *hit;
    TRY(match_names(t, ed->pattern, b->mem, &hit, e));
    for (uint32_t i = 0; i < b->m->n_threads && i < MOST_CAPTURING; i++) {
        const struct lane *lane = &t->lanes[b->m->threads[i].lane];
        int64_t done = INT64_MIN;
        for (row_t r = lane->begin; r < lane->end; r++) {
            if (!hit[t->name[r]] || !is_cpu_span(t, r) || trace_end_ns(t, r) <= done) continue;
            /* of one that crosses the last, what is left: each moment is examined once */
            int64_t begin = t->ts_ns[r] > done ? t->ts_ns[r] : done;
            done = trace_end_ns(t, r);
            struct sim_cut stage = {.thread = i, .begin_ns = begin, .end_ns = done};
            if (capture_run(b, ed, &stage, true)) return err_nomem(e);
        }
    }
    return 0;
}

static int edit_compile(struct plan_build *b, struct sim_edit *ed, struct err *e)
{
    return fuse_run(b, ed) ? err_nomem(e) : 0;
}

static int edit_cuda_graph(struct plan_build *b, struct sim_edit *ed, struct err *e)
{
    if (ed->pattern) return capture_stages(b, ed, e);
    for (uint32_t i = 0; i < ed->n_spans; i++)
        if (capture_run(b, ed, &ed->spans[i], ed->whole)) return err_nomem(e);
    return 0;
}

/* Of a copy between host and device: the device's bus in that direction. */
static uint8_t edits_bus(const struct gpu_info *g, enum copy_way way)
{
    uint32_t device = g && g->device >= 0 ? (uint32_t)g->device % SIM_BUS_DEVICES : 0;
    return (uint8_t)(2 * device + (way == COPY_TO_DEVICE ? 0 : 1));
}

/* A copy for which nothing needs to wait: neither by its own call nor by the synchronize that
 * belongs to it (`.to()` makes both, under one operator). */
static void stop_waiting(struct plan_build *b, uint32_t call, bool and_sync)
{
    const struct sim_model *m = b->m;
    if (b->plan->mode[call] == SIM_KEEP) b->plan->mode[call] = SIM_NO_WAIT;
    uint32_t next = m->calls[call].next;
    if (!and_sync || next == SIM_NONE || m->calls[next].n_work || b->plan->mode[next] != SIM_KEEP)
        return;
    if (m->calls[next].wait == SIM_WAIT_NOTHING) return;
    if (m->t->parent[m->calls[next].row] == m->t->parent[m->calls[call].row])
        b->plan->mode[next] = SIM_DROP;
}

static int edit_copies(struct plan_build *b, struct sim_edit *ed, struct err *e)
{
    const struct sim_model *m = b->m;
    bool ahead = ed->kind == EDIT_OVERLAP_COPIES;
    if (ahead && !b->plan->bus) b->plan->bus = arena_zalloc(b->mem, m->n_works + (size_t)1, 1);
    if (ahead && !b->plan->bus) return err_nomem(e);
    for (uint32_t w = 0; w < m->n_works; w++) {
        const struct sim_work *k = &m->works[w];
        struct copy c = copy_of(m->t, k->row);
        bool pageable = c.memory == MEMORY_PAGEABLE;
        if (!copy_crosses(c) || (!ahead && !pageable)) continue;
        ed->n_matched++;
        const struct gpu_info *g = trace_gpu(m->t, k->row);
        bool sized = g && g->bytes > 0 && ed->factor > 0;
        int64_t pinned = sized && pageable ? (int64_t)((double)g->bytes / ed->factor) : INT64_MAX;
        if (pinned < k->end_ns - k->begin_ns) b->plan->work_ns[w] = pinned;
        if (ahead) b->plan->bus[w] = (uint8_t)(1 + edits_bus(g, c.way));
        if (k->call != SIM_NONE) stop_waiting(b, k->call, ahead);
    }
    return 0;
}

static int edit_spans(struct plan_build *b, struct sim_edit *ed, struct err *e)
{
    bool drop = ed->kind == EDIT_DROP_SPANS;
    for (uint32_t i = 0; i < ed->n_spans; i++) {
        const struct sim_cut *s = &ed->spans[i];
        if (drop) edits_drop_calls(b, s->thread, s->begin_ns, s->end_ns);
        if (plan_cut(b, (struct sim_cut){s->thread, s->begin_ns, s->end_ns, drop ? 0 : s->keep,
                                         drop, 0}))
            return err_nomem(e);
        ed->n_matched++;
    }
    return 0;
}

static int edits_apply(struct plan_build *b, struct sim_edit *ed, struct err *e)
{
    ed->n_matched = ed->n_captured = 0;
    ed->crosses_sync = ed->has_graphs = false;
    switch (ed->kind) {
    case EDIT_DROP_SYNC: return edit_drop_sync(b, ed, e);
    case EDIT_DROP_ROWS: return edit_drop_rows(b, ed, e);
    case EDIT_DROP_CPU:
    case EDIT_SCALE_CPU: return edit_cpu(b, ed, e);
    case EDIT_SCALE_KERNEL:
    case EDIT_DROP_KERNEL: return edit_kernels(b, ed, e);
    case EDIT_SET_WORK: return edit_set_work(b, ed, e);
    case EDIT_CUDA_GRAPH: return edit_cuda_graph(b, ed, e);
    case EDIT_COMPILE: return edit_compile(b, ed, e);
    case EDIT_PIN_COPIES:
    case EDIT_OVERLAP_COPIES: return edit_copies(b, ed, e);
    case EDIT_DROP_SPANS:
    case EDIT_SCALE_SPANS: return edit_spans(b, ed, e);
    }
    return FAIL(e, ERR_INTERNAL, "unknown edit");
}

/* The recorder's own buffer requests, which stop the thread whose call they happen in. */
static bool is_recorder_row(const struct trace *t, row_t r)
{
    return t->kind[r] == KIND_OVERHEAD && overhead_kind(trace_name(t, r)) == OVERHEAD_PROFILER;
}

static int cut_recorder(struct plan_build *b)
{
    const struct trace *t = b->m->t;
    for (lane_id l = 0; l < t->n_lanes; l++) {
        if (t->lanes[l].kind != LANE_OVERHEAD) continue;
        for (row_t r = t->lanes[l].begin; r < t->lanes[l].end; r++) {
            if (!is_recorder_row(t, r)) continue;
            uint32_t c = sim_call_at(b->m, t->ts_ns[r] + 1);
            for (uint32_t back = 0; c > 0 && back < 8; back++) {
                const struct sim_call *call = &b->m->calls[--c];
                if (call->end_ns <= t->ts_ns[r]) continue;
                TRY(add_cut(b, call->thread, t->ts_ns[r], trace_end_ns(t, r), 0));
                break;
            }
        }
    }
    return 0;
}

static int edits_build(struct plan_build *b, struct sim_edits edits, struct err *e)
{
    const struct sim_model *m = b->m;
    b->plan->mode = arena_zalloc(b->mem, m->n_calls + (size_t)1, 1);
    b->plan->work_ns = arena_alloc(b->mem, (m->n_works + (size_t)1) * sizeof *b->plan->work_ns);
    if (!b->plan->mode || !b->plan->work_ns) return err_nomem(e);
    for (uint32_t w = 0; w < m->n_works; w++) b->plan->work_ns[w] = -1;
    for (int graphs = 0; graphs < 2; graphs++) /* captured is what the others have left */
        for (uint32_t i = 0; i < edits.n; i++)
            if ((edits.list[i].kind == EDIT_CUDA_GRAPH) == graphs)
                TRY(edits_apply(b, &edits.list[i], e));
    if (b->plan->no_buffers && cut_recorder(b)) return err_nomem(e);
    return merge_cuts(b) ? err_nomem(e) : 0;
}

int sim_plan_build(const struct sim_model *m, struct sim_edits edits, struct arena *mem,
                   struct sim_plan *ret, struct err *e)
{
    *ret = (struct sim_plan){0};
    if (edits.base) {
        ret->cost_ns = edits.base->cost_ns;
        ret->no_buffers = edits.base->no_buffers;
        ret->cpu_scale = edits.base->cpu_scale;
        ret->time_scale = edits.base->time_scale;
    }
    struct plan_build b = {.m = m, .mem = mem, .plan = ret};
    int rc = edits_build(&b, edits, e);
    mem_free(b.cuts);
    return rc;
}
