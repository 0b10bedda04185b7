/* notes.c: see notes.h. */
#include "analyze/comm/notes.h"

#include <stdlib.h>

#include "analyze/comm/comm_constants.h"
#include "analyze/names/collective.h"
#include "base/arena.h"
#include "base/search.h"

struct side {
    const struct trace *t;
    const row_t *rows;
    uint32_t *order; /* by process, name, begin */
    uint32_t n;
};

static uint32_t notes_list_rows(const struct trace *t, uint32_t category, row_t *ret)
{
    uint32_t n = 0;
    for (row_t r = 0; r < t->n_rows; r++) {
        if (t->kind[r] != KIND_OTHER || t->cat[r] != category) continue;
        if (ret) ret[n] = r;
        n++;
    }
    return n;
}

/* The notes of a category, in the order of rows. */
static int list_notes(struct context *cx, const char *category, row_t **ret, uint32_t *ret_n)
{
    const struct trace *t = cx->t;
    uint32_t c = 0;
    while (c < t->n_cats && !str_is(trace_str(t, t->cats[c]), category)) c++;
    *ret_n = c < t->n_cats ? notes_list_rows(t, c, NULL) : 0;
    *ret = arena_zalloc(cx->mem, (size_t)*ret_n + 1, sizeof **ret);
    if (!*ret) return ERR_NOMEM;
    if (*ret_n) notes_list_rows(t, c, *ret);
    return 0;
}

static uint32_t process_of(const struct trace *t, row_t r)
{
    return t->lanes[t->lane[r]].process;
}

static int notes_compare(const struct trace *t, row_t a, row_t b)
{
    uint32_t p = process_of(t, a), q = process_of(t, b);
    if (p != q) return p < q ? -1 : 1;
    return t->name[a] < t->name[b] ? -1 : t->name[a] > t->name[b];
}

static int notes_by_begin(const void *a, const void *b, void *side)
{
    const struct side *s = side;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    row_t x = s->rows[i], y = s->rows[k];
    int c = notes_compare(s->t, x, y);
    if (c) return c;
    if (s->t->ts_ns[x] != s->t->ts_ns[y]) return s->t->ts_ns[x] < s->t->ts_ns[y] ? -1 : 1;
    return i < k ? -1 : i > k;
}

static int sort_side(struct context *cx, struct side *s)
{
    s->order = arena_zalloc(cx->mem, (size_t)s->n + 1, sizeof *s->order);
    if (!s->order) return ERR_NOMEM;
    for (uint32_t i = 0; i < s->n; i++) s->order[i] = i;
    if (s->n) qsort_r(s->order, s->n, sizeof *s->order, notes_by_begin, s);
    return 0;
}

static void notes_match(const struct side *ranges, const struct side *notes, row_t *ret)
{
    const struct trace *t = ranges->t;
    uint32_t k = 0;
    for (uint32_t i = 0; i < ranges->n; i++) {
        row_t range = ranges->rows[ranges->order[i]];
        while (k < notes->n && notes_compare(t, notes->rows[notes->order[k]], range) < 0) k++;
        if (k == notes->n) return;
        row_t note = notes->rows[notes->order[k]];
        if (notes_compare(t, note, range) || t->ts_ns[note] > t->ts_ns[range] + notes_slack_ns)
            continue;
        ret[ranges->order[i]] = note;
        k++;
    }
}

int notes_find(struct context *cx, const row_t *rows, uint32_t n, row_t *ret)
{
    struct side ranges = {cx->t, rows, NULL, n}, notes = {cx->t, NULL, NULL, 0};
    row_t *list;
    for (uint32_t i = 0; i < n; i++) ret[i] = ROW_NONE;
    TRY(list_notes(cx, CAT_COLLECTIVE, &list, &notes.n));
    if (!notes.n || !n) return 0;
    notes.rows = list;
    TRY(sort_side(cx, &ranges));
    TRY(sort_side(cx, &notes));
    notes_match(&ranges, &notes, ret);
    return 0;
}

/* ---- of kernels */

/* A kernel that was launched by a call of its own. */
struct launch {
    int64_t end_ns;
    uint32_t process, kernel;
};

static int notes_by_end(const void *a, const void *b)
{
    const struct launch *x = a, *y = b;
    if (x->process != y->process) return x->process < y->process ? -1 : 1;
    if (x->end_ns != y->end_ns) return x->end_ns < y->end_ns ? -1 : 1;
    return x->kernel < y->kernel ? -1 : x->kernel > y->kernel;
}

static uint32_t list_launches(const struct trace *t, const row_t *kernels, uint32_t n,
                              struct launch *ret)
{
    uint32_t n_launches = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t launched = 0;
        row_t call = trace_launch_of(t, kernels[i]);
        if (call == ROW_NONE || !trace_launched(t, call, &launched) || launched != 1) continue;
        ret[n_launches++] = (struct launch){trace_end_ns(t, call), process_of(t, call), i};
    }
    if (n_launches) qsort(ret, n_launches, sizeof *ret, notes_by_end);
    return n_launches;
}

static bool notes_fits(const struct trace *t, row_t note, row_t kernel)
{
    enum collective a = collective_of(trace_name(t, note)),
                    b = collective_of(trace_name(t, kernel));
    return a == b || a == COLLECTIVE_OTHER || b == COLLECTIVE_OTHER;
}

/* The last launch before the note; NULL when there is none that it can be about. */
static const struct launch *launch_before(const struct trace *t, const struct launch *list,
                                          uint32_t n, row_t note)
{
    struct launch key = {t->ts_ns[note], process_of(t, note), UINT32_MAX};
    uint32_t i = 0;
    SEARCH_PAST(i, n, notes_by_end(&list[i], &key) <= 0);
    if (!i || list[i - 1].process != key.process) return NULL;
    return key.end_ns - list[i - 1].end_ns <= notes_later_ns ? &list[i - 1] : NULL;
}

static int notes_by_time(const void *a, const void *b, void *trace)
{
    const struct trace *t = trace;
    row_t x = *(const row_t *)a, y = *(const row_t *)b;
    if (t->ts_ns[x] != t->ts_ns[y]) return t->ts_ns[x] < t->ts_ns[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

int notes_of_kernels(struct context *cx, const row_t *kernels, uint32_t n, struct launch_notes *ret)
{
    const struct trace *t = cx->t;
    row_t *notes;
    uint32_t n_notes;
    *ret = (struct launch_notes){0};
    TRY(list_notes(cx, CAT_LAUNCHED, &notes, &n_notes));
    if (!n_notes) return 0;
    struct launch *launches = arena_zalloc(cx->mem, (size_t)n + 1, sizeof *launches);
    ret->list = arena_zalloc(cx->mem, n_notes, sizeof *ret->list);
    if (!launches || !ret->list) return ERR_NOMEM;
    uint32_t n_launches = list_launches(t, kernels, n, launches);
    qsort_r(notes, n_notes, sizeof *notes, notes_by_time, (void *)(uintptr_t)t);
    for (uint32_t i = 0; i < n_notes; i++) {
        const struct launch *l = launch_before(t, launches, n_launches, notes[i]);
        if (l && notes_fits(t, notes[i], kernels[l->kernel]))
            ret->list[ret->n++] = (struct launch_note){notes[i], l->kernel};
    }
    return 0;
}
