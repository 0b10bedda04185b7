/* ring_window.c: see ring_set.h. How records and work lie in time is kept in equal bins: blocks
 * are spread evenly over the time they cover. */
#include "import/ring/ring_set.h"

#include "base/mem.h"
#include "base/search.h"

enum {
    N_BINS = 16384,
    MOST_HALVINGS = 24,
    MOST_PIECES = 100000,
};

struct density {
    struct ring_extent whole;
    double bin_ns;
    double *records, *work; /* up to the begin of each bin; N_BINS + 1 */
};

struct block_time {
    int64_t begin_ns, end_ns;
};

static bool ring_window_time_of(const struct ring_process *p, const struct ring_summary *s,
                                struct block_time *ret)
{
    bool ordered = s->begin_ticks <= s->end_ticks,
         spans = s->spans_begin_ticks <= s->spans_end_ticks;
    if (!ordered && !spans) return false;
    uint64_t begin = s->begin_ticks, end = s->end_ticks;
    if (!ordered || (spans && s->spans_begin_ticks < begin)) begin = s->spans_begin_ticks;
    if (!ordered || (spans && s->spans_end_ticks > end)) end = s->spans_end_ticks;
    *ret = (struct block_time){ring_process_ns(p, begin), ring_process_ns(p, end)};
    return ret->begin_ns <= ret->end_ns;
}

typedef void block_fn(void *ctx, struct block_time when, const struct ring_summary *s,
                      double records);

static void each_block(const struct ring_set *s, block_fn *fn, void *ctx)
{
    for (size_t i = 0; i < s->n_rings; i++) {
        const struct ring_blocks *b = &s->blocks[i];
        for (size_t k = 0; k < b->n; k++) {
            struct block_time when;
            uint32_t n;
            ring_file_block(&s->rings[i], b->list[k].number, &n);
            if (ring_window_time_of(&s->processes[s->owner[i]], &b->list[k], &when))
                fn(ctx, when, &b->list[k], n);
        }
    }
}

static void ring_window_widen(void *ctx, struct block_time when, const struct ring_summary *s,
                              double records)
{
    struct ring_extent *x = ctx;
    if (when.begin_ns < x->begin_ns) x->begin_ns = when.begin_ns;
    if (when.end_ns > x->end_ns) x->end_ns = when.end_ns;
}

/* As the slope in each bin, which adds up to the amounts later: [0, n) to work, then the steps. */
static void ring_window_spread(double *amounts, const struct density *d, struct block_time when,
                               double amount)
{
    double from = (double)(when.begin_ns - d->whole.begin_ns) / d->bin_ns;
    double to = (double)(when.end_ns - d->whole.begin_ns) / d->bin_ns;
    size_t first = (size_t)from, last = (size_t)to;
    if (first >= N_BINS) first = N_BINS - 1;
    if (last >= N_BINS) last = N_BINS - 1;
    double each = amount / (double)(last - first + 1);
    amounts[first] += each;
    amounts[last + 1] -= each;
}

static void ring_window_add_block(void *ctx, struct block_time when, const struct ring_summary *s,
                                  double records)
{
    struct density *d = ctx;
    ring_window_spread(d->records, d, when, records);
    if (s->work_ticks) ring_window_spread(d->work, d, when, (double)s->work_ticks);
}

/* From steps of the slope to sums: amounts[i] is what lies before bin i. */
static void ring_window_add_up(double *amounts)
{
    double slope = 0, sum = 0;
    for (size_t i = 0; i <= N_BINS; i++) {
        double step = amounts[i];
        amounts[i] = sum;
        slope += step;
        sum += slope;
    }
}

static int density_init(struct density *d, const struct ring_set *s, struct err *e)
{
    *d = (struct density){.whole = {INT64_MAX, INT64_MIN}};
    each_block(s, ring_window_widen, &d->whole);
    if (d->whole.begin_ns > d->whole.end_ns) d->whole = (struct ring_extent){0, 0};
    d->bin_ns = (double)(d->whole.end_ns - d->whole.begin_ns + 1) / N_BINS;
    d->records = mem_zalloc(N_BINS + 2, sizeof *d->records);
    d->work = mem_zalloc(N_BINS + 2, sizeof *d->work);
    if (!d->records || !d->work) return err_nomem(e);
    each_block(s, ring_window_add_block, d);
    ring_window_add_up(d->records);
    ring_window_add_up(d->work);
    return 0;
}

static void density_done(struct density *d)
{
    mem_free(d->records);
    mem_free(d->work);
}

/* When `amount` of it has come together. */
static int64_t moment_of(const struct density *d, const double *sums, double amount)
{
    size_t lo = 1;
    SEARCH_PAST(lo, (size_t)N_BINS, sums[lo] <= amount);
    lo--;
    double inside = sums[lo + 1] > sums[lo] ? (amount - sums[lo]) / (sums[lo + 1] - sums[lo]) : 0;
    if (inside < 0) inside = 0;
    if (inside > 1) inside = 1;
    return d->whole.begin_ns + (int64_t)(((double)lo + inside) * d->bin_ns);
}

