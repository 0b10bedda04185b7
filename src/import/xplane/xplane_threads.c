/* xplane_threads.c: see xplane_private.h. */
#include "import/xplane/xplane_private.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/search.h"
#include "base/vec.h"

enum { MOST_CALLS = 200, MOST_STEPS = 64, LEAST_CALLS = 8, MOST_LINES = 256 };

struct traced {
    uint64_t begin_ps, end_ps;
    struct str name;
};

struct line {
    uint64_t ts_ns;
    struct traced *spans; /* of TraceMe, by begin */
    size_t n, cap;
    struct traced *calls; /* name: the part of the program it belongs to */
    size_t n_calls, cap_calls;
};

struct finding {
    const struct xplanes *x;
    const struct xplane *plane;
    struct line lines[MOST_LINES];
    uint32_t n;
};

/* The part of the program an event runs, empty when it says none. */
static struct str xplane_threads_part_of(const struct finding *f, struct str event, bool *ret_call)
{
    enum { STATS = 4 };
    struct pb m = pb_open(event);
    struct pb_field g;
    struct str part = str_c("");
    *ret_call = false;
    while (pb_next(&m, &g)) {
        if (g.number != STATS || g.type != PB_BYTES) continue;
        struct xvalue v = xplane_value(f->x, f->plane, g.bytes);
        if (!v.name) continue;
        if (v.name->stat == XSTAT_CORRELATION) *ret_call = true;
        if (v.name->stat == XSTAT_HLO_OP && v.kind == XVALUE_TEXT) part = v.text;
    }
    return part;
}

static int xplane_threads_add_event(struct finding *f, struct line *line, struct str event)
{
    enum { NAME = 1, OFFSET = 2, DURATION = 3 };
    struct pb m = pb_open(event);
    struct pb_field g;
    struct traced s = {0};
    uint64_t dur_ps = 0;
    bool call;
    while (pb_next(&m, &g)) {
        const struct xname *name =
            g.number == NAME ? xplane_event_name(f->x, f->plane, g.value) : NULL;
        if (name) s.name = name->text;
        else if (g.number == OFFSET) s.begin_ps = g.value;
        else if (g.number == DURATION) dur_ps = g.value;
    }
    if (!dur_ps || (s.name.n && *s.name.p == '$')) return 0; /* Python says no part */
    if (__builtin_add_overflow(s.begin_ps, line->ts_ns * 1000, &s.begin_ps) ||
        __builtin_add_overflow(s.begin_ps, dur_ps, &s.end_ps))
        return 0;
    struct str part = xplane_threads_part_of(f, event, &call);
    if (call && (!part.n || line->n_calls >= MOST_CALLS)) return 0;
    if (call) {
        s.name = part;
        if (VEC_RESERVE(line->calls, line->n_calls, line->cap_calls, 1)) return ERR_NOMEM;
        line->calls[line->n_calls++] = s;
        return 0;
    }
    if (VEC_RESERVE(line->spans, line->n, line->cap, 1)) return ERR_NOMEM;
    line->spans[line->n++] = s;
    return 0;
}

static int xplane_threads_by_begin(const void *a, const void *b)
{
    const struct traced *x = a, *y = b;
    return x->begin_ps < y->begin_ps ? -1 : x->begin_ps > y->begin_ps;
}

static int xplane_threads_add_line(struct finding *f, struct str bytes)
{
    enum { TIME = 3, EVENTS = 4 };
    struct line *line = &f->lines[f->n++];
    struct pb m = pb_open(bytes);
    struct pb_field g;
    while (pb_next(&m, &g))
        if (g.number == TIME) line->ts_ns = g.value < INT64_MAX / 1000 ? g.value : 0;
    for (m = pb_open(bytes); pb_next(&m, &g);)
        if (g.number == EVENTS && g.type == PB_BYTES)
            TRY(xplane_threads_add_event(f, line, g.bytes));
    if (line->n) qsort(line->spans, line->n, sizeof *line->spans, xplane_threads_by_begin);
    return 0;
}

/* Whether a span around the call has the name of the part it belongs to. */
static bool xplane_threads_is_inside(const struct line *line, const struct traced *call)
{
    size_t i = 0;
    SEARCH_PAST(i, line->n, line->spans[i].begin_ps <= call->begin_ps);
    for (int step = 0; step < MOST_STEPS && i-- > 0; step++)
        if (line->spans[i].end_ps >= call->end_ps && str_eq(line->spans[i].name, call->name))
            return true;
    return false;
}

/* 1 + the line that encloses nine calls of ten of `at`, or 0. */
static uint32_t find_home(const struct finding *f, uint32_t at)
{
    const struct line *line = &f->lines[at];
    if (line->n_calls < LEAST_CALLS || line->n) return 0; /* it has events of its own */
    for (uint32_t i = 0; i < f->n; i++) {
        size_t inside = 0;
        for (size_t k = 0; k < line->n_calls && i != at; k++)
            inside += xplane_threads_is_inside(&f->lines[i], &line->calls[k]);
        if (inside * 10 >= line->n_calls * 9) return i + 1;
    }
    return 0;
}

static int xplane_threads_find_all(struct finding *f, struct xthreads *t)
{
    enum { LINES = 3 };
    struct pb m = pb_open(f->plane->bytes);
    struct pb_field g;
    while (f->n < MOST_LINES && pb_next(&m, &g))
        if (g.number == LINES && g.type == PB_BYTES) TRY(xplane_threads_add_line(f, g.bytes));
    t->same_as = mem_zalloc(f->n + 1, sizeof *t->same_as);
    if (!t->same_as) return ERR_NOMEM;
    t->n = f->n;
    for (uint32_t i = 0; i < f->n; i++) t->same_as[i] = find_home(f, i);
    return 0;
}

int xthreads_find(struct xthreads *t, const struct xplanes *x, const struct xplane *p)
{
    struct finding *f = mem_zalloc(1, sizeof *f);
    *t = (struct xthreads){0};
    if (!f) return ERR_NOMEM;
    f->x = x;
    f->plane = p;
    int rc = xplane_threads_find_all(f, t);
    for (uint32_t i = 0; i < f->n; i++) {
        mem_free(f->lines[i].spans);
        mem_free(f->lines[i].calls);
    }
    mem_free(f);
    return rc;
}

void xthreads_done(struct xthreads *t)
{
    mem_free(t->same_as);
}
