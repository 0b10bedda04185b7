/* notes.c: see notes.h. */
#include "analyze/comm/notes.h"

#include <stdlib.h>

#include "base/arena.h"

/* The time of a note may be taken from another clock than that of the range. */
#define SLACK_NS 1000000

struct side {
    const struct trace *t;
    const row_t *rows;
    uint32_t *order; /* by process, name, begin */
    uint32_t n;
};

/* The index of the category, or n_cats. */
static uint32_t find_category(const struct trace *t)
{
    uint32_t c = 0;
    while (c < t->n_cats && !str_is(trace_str(t, t->cats[c]), CAT_COLLECTIVE)) c++;
    return c;
}

static uint32_t list_notes(const struct trace *t, uint32_t category, row_t *ret)
{
    uint32_t n = 0;
    for (row_t r = 0; r < t->n_rows; r++) {
        if (t->kind[r] != KIND_OTHER || t->cat[r] != category) continue;
        if (ret) ret[n] = r;
        n++;
    }
    return n;
}

static uint32_t process_of(const struct trace *t, row_t r)
{
    return t->lanes[t->lane[r]].process;
}

static int compare(const struct trace *t, row_t a, row_t b)
{
    uint32_t p = process_of(t, a), q = process_of(t, b);
    if (p != q) return p < q ? -1 : 1;
    return t->name[a] < t->name[b] ? -1 : t->name[a] > t->name[b];
}

static int by_begin(const void *a, const void *b, void *side)
{
    const struct side *s = side;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    row_t x = s->rows[i], y = s->rows[k];
    int c = compare(s->t, x, y);
    if (c) return c;
    if (s->t->ts_ns[x] != s->t->ts_ns[y]) return s->t->ts_ns[x] < s->t->ts_ns[y] ? -1 : 1;
    return i < k ? -1 : i > k;
}

static int sort_side(struct context *cx, struct side *s)
{
    s->order = arena_zalloc(cx->mem, (size_t)s->n + 1, sizeof *s->order);
    if (!s->order) return ERR_NOMEM;
    for (uint32_t i = 0; i < s->n; i++) s->order[i] = i;
    if (s->n) qsort_r(s->order, s->n, sizeof *s->order, by_begin, s);
    return 0;
}

static void match(const struct side *ranges, const struct side *notes, row_t *ret)
{
    const struct trace *t = ranges->t;
    uint32_t k = 0;
    for (uint32_t i = 0; i < ranges->n; i++) {
        row_t range = ranges->rows[ranges->order[i]];
        while (k < notes->n && compare(t, notes->rows[notes->order[k]], range) < 0) k++;
        if (k == notes->n) return;
        row_t note = notes->rows[notes->order[k]];
        if (compare(t, note, range) || t->ts_ns[note] > t->ts_ns[range] + SLACK_NS) continue;
        ret[ranges->order[i]] = note;
        k++;
    }
}

int notes_find(struct context *cx, const row_t *rows, uint32_t n, row_t *ret)
{
    const struct trace *t = cx->t;
    uint32_t category = find_category(t);
    for (uint32_t i = 0; i < n; i++) ret[i] = ROW_NONE;
    if (category == t->n_cats || !n) return 0;
    struct side ranges = {t, rows, NULL, n}, notes = {t, NULL, NULL, 0};
    notes.n = list_notes(t, category, NULL);
    row_t *list = arena_zalloc(cx->mem, (size_t)notes.n + 1, sizeof *list);
    if (!list) return ERR_NOMEM;
    list_notes(t, category, list);
    notes.rows = list;
    TRY(sort_side(cx, &ranges));
    TRY(sort_side(cx, &notes));
    match(&ranges, &notes, ret);
    return 0;
}
