/* launchless.c: walks the gaps, finds the outermost quiet row of each moment, groups by name. */
#include "analyze/gaps/launch_delay.h"

#include <stdlib.h>

#include "analyze/device/driving_calls.h"
#include "analyze/device/thread_slices.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"

struct work {
    const struct trace *t;
    const struct context *cx;
    struct arena *mem;
    struct launchless *out;
    const struct driving_calls *driving;
    struct map group_of; /* name -> index in groups */
    size_t cap_groups;
    struct hit *hits;
    size_t n_hits, cap_hits;
    struct launchless_group *groups;
    struct source_places *where;
};

/* A quiet row in a gap. */
struct hit {
    uint32_t group;
    row_t row;
    uint32_t step;
    int64_t ns;
};

/* Whether the device's work hangs on the row: it launches, waits, or waits for a thread that does.
 */
static bool launchless_drives(struct work *w, row_t r)
{
    return driving_calls_has(w->driving, r) || driving_calls_elsewhere(w->driving, r);
}

/* The outermost quiet row at or above `r`, or ROW_NONE when `r` itself is loud. Strata's own are
 * not work of the program. */
static row_t launchless_outermost(struct work *w, row_t r)
{
    row_t found = ROW_NONE;
    for (; r != ROW_NONE && !launchless_drives(w, r); r = w->t->parent[r])
        if (!source_places_is_recorder(w->where, r)) found = r;
    return found;
}

/* A context manager or a decorator begins in the standard library: what it is about is the longest
 * call of the user's code inside it. */
static row_t launchless_blamed(struct work *w, row_t top)
{
    const struct trace *t = w->t;
    if (t->kind[top] == KIND_OP) return top;
    row_t end = t->lanes[t->lane[top]].end, best = top;
    int64_t longest = 0, seen = INT64_MIN;
    for (row_t r = top; r < end && t->ts_ns[r] < trace_end_ns(t, top); r++) {
        if (t->ts_ns[r] < seen || t->kind[r] != KIND_PYTHON ||
            source_places_class(w->where, r) != FRAME_USER)
            continue;
        seen = trace_end_ns(t, r);
        if (t->dur_ns[r] <= longest) continue;
        longest = t->dur_ns[r];
        best = r;
    }
    return best;
}

static int add_hit(struct work *w, row_t row, uint32_t step, int64_t ns)
{
    struct hit *before = w->n_hits ? &w->hits[w->n_hits - 1] : NULL;
    if (before && before->row == row) {
        before->ns += ns;
        return 0;
    }
    row_t who = launchless_blamed(w, row);
    uint32_t *slot = map_at(&w->group_of, w->t->name[who]);
    if (!slot) return ERR_NOMEM;
    if (*slot == MAP_NONE) {
        if (VEC_RESERVE(w->groups, w->out->n_groups, w->cap_groups, 1)) return ERR_NOMEM;
        *slot = w->out->n_groups;
        w->groups[w->out->n_groups++] =
            (struct launchless_group){.name = w->t->name[who], .longest = row, .blamed = who};
    }
    if (VEC_RESERVE(w->hits, w->n_hits, w->cap_hits, 1)) return ERR_NOMEM;
    w->hits[w->n_hits++] = (struct hit){*slot, row, step, ns};
    return 0;
}

static int walk_gap(struct work *w, const struct gap *g)
{
    lane_id thread = idle_gap_thread(w->t, g->at);
    if (thread == LANE_NONE) return 0;
    struct thread_slices d;
    struct thread_slice piece;
    thread_slices_init(&d, w->t, thread, g->at->begin_ns, g->at->late_ns);
    while (thread_slices_next(&d, &piece)) {
        row_t row = piece.row == ROW_NONE ? ROW_NONE : launchless_outermost(w, piece.row);
        if (row == ROW_NONE) w->out->loud_ns += piece.end_ns - piece.begin_ns;
        else TRY(add_hit(w, row, g->step, piece.end_ns - piece.begin_ns));
    }
    return 0;
}

static int by_group_and_row(const void *a, const void *b)
{
    const struct hit *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static int launchless_by_idle(const void *a, const void *b)
{
    const struct launchless_group *x = a, *y = b;
    if (x->idle_ns != y->idle_ns) return x->idle_ns > y->idle_ns ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

/* Adds the hits up. Steps are ascending with rows on a thread, so counting changes counts steps. */
static int launchless_sum_up(struct work *w)
{
    const struct trace *t = w->t;
    struct launchless *q = w->out;
    if (w->n_hits) qsort(w->hits, w->n_hits, sizeof *w->hits, by_group_and_row);
    row_t *rows = arena_alloc(w->mem, (w->n_hits + 1) * sizeof *rows);
    q->groups = arena_alloc(w->mem, (q->n_groups + (size_t)1) * sizeof *q->groups);
    if (!rows || !q->groups) return ERR_NOMEM;
    uint32_t last_step = UINT32_MAX;
    for (size_t i = 0; i < w->n_hits; i++) {
        const struct hit *h = &w->hits[i];
        struct launchless_group *g = &w->groups[h->group];
        g->idle_ns += h->ns;
        bool first = i == 0 || w->hits[i - 1].group != h->group;
        if (!first && w->hits[i - 1].row == h->row) continue;
        if (first) {
            g->rows = rows;
            last_step = UINT32_MAX;
        }
        *rows++ = h->row;
        g->n_rows++;
        g->cpu_ns += t->dur_ns[h->row];
        if (t->dur_ns[h->row] > t->dur_ns[g->longest]) {
            g->longest = h->row;
            g->blamed = launchless_blamed(w, h->row);
        }
        if (h->step != UINT32_MAX && h->step != last_step) g->n_steps++;
        last_step = h->step;
    }
    for (uint32_t i = 0; i < q->n_groups; i++) q->groups[i] = w->groups[i];
    if (q->n_groups) qsort(q->groups, q->n_groups, sizeof *q->groups, launchless_by_idle);
    return 0;
}

static int walk_all(struct work *w, const struct gaps *g)
{
    for (uint32_t i = 0; i < g->n_all; i++) TRY(walk_gap(w, &g->all[i]));
    return launchless_sum_up(w);
}

static int launchless_run_pass(struct context *cx, void *ret, struct err *e)
{
    struct work w = {.t = cx->t,
                     .cx = cx,
                     .mem = cx->mem,
                     .out = ret,
                     .driving = driving_of(cx),
                     .where = places_of(cx)};
    map_init(&w.group_of);
    int rc = walk_all(&w, gaps_of(cx));
    map_done(&w.group_of);
    mem_free(w.hits);
    mem_free(w.groups);
    return err_grow(e, rc);
}

static const struct pass *const needs[] = {&driving_pass, &places_pass, &gaps_pass, NULL};

const struct pass launchless_pass = {
    .id = PASS_LAUNCHLESS,
    .size = sizeof(struct launchless),
    .needs = needs,
    .run = launchless_run_pass,
};
