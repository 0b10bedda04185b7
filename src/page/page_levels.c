/* page_levels.c: see page_levels.h. Rows are taken one by one, so that a bucket array of one row is
 * all the memory it needs; coarser levels are made from the finer ones. */
#include "page/page_levels.h"

#include "base/mem.h"
#include "base/vec.h"

enum { STEP = 4 };

struct bucket {
    int64_t busy_ns;
    int64_t most_ns; /* of it, by the name of `row` */
    row_t row;
};

/* The spans of a track, brought together by row. */
struct by_row {
    row_t *rows;
    uint32_t first[PAGE_ROWS + 1]; /* index of the first span of a row; [n_rows] is the end */
    bool cut[PAGE_ROWS];           /* some of its spans are not in the page */
};

int64_t page_levels_width(const struct trace *t, uint32_t n)
{
    int64_t finest = (t->end_ns - t->begin_ns) / PAGE_BUCKETS_MOST + 1;
    return finest * (PAGE_BUCKETS_MOST / n);
}

uint32_t page_levels_finest(uint64_t n)
{
    uint32_t buckets = PAGE_BUCKETS_LEAST;
    if (n < (uint64_t)STEP * PAGE_BUCKETS_LEAST) return 0;
    while (buckets < PAGE_BUCKETS_MOST && n >= (uint64_t)buckets * STEP) buckets *= STEP;
    return buckets;
}

static void page_levels_count_rows(const struct page_levels_in *in, const struct lane *l,
                                   struct by_row *b)
{
    for (row_t r = l->begin; r < l->end; r++) {
        if (!page_tracks_draws(in->t, r)) continue;
        b->first[in->tracks->row_of[r] + 1]++;
        if (in->detail->span_of[r] == PAGE_NO_SPAN) b->cut[in->tracks->row_of[r]] = true;
    }
    for (int i = 0; i < PAGE_ROWS; i++) b->first[i + 1] += b->first[i];
}

static bool page_levels_gather(const struct page_levels_in *in, const struct page_track *k,
                               struct by_row *b)
{
    const struct lane *l = &in->t->lanes[k->lane];
    uint32_t at[PAGE_ROWS];
    b->rows = mem_alloc(((size_t)k->n_spans + 1) * sizeof *b->rows);
    if (!b->rows) return true;
    page_levels_count_rows(in, l, b);
    for (int i = 0; i < PAGE_ROWS; i++) at[i] = b->first[i];
    for (row_t r = l->begin; r < l->end; r++)
        if (page_tracks_draws(in->t, r)) b->rows[at[in->tracks->row_of[r]]++] = r;
    return false;
}

/* Adds a span to the buckets it lies in, without what those before it in the row cover: what is
 * nested deepest shares a row. One without a length still shows as a trace of one. */
static void page_levels_add_span(const struct trace *t, row_t r, struct bucket *buckets,
                                 int64_t width_ns, int64_t *covered)
{
    int64_t begin = trace_since_ns(t, t->ts_ns[r]);
    bool lasts = t->dur_ns[r] > 0;
    int64_t end = begin + (lasts ? t->dur_ns[r] : 1);
    if (lasts && begin < *covered) begin = *covered;
    if (lasts && end > *covered) *covered = end;
    while (begin < end) {
        int64_t i = begin / width_ns;
        int64_t stop = (i + 1) * width_ns < end ? (i + 1) * width_ns : end;
        struct bucket *b = &buckets[i < PAGE_BUCKETS_MOST ? i : PAGE_BUCKETS_MOST - 1];
        int64_t ns = stop - begin;
        b->busy_ns += ns;
        if (ns > b->most_ns) {
            b->most_ns = ns;
            b->row = r;
        }
        begin = stop;
    }
}

