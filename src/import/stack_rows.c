/* stack_rows.c: see stack_rows.h. One sweep over the moments of a thread, with a stack of open
 * functions; span_tree.h answers where a border may lie. */
#include "import/stack_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "import/span_tree.h"

enum { DEEPEST = 256 };

struct frame {
    uint32_t id; /* DEF_FRAME */
    uint32_t code, module, line;
};

struct path {
    int n;
    struct frame at[DEEPEST]; /* outermost first */
};

/* A function that is open, and the line it is at. */
struct open {
    struct frame frame;
    struct border begin, line_begin;
    uint64_t src;
    bool exact; /* a call waited at this line */
};

/* A row to be. Outer ones are handed over first. */
struct made {
    struct border begin, end;
    int64_t end_ns; /* before it was fitted */
    uint64_t src;
    uint32_t order;
    str_id name;
    uint8_t flags;
};

struct sweep {
    const struct stack_process *p;
    struct part *part;
    const struct defs_file *defs;
    struct span_tree spans;
    struct open open[DEEPEST];
    int n_open;
    struct made *made;
    size_t n_made, cap_made;
    int64_t tid;
};

int stack_rows_see(struct stack_rows *s, const struct stack_seen *seen)
{
    if (VEC_RESERVE(s->seen, s->n_seen, s->cap_seen, 1)) return ERR_NOMEM;
    s->seen[s->n_seen++] = *seen;
    return 0;
}

int stack_rows_span(struct stack_rows *s, const struct stack_span *span)
{
    if (VEC_RESERVE(s->spans, s->n_spans, s->cap_spans, 1)) return ERR_NOMEM;
    s->spans[s->n_spans++] = *span;
    return 0;
}

void stack_rows_done(struct stack_rows *s)
{
    mem_free(s->seen);
    mem_free(s->spans);
    *s = (struct stack_rows){0};
}

/* The frames of a stack. A definition refers to earlier ones only, so this ends. */
static void read_path(const struct defs_file *defs, uint32_t id, struct path *ret)
{
    struct frame inner[DEEPEST];
    int n = 0;
    while (id && n < DEEPEST) {
        struct def_frame f;
        struct str bytes = defs_file_get(defs, id, DEF_FRAME, sizeof f);
        if (!bytes.p) break;
        memcpy(&f, bytes.p, sizeof f);
        inner[n++] = (struct frame){id, f.code, f.module, f.line};
        id = f.parent < id ? f.parent : 0;
    }
    ret->n = n;
    for (int i = 0; i < n; i++) ret->at[i] = inner[n - 1 - i];
}

static struct str text_of(const struct defs_file *defs, const struct frame *f)
{
    struct str s = {NULL, 0};
    if (f->module) s = defs_file_get(defs, f->module, DEF_MODULE, 1);
    if (!s.p) s = defs_file_get(defs, f->code, DEF_CODE, 1);
    return s.p ? s : str_c("(name lost)");
}

/* "FILE(LINE): FUNCTION" with another line. */
static str_id name_line(struct sweep *w, const struct frame *f)
{
    struct str s = text_of(w->defs, f);
    char text[RING_TEXT_MAX + 16];
    for (size_t i = s.n; i-- > 0;) {
        if (s.p[i] != '(') continue;
        const char *close = memchr(s.p + i, ')', s.n - i);
        if (!close || close[1] != ':') continue;
        int n = snprintf(text, sizeof text, "%.*s(%" PRIu32 "%.*s", (int)i, s.p, f->line,
                         (int)(s.p + s.n - close), close);
        return intern_add(part_strings(w->part), str_from(text, (size_t)n));
    }
    return intern_add(part_strings(w->part), s);
}

static int make(struct sweep *w, const struct made *m)
{
    if (m->name == STR_NONE || VEC_RESERVE(w->made, w->n_made, w->cap_made, 1)) return ERR_NOMEM;
    w->made[w->n_made] = *m;
    w->made[w->n_made++].end_ns = m->end.at_ns;
    return 0;
}

/* The row of the line that function `depth` was at, if a call waited there. */
static int close_line(struct sweep *w, int depth, const struct border *at)
{
    struct open *o = &w->open[depth];
    if (!o->exact || !o->frame.line || o->frame.module) return 0;
    return make(w, &(struct made){.begin = o->line_begin,
                                  .end = *at,
                                  .src = o->src,
                                  .order = (uint32_t)depth * 2 + 1,
                                  .name = name_line(w, &o->frame),
                                  .flags = ROW_LINE});
}

