/* source_place.c: walks up the nesting of a thread, sorting frames by whose code they are. */
#include "analyze/names/source_place.h"

#include "analyze/names/names_constants.h"
#include "base/mem.h"

const char *source_by_name(enum source_by by)
{
    static const char *const names[] = {
        [SOURCE_BY_FRAME] = "stack",  [SOURCE_BY_LIBRARY] = "library_stack",
        [SOURCE_BY_OP] = "op",        [SOURCE_BY_ANNOTATION] = "annotation",
        [SOURCE_BY_NOTHING] = "none",
    };
    return names[by];
}

/* The line that called the frame, as torch writes it since 2026: "CallFrom": "train.py:52". 0 when
 * it does not say. */
static int32_t source_place_caller(const struct trace *t, row_t frame)
{
    static const char key[] = "\"CallFrom\"";
    struct buf args = {0};
    int32_t line = 0;
    bool read = trace_args(t, frame, &args, NULL) == 0 && buf_ok(&args);
    long at = read ? str_find(buf_str(&args), key) : -1;
    if (at >= 0) {
        struct str rest =
            str_from(args.p + at + sizeof key - 1, args.n - (size_t)at - sizeof key + 1);
        size_t open = 0, i;
        while (open < rest.n && rest.p[open] != '"') open++;
        for (i = open + 1; i < rest.n && rest.p[i] != '"'; i++) {
            bool digit = rest.p[i] >= '0' && rest.p[i] <= '9' && line < INT32_MAX / 10 - 1;
            line = digit ? line * 10 + (rest.p[i] - '0') : 0;
        }
    }
    buf_done(&args);
    return line;
}

/* Whether frames of this trace say so: the first one does. */
static bool source_place_has_callers(const struct trace *t)
{
    for (row_t r = 0; t->n_py && !trace_is_ours(t) && r < t->n_rows; r++)
        if (t->kind[r] == KIND_PYTHON) return source_place_caller(t, r) > 0;
    return false;
}

int source_places_init(struct source_places *w, const struct trace *t, struct err *e)
{
    *w = (struct source_places){
        .t = t, .has_stacks = t->n_py > 0, .sampled = trace_meta(t, TRACE_META_SAMPLED).p != NULL};
    w->classes = mem_zalloc(t->strings.n ? t->strings.n : 1, sizeof *w->classes);
    if (!w->classes) return err_nomem(e);
    w->has_callers = source_place_has_callers(t);
    return 0;
}

void source_places_done(struct source_places *w)
{
    mem_free(w->classes);
    *w = (struct source_places){0};
}

enum frame_class source_places_class(struct source_places *w, row_t frame)
{
    str_id id = w->t->name[frame];
    if (id >= w->t->strings.n) return FRAME_BUILTIN;
    if (!w->classes[id]) w->classes[id] = (uint8_t)(1 + frame_class(trace_str(w->t, id)));
    return w->classes[id] - 1;
}

/* Whether frames of this class are places in a program, which a report may name. */
static bool is_place(enum frame_class c)
{
    return c != FRAME_BUILTIN && c != FRAME_MODULE && c != FRAME_RECORDER;
}

row_t source_places_frame(struct source_places *w, row_t r, bool user)
{
    const struct trace *t = w->t;
    if (!w->has_stacks) return ROW_NONE;
    for (; r != ROW_NONE; r = t->parent[r]) {
        if (t->kind[r] != KIND_PYTHON) continue;
        enum frame_class c = source_places_class(w, r);
        if (user ? c == FRAME_USER : is_place(c)) return r;
    }
    return ROW_NONE;
}

bool source_places_is_recorder(struct source_places *w, row_t r)
{
    return w->t->kind[r] == KIND_PYTHON && source_places_class(w, r) == FRAME_RECORDER;
}

size_t source_places_stack(struct source_places *w, row_t r, row_t *ret, size_t cap)
{
    size_t n = 0;
    while ((r = source_places_frame(w, r, false)) != ROW_NONE) {
        if (n < cap) ret[n] = r;
        n++;
        /* The row of a line stands for its function, whose row is the next one out. */
        if (w->t->flags[r] & ROW_LINE && w->t->parent[r] != ROW_NONE) r = w->t->parent[r];
        r = w->t->parent[r];
    }
    return n;
}

/* Whether `op` only hands on to the operator below it: both of one namespace ("aten::"). Compiled
 * regions, autograd nodes and the like are not what the user called. */
static bool same_namespace(const struct trace *t, row_t op, row_t below)
{
    struct str a = trace_name(t, op), b = trace_name(t, below);
    long colon = str_find(b, "::");
    if (colon <= 0 || a.n < (size_t)colon + 2) return false;
    return memcmp(a.p, b.p, (size_t)colon + 2) == 0 && !str_has(a, ": ");
}

static void find_ops(const struct trace *t, row_t r, struct place *p)
{
    while (r != ROW_NONE && t->kind[r] != KIND_OP && t->kind[r] != KIND_PYTHON &&
           t->kind[r] != KIND_ANNOTATION)
        r = t->parent[r];
    if (r == ROW_NONE || t->kind[r] != KIND_OP) return;
    p->op = p->inner_op = r;
    while (t->parent[p->op] != ROW_NONE && t->kind[t->parent[p->op]] == KIND_OP &&
           same_namespace(t, t->parent[p->op], p->op))
        p->op = t->parent[p->op];
}

