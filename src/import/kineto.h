/* kineto.h: what an event of a PyTorch (Kineto) or Chrome trace means: which row, flow or label it
 * is, across all versions of the writer. */
#ifndef STRATA_IMPORT_KINETO_H
#define STRATA_IMPORT_KINETO_H

#include "import/event.h"
#include "trace/build.h"

/* One worker's way from events to rows. `scratch` is for decoding escapes. */
struct kineto {
    struct part *part;
    struct buf scratch;
    struct kineto_cat {
        struct str text; /* interned in the part */
        uint8_t cat;
        enum row_kind kind;
    } cats[64]; /* categories met so far, the latest first */
    int n_cats;
};

void kineto_init(struct kineto *k);
void kineto_done(struct kineto *k);

/* What follows goes into `part`. */
void kineto_begin(struct kineto *k, struct part *part);

/* Adds what `ev` says to the part; notes damage in `s`. 0 or ERR_NOMEM. */
int kineto_add(struct kineto *k, struct scan *s, const struct event *ev) MUST_USE;

#endif
