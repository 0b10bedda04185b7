/* integrity.c: looks for every problem of problems.h; the worst one sets the verdict, and those
 * that take figures away say which cannot be trusted. */
#include "analyze/quality/integrity.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/device/gpu_sharing.h"
#include "analyze/names/overhead.h"
#include "analyze/names/program.h"
#include "analyze/quality/quality_private.h"

static problem_look *const looks[] = {
    problem_look_empty,       problem_look_file,       problem_look_dropped,
    problem_look_edges,       problem_look_graphs,     problem_look_waits,
    problem_look_shared,      problem_look_links,      problem_look_untimed,
    problem_look_impossible,  problem_look_clocks,     problem_look_steps,
    problem_look_collectives, problem_look_recording,  problem_look_overheads,
    problem_look_graph_nodes, problem_look_depth,      problem_look_syncs,
    problem_look_overlap,     problem_look_spans,      problem_look_op_ids,
    problem_look_call_ids,    problem_look_copied_ids, problem_look_thread_names,
};

const struct recorded_word recorded_words[N_RECORDED] = {
    {RECORDED_STACKS, "stacks"},   {RECORDED_SHAPES, "shapes"}, {RECORDED_MEMORY, "memory"},
    {RECORDED_MODULES, "modules"}, {RECORDED_FLOPS, "flops"},
};

struct problem *problem_add(struct looking *c, enum problem_id id, enum quality level,
                            const char *fmt, ...)
{
    char text[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    const char *what = arena_strdup(c->mem, str_c(text));
    if (!what) c->failed = true;
    if (!what || c->i->n_problems == N_PROBLEMS) return &c->nowhere;
    const struct problem_kind *k = &problem_kinds[id];
    bool note = level == QUALITY_GOOD;
    bool ours = trace_is_ours(c->t), other = !ours && !program_has_torch_profiler(c->t);
    const char *instead = ours && k->instead_ours    ? k->instead_ours
                          : other && k->instead_else ? k->instead_else
                                                     : k->instead;
    struct problem *p = &c->i->problems[c->i->n_problems++];
    *p = (struct problem){.kind = k,
                          .level = level,
                          .takes = level >= k->takes_from ? k->takes : 0,
                          .what = what,
                          .means = note ? k->note : k->means,
                          .instead = note ? "" : instead};
    return p;
}

void problem_example(struct problem *p, row_t r)
{
    if (r != ROW_NONE && p->n_examples < PROBLEM_EXAMPLES) p->examples[p->n_examples++] = r;
}

/* Worst first, then in the order of the list. */
static int integrity_by_level(const void *a, const void *b)
{
    const struct problem *x = a, *y = b;
    if (x->level != y->level) return (int)y->level - (int)x->level;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

/* Which figures cannot be trusted, and whether sharing the device is the only reason. */
static void integrity_judge(struct looking *c)
{
    struct integrity *i = c->i;
    uint32_t take_idle = 0;
    uint8_t taken = 0;
    for (uint32_t k = 0; k < i->n_problems; k++) {
        taken |= i->problems[k].takes;
        take_idle += (i->problems[k].takes & FIGURES_IDLE) != 0;
    }
    i->idle_trusted = !(taken & FIGURES_IDLE);
    i->times_trusted = !(taken & FIGURES_TIMES);
    i->links_trusted = !(taken & FIGURES_LINKS);
    i->shared = take_idle == 1 && c->waits_shared;
    if (!i->n_problems) return;
    qsort(i->problems, i->n_problems, sizeof *i->problems, integrity_by_level);
    i->quality = i->problems[0].level;
}

static int integrity_run_pass(struct context *cx, void *ret, struct err *e)
{
    struct integrity *i = ret;
    *i = (struct integrity){.quality = QUALITY_GOOD};
    struct looking c = {.t = cx->t, .cx = cx, .mem = cx->mem, .i = i};
    TRY(coverage_run(cx, cx->mem, &i->coverage, e));
    for (size_t k = 0; k < sizeof looks / sizeof(looks[0]); k++) looks[k](&c);
    if (c.failed) return err_nomem(e);
    integrity_judge(&c);
    return 0;
}

static const struct pass *const needs[] = {&calls_pass,           &overheads_pass, &timeline_pass,
                                           &other_processes_pass, &steps_pass,     NULL};

const struct pass integrity_pass = {
    .id = PASS_INTEGRITY,
    .size = sizeof(struct integrity),
    .needs = needs,
    .run = integrity_run_pass,
};
