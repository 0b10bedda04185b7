/* pressure.c: the recorder's "Command Buffer Full" records, asked by time. */
#include "analyze/pressure.h"

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

int pressure_init(struct pressure *p, const struct trace *t, struct arena *mem, struct err *e)
{
    str_id name = intern_find(&t->strings, str_c("Command Buffer Full"));
    size_t n = 0;
    for (row_t r = 0; name != STR_NONE && r < t->n_rows; r++)
        n += t->kind[r] == KIND_OVERHEAD && t->name[r] == name;
    *p = (struct pressure){arena_zalloc(mem, n + 1, sizeof *p->full), 0};
    if (!p->full) return FAIL(e, ERR_NOMEM, "out of memory");
    for (row_t r = 0; n && r < t->n_rows; r++) {
        if (t->kind[r] != KIND_OVERHEAD || t->name[r] != name) continue;
        struct span *last = p->n_full ? &p->full[p->n_full - 1] : NULL;
        struct span s = {t->ts_ns[r], trace_end_ns(t, r)};
        if (!last || s.begin_ns > last->end_ns) p->full[p->n_full++] = s;
        else last->end_ns = most(s.end_ns, last->end_ns);
    }
    return 0;
}

int64_t pressure_ns(const struct pressure *p, const struct trace *t, row_t r)
{
    int64_t begin = t->ts_ns[r], end = trace_end_ns(t, r), sum = 0;
    if (end - begin < PRESSURE_NS) return 0;
    uint32_t lo = 0, hi = p->n_full;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (p->full[mid].end_ns <= begin) lo = mid + 1;
        else hi = mid;
    }
    for (; lo < p->n_full && p->full[lo].begin_ns < end; lo++)
        sum += least(p->full[lo].end_ns, end) - most(p->full[lo].begin_ns, begin);
    return sum;
}
