/* kernel_where.c: see kernel_where.h. */
#include "analyze/kernels/kernel_where.h"

#include "analyze/kernels/roofline.h"
#include "analyze/names/frame.h"
#include "analyze/names/graph_origin.h"
#include "analyze/names/kernel_name.h"
#include "analyze/names/source_place.h"

int kernel_where_init(struct kernel_where *w, const struct context *cx, struct err *e)
{
    *w = (struct kernel_where){.cx = cx};
    buf_init(&w->text);
    return op_forward_init(&w->forward, cx->t, e);
}

void kernel_where_done(struct kernel_where *w)
{
    op_forward_done(&w->forward);
    buf_done(&w->text);
}

struct str kernel_where_shapes(const struct kernel_where *w, row_t r)
{
    return roofline_kind(roofline_of(w->cx), w->cx->t, r)->shapes;
}

/* The row of the thread that asked for it, in the forward pass; ROW_NONE for none, for graphs (what
 * launches them says nothing about it), and where no Python frame could be above it: operators may
 * nest as deep as they are many. */
static row_t kernel_where_caller(const struct kernel_where *w, row_t r)
{
    const struct trace *t = w->cx->t;
    if (!t->n_py) return ROW_NONE;
    row_t call = trace_launch_of(t, r);
    if (call == ROW_NONE || graph_origin_is_replayed(calls_of(w->cx), t, r)) return ROW_NONE;
    row_t forward = op_forward_near(&w->forward, t, call);
    return forward != ROW_NONE ? forward : call;
}

struct str kernel_where_module(const struct kernel_where *w, row_t r)
{
    const struct trace *t = w->cx->t;
    const struct graph_origin_node *o = graph_origin_find(graph_origin_of(w->cx), t, r);
    if (o && o->module.n) return frame_module(o->module);
    row_t up = o ? ROW_NONE : kernel_where_caller(w, r);
    for (; up != ROW_NONE; up = t->parent[up])
        if (t->kind[up] == KIND_PYTHON && source_places_class(places_of(w->cx), up) == FRAME_MODULE)
            return frame_module(trace_name(t, up));
    return str_c("");
}

static struct str kernel_where_print(struct kernel_where *w, const struct frame *f)
{
    buf_reset(&w->text);
    buf_add_str(&w->text, frame_path(f->file));
    if (f->line > 0) buf_printf(&w->text, ":%d", (int)f->line);
    if (f->function.n) buf_printf(&w->text, " in " STR_FMT, STR_ARG(f->function));
    return buf_str(&w->text);
}

/* The line that a compiler made the kernel of, where that is one; or NULL. */
static const struct frame *kernel_where_made_of(const struct kernel_where *w, row_t r)
{
    const struct kernel_source *s = kernel_source_find(w->cx, r);
    return s && s->place.file.n ? &s->place : NULL;
}

bool kernel_where_has_line(const struct kernel_where *w, row_t r)
{
    if (kernel_where_made_of(w, r)) return true;
    const struct graph_origin_node *o = graph_origin_find(graph_origin_of(w->cx), w->cx->t, r);
    if (o) return o->place.n > 0;
    row_t up = kernel_where_caller(w, r);
    struct place p;
    if (up == ROW_NONE) return false;
    source_places_find(places_of(w->cx), up, &p);
    return source_places_is_exact(places_of(w->cx), up, &p);
}

struct str kernel_where_line(struct kernel_where *w, row_t r)
{
    const struct graph_origin_node *o = graph_origin_find(graph_origin_of(w->cx), w->cx->t, r);
    struct frame f;
    const struct frame *made_of = kernel_where_made_of(w, r);
    if (made_of) return kernel_where_print(w, made_of);
    if (o && o->place.n && frame_parse(o->place, &f)) return kernel_where_print(w, &f);
    row_t up = o && !o->differs ? ROW_NONE : kernel_where_caller(w, r);
    struct place p;
    if (up == ROW_NONE) return str_c("");
    source_places_find(places_of(w->cx), up, &p);
    if (p.frame == ROW_NONE || !p.source.file.n) return str_c("");
    if (!source_places_is_exact(places_of(w->cx), up, &p)) p.source.line = 0;
    return kernel_where_print(w, &p.source);
}