static double amount_at(const struct density *d, const double *sums, int64_t ns)
{
    double at = (double)(ns - d->whole.begin_ns) / d->bin_ns;
    if (at <= 0) return 0;
    if (at >= N_BINS) return sums[N_BINS];
    size_t bin = (size_t)at;
    return sums[bin] + (at - (double)bin) * (sums[bin + 1] - sums[bin]);
}

static int64_t ring_window_middle(const struct density *d, const struct import_options *o)
{
    if (o->has_at && o->at_ns < d->whole.end_ns - d->whole.begin_ns)
        return d->whole.begin_ns + o->at_ns;
    if (o->has_at) return d->whole.end_ns;
    const double *sums = d->work[N_BINS] > 0 ? d->work : d->records;
    return moment_of(d, sums, sums[N_BINS] / 2);
}

static struct ring_window ring_window_around(const struct density *d, int64_t at_ns, double records)
{
    double all = d->records[N_BINS], here = amount_at(d, d->records, at_ns);
    double from = here - records / 2;
    if (from + records > all) from = all - records;
    if (from < 0) from = 0;
    return (struct ring_window){moment_of(d, d->records, from),
                                moment_of(d, d->records, from + records) + 1};
}

static void set_window(struct ring_set *s, struct ring_window w)
{
    for (size_t i = 0; i < s->n_processes; i++) s->processes[i].window = w;
}

static uint64_t count_needed(const struct ring_set *s)
{
    uint64_t n = 0;
    for (size_t i = 0; i < s->n_rings; i++)
        n += RING_BLOCK * ring_rows_count(&s->processes[s->owner[i]], &s->blocks[i]);
    return n;
}

/* Blocks are not evenly filled, and some reach far: the window is made smaller until what has to be
 * read for it is not much more than was allowed. */
static void ring_window_do_choose(struct ring_set *s, const struct density *d,
                                  const struct import_options *o)
{
    double records = (double)o->most_records / 4;
    int64_t at = ring_window_middle(d, o);
    uint64_t least = 4 * RING_BLOCK * (uint64_t)(s->n_rings + 1);
    uint64_t most = o->most_records / 2 > least ? o->most_records / 2 : least;
    for (int i = 0; i < MOST_HALVINGS; i++) {
        set_window(s, ring_window_around(d, at, records));
        if (count_needed(s) <= most) return;
        records /= 2;
    }
}

/* Whether a ring's index can be believed: its first and last block, and all that are needed. */
static bool ring_window_agrees(const struct ring_set *s, size_t ring)
{
    const struct ring_blocks *b = &s->blocks[ring];
    const struct ring_process *p = &s->processes[s->owner[ring]];
    const struct ring_file *f = &s->rings[ring];
    if (!b->indexed) return true;
    if (!ring_blocks_agree(b, f, 0) || (b->n > 1 && !ring_blocks_agree(b, f, b->n - 2)))
        return false;
    return ring_rows_agree(p, b, f);
}

static int mend_indexes(struct ring_set *s, bool *ret_mended, struct err *e)
{
    *ret_mended = false;
    for (size_t i = 0; i < s->n_rings; i++) {
        if (ring_window_agrees(s, i)) continue;
        ring_blocks_close(&s->blocks[i]);
        if (ring_blocks_open(&s->blocks[i], &s->rings[i], NULL) < 0) return err_nomem(e);
        *ret_mended = true;
    }
    return 0;
}

static int choose_once(struct ring_set *s, const struct import_options *o, struct ring_extent *ret,
                       struct err *e)
{
    struct density d;
    int rc = density_init(&d, s, e);
    if (rc == 0) {
        *ret = d.whole;
        if (o->span) set_window(s, (struct ring_window){o->span->begin_ns, o->span->end_ns});
        else ring_window_do_choose(s, &d, o);
    }
    density_done(&d);
    return rc;
}

int ring_window_choose(struct ring_set *s, const struct import_options *o, struct ring_extent *ret,
                       struct err *e)
{
    bool mended = true;
    while (mended) {
        TRY(choose_once(s, o, ret, e));
        TRY(mend_indexes(s, &mended, e));
        if (mended) TRY(ring_set_block_clocks(s, e));
    }
    return 0;
}

int ring_window_pieces(struct ring_set *s, uint64_t most, struct arena *mem,
                       struct ring_pieces *ret, struct err *e)
{
    struct density d;
    TRY(density_init(&d, s, e));
    double n = d.records[N_BINS] / (double)(most ? most : 1);
    *ret = (struct ring_pieces){.whole = d.whole, .n = n < 1 ? 1 : (uint32_t)n + 1};
    if (ret->n > MOST_PIECES) ret->n = MOST_PIECES;
    ret->list = arena_alloc(mem, ret->n * sizeof *ret->list);
    int64_t begin = d.whole.begin_ns;
    for (uint32_t i = 0; ret->list && i < ret->n; i++) {
        double share = (double)(i + 1) / ret->n;
        int64_t end = moment_of(&d, d.records, d.records[N_BINS] * share);
        if (i + 1 == ret->n) end = d.whole.end_ns + 1;
        ret->list[i] = (struct import_span){begin, end};
        begin = end;
    }
    density_done(&d);
    return ret->list ? 0 : err_nomem(e);
}
