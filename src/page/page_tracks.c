/* page_tracks.c: see page_detail.h. */
#include "page/page_detail.h"

#include <stdlib.h>

#include "analyze/names/collective.h"
#include "base/human.h"

bool page_tracks_draws(const struct trace *t, row_t r)
{
    switch ((enum row_kind)t->kind[r]) {
    case KIND_MEMORY:
    case KIND_COUNTER:
    case KIND_WINDOW:
    case KIND_ASYNC: return false;
    default: return !(t->flags[r] & ROW_NO_TIME);
    }
}

/* The ends of the spans that are open, outermost first. */
struct open_rows {
    int64_t end_ns[PAGE_ROWS];
    uint32_t n;
};

/* Whether a span that is still open is out of the way of the next. One that hangs over a little is:
 * recorders take the time of frames and of labels at different moments, and a frame that ends
 * microseconds into a label of seconds shall not push everything inside it down. */
static bool out_of_the_way(int64_t open_end_ns, int64_t begin_ns, int64_t end_ns)
{
    if (open_end_ns <= begin_ns) return true;
    return open_end_ns < end_ns && open_end_ns - begin_ns <= (end_ns - begin_ns) / PAGE_OVERHANG;
}

/* The row for a span, given all that started before it. */
static uint8_t page_tracks_place(struct open_rows *open, int64_t begin_ns, int64_t end_ns)
{
    while (open->n && out_of_the_way(open->end_ns[open->n - 1], begin_ns, end_ns)) open->n--;
    if (open->n == PAGE_ROWS) open->n--;
    open->end_ns[open->n] = end_ns;
    return (uint8_t)open->n++;
}

static void page_tracks_place_all(const struct trace *t, struct page_track *k, uint8_t *row_of)
{
    struct open_rows open = {.n = 0};
    const struct lane *l = &t->lanes[k->lane];
    for (row_t r = l->begin; r < l->end; r++) {
        if (!page_tracks_draws(t, r)) continue;
        row_of[r] = page_tracks_place(&open, t->ts_ns[r], trace_end_ns(t, r));
        if (row_of[r] >= k->n_rows) k->n_rows = row_of[r] + 1u;
        k->n_spans++;
        uint32_t n = 0;
        if (trace_call(t, r)) trace_launched(t, r, &n);
        k->n_launches += n > 0;
    }
}

/* Devices before threads: threads are deep, and one wants to see both. */
static int page_tracks_rank_of(const struct lane *l)
{
    switch (l->kind) {
    case LANE_STREAM: return 0;
    case LANE_GPU_NOTE: return 1;
    case LANE_THREAD: return 3;
    case LANE_OVERHEAD: return 4;
    default: return 5;
    }
}

static int page_tracks_compare(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static int page_tracks_by_place(const void *a, const void *b, void *ctx)
{
    const struct trace *t = ctx;
    const struct page_track *x = a, *y = b;
    const struct lane *p = &t->lanes[x->lane], *q = &t->lanes[y->lane];
    bool gpu = page_tracks_rank_of(p) < 2 && page_tracks_rank_of(q) < 2;
    int c = gpu ? page_tracks_compare(p->device, q->device) : 0;
    if (!c) c = page_tracks_compare(page_tracks_rank_of(p), page_tracks_rank_of(q));
    if (!c)
        c = page_tracks_compare(p->process, q->process); /* whose threads stand under one heading */
    if (!c) c = page_tracks_compare(y->n_launches, x->n_launches);
    if (!c) c = page_tracks_compare(y->n_spans, x->n_spans);
    return c ? c : page_tracks_compare(x->lane, y->lane);
}

/* Threads of a process need not stand together, but a list of them is short. */
static uint32_t page_tracks_count_processes(const struct trace *t, const struct page_tracks *k)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < k->n && n < 2; i++) {
        const struct lane *l = &t->lanes[k->list[i].lane];
        bool seen = l->kind != LANE_THREAD;
        for (uint32_t j = 0; j < i && !seen; j++) {
            const struct lane *other = &t->lanes[k->list[j].lane];
            seen = other->kind == LANE_THREAD && other->process == l->process;
        }
        n += !seen;
    }
    return n;
}

