/* kernel_source.c: see kernel_source.h. */
#include "analyze/names/kernel_source.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

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

/* What is not as it should be is left out: a trace may come from anywhere. */
static int run_pass(struct context *cx, void *ret, struct err *e)
{
    struct kernel_sources *out = ret;
    struct jdoc doc;
    struct err ignored;
    err_init(&ignored);
    struct str text = trace_meta(cx->t, TRACE_META_SOURCES);
    if (!text.p) return 0;
    int rc = jdoc_parse(text, cx->mem, &doc, &ignored);
    if (rc == ERR_NOMEM) return err_nomem(e);
    if (rc < 0 || doc.kind != JDOC_ARRAY) return 0;
    struct kernel_source *list = arena_alloc(cx->mem, (doc.n + (size_t)1) * sizeof *list);
    if (!list) return err_nomem(e);
    for (uint32_t i = 0; i < doc.n; i++) out->n += read_source(&doc.items[i], &list[out->n]);
    qsort(list, out->n, sizeof *list, by_kernel);
    out->list = list;
    return 0;
}

const struct pass kernel_sources_pass = {
    .id = PASS_KERNEL_SOURCES,
    .size = sizeof(struct kernel_sources),
    .run = run_pass,
};

/* In a stage of that name, or in an operator that is named after it. */
static bool is_inside(const struct trace *t, row_t call, struct str module)
{
    for (; call != ROW_NONE; call = t->parent[call]) {
        struct str name = trace_name(t, call);
        if (t->kind[call] == KIND_ANNOTATION && str_cmp(name, module) == 0) return true;
        if (t->kind[call] != KIND_OP || name.n <= module.n || name.p[module.n] != '/') continue;
        if (memcmp(name.p, module.p, module.n) == 0) return true;
    }
    return false;
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
        if (is_inside(cx->t, call, s->list[i].module)) return &s->list[i];
    }
    return i > first ? &s->list[first] : NULL;
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

const struct kernel_source *kernel_source_find(const struct context *cx, row_t r)
{
    struct str name = trace_name(cx->t, r);
    row_t call = trace_launch_of(cx->t, r);
    if (!kernel_sources_of(cx)->n) return NULL;
    if (str_ends(name, ".kd")) name.n -= 3; /* AMD's descriptor of a kernel */
    const struct kernel_source *ret = find_named(cx, name, call);
    return ret || call == ROW_NONE ? ret : find_op(cx, call);
}