static int close_to(struct sweep *w, int depth, const struct border *at)
{
    while (w->n_open > depth) {
        int i = w->n_open - 1;
        struct open *o = &w->open[i];
        TRY(close_line(w, i, at));
        str_id name = intern_add(part_strings(w->part), text_of(w->defs, &o->frame));
        TRY(make(w, &(struct made){.begin = o->begin,
                                   .end = *at,
                                   .src = o->src,
                                   .order = (uint32_t)i * 2,
                                   .name = name}));
        w->n_open--;
    }
    return 0;
}

static bool same_function(const struct frame *a, const struct frame *b)
{
    return a->code == b->code && a->module == b->module;
}

/* How many open frames are the very same in `path`, line included. */
static int common(const struct sweep *w, const struct path *path)
{
    int n = 0;
    while (n < w->n_open && n < path->n && w->open[n].frame.id == path->at[n].id) n++;
    return n;
}

/* Whether the function at `depth` went on from what it did in `a` to what it does in `b`. Two calls
 * that waited, the later one not further down in the function: it may have been called anew, and
 * is not said to have lasted. */
static bool went_on(const struct sweep *w, int depth, const struct path *path,
                    const struct stack_seen *a, const struct stack_seen *b)
{
    if (depth >= w->n_open || depth >= path->n) return false;
    const struct frame *was = &w->open[depth].frame, *is = &path->at[depth];
    if (!same_function(was, is)) return false;
    return !a->exact || !b->exact || is->line > was->line;
}

struct borders {
    struct border close, open;
};

/* Where functions seen only in `a` end and those seen only in `b` begin. */
static struct borders find_borders(const struct sweep *w, const struct stack_seen *a,
                                   const struct stack_seen *b)
{
    int64_t half = w->p->period_ns / 2;
    int64_t lo = a->end_ns, hi = b->begin_ns > lo ? b->begin_ns : lo, middle = lo + (hi - lo) / 2;
    struct borders x = {{lo, lo, hi, true}, {hi, lo, hi, false}};
    if (!a->exact) x.close.at_ns = hi - lo < 2 * half ? middle : lo + half;
    if (!b->exact) x.open.at_ns = hi - lo < 2 * half ? middle : hi - half;
    x.close.at_ns = span_tree_border(&w->spans, &x.close);
    x.open.at_ns = span_tree_border(&w->spans, &x.open);
    if (x.close.at_ns > x.open.at_ns) x.close.at_ns = x.open.at_ns;
    return x;
}

static void open_frames(struct sweep *w, const struct path *path, const struct stack_seen *b,
                        const struct border *at)
{
    for (int i = w->n_open; i < path->n; i++)
        w->open[i] = (struct open){path->at[i], *at, *at, b->src, false};
    w->n_open = path->n;
    for (int i = 0; i < w->n_open && b->exact; i++) w->open[i].exact = true;
}

/* From moment `a` to moment `b`. */
static int step(struct sweep *w, const struct stack_seen *a, const struct stack_seen *b)
{
    struct path path;
    read_path(w->defs, b->stack, &path);
    struct borders x = find_borders(w, a, b);
    int same = common(w, &path);
    if (a->exact && b->exact && same == w->n_open && same == path.n && same > 0) same--;
    if (!went_on(w, same, &path, a, b)) {
        TRY(close_to(w, same, &x.close));
    } else {
        TRY(close_to(w, same + 1, &x.close));
        if (w->open[same].frame.id != path.at[same].id) {
            TRY(close_line(w, same, &x.close));
            w->open[same].frame = path.at[same];
            w->open[same].line_begin = x.open;
            w->open[same].exact = false;
        }
    }
    open_frames(w, &path, b, &x.open);
    return 0;
}

