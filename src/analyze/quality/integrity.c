/* integrity.c: asks for every doubt; the worst doubt sets the verdict. */
#include "analyze/quality/integrity.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/device/gpu_sharing.h"
#include "analyze/names/overhead.h"
#include "analyze/quality/quality_private.h"

static doubter *const doubters[] = {
    doubt_empty,       doubt_file,   doubt_dropped,     doubt_edges,     doubt_graphs,
    doubt_waits,       doubt_shared, doubt_links,       doubt_untimed,   doubt_impossible,
    doubt_clocks,      doubt_steps,  doubt_collectives, doubt_recording, doubt_overheads,
    doubt_graph_nodes, doubt_depth,
};

const char *quality_name(enum quality q)
{
    static const char *const names[] = {"good", "usable", "doubtful", "unusable"};
    return names[q];
}

struct doubt *integrity_doubt(struct doubting *c, const char *id, enum quality level,
                              const char *fmt, ...)
{
    char text[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    const char *what = arena_strdup(c->mem, str_c(text));
    if (!what) c->failed = true;
    if (!what || c->i->n_doubts == MOST_DOUBTS) return &c->nowhere;
    struct doubt *d = &c->i->doubts[c->i->n_doubts++];
    *d = (struct doubt){
        .id = id, .level = level, .example = ROW_NONE, .what = what, .means = "", .instead = ""};
    return d;
}

static int gravest_first(const void *a, const void *b)
{
    const struct doubt *x = a, *y = b;
    return (int)y->level - (int)x->level;
}

static void ask_all(struct doubting *c)
{
    uint32_t untrusted = 0; /* how many have a reason not to trust idle time */
    for (size_t k = 0; k < sizeof doubters / sizeof(doubters[0]); k++) {
        c->i->idle_trusted = true;
        doubters[k](c);
        untrusted += !c->i->idle_trusted;
    }
    c->i->idle_trusted = untrusted == 0;
    c->i->shared = untrusted == 1 && c->waits_shared;
}

static int run_pass(struct context *cx, void *ret, struct err *e)
{
    struct integrity *i = ret;
    *i = (struct integrity){.idle_trusted = true, .times_trusted = true, .links_trusted = true};
    struct doubting c = {.t = cx->t, .cx = cx, .mem = cx->mem, .i = i};
    TRY(coverage_run(cx, cx->mem, &i->coverage, e));
    ask_all(&c);
    if (c.failed) return err_nomem(e);
    qsort(i->doubts, i->n_doubts, sizeof *i->doubts, gravest_first);
    if (i->n_doubts) i->quality = i->doubts[0].level;
    return 0;
}

static const struct pass *const needs[] = {&calls_pass,       &overheads_pass, &timeline_pass,
                                           &gpu_sharing_pass, &steps_pass,     NULL};

const struct pass integrity_pass = {
    .id = PASS_INTEGRITY,
    .size = sizeof(struct integrity),
    .needs = needs,
    .run = run_pass,
};
