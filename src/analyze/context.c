/* context.c: see context.h. */
#include "analyze/context.h"

void context_init(struct context *cx, const struct trace *t, struct arena *mem)
{
    *cx = (struct context){.t = t, .mem = mem};
    thresholds_init(&cx->th);
}

void context_done(struct context *cx)
{
    for (int i = PASS_COUNT - 1; i >= 0; i--)
        if (cx->kept[i] && cx->passes[i]->done) cx->passes[i]->done(cx->kept[i]);
    *cx = (struct context){0};
}

/* Passes need each other in one direction only, so this is as deep as the chain of passes. */
int context_need(struct context *cx, const struct pass *p, struct err *e)
{
    if (cx->kept[p->id]) return 0;
    for (const struct pass *const *n = p->needs; n && *n; n++) TRY(context_need(cx, *n, e));
    void *result = arena_zalloc(cx->mem, 1, p->size);
    if (!result) return err_nomem(e);
    int rc = p->run(cx, result, e);
    if (rc < 0 && p->done) p->done(result);
    if (rc < 0) return rc;
    cx->passes[p->id] = p;
    cx->kept[p->id] = result;
    return 0;
}