/* Four buckets as one: the name that takes most of them together, as far as they tell. */
static struct bucket page_levels_join(const struct trace *t, const struct bucket *four)
{
    struct bucket all = {0};
    for (int i = 0; i < STEP; i++) {
        int64_t ns = 0;
        all.busy_ns += four[i].busy_ns;
        for (int k = 0; k < STEP; k++)
            if (t->name[four[k].row] == t->name[four[i].row]) ns += four[k].most_ns;
        if (ns <= all.most_ns) continue;
        all.most_ns = ns;
        all.row = four[i].row;
    }
    return all;
}

static uint8_t page_levels_share(int64_t busy_ns, int64_t width_ns)
{
    if (busy_ns <= 0) return 0;
    if (busy_ns >= width_ns) return 255;
    int64_t of_255 = busy_ns * 255 / width_ns;
    return of_255 ? (uint8_t)of_255 : 1;
}

static int page_levels_put_level(const struct page_levels_in *in, const struct bucket *buckets,
                                 struct page_level level, struct page_levels *out)
{
    struct page_col busy = {0}, name = {0};
    for (uint32_t i = 0; i < level.n; i++) {
        uint8_t part = page_levels_share(buckets[i].busy_ns, level.width_ns);
        page_col_byte(&busy, part);
        if (part) page_col_uint(&name, page_names_row(in->names, buckets[i].row));
    }
    level.busy = page_block_add(in->block, &busy);
    level.name = page_block_add(in->block, &name);
    if (VEC_RESERVE(out->list, out->n, out->cap, 1)) return ERR_NOMEM;
    out->list[out->n++] = level;
    return 0;
}

/* All levels of one row. `buckets` has room for the most there are, and is left cleared. */
static int page_levels_put_row(const struct page_levels_in *in, const struct by_row *b,
                               uint32_t row, struct bucket *buckets, struct page_levels *out)
{
    uint32_t n_spans = b->first[row + 1] - b->first[row];
    uint32_t n = page_levels_finest(n_spans);
    if (!n && b->cut[row]) n = PAGE_BUCKETS_LEAST;
    if (!n) return 0;
    struct page_level level = {.row = row, .n = n, .width_ns = page_levels_width(in->t, n)};
    int64_t covered = INT64_MIN;
    for (uint32_t i = b->first[row]; i < b->first[row + 1]; i++)
        page_levels_add_span(in->t, b->rows[i], buckets, level.width_ns, &covered);
    for (; level.n >= PAGE_BUCKETS_LEAST; level.n /= STEP, level.width_ns *= STEP) {
        TRY(page_levels_put_level(in, buckets, level, out));
        for (uint32_t i = 0; i < level.n / STEP; i++)
            buckets[i] = page_levels_join(in->t, buckets + (size_t)i * STEP);
    }
    memset(buckets, 0, n * sizeof *buckets);
    return 0;
}

static int page_levels_put_rows(const struct page_levels_in *in, const struct page_track *k,
                                struct by_row *b, struct page_levels *out)
{
    if (page_levels_gather(in, k, b)) return ERR_NOMEM;
    struct bucket *buckets = mem_zalloc(PAGE_BUCKETS_MOST, sizeof *buckets);
    int rc = buckets ? 0 : ERR_NOMEM;
    for (uint32_t row = 0; row < k->n_rows && rc == 0; row++)
        rc = page_levels_put_row(in, b, row, buckets, out);
    mem_free(buckets);
    return rc;
}

int page_levels_run(const struct page_levels_in *in, uint32_t track, struct page_levels *ret,
                    struct err *e)
{
    struct by_row *b = mem_zalloc(1, sizeof *b);
    *ret = (struct page_levels){0};
    int rc = b ? page_levels_put_rows(in, &in->tracks->list[track], b, ret) : ERR_NOMEM;
    if (b) mem_free(b->rows);
    mem_free(b);
    return err_grow(e, rc);
}

void page_levels_done(struct page_levels *l)
{
    mem_free(l->list);
    *l = (struct page_levels){0};
}
