/* page_detail.c: see page_detail.h. Rows are first marked, then numbered track by track. */
#include "page/page_detail.h"

#include <stdlib.h>

#define MARKED (UINT32_MAX - 1) /* in span_of, until rows are numbered */

struct chooser {
    const struct page_detail_in *in;
    struct page_detail *out;
    uint32_t left; /* of the budget */
};

static bool page_detail_mark(struct chooser *c, row_t r)
{
    if (c->out->span_of[r] == MARKED || !page_tracks_draws(c->in->t, r)) return false;
    c->out->span_of[r] = MARKED;
    if (c->left) c->left--;
    return true;
}

/* Marks a row and all around it. What encloses a marked row is marked already. */
static void mark_up(struct chooser *c, row_t r)
{
    for (; r != ROW_NONE && c->out->span_of[r] != MARKED; r = c->in->t->parent[r])
        page_detail_mark(c, r);
}

static void page_detail_mark_rows(struct chooser *c)
{
    for (uint32_t i = 0; i < c->in->n_rows; i++) {
        row_t r = c->in->rows[i];
        if (r == ROW_NONE) continue;
        mark_up(c, r);
        row_t launch = trace_launch_of(c->in->t, r);
        if (launch != ROW_NONE) mark_up(c, launch);
    }
}

/* ---- long spans */

enum { BINS = 128 };

/* Two bins an octave. */
static int bin_of(int64_t ns)
{
    if (ns < 1) return 0;
    int log2 = 63 - __builtin_clzll((unsigned long long)ns);
    int half = log2 > 0 ? (int)(ns >> (log2 - 1) & 1) : 0;
    return 2 * log2 + half;
}

static int64_t bin_begin(int bin)
{
    int64_t ns = (int64_t)1 << bin / 2;
    return bin % 2 ? ns + ns / 2 : ns;
}

/* The shortest length of which `most` spans or fewer are at least as long, those that are kept
 * anyway not counted. */
static int64_t long_enough(const struct chooser *c, uint32_t most)
{
    const struct trace *t = c->in->t;
    uint32_t bins[BINS] = {0};
    uint64_t n = 0;
    int bin = BINS;
    for (row_t r = 0; r < t->n_rows; r++)
        if (c->out->span_of[r] != MARKED && page_tracks_draws(t, r)) bins[bin_of(t->dur_ns[r])]++;
    while (bin > 0 && n + bins[bin - 1] <= most) n += bins[--bin];
    return bin >= BINS - 2 ? INT64_MAX : bin_begin(bin);
}

/* As many of the longest as there are, up to `most`. */
static void mark_long(struct chooser *c, uint32_t most)
{
    const struct trace *t = c->in->t;
    c->out->long_ns = long_enough(c, most);
    for (row_t r = 0; r < t->n_rows; r++)
        if (t->dur_ns[r] >= c->out->long_ns) page_detail_mark(c, r);
}

/* ---- ranges */

static uint64_t rows_in(const struct page_detail_in *in, int64_t begin_ns, int64_t end_ns)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < in->tracks->n; i++) {
        lane_id l = in->tracks->list[i].lane;
        n += trace_lower_bound(in->t, l, end_ns) - trace_lower_bound(in->t, l, begin_ns);
    }
    return n;
}

static void mark_range(struct chooser *c, int64_t begin_ns, int64_t end_ns)
{
    const struct trace *t = c->in->t;
    for (uint32_t i = 0; i < c->in->tracks->n; i++) {
        lane_id l = c->in->tracks->list[i].lane;
        row_t r = trace_lower_bound(t, l, begin_ns);
        row_t end = trace_lower_bound(t, l, end_ns);
        if (r > t->lanes[l].begin) mark_up(c, r - 1); /* reaches into the range, or near it */
        for (; r < end; r++) {
            page_detail_mark(c, r);
            if (t->parent[r] != ROW_NONE) mark_up(c, t->parent[r]);
        }
    }
}

/* Takes as much of the wish as there is room for, at most half of what is left, so that the first
 * does not take it all. */
