/* tracks.c: every track is a stack of open spans; a span fits where the innermost open one lasts
 * at least as long. */
#include "export/tracks.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/vec.h"

/* Extra tracks get thread ids from here on, which no system hands out. */
#define FIRST_TID 1000000000

struct open_spans {
    int64_t *end_ns;
    size_t n, cap;
};

static int tracks_compare(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static int tracks_by_thread(const void *a, const void *b, void *ctx)
{
    const struct trace *t = ctx;
    lane_id i = *(const lane_id *)a, k = *(const lane_id *)b;
    const struct lane *x = &t->lanes[i], *y = &t->lanes[k];
    int c = tracks_compare(x->process, y->process);
    if (!c) c = tracks_compare(x->tid, y->tid);
    if (!c) c = tracks_compare(x->tid_text, y->tid_text);
    return c ? c : tracks_compare(i, k);
}

bool tracks_same_thread(const struct lane *a, const struct lane *b)
{
    return a->process == b->process && a->tid == b->tid && a->tid_text == b->tid_text;
}

static int tracks_by_start(const void *a, const void *b, void *ctx)
{
    const struct trace *t = ctx;
    row_t x = *(const row_t *)a, y = *(const row_t *)b;
    int c = tracks_compare(t->ts_ns[x], t->ts_ns[y]);
    if (!c) c = tracks_compare(t->dur_ns[y], t->dur_ns[x]);
    return c ? c : tracks_compare(x, y);
}

/* Whether [start, end] nests among the spans open at its start. */
static bool tracks_fits(struct open_spans *open, int64_t start_ns, int64_t end_ns)
{
    while (open->n && open->end_ns[open->n - 1] <= start_ns) open->n--;
    return !open->n || end_ns <= open->end_ns[open->n - 1];
}

static uint8_t find_track(struct open_spans *tracks, int64_t start_ns, int64_t end_ns)
{
    uint8_t i = 0;
    while (i < TRACKS_MOST - 1 && !tracks_fits(&tracks[i], start_ns, end_ns)) i++;
    return i;
}

/* Gives tracks to the rows of one thread, which come in order; true when out of memory. */
static bool tracks_assign(struct tracks *k, const struct trace *t, const row_t *rows, size_t n)
{
    struct open_spans tracks[TRACKS_MOST] = {0};
    uint8_t *n_extra = n ? &k->n_extra[k->thread[t->lane[rows[0]]]] : NULL;
    bool failed = false;
    for (size_t i = 0; i < n && !failed; i++) {
        row_t r = rows[i];
        if (t->phase[r] != 'X') continue;
        uint8_t at = find_track(tracks, t->ts_ns[r], trace_end_ns(t, r));
        struct open_spans *open = &tracks[at];
        failed = VEC_RESERVE(open->end_ns, open->n, open->cap, 1);
        if (!failed) open->end_ns[open->n++] = trace_end_ns(t, r);
        k->of_row[r] = at;
        if (at > *n_extra) *n_extra = at;
    }
    for (int i = 0; i < TRACKS_MOST; i++) mem_free(tracks[i].end_ns);
    return failed;
}

/* Brings the rows of the lanes[0 .. n_lanes), which are one thread, behind k->order[at]. */
static row_t tracks_gather(struct tracks *k, const struct trace *t, const lane_id *lanes,
                           uint32_t n_lanes, row_t at)
{
    row_t begin = at;
    for (uint32_t i = 0; i < n_lanes; i++) {
        k->thread[lanes[i]] = lanes[0];
        for (row_t r = t->lanes[lanes[i]].begin; r < t->lanes[lanes[i]].end; r++)
            k->order[at++] = r;
    }
    if (n_lanes > 1)
        qsort_r(k->order + begin, at - begin, sizeof *k->order, tracks_by_start,
                (void *)(uintptr_t)t);
    return at;
}

static bool assign_all(struct tracks *k, const struct trace *t, lane_id *lanes)
{
    row_t at = 0;
    for (lane_id i = 0; i < t->n_lanes; i++) lanes[i] = i;
    qsort_r(lanes, t->n_lanes, sizeof *lanes, tracks_by_thread, (void *)(uintptr_t)t);
    for (uint32_t i = 0, j; i < t->n_lanes; i = j) {
        for (j = i + 1; j < t->n_lanes; j++)
            if (!tracks_same_thread(&t->lanes[lanes[i]], &t->lanes[lanes[j]])) break;
        row_t end = tracks_gather(k, t, lanes + i, j - i, at);
        if (tracks_assign(k, t, k->order + at, end - at)) return true;
        at = end;
    }
    return false;
}

/* Numbers the extra tracks above every thread id of the trace. */
static void number_tracks(struct tracks *k, const struct trace *t)
{
    int64_t next = FIRST_TID;
    for (lane_id i = 0; i < t->n_lanes; i++)
        if (t->lanes[i].tid >= next && t->lanes[i].tid < INT32_MAX) next = t->lanes[i].tid + 1;
    for (lane_id i = 0; i < t->n_lanes; i++) {
        k->tid[i] = next;
        next += k->n_extra[i];
    }
}

int tracks_init(struct tracks *k, const struct trace *t, struct err *e)
{
    k->order = mem_alloc(t->n_rows * sizeof *k->order);
    k->of_row = mem_zalloc(t->n_rows, 1);
    k->thread = mem_alloc(t->n_lanes * sizeof *k->thread);
    k->n_extra = mem_zalloc(t->n_lanes, 1);
    k->tid = mem_alloc(t->n_lanes * sizeof *k->tid);
    lane_id *lanes = mem_alloc(t->n_lanes * sizeof *lanes);
    bool failed = !k->order || !k->of_row || !k->thread || !k->n_extra || !k->tid || !lanes ||
                  assign_all(k, t, lanes);
    mem_free(lanes);
    if (failed) return err_nomem(e);
    number_tracks(k, t);
    return 0;
}

void tracks_done(struct tracks *k)
{
    mem_free(k->order);
    mem_free(k->of_row);
    mem_free(k->thread);
    mem_free(k->n_extra);
    mem_free(k->tid);
    *k = (struct tracks){0};
}
