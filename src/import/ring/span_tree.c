/* span_tree.c: see stack_rows.h. */
#include "import/ring/stack_rows.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/search.h"
#include "base/vec.h"

enum { NO_PARENT = UINT32_MAX, MOST_STEPS = 4096, MOST_FITS = 32 };

static int span_tree_by_begin(const void *a, const void *b)
{
    const struct span_node *x = a, *y = b;
    if (x->begin_ns != y->begin_ns) return x->begin_ns < y->begin_ns ? -1 : 1;
    return (x->end_ns < y->end_ns) - (x->end_ns > y->end_ns);
}

static void span_tree_nest(struct span_tree *t)
{
    uint32_t open = NO_PARENT;
    for (uint32_t i = 0; i < t->n; i++) {
        while (open != NO_PARENT && t->nodes[open].end_ns <= t->nodes[i].begin_ns)
            open = t->nodes[open].parent;
        t->nodes[i].parent = open;
        open = i;
    }
}

int span_tree_build(struct span_tree *t, const struct stack_span *all, size_t n,
                    const struct stack_seen *who)
{
    t->n = 0;
    for (size_t i = 0; i < n; i++) {
        if (all[i].process != who->process || all[i].tid != who->tid) continue;
        if (VEC_RESERVE(t->nodes, t->n, t->cap, 1)) return ERR_NOMEM;
        t->nodes[t->n++] = (struct span_node){all[i].begin_ns, all[i].end_ns, NO_PARENT,
                                              all[i].called, all[i].module};
    }
    if (t->n) qsort(t->nodes, t->n, sizeof *t->nodes, span_tree_by_begin);
    span_tree_nest(t);
    return 0;
}

void span_tree_done(struct span_tree *t)
{
    mem_free(t->nodes);
    *t = (struct span_tree){0};
}

/* The last span that begins before `at`. */
static uint32_t last_before(const struct span_tree *t, int64_t at)
{
    size_t i = 0;
    SEARCH_PAST(i, t->n, t->nodes[i].begin_ns < at);
    return i ? (uint32_t)(i - 1) : NO_PARENT;
}

int64_t span_tree_border(const struct span_tree *t, const struct border *b)
{
    const struct span_node *cut = NULL;
    uint32_t i = last_before(t, b->at_ns);
    for (int steps = 0; i != NO_PARENT && steps < MOST_STEPS; i = t->nodes[i].parent, steps++) {
        const struct span_node *s = &t->nodes[i];
        bool may_end = s->end_ns < b->hi_ns && (s->called || !b->end);
        if (s->end_ns > b->at_ns && (s->begin_ns > b->lo_ns || may_end)) cut = s;
    }
    if (!cut) return b->at_ns;
    bool may_begin = cut->begin_ns > b->lo_ns, may_end = cut->end_ns < b->hi_ns;
    if (may_begin && may_end) may_begin = b->at_ns - cut->begin_ns <= cut->end_ns - b->at_ns;
    return may_begin ? cut->begin_ns : cut->end_ns;
}

bool span_tree_called(const struct span_tree *t, int64_t from_ns, int64_t to_ns)
{
    uint32_t i = last_before(t, from_ns);
    for (int steps = 0; i != NO_PARENT && steps < MOST_STEPS; i = t->nodes[i].parent, steps++)
        if (t->nodes[i].called && t->nodes[i].end_ns > to_ns) return true;
    return false;
}

bool span_tree_ended(const struct span_tree *t, int64_t from_ns, int64_t to_ns,
                     struct span_node *ret)
{
    bool found = false;
    uint32_t i = last_before(t, from_ns);
    for (int steps = 0; i != NO_PARENT && steps < MOST_STEPS; i = t->nodes[i].parent, steps++) {
        const struct span_node *s = &t->nodes[i];
        if (s->end_ns <= from_ns || s->end_ns > to_ns) continue;
        *ret = *s;
        found = true;
    }
    return found;
}

int span_tree_modules(const struct span_tree *t, int64_t at_ns, struct span_node *ret, int most)
{
    int n = 0;
    uint32_t i = last_before(t, at_ns + 1);
    for (int steps = 0; i != NO_PARENT && steps < MOST_STEPS && n < most; steps++) {
        if (t->nodes[i].module && t->nodes[i].end_ns > at_ns) ret[n++] = t->nodes[i];
        i = t->nodes[i].parent;
    }
    for (int k = 0; k < n / 2; k++) {
        struct span_node inner = ret[k];
        ret[k] = ret[n - 1 - k];
        ret[n - 1 - k] = inner;
    }
    return n;
}

/* The outermost span around `at` that does not reach over the whole of [begin, end]. */
static const struct span_node *span_tree_crossed(const struct span_tree *t, int64_t at,
                                                 int64_t begin, int64_t end)
{
    const struct span_node *found = NULL;
    uint32_t i = last_before(t, at);
    for (int steps = 0; i != NO_PARENT && steps < MOST_STEPS; i = t->nodes[i].parent, steps++) {
        const struct span_node *s = &t->nodes[i];
        if (s->end_ns > at && (s->begin_ns > begin || s->end_ns < end)) found = s;
    }
    return found;
}

/* Its end lies in a span that begins inside. */
static void fit_end(const struct span_node *s, struct border *begin, struct border *end,
                    int64_t slack_ns)
{
    bool may_begin = s->begin_ns <= begin->hi_ns, may_end = s->end_ns <= end->hi_ns;
    bool near = s->begin_ns - begin->at_ns <= slack_ns;
    if (may_begin || (near && !may_end)) begin->at_ns = s->begin_ns;
    else if (may_end) end->at_ns = s->end_ns;
    else if (end->at_ns - s->begin_ns <= slack_ns) end->at_ns = s->begin_ns;
}

/* Its beginning lies in a span that ends inside. */
static void fit_begin(const struct span_node *s, struct border *begin, struct border *end,
                      int64_t slack_ns)
{
    bool may_end = s->end_ns >= end->lo_ns, may_begin = s->begin_ns >= begin->lo_ns;
    bool near = end->at_ns - s->end_ns <= slack_ns;
    if (may_end || (near && !may_begin)) end->at_ns = s->end_ns;
    else if (may_begin) begin->at_ns = s->begin_ns;
    else if (s->end_ns - begin->at_ns <= slack_ns) begin->at_ns = s->end_ns;
}

/* From the outermost span that is crossed to the innermost. */
void span_tree_fit(const struct span_tree *t, struct border *begin, struct border *end,
                   int64_t slack_ns)
{
    for (int steps = 0; steps < MOST_FITS; steps++) {
        int64_t was_begin = begin->at_ns, was_end = end->at_ns;
        const struct span_node *s = span_tree_crossed(t, end->at_ns, begin->at_ns, end->at_ns);
        if (s) fit_end(s, begin, end, slack_ns);
        s = span_tree_crossed(t, begin->at_ns, begin->at_ns, end->at_ns);
        if (s) fit_begin(s, begin, end, slack_ns);
        if (begin->at_ns == was_begin && end->at_ns == was_end) return;
    }
}
