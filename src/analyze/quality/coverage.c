/* coverage.c: lists the launches that must leave a record, in time order, and looks for holes.
 *
 * Not every launch leaves a record: launches during graph capture do not run, and of two nested
 * calls (runtime and driver) only one carries the correlation. A fill of zero bytes runs nothing.
 */
#include "analyze/quality/coverage.h"

#include <stdlib.h>

#include "analyze/quality/quality_constants.h"
#include "analyze/quality/quality_private.h"
#include "base/stats.h"

enum neighbour { NEIGHBOUR_NONE, NEIGHBOUR_RECORDED, NEIGHBOUR_MISSING };

struct launch {
    int64_t ts_ns;
    row_t call;
    int32_t device;
    bool recorded;
    enum neighbour next; /* of a fill without a record: the launch after it */
};

struct cover {
    const struct trace *t;
    const struct context *cx;
    struct coverage *c;
    uint8_t *capture; /* by str_id: 1 begins a capture, 2 ends it */
    struct launch *list;
    uint32_t n;
};

static void find_capture_names(struct cover *k)
{
    const struct trace *t = k->t;
    for (row_t r = 0; r < t->n_rows; r++) {
        if (!trace_call(t, r)) continue;
        struct str name = trace_name(t, r);
        if (str_has(name, "StreamBeginCapture")) k->capture[t->name[r]] = 1;
        else if (str_has(name, "StreamEndCapture")) k->capture[t->name[r]] = 2;
    }
}

static enum call_kind coverage_kind_of(const struct cover *k, row_t r)
{
    return calls_kind(calls_of(k->cx), k->t, r);
}

static bool coverage_launches(const struct cover *k, row_t r)
{
    return r != ROW_NONE && call_launches(coverage_kind_of(k, r));
}

/* Whether the launch stands for itself: not the inner or outer half of another one. */
static bool stands_alone(const struct cover *k, row_t r, uint32_t n_work)
{
    const struct trace *t = k->t;
    if (n_work) return true;
    if (coverage_launches(k, t->parent[r])) return false;
    bool has_inner = r + 1 < t->n_rows && t->lane[r + 1] == t->lane[r] && t->parent[r + 1] == r;
    return !(has_inner && coverage_launches(k, r + 1));
}

static void list_thread(struct cover *k, const struct lane *l)
{
    const struct trace *t = k->t;
    int32_t device = timeline_of(k->cx)->n_devices ? timeline_of(k->cx)->devices[0].device : -1;
    bool capturing = false;
    for (row_t r = l->begin; r < l->end; r++) {
        const struct call_info *call = trace_call(t, r);
        if (!call) continue;
        if (k->capture[t->name[r]]) capturing = k->capture[t->name[r]] == 1;
        uint32_t n;
        const row_t *work = trace_launched(t, r, &n);
        if (n) device = t->lanes[t->lane[work[0]]].device;
        if (!coverage_launches(k, r) || call->correlation == ID_NONE || (capturing && !n)) continue;
        if (stands_alone(k, r, n))
            k->list[k->n++] = (struct launch){t->ts_ns[r], r, device, n > 0, 0};
    }
}

static int coverage_by_time(const void *a, const void *b)
{
    const struct launch *x = a, *y = b;
    if (x->ts_ns != y->ts_ns) return x->ts_ns < y->ts_ns ? -1 : 1;
    return (x->call > y->call) - (x->call < y->call);
}

static bool is_bare_fill(const struct cover *k, const struct launch *l)
{
    return !l->recorded && coverage_kind_of(k, l->call) == CALL_SET;
}

/* Buffers lose what stands next to one another. A fill without a record between launches that have
 * theirs was not lost: it had nothing to fill, as the workspaces of many products. The list is
 * passed backwards first, to know what comes after. */
static void forgive_fills(struct cover *k)
{
    enum neighbour next = NEIGHBOUR_NONE, last = NEIGHBOUR_NONE;
    for (uint32_t i = k->n; i-- > 0;) {
        struct launch *l = &k->list[i];
        if (is_bare_fill(k, l)) l->next = next;
        else next = l->recorded ? NEIGHBOUR_RECORDED : NEIGHBOUR_MISSING;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < k->n; i++) {
        struct launch l = k->list[i];
        bool fill = is_bare_fill(k, &l);
        if (!fill) last = l.recorded ? NEIGHBOUR_RECORDED : NEIGHBOUR_MISSING;
        bool missing = last == NEIGHBOUR_MISSING || l.next == NEIGHBOUR_MISSING;
        if (fill && !missing && (last || l.next)) continue;
        k->list[kept++] = l;
    }
    k->n = kept;
}

