/* recorded_parts.c: see cut.h. */
#include "trace/cut.h"

#include <stdlib.h>

struct mark {
    uint32_t process;
    int64_t ts_ns;
    bool begins;
};

static bool is_mark(const struct trace *t, row_t r, bool *ret_begins)
{
    if (t->phase[r] != 'i') return false;
    struct str name = trace_name(t, r);
    *ret_begins = str_is(name, RECORDED_PART_BEGINS);
    return *ret_begins || str_is(name, RECORDED_PART_ENDS);
}

static int by_process(const void *a, const void *b)
{
    const struct mark *x = a, *y = b;
    if (x->process != y->process) return x->process < y->process ? -1 : 1;
    if (x->ts_ns != y->ts_ns) return x->ts_ns < y->ts_ns ? -1 : 1;
    return x->begins - y->begins; /* one ends before the next begins */
}

static int take_marks(const struct trace *t, struct arena *mem, struct mark **ret, uint32_t *ret_n)
{
    uint32_t n = 0;
    bool begins;
    for (row_t r = 0; r < t->n_rows; r++) n += is_mark(t, r, &begins);
    struct mark *list = arena_zalloc(mem, (size_t)n + 1, sizeof *list);
    if (!list) return ERR_NOMEM;
    *ret = list;
    *ret_n = n;
    for (row_t r = 0; r < t->n_rows; r++)
        if (is_mark(t, r, &begins))
            *list++ = (struct mark){t->lanes[t->lane[r]].process, t->ts_ns[r], begins};
    return 0;
}

static void recorded_parts_widen(struct recorded_parts *p, uint32_t i, int64_t begin_ns,
                                 int64_t end_ns)
{
    if (i == p->n) p->list[p->n++] = (struct recorded_part){begin_ns, end_ns};
    if (begin_ns < p->list[i].begin_ns) p->list[i].begin_ns = begin_ns;
    if (end_ns > p->list[i].end_ns) p->list[i].end_ns = end_ns;
}

int recorded_parts_find(const struct trace *t, struct arena *mem, struct recorded_parts *ret,
                        struct err *e)
{
    struct mark *m = NULL;
    uint32_t n = 0, number = 0;
    *ret = (struct recorded_parts){0};
    int rc = take_marks(t, mem, &m, &n);
    if (rc == 0 && n && !(ret->list = arena_alloc(mem, n * sizeof *ret->list))) rc = ERR_NOMEM;
    if (rc < 0) return err_grow(e, rc);
    if (n) qsort(m, n, sizeof *m, by_process);
    for (uint32_t i = 0; i < n; i++) {
        if (i && m[i].process != m[i - 1].process) number = 0;
        if (!m[i].begins) continue;
        bool ended = i + 1 < n && m[i + 1].process == m[i].process && !m[i + 1].begins;
        recorded_parts_widen(ret, number++, m[i].ts_ns, ended ? m[i + 1].ts_ns : t->end_ns);
    }
    return 0;
}
