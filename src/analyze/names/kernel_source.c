/* kernel_source.c: see kernel_name.h. */
#include "analyze/names/kernel_name.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/names/fused_ops.h"
#include "analyze/names/kernel_stack.h"
#include "base/jdoc.h"
#include "base/search.h"

static int by_kernel(const void *a, const void *b)
{
    const struct kernel_source *x = a, *y = b;
    int c = str_cmp(x->kernel, y->kernel);
    if (!c) c = str_cmp(x->module, y->module);
    if (!c) c = str_cmp(x->place.file, y->place.file);
    return c ? c : (x->place.line > y->place.line) - (x->place.line < y->place.line);
}

/* [module, kernel, operation, "FILE(LINE): FUNCTION"]; false for anything else. */
static bool read_source(const struct jdoc *d, struct kernel_source *ret)
{
    if (d->kind != JDOC_ARRAY || d->n != 4) return false;
    for (uint32_t i = 0; i < 4; i++)
        if (d->items[i].kind != JDOC_STRING) return false;
    *ret = (struct kernel_source){
        .module = d->items[0].text, .kernel = d->items[1].text, .op = d->items[2].text};
    if (!ret->kernel.n || !frame_parse(d->items[3].text, &ret->place)) return false;
    ret->place.file = frame_path(ret->place.file);
    return true;
}

/* Operators of torch as a list become words. True when out of memory. */
static bool kernel_source_say_ops(struct kernel_source *s, struct arena *mem)
{
    struct buf text;
    buf_init(&text);
    bool failed = false;
    if (fused_ops_of_list(s->op, &text)) {
        const char *op = arena_strdup(mem, buf_str(&text));
        failed = !op || text.failed;
        if (!failed) s->op = str_from(op, text.n);
    }
    buf_done(&text);
    return failed;
}

/* What is not as it should be is left out: a trace may come from anywhere. */
static int kernel_source_run_pass(struct context *cx, void *ret, struct err *e)
{
    struct kernel_sources *out = ret;
    struct jdoc doc;
    struct err ignored;
    err_init(&ignored);
    struct str text = trace_meta(cx->t, TRACE_META_SOURCES);
    if (!text.p) return kernel_stack_read(cx, ret) < 0 ? err_nomem(e) : 0;
    int rc = jdoc_parse(text, cx->mem, &doc, &ignored);
    if (rc == ERR_NOMEM) return err_nomem(e);
    if (rc < 0 || doc.kind != JDOC_ARRAY) return 0;
    struct kernel_source *list = arena_alloc(cx->mem, (doc.n + (size_t)1) * sizeof *list);
    if (!list) return err_nomem(e);
    for (uint32_t i = 0; i < doc.n; i++) out->n += read_source(&doc.items[i], &list[out->n]);
    struct kernel_source *unplaced = arena_alloc(cx->mem, (out->n + (size_t)1) * sizeof *list);
    bool failed = !unplaced;
    for (uint32_t i = 0; i < out->n && !failed; i++)
        failed = kernel_source_say_ops(&list[i], cx->mem);
    if (failed) return err_nomem(e);
    qsort(list, out->n, sizeof *list, by_kernel);
    for (uint32_t i = 0; i < out->n; i++) {
        unplaced[i] = list[i];
        unplaced[i].place = (struct frame){0};
    }
    out->list = list;
    out->unplaced = unplaced;
    return 0;
}

const struct pass kernel_sources_pass = {
    .id = PASS_KERNEL_SOURCES,
    .size = sizeof(struct kernel_sources),
    .run = kernel_source_run_pass,
};

/* In a stage of that name, in an operator that is named after it, or in code of that file. */
static bool kernel_source_is_inside(const struct trace *t, row_t call, struct str module)
{
    for (; call != ROW_NONE; call = t->parent[call]) {
        struct str name = trace_name(t, call);
        struct frame f;
        if (t->kind[call] == KIND_ANNOTATION && str_cmp(name, module) == 0) return true;
        if (t->kind[call] == KIND_PYTHON && frame_parse(name, &f) &&
            str_cmp(frame_file(f.file), module) == 0)
            return true;
        if (t->kind[call] != KIND_OP || name.n <= module.n || name.p[module.n] != '/') continue;
        if (memcmp(name.p, module.p, module.n) == 0) return true;
    }
    return false;
}

