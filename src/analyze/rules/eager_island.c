/* eager_island.c: a compiled stage that still runs many kernels outside its compiled regions: graph
 * breaks leave islands of eager code, each with its own launches and guard checks. */
#include "analyze/names/torch_words.h"
#include "analyze/rules/rules.h"
#include "analyze/rules/rules_constants.h"
#include "base/human.h"

/* Whether the launch happened inside a compiled region. */
static bool inside_region(const struct trace *t, row_t r)
{
    for (; r != ROW_NONE; r = t->parent[r])
        if (t->kind[r] == KIND_OP && torch_is_region(trace_name(t, r))) return true;
    return false;
}

struct islands {
    uint32_t regions, compiled, eager; /* regions; kernels inside and outside them, in one stage */
    int64_t lookup_ns;
    row_t first_eager;
};

static int eager_island_count(const struct context *cx, struct islands **ret, struct err *e)
{
    const struct trace *t = cx->t;
    const struct stage_tree *tree = &stages_of(cx)->tree;
    struct islands *all = arena_zalloc(cx->mem, stages_of(cx)->n + (size_t)1, sizeof *all);
    if (!all) return err_nomem(e);
    for (uint32_t i = 0; i < stages_of(cx)->n; i++) all[i].first_eager = ROW_NONE;
    for (row_t r = 0; r < t->n_rows; r++) {
        uint32_t call = tree->owner[r];
        if (call == STAGE_NONE) continue;
        struct islands *s = &all[tree->calls[call].node];
        const struct call_info *launch = trace_call(t, r);
        if (t->kind[r] == KIND_OP && torch_is_region(trace_name(t, r))) s->regions++;
        if (t->kind[r] == KIND_OP && torch_is_guard_check(trace_name(t, r)))
            s->lookup_ns += t->dur_ns[r];
        if (!launch || !launch->n_gpu) continue;
        bool compiled = inside_region(t, r);
        *(compiled ? &s->compiled : &s->eager) += launch->n_gpu;
        if (!compiled && s->first_eager == ROW_NONE) s->first_eager = r;
    }
    *ret = all;
    return 0;
}

static int eager_island_report(const struct context *cx, const struct stage *s,
                               const struct islands *i, struct findings *out, struct err *e);

static int eager_island_run(const struct context *cx, struct findings *out, struct err *e)
{
    struct islands *all;
    TRY(eager_island_count(cx, &all, e));
    for (uint32_t i = 0; i < stages_of(cx)->n; i++) {
        const struct stage *s = &stages_of(cx)->list[i];
        const struct islands *k = &all[i];
        if (!s->calls || k->regions < eager_island_regions * s->calls || !k->compiled) continue;
        if ((double)k->eager > eager_island_share * (double)(k->eager + k->compiled) &&
            (double)s->idle_meanwhile_ns > eager_island_idle_share * (double)wall_of(cx)->wall_ns)
            TRY(eager_island_report(cx, s, k, out, e));
    }
    return 0;
}

const struct rule rule_eager_island = {
    .id = "eager_island",
    .summary = "eager code splits a compiled stage",
    .limit = LIMIT_CPU,
    .silent_after = RULE_LIST(&rule_graph_break), /* which has a price for it */
    .run = eager_island_run,
};

static int eager_island_report(const struct context *cx, const struct stage *s,
                               const struct islands *i, struct findings *out, struct err *e)
{
    struct finding *f = rule_finding(cx, out, &rule_eager_island, e);
    if (!f) return ERR_NOMEM;
    struct source_places *w = places_of(cx);
    struct place p;
    source_places_find(w, i->first_eager, &p);
    rule_place(cx, f, &p);
    f->advice = true;
    f->title = "eager code splits a compiled stage";
    f->subject = rule_name(cx, s->name, 60);
    f->why = rule_text(cx,
                       "Each call runs %.1f compiled regions, but %s of its %s kernels and copies "
                       "are launched outside them; guard checks take %s.",
                       (double)i->regions / s->calls, human_count(i->eager).s,
                       human_count(i->eager + i->compiled).s, human_time(i->lookup_ns).s);
    f->fix = "Find the graph breaks (TORCH_LOGS=graph_breaks, or fullgraph=True to make them "
             "errors) and move what cannot be compiled out of the stage.";
    f->show = "stages %s --all";
    f->blocked_ns = i->lookup_ns;
    f->exposed_ns = s->idle_meanwhile_ns;
    finding_note(f, cx->mem, cx->t->ts_ns[i->first_eager], i->first_eager,
                 "the first launch outside a compiled region");
    return 0;
}