static void mark_main(const struct trace *t, struct page_tracks *k)
{
    struct page_track *best = NULL;
    for (uint32_t i = 0; i < k->n; i++) {
        struct page_track *track = &k->list[i];
        if (t->lanes[track->lane].kind != LANE_THREAD) continue;
        if (!best || track->n_launches > best->n_launches) best = track;
    }
    if (best) best->main = true;
}

int page_tracks_run(const struct trace *t, struct arena *mem, struct page_tracks *ret,
                    struct err *e)
{
    *ret = (struct page_tracks){.list = arena_zalloc(mem, t->n_lanes + 1, sizeof *ret->list),
                                .row_of = arena_zalloc(mem, t->n_rows + 1, 1)};
    if (!ret->list || !ret->row_of) return err_nomem(e);
    for (lane_id i = 0; i < t->n_lanes; i++) {
        struct page_track *k = &ret->list[ret->n];
        *k = (struct page_track){.lane = i};
        page_tracks_place_all(t, k, ret->row_of);
        ret->n += k->n_spans > 0;
    }
    if (ret->n)
        qsort_r(ret->list, ret->n, sizeof *ret->list, page_tracks_by_place, (void *)(uintptr_t)t);
    ret->n_left_out = ret->n > PAGE_TRACKS ? ret->n - PAGE_TRACKS : 0;
    ret->n -= ret->n_left_out;
    for (uint32_t i = 0; i < ret->n; i++) ret->n_spans += ret->list[i].n_spans;
    ret->n_processes = page_tracks_count_processes(t, ret);
    mark_main(t, ret);
    return 0;
}

static void page_tracks_put_name(const struct trace *t, str_id name, struct buf *out)
{
    char cut[128];
    struct str s = str_trim(trace_str(t, name));
    if (s.n) buf_printf(out, " (%s)", human_cut(s, 40, cut, sizeof cut));
}

void page_track_group(const struct trace *t, const struct page_tracks *k, const struct lane *l,
                      struct buf *out)
{
    const struct process *p = &t->processes[l->process];
    if (l->device >= 0) {
        buf_printf(out, "GPU %d", l->device);
    } else if (l->kind != LANE_THREAD) {
        buf_adds(out, "other");
    } else if (k->n_processes < 2) {
        buf_adds(out, "CPU");
    } else {
        buf_adds(out, "process");
        if (p->pid != ID_NONE) buf_printf(out, " %lld", (long long)p->pid);
        page_tracks_put_name(t, p->pid != ID_NONE ? p->name : p->pid_text, out);
    }
}

/* Whether a stream is used for communication: most of its time. */
static bool is_for_comm(const struct trace *t, const struct lane *l)
{
    int64_t comm = 0, all = 0;
    for (row_t r = l->begin; r < l->end; r++) {
        all += t->dur_ns[r];
        if (t->kind[r] == KIND_KERNEL && collective_kernel(trace_name(t, r))) comm += t->dur_ns[r];
    }
    return 2 * comm > all;
}

void page_track_label(const struct trace *t, const struct lane *l, struct buf *out)
{
    if (l->kind == LANE_STREAM || l->kind == LANE_GPU_NOTE) {
        buf_printf(out, "%s %d", l->kind == LANE_STREAM ? "stream" : "labels of stream", l->stream);
        if (l->kind == LANE_STREAM && is_for_comm(t, l)) buf_adds(out, " (communication)");
        return;
    }
    if (l->kind == LANE_OVERHEAD) {
        buf_adds(out, "profiler overhead");
        return;
    }
    char cut[128];
    struct str name = str_trim(trace_str(t, l->name ? l->name : l->tid_text));
    bool numbered = l->kind == LANE_THREAD && l->tid != ID_NONE;
    if (numbered && !str_starts(name, "thread")) {
        buf_printf(out, "thread %lld", (long long)l->tid);
        page_tracks_put_name(t, l->name, out);
        return;
    }
    buf_adds(out, name.n ? human_cut(name, 40, cut, sizeof cut) : "unnamed");
}

const char *page_track_kind(enum lane_kind k)
{
    switch (k) {
    case LANE_THREAD: return "thread";
    case LANE_STREAM: return "stream";
    case LANE_GPU_NOTE: return "gpu_note";
    case LANE_OVERHEAD: return "overhead";
    default: return "other";
    }
}
