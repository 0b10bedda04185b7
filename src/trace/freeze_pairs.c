/* freeze_pairs.c: begin and end events become spans.
 *
 * Within a lane, in time order (file order where times are equal), an E closes the latest open B.
 * A B that is never closed lasts until the last time seen on its lane; an E that closes nothing
 * is dropped. Both are counted as damage. */
#include <stdlib.h>

#include "base/mem.h"
#include "trace/freeze.h"

struct mark {
    int64_t ts_ns;
    uint32_t lane, row;
};

static int freeze_pairs_by_time(const void *a, const void *b)
{
    const struct mark *x = a, *y = b;
    if (x->lane != y->lane) return x->lane < y->lane ? -1 : 1;
    if (x->ts_ns != y->ts_ns) return x->ts_ns < y->ts_ns ? -1 : 1;
    return x->row < y->row ? -1 : 1;
}

static size_t count_marks(const struct rows *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++) n += r->phase[i] == 'B' || r->phase[i] == 'E';
    return n;
}

static void close_at(struct rows *r, uint32_t begin, int64_t end_ns)
{
    r->phase[begin] = 'X';
    /* beyond all bounds where the times are: freeze_bounds is next */
    if (__builtin_sub_overflow(end_ns, r->ts_ns[begin], &r->dur_ns[begin])) r->dur_ns[begin] = -1;
}

/* Pairs the marks of one lane; `open` is a stack of rows with room for all of them. */
static void pair_lane(struct rows *r, struct trace *t, const struct mark *marks, size_t n,
                      uint32_t *open)
{
    size_t n_open = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t row = marks[i].row;
        if (r->phase[row] == 'B') {
            open[n_open++] = row;
            continue;
        }
        r->phase[row] = 0;
        if (n_open) close_at(r, open[--n_open], marks[i].ts_ns);
        else damage_note(&t->damage, DAMAGE_UNMATCHED_END, r->src[row]);
    }
    while (n_open) {
        uint32_t row = open[--n_open];
        close_at(r, row, marks[n - 1].ts_ns);
        r->flags[row] |= ROW_UNFINISHED;
        damage_note(&t->damage, DAMAGE_UNMATCHED_END, r->src[row]);
    }
}

int freeze_pairs(struct rows *r, struct trace *t)
{
    size_t n = count_marks(r), k = 0;
    struct mark *marks = mem_alloc(n * sizeof *marks);
    uint32_t *open = mem_alloc(n * sizeof *open);
    if (marks && open) {
        for (size_t i = 0; i < r->n; i++)
            if (r->phase[i] == 'B' || r->phase[i] == 'E')
                marks[k++] = (struct mark){r->ts_ns[i], r->lane[i], (uint32_t)i};
        qsort(marks, n, sizeof *marks, freeze_pairs_by_time);
        for (size_t i = 0, j; i < n; i = j) {
            for (j = i; j < n && marks[j].lane == marks[i].lane;) j++;
            pair_lane(r, t, marks + i, j - i, open);
        }
    }
    int rc = marks && open ? 0 : ERR_NOMEM;
    mem_free(marks);
    mem_free(open);
    return rc;
}
