/* ring_inputs.h: what operators of a recording were called with (RING_SHAPES, DEF_SHAPES). */
#ifndef STRATA_IMPORT_RING_RING_INPUTS_H
#define STRATA_IMPORT_RING_RING_INPUTS_H

#include <stdbool.h>

#include "base/intern.h"
#include "import/ring/defs_file.h"
#include "import/ring/ring_file.h"
#include "trace/trace.h"

struct ring_inputs {
    uint32_t shapes;  /* DEF_SHAPES, or 0 */
    bool numbered;    /* `sequence` is known: no operator that was never described has one */
    bool backward;    /* a node of a backward pass */
    int64_t sequence; /* number in autograd, or ID_NONE */
};

/* Of a RING_SHAPES. */
struct ring_inputs ring_inputs_of(const struct ring_entry *e);

static inline bool ring_inputs_known(const struct ring_inputs *in)
{
    return in->shapes || in->numbered;
}

/* Dims, types and values as JSON arrays, in place; empty where they are absent or no arrays of
 * numbers and plain texts. */
void ring_inputs_texts(const struct ring_inputs *in, const struct defs_file *defs,
                       struct str ret[3]);

/* ERR_NOMEM is the only failure. */
int ring_inputs_fill(const struct ring_inputs *in, const struct defs_file *defs,
                     struct intern *strings, struct op_info *ret) MUST_USE;

#endif
