/* upload_makers.c: see host_side.h. */
#include "analyze/findings/host_side.h"

#include "analyze/findings/findings_constants.h"
#include "analyze/names/copy.h"
#include "base/search.h"
#include "base/stats.h"

/* What goes with a constant that is uploaded once: the operator that copies it, and what the user's
 * line calls around it, which makes a tensor of a Python list. */
static struct span with_its_maker(const struct context *cx, row_t call)
{
    const struct trace *t = cx->t;
    struct place p;
    source_places_find(places_of(cx), call, &p);
    row_t top = p.op != ROW_NONE ? p.op : call;
    if (p.called != ROW_NONE && t->ts_ns[p.called] <= t->ts_ns[top]) top = p.called;
    return (struct span){t->ts_ns[top], trace_end_ns(t, top)};
}

/* Without stacks the making of the tensor is a silence of the thread before the operator. */
struct silence {
    int64_t *before_ns; /* by outermost operator of the thread, in time order */
    row_t *ops;
    uint32_t n;
    int64_t usual_ns;
};

static int upload_makers_listen(const struct context *cx, lane_id lane, struct silence *ret)
{
    const struct trace *t = cx->t;
    const struct lane *l = &t->lanes[lane];
    size_t n = (size_t)(l->end - l->begin) + 1;
    *ret = (struct silence){.before_ns = arena_alloc(cx->mem, n * sizeof *ret->before_ns),
                            .ops = arena_alloc(cx->mem, n * sizeof *ret->ops)};
    int64_t *sorted = arena_alloc(cx->mem, n * sizeof *sorted);
    if (!ret->before_ns || !ret->ops || !sorted) return ERR_NOMEM;
    int64_t end = t->lanes[lane].begin < l->end ? t->ts_ns[l->begin] : 0;
    for (row_t r = l->begin; r < l->end; r++) {
        if (t->kind[r] != KIND_OP || t->ts_ns[r] < end) continue;
        ret->before_ns[ret->n] = sorted[ret->n] = t->ts_ns[r] - end;
        ret->ops[ret->n++] = r;
        end = trace_end_ns(t, r);
    }
    stats_sort(sorted, ret->n);
    ret->usual_ns = stats_median(sorted, ret->n);
    return 0;
}

/* What the operator that begins at `begin_ns` has more of than operators usually have. */
static int64_t silence_before(const struct silence *s, const struct trace *t, int64_t begin_ns)
{
    uint32_t i = 0;
    SEARCH_PAST(i, s->n, t->ts_ns[s->ops[i]] < begin_ns);
    if (i == s->n || t->ts_ns[s->ops[i]] != begin_ns) return 0;
    int64_t more = s->before_ns[i] - s->usual_ns;
    return more > s->usual_ns && more < upload_silence_ns ? more : 0;
}

/* The calls of the replay and the ones before them on their threads. */
struct chain {
    const struct sim_model *m;
    uint32_t *before; /* by call; SIM_NONE for the first of a thread */
    int64_t usual_ns; /* median time from one call to the next */
};

static int upload_makers_follow(const struct context *cx, struct chain *ret)
{
    const struct sim_model *m = model_of(cx);
    size_t room = m->n_calls + (size_t)1;
    *ret = (struct chain){.m = m, .before = arena_alloc(cx->mem, room * sizeof *ret->before)};
    int64_t *gaps = arena_alloc(cx->mem, room * sizeof *gaps);
    uint32_t n = 0;
    if (!ret->before || !gaps) return ERR_NOMEM;
    for (uint32_t c = 0; c < m->n_calls; c++) ret->before[c] = SIM_NONE;
    for (uint32_t c = 0; c < m->n_calls; c++) {
        if (m->calls[c].next == SIM_NONE) continue;
        ret->before[m->calls[c].next] = c;
        gaps[n++] = m->calls[m->calls[c].next].begin_ns - m->calls[c].end_ns;
    }
    stats_sort(gaps, n);
    ret->usual_ns = stats_median(gaps, n);
    return 0;
}

static bool upload_makers_uploads(const struct sim_model *m, uint32_t c)
{
    if (c == SIM_NONE || m->calls[c].n_work != 1) return false;
    row_t work = m->works[m->works_by_call[m->calls[c].first_work]].row;
    return copy_of(m->t, work).way == COPY_TO_DEVICE;
}

/* Without operators there is the copy before the wait, and the silence before that in which the
 * tensor is made. What the next launch would need before it stays. */
static struct span without_operators(const struct chain *x, uint32_t wait)
{
    const struct sim_call *calls = x->m->calls;
    uint32_t copy = upload_makers_uploads(x->m, wait) ? wait : x->before[wait],
             next = calls[wait].next;
    struct span s = {calls[wait].begin_ns, calls[wait].end_ns};
    if (!upload_makers_uploads(x->m, copy)) return s;
    s.begin_ns = calls[copy].begin_ns;
    uint32_t last = x->before[copy];
    int64_t after = next == SIM_NONE ? x->usual_ns : calls[next].begin_ns - s.end_ns;
    int64_t stays = after < x->usual_ns ? x->usual_ns - after : 0;
    int64_t silence = last == SIM_NONE ? 0 : s.begin_ns - calls[last].end_ns;
    if (silence > 2 * x->usual_ns && silence < upload_silence_ns) s.begin_ns -= silence - stays;
    return s;
}

int upload_makers_drop(const struct context *cx, const struct sync_site *site, struct finding *f)
{
    struct sim_cut *spans = arena_alloc(cx->mem, (site->n_rows + (size_t)1) * sizeof *spans);
    struct silence quiet;
    struct chain calls;
    if (!spans || upload_makers_listen(cx, cx->t->lane[site->rows[0]], &quiet) < 0 ||
        upload_makers_follow(cx, &calls) < 0)
        return ERR_NOMEM;
    uint32_t n = 0;
    for (uint32_t i = 0; i < site->n_rows; i++) {
        uint32_t c = sim_find_call(calls.m, site->rows[i]);
        if (c == SIM_NONE) continue;
        struct span s = quiet.n ? with_its_maker(cx, site->rows[i]) : without_operators(&calls, c);
        if (!cx->t->n_py) s.begin_ns -= silence_before(&quiet, cx->t, s.begin_ns);
        spans[n++] = (struct sim_cut){calls.m->calls[c].thread, s.begin_ns, s.end_ns, 0};
    }
    f->edits[f->n_edits++] =
        (struct sim_edit){.kind = EDIT_DROP_SPANS, .spans = spans, .n_spans = n};
    return 0;
}