static int by_place(const void *a, const void *b)
{
    const struct made *x = a, *y = b;
    if (x->begin.at_ns != y->begin.at_ns) return x->begin.at_ns < y->begin.at_ns ? -1 : 1;
    if (x->end.at_ns != y->end.at_ns) return x->end.at_ns > y->end.at_ns ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* The row that encloses `m`: of the line its caller is at, or of the caller, which may have gone on
 * from that line, or never have waited at one. */
static const struct made *outer_of(struct made *const *around, const struct made *m)
{
    if (!m->order) return NULL;
    const struct made *outer = around[m->order - 1];
    if (outer && outer->end_ns >= m->end_ns) return outer;
    return m->order > 1 ? around[m->order - 2] : NULL;
}

/* Keeps the rows inside those that enclose them, which were moved before them. */
static void fit(struct sweep *w)
{
    struct made *around[2 * DEEPEST] = {0};
    for (size_t i = 0; i < w->n_made; i++) {
        struct made *m = &w->made[i];
        const struct made *outer = outer_of(around, m);
        span_tree_fit(&w->spans, &m->begin, &m->end);
        if (outer && m->begin.at_ns < outer->begin.at_ns) m->begin.at_ns = outer->begin.at_ns;
        if (outer && m->end.at_ns > outer->end.at_ns) m->end.at_ns = outer->end.at_ns;
        around[m->order] = m;
        if (m->order % 2 == 0) around[m->order + 1] = NULL;
    }
}

static int hand_over(struct sweep *w)
{
    static const struct py_info nothing = {-1, -1, -1};
    uint8_t cat = part_cat(w->part, str_c(kind_name(KIND_PYTHON)));
    if (w->n_made) qsort(w->made, w->n_made, sizeof *w->made, by_place);
    fit(w);
    for (size_t i = 0; i < w->n_made; i++) {
        const struct made *m = &w->made[i];
        int64_t dur_ns = m->end.at_ns - m->begin.at_ns;
        struct part_row row = {
            .ts_ns = m->begin.at_ns,
            .dur_ns = dur_ns > 0 ? dur_ns : 0,
            .name = m->name,
            .kind = KIND_PYTHON,
            .cat = cat,
            .phase = 'X',
            .flags = m->flags,
            .src = m->src,
            .pid = w->p->pid,
            .tid = {w->tid, 0},
            .aux = &nothing,
        };
        TRY(part_add(w->part, &row));
    }
    w->n_made = 0;
    return 0;
}

static int add_thread(struct sweep *w, const struct stack_seen *seen, size_t n)
{
    struct stack_seen before = {.end_ns = seen[0].begin_ns};
    w->n_open = 0;
    for (size_t i = 0; i < n; i++) {
        w->defs = w->p->defs[seen[i].defs];
        TRY(step(w, i ? &seen[i - 1] : &before, &seen[i]));
    }
    const struct stack_seen *last = &seen[n - 1];
    struct border end = {last->end_ns, last->end_ns, INT64_MAX, true};
    if (!last->exact) end.at_ns += w->p->period_ns / 2;
    end.at_ns = span_tree_border(&w->spans, &end);
    TRY(close_to(w, 0, &end));
    return hand_over(w);
}

static int by_thread(const void *a, const void *b)
{
    const struct stack_seen *x = a, *y = b;
    if (x->process != y->process) return x->process < y->process ? -1 : 1;
    if (x->tid != y->tid) return x->tid < y->tid ? -1 : 1;
    if (x->begin_ns != y->begin_ns) return x->begin_ns < y->begin_ns ? -1 : 1;
    return (x->src > y->src) - (x->src < y->src);
}

static int add_threads(struct stack_rows *s, struct sweep *w)
{
    for (size_t i = 0, n; i < s->n_seen; i += n) {
        for (n = 1; i + n < s->n_seen && s->seen[i + n].process == s->seen[i].process &&
                    s->seen[i + n].tid == s->seen[i].tid;)
            n++;
        if (s->seen[i].process != w->p->process) continue;
        w->tid = s->seen[i].tid;
        TRY(span_tree_build(&w->spans, s->spans, s->n_spans, &s->seen[i]));
        TRY(add_thread(w, &s->seen[i], n));
    }
    return 0;
}

int stack_rows_add(struct stack_rows *s, const struct stack_process *p, struct part *part)
{
    struct sweep *w = mem_zalloc(1, sizeof *w);
    if (!w) return ERR_NOMEM;
    w->p = p;
    w->part = part;
    if (s->n_seen) qsort(s->seen, s->n_seen, sizeof *s->seen, by_thread);
    int rc = add_threads(s, w);
    span_tree_done(&w->spans);
    mem_free(w->made);
    mem_free(w);
    return rc;
}