static void coverage_count(struct share *s, const struct launch *l)
{
    s->expected++;
    s->recorded += l->recorded;
}

static void count_launch(struct cover *k, const struct launch *l)
{
    struct coverage *c = k->c;
    uint32_t step = steps_at(steps_of(k->cx), l->ts_ns);
    coverage_count(&c->all, l);
    if (step != UINT32_MAX) coverage_count(&c->steps[step], l);
    for (uint32_t i = 0; i < c->n_devices; i++)
        if (c->devices[i].device == l->device) coverage_count(&c->devices[i].launches, l);
}

/* Where launches without records are among those with records. */
static void find_holes(struct cover *k)
{
    struct coverage *c = k->c;
    uint32_t first = 0, end = k->n;
    while (first < k->n && !k->list[first].recorded) first++;
    while (end > first && !k->list[end - 1].recorded) end--;
    c->missing_head = first;
    c->missing_tail = k->n - end;
    c->head_end_ns = first < k->n ? k->list[first].ts_ns : 0;
    c->tail_begin_ns = end ? k->list[end - 1].ts_ns : 0;
    c->lost_ns = end < k->n ? k->list[end].ts_ns : 0;
    for (uint32_t i = first; i < end; i++) {
        if (k->list[i].recorded) continue;
        if (!c->missing_mid++) c->first_missing_mid = k->list[i].call;
    }
}

static void count_orphans(struct cover *k)
{
    const struct timeline *tl = timeline_of(k->cx);
    for (uint32_t d = 0; d < tl->n_devices; d++) {
        bool linked = false;
        k->c->work += tl->devices[d].n_work;
        for (uint32_t i = 0; i < tl->devices[d].n_work; i++) {
            if (trace_launch_of(k->t, tl->devices[d].work[i]) != ROW_NONE) {
                linked = true;
                continue;
            }
            k->c->orphans++;
            k->c->orphans_mid += linked;
        }
    }
}

static int count_replays(struct cover *k, struct arena *mem)
{
    row_t *replays = arena_alloc(mem, (k->n + (size_t)1) * sizeof *replays);
    uint32_t n = 0;
    if (!replays) return ERR_NOMEM;
    for (uint32_t i = 0; i < k->n; i++)
        if (coverage_kind_of(k, k->list[i].call) == CALL_GRAPH_LAUNCH)
            replays[n++] = k->list[i].call;
    return graph_replays_count(k->t, replays, n, k->c);
}

static int coverage_prepare(struct cover *k, struct arena *mem)
{
    const struct timeline *tl = timeline_of(k->cx);
    k->capture = arena_zalloc(mem, (size_t)k->t->strings.n + 1, 1);
    k->list = arena_zalloc(mem, (size_t)k->t->n_calls + 1, sizeof *k->list);
    k->c->steps = arena_zalloc(mem, (size_t)steps_of(k->cx)->n_steps + 1, sizeof *k->c->steps);
    k->c->devices = arena_zalloc(mem, (size_t)tl->n_devices + 1, sizeof *k->c->devices);
    if (!k->capture || !k->list || !k->c->steps || !k->c->devices) return ERR_NOMEM;
    k->c->n_devices = tl->n_devices;
    for (uint32_t i = 0; i < tl->n_devices; i++) k->c->devices[i].device = tl->devices[i].device;
    return 0;
}

bool coverage_edge_is_normal(const struct coverage *c, uint32_t missing)
{
    return missing <= integrity_edge_launches ||
           stats_pct(missing, c->all.expected) < integrity_edge_pct;
}

int coverage_run(const struct context *cx, struct arena *mem, struct coverage *ret, struct err *e)
{
    struct coverage c = {.first_missing_mid = ROW_NONE, .first_short = ROW_NONE};
    struct cover k = {.t = cx->t, .cx = cx, .c = &c};
    if (coverage_prepare(&k, mem) < 0) return err_nomem(e);
    find_capture_names(&k);
    for (uint32_t l = 0; l < cx->t->n_lanes; l++)
        if (cx->t->lanes[l].kind == LANE_THREAD) list_thread(&k, &cx->t->lanes[l]);
    if (k.n) qsort(k.list, k.n, sizeof *k.list, coverage_by_time);
    forgive_fills(&k);
    for (uint32_t i = 0; i < k.n; i++) count_launch(&k, &k.list[i]);
    find_holes(&k);
    count_orphans(&k);
    if (count_replays(&k, mem) < 0) return err_nomem(e);
    *ret = c;
    return 0;
}