static void page_detail_grant(struct chooser *c, const struct page_wish *w)
{
    enum { HALVINGS = 24 };
    int64_t begin = w->begin_ns, end = w->end_ns;
    for (int i = 0; i < HALVINGS && begin < end; i++) {
        if (rows_in(c->in, begin, end) <= c->left / 2) {
            mark_range(c, begin, end);
            c->out->ranges[c->out->n_ranges++] = (struct page_range){begin, end, w->why};
            return;
        }
        int64_t at = w->at_ns < begin ? begin : w->at_ns > end ? end : w->at_ns;
        begin += (at - begin + 1) / 2;
        end -= (end - at + 1) / 2;
    }
}

static int page_detail_by_begin(const void *a, const void *b)
{
    const struct page_range *x = a, *y = b;
    return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

/* Sorts, and joins what overlaps; the reason of the first stays. */
static void join_ranges(struct page_detail *d)
{
    uint32_t n = 0;
    if (!d->n_ranges) return;
    qsort(d->ranges, d->n_ranges, sizeof *d->ranges, page_detail_by_begin);
    for (uint32_t i = 1; i < d->n_ranges; i++) {
        struct page_range *last = &d->ranges[n];
        if (d->ranges[i].begin_ns > last->end_ns) d->ranges[++n] = d->ranges[i];
        else if (d->ranges[i].end_ns > last->end_ns) last->end_ns = d->ranges[i].end_ns;
    }
    d->n_ranges = n + 1;
}

static void mark_track(struct chooser *c, const struct page_track *k)
{
    const struct lane *l = &c->in->t->lanes[k->lane];
    for (row_t r = l->begin; r < l->end; r++) page_detail_mark(c, r);
}

/* Whole tracks: small ones, because it costs little and aggregates of a few spans say nothing; and
 * streams, as long as there is room, because they are what one looks at first. */
static void mark_tracks(struct chooser *c)
{
    enum { SMALL = 2000 };
    uint32_t small = c->in->budget / 100 < SMALL ? c->in->budget / 100 : SMALL;
    for (uint32_t i = 0; i < c->in->tracks->n; i++) {
        struct page_track *k = &c->in->tracks->list[i];
        bool stream = c->in->t->lanes[k->lane].kind == LANE_STREAM;
        uint32_t half = c->in->budget / 2;
        uint32_t room = c->left > half ? c->left - half : 0;
        if (k->n_spans <= (stream ? room : small < room ? small : room)) mark_track(c, k);
    }
}

/* Long spans come twice: first a share of the room, so that there is an outline everywhere, and
 * then what the wishes have left. */
static void page_detail_choose(struct chooser *c)
{
    page_detail_mark_rows(c);
    mark_tracks(c);
    mark_long(c, c->left / 3);
    for (uint32_t i = 0; i < c->in->n_wishes; i++) page_detail_grant(c, &c->in->wishes[i]);
    mark_long(c, c->left);
    join_ranges(c->out);
}

/* ---- numbers */

static void mark_everything(struct chooser *c)
{
    for (row_t r = 0; r < c->in->t->n_rows; r++) page_detail_mark(c, r);
}

static void page_detail_number(const struct page_detail_in *in, struct page_detail *d)
{
    for (uint32_t i = 0; i < in->tracks->n; i++) {
        const struct lane *l = &in->t->lanes[in->tracks->list[i].lane];
        for (row_t r = l->begin; r < l->end; r++)
            if (d->span_of[r] == MARKED) d->span_of[r] = d->n_kept++;
    }
    for (row_t r = 0; r < in->t->n_rows; r++) /* of tracks that are left out */
        if (d->span_of[r] == MARKED) d->span_of[r] = PAGE_NO_SPAN;
}

int page_detail_run(const struct page_detail_in *in, struct arena *mem, struct page_detail *ret,
                    struct err *e)
{
    const struct trace *t = in->t;
    *ret = (struct page_detail){.n_spans = in->tracks->n_spans,
                                .complete = in->tracks->n_spans <= in->budget};
    ret->span_of = arena_alloc(mem, (t->n_rows + 1) * sizeof *ret->span_of);
    ret->ranges = arena_zalloc(mem, in->n_wishes + 1, sizeof *ret->ranges);
    if (!ret->span_of || !ret->ranges) return err_nomem(e);
    for (row_t r = 0; r < t->n_rows; r++) ret->span_of[r] = PAGE_NO_SPAN;
    struct chooser c = {in, ret, in->budget};
    if (ret->complete) mark_everything(&c);
    else page_detail_choose(&c);
    page_detail_number(in, ret);
    return 0;
}
