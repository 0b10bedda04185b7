/* stack_rows.c: see stack_rows.h. One sweep over the moments of a thread, with a stack of open
 * functions; stack_rows.h answers where a border may lie. */
#include "import/ring/stack_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"

/* Samples so near each other speak for all the time between them: a recorder takes fewer where each
 * costs it much. */
enum { PERIODS_NEAR = 4 };

/* Module calls around a moment that are examined. */
enum { MOST_AROUND = 64 };

/* The call of a module that a function was seen in, which has a range of its own: no sample knows
 * that better. */
struct limit {
    int64_t begin_ns, end_ns;
};

/* A function that is open, and the line it is at. */
struct open {
    struct border begin, line_begin;
    struct limit limit;
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
    struct batch *part;
    const struct stack_source *from; /* of the moment at hand */
    struct span_tree spans;
    struct stack_path path; /* what is open */
    struct open open[STACK_DEEPEST];
    int n_placed; /* how many outer ones of them are where they were seen: the others follow
                     a stack that may continue anywhere */
    struct stack_path next;               /* of the moment at hand */
    const struct stack_seen *whole, *end; /* the next stack that is not cut, if any */
    struct made *made;
    size_t n_made, cap_made;
    int64_t tid;
    struct buf scratch;
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

/* "FILE(LINE): FUNCTION" with another line. */
static str_id name_line(struct sweep *w, const struct stack_frame *f)
{
    buf_reset(&w->scratch);
    stack_frame_print(w->from->defs, f, &w->scratch);
    if (!buf_ok(&w->scratch)) return STR_NONE;
    return intern_add(batch_strings(w->part), buf_str(&w->scratch));
}

static int stack_rows_make(struct sweep *w, const struct made *m)
{
    if (m->name == STR_NONE || VEC_RESERVE(w->made, w->n_made, w->cap_made, 1)) return ERR_NOMEM;
    w->made[w->n_made] = *m;
    w->made[w->n_made++].end_ns = m->end.at_ns;
    return 0;
}

/* The row of the line that function `depth` was at, if a call waited there. */
static int close_line(struct sweep *w, int depth, const struct border *at)
{
    const struct open *o = &w->open[depth];
    const struct stack_frame *f = &w->path.at[depth];
    if (!o->exact || !f->line || f->module) return 0;
    return stack_rows_make(w, &(struct made){.begin = o->line_begin,
                                             .end = *at,
                                             .src = o->src,
                                             .order = (uint32_t)depth * 2 + 1,
                                             .name = name_line(w, f),
                                             .flags = ROW_LINE});
}

/* No later than the limit allows. */
static struct border stack_rows_ending(const struct open *o, const struct border *at)
{
    int64_t end = o->limit.end_ns;
    return end < at->at_ns ? (struct border){end, end, end, true} : *at;
}

static struct border stack_rows_beginning(const struct limit *l, const struct border *at)
{
    int64_t begin = l->begin_ns;
    return begin > at->at_ns ? (struct border){begin, begin, begin, false} : *at;
}

static int close_to(struct sweep *w, int depth, const struct border *at)
{
    while (w->path.n > depth) {
        int i = w->path.n - 1;
        const struct open *o = &w->open[i];
        struct border end = stack_rows_ending(o, at);
        TRY(close_line(w, i, &end));
        str_id name =
            intern_add(batch_strings(w->part), stack_frame_text(w->from->defs, &w->path.at[i]));
        TRY(stack_rows_make(w, &(struct made){.begin = o->begin,
                                              .end = end,
                                              .src = o->src,
                                              .order = (uint32_t)i * 2,
                                              .name = name}));
        w->path.n--;
    }
    return 0;
}

/* Whether the function at `depth` is the same in both, at whatever line. */
static bool same_at(const struct stack_path *a, const struct stack_path *b, int depth)
{
    return depth < a->n && depth < b->n && stack_frame_same_function(&a->at[depth], &b->at[depth]);
}

/* Whether what was seen in `a` may have ended and been called again for `b`: both are calls that
 * waited, and not inside one operator. */
static bool may_be_anew(const struct sweep *w, const struct stack_seen *a,
                        const struct stack_seen *b)
{
    return a->exact && b->exact && !span_tree_called(&w->spans, a->end_ns, b->begin_ns);
}

/* Whether the function at `depth` went on. If it may have been called again, it is not said to have
 * lasted unless it is further down now. */
static bool went_on(const struct sweep *w, int depth, bool again)
{
    if (!same_at(&w->path, &w->next, depth)) return false;
    return !again || w->next.at[depth].line > w->path.at[depth].line;
}

struct borders {
    struct border close, open;
};

/* Where functions seen only in `a` end and those seen only in `b` begin. */
static struct borders find_borders(const struct sweep *w, const struct stack_seen *a,
                                   const struct stack_seen *b)
{
    int64_t half = w->p->period_ns / 2, near = w->p->period_ns * PERIODS_NEAR;
    int64_t lo = a->end_ns, hi = b->begin_ns > lo ? b->begin_ns : lo, middle = lo + (hi - lo) / 2;
    struct borders x = {{lo, lo, hi, true}, {hi, lo, hi, false}};
    if (!a->exact) x.close.at_ns = hi - lo < near ? middle : lo + half;
    if (!b->exact) x.open.at_ns = hi - lo < near ? middle : hi - half;
    x.close.at_ns = span_tree_border(&w->spans, &x.close);
    x.open.at_ns = span_tree_border(&w->spans, &x.open);
    if (x.close.at_ns > x.open.at_ns) x.close.at_ns = x.open.at_ns;
    return x;
}

/* The module calls that the frames of the moment lie in: one after the other, from the outermost,
 * each with the next frame of a module of that class. */
static void open_new(struct sweep *w, const struct stack_seen *b, const struct border *at)
{
    struct span_node around[MOST_AROUND];
    struct limit limit = {INT64_MIN, INT64_MAX};
    int n = span_tree_modules(&w->spans, b->begin_ns, around, MOST_AROUND);
    for (int i = 0, next = 0; i < w->next.n; i++) {
        const struct stack_frame *f = &w->next.at[i];
        uint64_t token =
            f->module && next < n ? module_token(stack_frame_text(w->from->defs, f)) : 0;
        int k = next;
        while (token && k < n && around[k].module != token) k++;
        if (token && k < n) {
            limit = (struct limit){around[k].begin_ns, around[k].end_ns};
            next = k + 1;
        }
        struct border begin = stack_rows_beginning(&limit, at);
        if (i >= w->path.n) w->open[i] = (struct open){begin, begin, limit, b->src, false};
    }
}

static void open_frames(struct sweep *w, const struct stack_seen *b, const struct border *at)
{
    open_new(w, b, at);
    w->path.n = w->next.n;
    memcpy(w->path.at, w->next.at, (size_t)w->next.n * sizeof *w->next.at);
    for (int i = 0; i < w->path.n && b->exact; i++) w->open[i].exact = true;
}

/* How many of the open functions go on around a cut stack that continues none of them: those that
 * are still there when stacks are whole again. */
static int stack_rows_lasting(struct sweep *w, const struct stack_seen *b)
{
    if (w->whole <= b) w->whole = b + 1;
    while (w->whole < w->end && stack_path_is_cut(&w->p->sources[w->whole->defs], w->whole->stack))
        w->whole++;
    if (w->whole == w->end) return w->n_placed;
    struct stack_path later;
    stack_path_read(&w->p->sources[w->whole->defs], w->whole->stack, &later);
    int n = stack_path_common(&w->path, &later);
    n += same_at(&w->path, &later, n);
    return n < w->n_placed ? n : w->n_placed;
}

/* Whether the sample was taken while the thread was moving, so that its outer frames are missing:
 * a generator hangs on nothing for an instant. It shares nothing with the stacks before and after
 * it, which agree. */
static bool is_torn(const struct sweep *w, const struct stack_seen *b)
{
    if (b->exact || b + 1 == w->end || same_at(&w->path, &w->next, 0)) return false;
    if (w->path.n < STACK_LEAST_MATCH) return false;
    struct stack_path later;
    stack_path_read(&w->p->sources[b[1].defs], b[1].stack, &later);
    return stack_path_common(&w->path, &later) >= STACK_LEAST_MATCH;
}

/* Reads the stack of moment `b` and, if they are missing, gives it its outer frames. */
static void read_next(struct sweep *w, const struct stack_seen *b)
{
    stack_path_read(w->from, b->stack, &w->next);
    if (!w->next.cut && !is_torn(w, b)) {
        w->n_placed = w->next.n;
        return;
    }
    int at = stack_path_find(&w->path, &w->next);
    bool found = at >= 0;
    if (!found) at = w->n_placed = stack_rows_lasting(w, b);
    stack_path_join(&w->next, &w->path, at);
    if (found && at < w->n_placed) w->n_placed = w->next.n;
}

/* How many of the open functions can have gone on from moment `a` to moment `b`: one that began
 * inside a span was over when that span was, however alike the stacks are. */
static int stack_rows_outlasting(const struct sweep *w, const struct stack_seen *a,
                                 const struct stack_seen *b)
{
    struct span_node over = {.begin_ns = INT64_MAX};
    int n = 0;
    span_tree_ended(&w->spans, a->end_ns, b->begin_ns, &over);
    while (n < w->path.n && w->open[n].begin.lo_ns < over.begin_ns &&
           w->open[n].limit.end_ns > b->begin_ns)
        n++;
    return n;
}

/* From moment `a` to moment `b`. */
static int stack_rows_step(struct sweep *w, const struct stack_seen *a, const struct stack_seen *b)
{
    read_next(w, b);
    struct borders x = find_borders(w, a, b);
    int same = stack_path_common(&w->path, &w->next), most = stack_rows_outlasting(w, a, b);
    bool again = may_be_anew(w, a, b);
    if (again && same == w->path.n && same == w->next.n && same > 0) same--;
    if (same >= most) {
        same = most;
        TRY(close_to(w, same, &x.close));
    } else if (!went_on(w, same, again)) {
        TRY(close_to(w, same, &x.close));
    } else {
        TRY(close_to(w, same + 1, &x.close));
        if (w->path.at[same].line != w->next.at[same].line) {
            TRY(close_line(w, same, &x.close));
            w->open[same].line_begin = x.open;
            w->open[same].exact = false;
        }
    }
    open_frames(w, b, &x.open);
    return 0;
}

static int stack_rows_by_place(const void *a, const void *b)
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
static void stack_rows_fit(struct sweep *w)
{
    struct made *around[2 * STACK_DEEPEST] = {0};
    for (size_t i = 0; i < w->n_made; i++) {
        struct made *m = &w->made[i];
        const struct made *outer = outer_of(around, m);
        span_tree_fit(&w->spans, &m->begin, &m->end, w->p->period_ns / 2);
        if (outer && m->begin.at_ns < outer->begin.at_ns) m->begin.at_ns = outer->begin.at_ns;
        if (outer && m->end.at_ns > outer->end.at_ns) m->end.at_ns = outer->end.at_ns;
        around[m->order] = m;
        if (m->order % 2 == 0) around[m->order + 1] = NULL;
    }
}

static int stack_rows_hand_over(struct sweep *w)
{
    static const struct py_info nothing = {-1, -1, -1};
    uint8_t cat = batch_cat(w->part, str_c(kind_name(KIND_PYTHON)));
    if (w->n_made) qsort(w->made, w->n_made, sizeof *w->made, stack_rows_by_place);
    stack_rows_fit(w);
    for (size_t i = 0; i < w->n_made; i++) {
        const struct made *m = &w->made[i];
        int64_t dur_ns = m->end.at_ns - m->begin.at_ns;
        struct batch_row row = {
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
        TRY(batch_add(w->part, &row));
    }
    w->n_made = 0;
    return 0;
}

static int stack_rows_add_thread(struct sweep *w, const struct stack_seen *seen, size_t n)
{
    struct stack_seen before = {.end_ns = seen[0].begin_ns};
    w->path.n = w->n_placed = 0;
    w->whole = seen;
    w->end = seen + n;
    for (size_t i = 0; i < n; i++) {
        w->from = &w->p->sources[seen[i].defs];
        TRY(stack_rows_step(w, i ? &seen[i - 1] : &before, &seen[i]));
    }
    const struct stack_seen *last = &seen[n - 1];
    struct border end = {last->end_ns, last->end_ns, INT64_MAX, true};
    if (!last->exact) end.at_ns += w->p->period_ns / 2;
    end.at_ns = span_tree_border(&w->spans, &end);
    TRY(close_to(w, 0, &end));
    return stack_rows_hand_over(w);
}

static int stack_rows_by_thread(const void *a, const void *b)
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
        for (n = 1; i + n < s->n_seen && stack_seen_same_thread(&s->seen[i], &s->seen[i + n]);) n++;
        if (s->seen[i].process != w->p->process) continue;
        w->tid = s->seen[i].tid;
        TRY(span_tree_build(&w->spans, s->spans, s->n_spans, &s->seen[i]));
        TRY(stack_rows_add_thread(w, &s->seen[i], n));
    }
    return 0;
}

int stack_rows_add(struct stack_rows *s, const struct stack_process *p, struct batch *part)
{
    struct sweep *w = mem_zalloc(1, sizeof *w);
    if (!w) return ERR_NOMEM;
    w->p = p;
    w->part = part;
    buf_init(&w->scratch);
    if (s->n_seen) qsort(s->seen, s->n_seen, sizeof *s->seen, stack_rows_by_thread);
    int rc = add_threads(s, w);
    span_tree_done(&w->spans);
    mem_free(w->made);
    buf_done(&w->scratch);
    mem_free(w);
    return rc;
}
