/* json_private.h: what the readers of Chrome JSON share with each other. */
#ifndef STRATA_IMPORT_JSON_JSON_PRIVATE_H
#define STRATA_IMPORT_JSON_JSON_PRIVATE_H

#include "base/file.h"
#include "import/bytes/plain.h"
#include "import/json/event_fast.h"
#include "import/json/json_scan.h"
#include "import/json/kineto.h"
#include "trace/build.h"
#include "trace/trace.h"

/* json_args.c: the args of an event, read again from the file on request. */

/* Takes the file over, also on failure, which is NULL: out of memory. */
struct args_source *json_args_new(struct file_map *file);

/* The file, which stays with the source. */
const struct file_map *json_args_file(const struct args_source *a);

/* json_block.c: a stretch of the event array, read by one worker into a part.
 *
 * Where a stretch ends depends only on where it begins and on the text, never on how much of the
 * text was there yet: so stretches read by different workers fit together, or it shows. */

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

/* Waits for more text, at least twice what is there after offset `from`; false at its end. */
bool block_more_text(struct block_reader *r, uint64_t from);

/* Reads elements into `part`, from the one at offset `from` to the first that begins at or after
 * `until`. *ret_end is where that is. 0 or ERR_NOMEM. */
int block_read(struct block_reader *r, struct batch *part, uint64_t from, uint64_t until,
               uint64_t *ret_end, enum block_end *ret_how) MUST_USE;

/* json_blocks.c: a whole event array, read by several workers at once. */

/* Reads the array whose first element is at offset `from` into the builder. *ret_end is the offset
 * after its closing bracket, or the end of the text where that is missing. */
int blocks_read(struct plain *plain, uint64_t from, const struct import_options *o,
                struct builder *b, uint64_t *ret_end, struct err *e) MUST_USE;

/* json_head.c: the keys beside the events. */

/* Adds a top-level key with its value, which is sound JSON. 0 or ERR_NOMEM. */
int head_add(struct builder *b, struct str key, struct str value) MUST_USE;

#endif
