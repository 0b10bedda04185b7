/* rank_stage.c: where in the program a row is, as text: its line, and its stage: labels, or the
 * parts derived where there are none. What autograd's threads run outside of all of them belongs to
 * what the main thread is in meanwhile, and is the backward pass at least. */
#include <stdio.h>

#include "analyze/names/host_cause.h"
#include "analyze/names/source_place.h"
#include "analyze/ranks/rank_summary.h"
#include "analyze/ranks/ranks_private.h"
#include "analyze/stages/stages.h"
#include "base/human.h"

/* A garbage collection is written as a label, and happens in a stage. Parts that were found by
 * repetition alone have no name that says anything, nor the same on all ranks. */
static bool names_stage(const struct stage_node *n)
{
    bool spoken = n->from == ORIGIN_MODULES || n->from == ORIGIN_FUNCTIONS ||
                  n->from == ORIGIN_AUTOGRAD || n->from == ORIGIN_COMPILED;
    if (n->derived && !spoken) return false;
    return !host_cause_is_gc(host_cause_of(n->name));
}

/* A function of which a stage was derived is not in itself. */
static bool is_itself(const struct stage_tree *tree, uint32_t call, row_t r)
{
    return tree->calls[call].row == r && tree->nodes[tree->calls[call].node].derived;
}

static uint32_t named_call(const struct stage_tree *tree, uint32_t call, row_t r)
{
    while (call != STAGE_NONE &&
           (!names_stage(&tree->nodes[tree->calls[call].node]) || is_itself(tree, call, r)))
        call = tree->calls[call].parent;
    return call;
}

static uint32_t call_of(const struct rank_reader *in, row_t r)
{
    const struct context *cx = in->cx;
    const struct stage_tree *tree = &stages_of(cx)->tree;
    uint32_t call = named_call(tree, tree->owner[r], r);
    lane_id main = steps_of(cx)->lane;
    if (call != STAGE_NONE || main == LANE_NONE || main == cx->t->lane[r]) return call;
    if (!in->autograd[cx->t->lane[r]]) return call;
    return named_call(tree, stage_tree_at(tree, main, cx->t->ts_ns[r]), r);
}

uint32_t rank_stage_node(const struct rank_reader *in, row_t r)
{
    const struct trace *t = in->cx->t;
    if (r == ROW_NONE || t->lanes[t->lane[r]].kind != LANE_THREAD) return STAGE_NONE;
    uint32_t call = call_of(in, r);
    if (call != STAGE_NONE) return stages_of(in->cx)->tree.calls[call].node;
    return in->autograd[t->lane[r]] ? RANK_STAGE_BACKWARD : STAGE_NONE;
}

const char *rank_stage_name(const struct rank_reader *in, uint32_t node)
{
    if (node == STAGE_NONE) return NULL;
    if (node == RANK_STAGE_BACKWARD) return "backward";
    const struct stage_node *n = &stages_of(in->cx)->tree.nodes[node];
    char text[128], cut[96];
    if (!n->backward) return rank_keep(in, n->name, 80);
    snprintf(text, sizeof text, "%s (backward)", human_cut(n->name, 80, cut, sizeof cut));
    return rank_keep(in, str_c(text), 120);
}

/* ---- places */

const char *rank_keep(const struct rank_reader *in, struct str s, int width)
{
    char cut[512];
    str_id id = intern_add(&in->store->texts, str_c(human_cut(s, width, cut, sizeof cut)));
    return id == STR_NONE ? "" : intern_get(&in->store->texts, id).p;
}

void rank_find_place(const struct rank_reader *in, row_t r, struct rank_place *ret)
{
    struct place p;
    if (r == ROW_NONE || in->cx->t->lanes[in->cx->t->lane[r]].kind != LANE_THREAD) return;
    source_places_find(places_of(in->cx), r, &p);
    ret->stage = rank_stage_name(in, rank_stage_node(in, r));
    if (p.source.line <= 0) return;
    ret->file = rank_keep(in, p.source.file, 200);
    ret->line = p.source.line;
    ret->function = rank_keep(in, p.source.function, 80);
}
