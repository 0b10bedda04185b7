/* kineto.h: what an event of a PyTorch (Kineto) or Chrome trace means: which row, flow or label it
 * is, across all versions of the writer. */
#ifndef STRATA_IMPORT_JSON_KINETO_H
#define STRATA_IMPORT_JSON_KINETO_H

#include "base/map.h"
#include "import/json/event.h"
#include "trace/build.h"

/* One worker's way from events to rows. `scratch` is for decoding escapes. */
struct kineto {
    struct batch *part;
    struct buf scratch;
    struct kineto_cat {
        struct str text; /* interned in the part */
        uint8_t cat;
        enum row_kind kind;
    } cats[64]; /* categories met so far, the latest first */
    int n_cats;

    /* Texts that stay where they are and stand for many events, by address: each is read once a
     * part. Only where `remembers`. */
    bool remembers;
    struct map known;
};

void kineto_init(struct kineto *k);
void kineto_done(struct kineto *k);

/* What follows goes into `part`. */
void kineto_begin(struct kineto *k, struct batch *part);

/* Adds what `ev` says to the part; notes damage in `s`. 0 or ERR_NOMEM. */
int kineto_add(struct kineto *k, struct scan *s, const struct event *ev) MUST_USE;

#endif