static bool kernel_source_same_place(const struct frame *a, const struct frame *b)
{
    return a->line == b->line && str_cmp(a->file, b->file) == 0;
}

/* Inductor numbers the kernels of each graph from 0, and calls one from several lines: what is said
 * of entries first to end - 1 holds for all of them, or it has no line. XLA's names differ by their
 * modules. */
static const struct kernel_source *kernel_source_agreed(const struct kernel_sources *s,
                                                        uint32_t first, uint32_t end)
{
    bool file = str_ends(s->list[first].module, ".py");
    for (uint32_t i = first + 1; file && i < end; i++)
        if (!kernel_source_same_place(&s->list[first].place, &s->list[i].place))
            return &s->unplaced[first];
    return &s->list[first];
}

/* Of the kernels called `name`, the one of the compiled function that `call` is in, else the first.
 */
static const struct kernel_source *find_named(const struct context *cx, struct str name, row_t call)
{
    enum { MOST_MODULES = 64 }; /* that have a kernel of the same name */
    const struct kernel_sources *s = kernel_sources_of(cx);
    uint32_t first = 0, i;
    SEARCH_PAST(first, s->n, str_cmp(s->list[first].kernel, name) < 0);
    for (i = first; i < s->n && i < first + MOST_MODULES; i++) {
        if (str_cmp(s->list[i].kernel, name) != 0) break;
        if (!kernel_source_is_inside(cx->t, call, s->list[i].module)) continue;
        uint32_t end = i + 1;
        while (end < s->n && str_cmp(s->list[end].kernel, name) == 0 &&
               str_cmp(s->list[end].module, s->list[i].module) == 0)
            end++;
        return kernel_source_agreed(s, i, end);
    }
    return i > first ? kernel_source_agreed(s, first, i) : NULL;
}

/* "jit_dot/custom-call.1", an operation of a profile of JAX, as a kernel of it would be called. */
static const struct kernel_source *find_op(const struct context *cx, row_t call)
{
    char text[256];
    row_t op = trace_up(cx->t, call, KIND_OP);
    struct str name = op == ROW_NONE ? str_c("") : trace_name(cx->t, op);
    size_t n = 0;
    while (n < name.n && name.p[name.n - 1 - n] != '/') n++;
    if (!n || n == name.n || n > sizeof text) return NULL;
    for (size_t i = 0; i < n; i++) {
        char c = name.p[name.n - n + i];
        text[i] = isalnum((unsigned char)c) ? c : '_';
    }
    return find_named(cx, str_from(text, n), call);
}

/* What the row says itself, + 1; 0 for nothing. */
static uint32_t kernel_source_said(const struct context *cx, row_t r)
{
    const struct kernel_sources *s = kernel_sources_of(cx);
    return s->said && trace_is_work(cx->t, r) && cx->t->aux[r] < cx->t->n_gpu
               ? s->said_of[cx->t->aux[r]]
               : 0;
}

const struct kernel_source *kernel_source_of_all(const struct context *cx, row_t r)
{
    uint32_t said = kernel_source_said(cx, r);
    if (said) return &kernel_sources_of(cx)->said_of_all[said - 1];
    const struct kernel_source *s = kernel_source_find(cx, r);
    if (!s || !str_ends(s->module, ".py")) return s;
    return find_named(cx, trace_name(cx->t, r), ROW_NONE);
}

const struct kernel_source *kernel_source_find(const struct context *cx, row_t r)
{
    struct str name = trace_name(cx->t, r);
    row_t call = trace_launch_of(cx->t, r);
    uint32_t said = kernel_source_said(cx, r);
    if (said) return &kernel_sources_of(cx)->said[said - 1];
    if (!kernel_sources_of(cx)->n) return NULL;
    if (str_ends(name, ".kd")) name.n -= 3; /* AMD's descriptor of a kernel */
    const struct kernel_source *ret = find_named(cx, name, call);
    return ret || call == ROW_NONE ? ret : find_op(cx, call);
}