/* Frames that were open when recording began are the first rows of their thread, one inside the
 * other, and carry the line they were at; all others carry the line they start at. */
static bool source_place_was_open_at_start(const struct trace *t, row_t frame)
{
    row_t first = t->lanes[t->lane[frame]].begin;
    return frame - first == t->depth[frame] &&
           t->ts_ns[frame] - t->begin_ns < source_place_starting_ns;
}

static void source_place_find_frame(struct source_places *w, row_t r, struct place *p)
{
    const struct trace *t = w->t;
    p->frame = source_places_frame(w, r, true);
    p->by = SOURCE_BY_FRAME;
    if (p->frame == ROW_NONE) {
        p->frame = source_places_frame(w, r, false);
        p->by = SOURCE_BY_LIBRARY;
    }
    if (p->frame == ROW_NONE) return;
    frame_parse(trace_name(t, p->frame), &p->source);
    p->source.file = frame_path(p->source.file);
    p->line_is_start = !(t->flags[p->frame] & ROW_LINE) &&
                       (w->sampled || !source_place_was_open_at_start(t, p->frame));
    for (row_t i = r; i != p->frame; i = t->parent[i]) {
        enum frame_class c = t->kind[i] == KIND_PYTHON ? source_places_class(w, i) : FRAME_MODULE;
        if (c != FRAME_MODULE && c != FRAME_RECORDER) p->called = i;
    }
    int32_t line = w->has_callers && p->called != ROW_NONE ? source_place_caller(t, p->called) : 0;
    if (line <= 0) return;
    p->source.line = line;
    p->line_is_start = false;
}

void source_places_find(struct source_places *w, row_t r, struct place *ret)
{
    *ret = (struct place){.frame = ROW_NONE,
                          .op = ROW_NONE,
                          .inner_op = ROW_NONE,
                          .called = ROW_NONE,
                          .by = SOURCE_BY_NOTHING};
    ret->annotation = trace_up(w->t, r, KIND_ANNOTATION);
    find_ops(w->t, r, ret);
    source_place_find_frame(w, r, ret);
    if (ret->frame != ROW_NONE) return;
    if (ret->op != ROW_NONE) ret->by = SOURCE_BY_OP;
    else ret->by = ret->annotation != ROW_NONE ? SOURCE_BY_ANNOTATION : SOURCE_BY_NOTHING;
}

/* A line whose stack was read at one call has a row of its own around it; around several calls it
 * may be any of theirs, and the others lie deeper. */
bool source_places_is_exact(const struct source_places *w, row_t r, const struct place *p)
{
    enum { MOST_ROWS = 64 };
    const struct trace *t = w->t;
    uint32_t n = 0;
    if (p->frame == ROW_NONE) return false;
    if (!w->sampled) return true;
    if (p->line_is_start) return false;
    row_t end = t->lanes[t->lane[p->frame]].end;
    for (row_t i = p->frame + 1; i < end && t->depth[i] > t->depth[p->frame]; i++)
        if (++n > MOST_ROWS || (i != r && trace_call(t, i))) return false;
    return true;
}

void source_places_path(const struct trace *t, row_t r, struct buf *out)
{
    enum { DEEPEST = 64 };
    row_t labels[DEEPEST];
    int n = 0;
    for (; r != ROW_NONE && n < DEEPEST; r = t->parent[r])
        if (t->kind[r] == KIND_ANNOTATION) labels[n++] = r;
    while (n-- > 0) {
        buf_add_str(out, trace_name(t, labels[n]));
        if (n) buf_adds(out, " > ");
    }
}

void source_places_print_frame(const struct trace *t, row_t frame, struct buf *out)
{
    struct frame f;
    if (!frame_parse(trace_name(t, frame), &f)) {
        buf_add_str(out, trace_name(t, frame));
        return;
    }
    buf_add_str(out, frame_path(f.file));
    frame_print_line(out, f.line);
    buf_addc(out, ' ');
    buf_add_str(out, f.function);
}

/* "torch/cuda/__init__.py" -> "torch.cuda". */
static void print_module(struct str path, struct buf *out)
{
    static const char *const tails[] = {"/__init__.py", ".py"};
    for (int i = 0; i < 2; i++)
        if (str_ends(path, tails[i])) {
            path.n -= strlen(tails[i]);
            break;
        }
    for (size_t i = 0; i < path.n; i++) buf_addc(out, path.p[i] == '/' ? '.' : path.p[i]);
}

void source_places_print_call(const struct trace *t, row_t frame, struct buf *out)
{
    struct str name = trace_name(t, frame);
    struct frame_builtin b;
    struct frame f;
    if (frame_parse(name, &f)) {
        print_module(frame_path(f.file), out);
        buf_printf(out, "." STR_FMT, STR_ARG(f.function));
    } else if (frame_builtin(name, &b)) {
        if (str_is(b.owner, "type")) buf_adds(out, "torch.");
        else if (b.owner.n) buf_printf(out, STR_FMT ".", STR_ARG(b.owner));
        buf_add_str(out, b.method);
    } else {
        buf_add_str(out, name);
    }
}

static int source_place_run_pass(struct context *cx, void *ret, struct err *e)
{
    return source_places_init(ret, cx->t, e);
}

static void source_place_done_pass(void *result)
{
    source_places_done(result);
}

const struct pass places_pass = {
    .id = PASS_PLACES,
    .size = sizeof(struct source_places),
    .run = source_place_run_pass,
    .done = source_place_done_pass,
};
