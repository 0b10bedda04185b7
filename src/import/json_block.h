/* json_block.h: a stretch of the event array, read by one worker into a part.
 *
 * Where a stretch ends depends only on where it begins and on the text, never on how much of the
 * text was there yet: so stretches read by different workers fit together, or it shows. */
#ifndef STRATA_IMPORT_JSON_BLOCK_H
#define STRATA_IMPORT_JSON_BLOCK_H

#include "import/event_fast.h"
#include "import/kineto.h"
#include "import/plain.h"

struct block_reader {
    struct plain *plain;
    event_fast_fn *fast;
    struct event_memory memory;
    struct scan scan; /* scan.end: how far the text is ready */
    bool all;         /* that is its end */
    struct kineto kineto;
    struct event event;
};

enum block_end {
    BLOCK_GOES_ON,  /* at the next element */
    BLOCK_CLOSED,   /* after the closing bracket */
    BLOCK_CUT_SHORT /* at the end of the text */
};

void block_init(struct block_reader *r, struct plain *plain); /* `r` is all zero */
void block_done(struct block_reader *r);

/* Waits for more text, at least as much again as there is after offset `from`; false at its end. */
bool block_more_text(struct block_reader *r, uint64_t from);

/* Reads elements into `part`, from the one at offset `from` to the first that begins at or after
 * `until`. *ret_end is where that is. 0 or ERR_NOMEM. */
int block_read(struct block_reader *r, struct part *part, uint64_t from, uint64_t until,
               uint64_t *ret_end, enum block_end *ret_how) MUST_USE;

#endif
