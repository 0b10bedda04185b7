/* span_tree.h: what a thread was doing, nested by time, to ask where a border may lie that is to
 * cut through none of it. */
#ifndef STRATA_IMPORT_SPAN_TREE_H
#define STRATA_IMPORT_SPAN_TREE_H

#include "base/err.h"
#include "import/stack_span.h"

struct span_node {
    int64_t begin_ns, end_ns;
    uint32_t parent; /* index, or UINT32_MAX */
    bool called;     /* as in stack_span */
    uint64_t module;
};

struct span_tree {
    struct span_node *nodes; /* by begin, longest first */
    size_t n, cap;
};

/* The spans of the process and thread of `who`, taken from all; replaces what was there. */
int span_tree_build(struct span_tree *t, const struct stack_span *all, size_t n,
                    const struct stack_seen *who) MUST_USE;
void span_tree_done(struct span_tree *t);

/* A border of a function that may lie anywhere from `lo` to `hi`: its end, or its beginning. */
struct border {
    int64_t at_ns, lo_ns, hi_ns;
    bool end;
};

/* Where it lies best: where it is, or at the nearest possible edge of the outermost span that it
 * would cut. A function may end inside a range, but not inside an operator that it called. */
int64_t span_tree_border(const struct span_tree *t, const struct border *b);

/* Whether something the thread called, an operator, lasted from `from` to `to`. */
bool span_tree_called(const struct span_tree *t, int64_t from_ns, int64_t to_ns);

/* Whether something that the thread was in at `from` was over at `to`; the outermost of them. */
bool span_tree_ended(const struct span_tree *t, int64_t from_ns, int64_t to_ns,
                     struct span_node *ret);

/* The calls of modules that last at `at`, outermost first; of more than `most` the inner ones. */
int span_tree_modules(const struct span_tree *t, int64_t at_ns, struct span_node *ret, int most);

/* Moves the borders of something that would overlap a span without nesting: it goes into the span,
 * or around it. Where it was seen allows for neither, it is made shorter by at most `slack_ns`. */
void span_tree_fit(const struct span_tree *t, struct border *begin, struct border *end,
                   int64_t slack_ns);

#endif
