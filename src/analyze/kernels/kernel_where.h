/* kernel_where.h: of a piece of device work: the shapes it was given, the module and the line that
 * it comes from. Work of graphs, and work that is like that of a unit in depth, has those of its
 * origin (graph_origin.h); work of a backward pass those of the operator of the forward pass it
 * undoes. A kernel that a compiler made has the line it was made of. */
#ifndef STRATA_ANALYZE_KERNELS_KERNEL_WHERE_H
#define STRATA_ANALYZE_KERNELS_KERNEL_WHERE_H

#include "analyze/context.h"
#include "analyze/names/op_forward.h"
#include "base/buf.h"

struct kernel_where {
    const struct context *cx;
    struct op_forward forward;
    struct buf text; /* of the line that was requested last */
};

/* Needs the roofline, graph origins, kernel sources and places. kernel_where_done in any case. */
int kernel_where_init(struct kernel_where *w, const struct context *cx, struct err *e) MUST_USE;
void kernel_where_done(struct kernel_where *w);

/* All of these are empty where it is not known. */
struct str kernel_where_shapes(const struct kernel_where *w, row_t r); /* "[[64, 64], [64, 64]]" */
struct str kernel_where_module(const struct kernel_where *w, row_t r); /* "Linear" */

/* Whether the line is known exactly: samples of a thread show functions, not what launched it. */
bool kernel_where_has_line(const struct kernel_where *w, row_t r);

/* "train.py:8 in loss", "train.py in loss" where samples show the function alone; until the next
 * call. */
struct str kernel_where_line(struct kernel_where *w, row_t r);

#endif
