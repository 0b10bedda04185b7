/* shapes.h: reading the shape texts of an operator: `Input Dims`, `Input type`, `Concrete Inputs`.
 *
 *     dims      [[8, 16], [[2, 3], [4]], []]     a tensor, a list of tensors, a scalar
 *     types     ["float", "TensorList", "Scalar"]
 *     concrete  ["", "", "1"]
 *
 * The texts come from a file: anything that is not of this form reads as "not there". */
#ifndef STRATA_ANALYZE_NAMES_SHAPES_H
#define STRATA_ANALYZE_NAMES_SHAPES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

#define SHAPE_RANK 16 /* more dimensions than this are not read */

struct shape {
    int rank;
    int64_t dim[SHAPE_RANK];
};

/* Shape of the `arg`-th input. False when it is absent, a list of tensors, or not readable. */
bool shape_read(struct str dims, int arg, struct shape *ret);

/* The `arg`-th text of a list of strings, without its quotes; .p is NULL when absent. */
struct str shape_text(struct str list, int arg);

/* Whether the `arg`-th input was a tensor. Without types: whether it has a shape. */
bool shape_is_tensor(struct str types, struct str dims, int arg);

/* Product of the dimensions, 1 for none; wraps when it does not fit. */
uint64_t shape_size(const struct shape *s);

/* The `arg`-th input where it is a list of tensors: elements of all of them, and of the largest.
 * False when it is something else. */
bool shape_list(struct str dims, int arg, double *ret_all, double *ret_largest);

/* The same for a single tensor: its elements, as a number that cannot overflow; 0 for one that
 * cannot be. */
double shape_elements(const struct shape *s);

/* Whether a text of shapes or values has this shape in it, "[8, 16]" or "[8,16]". Not for tensors
 * without dimensions. */
bool shape_is_in(struct str text, const struct shape *s);

/* `dims` as torch groups by it: lists of tensors become [], blanks are as Python prints them. */
void shape_flatten(struct str dims, struct buf *out);

#endif
