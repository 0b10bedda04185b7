/* json_blocks.h: a whole event array, read by several workers at once. */
#ifndef STRATA_IMPORT_JSON_BLOCKS_H
#define STRATA_IMPORT_JSON_BLOCKS_H

#include "import/json_block.h"

/* Reads the array whose first element is at offset `from` into the builder. *ret_end is the offset
 * after its closing bracket, or the end of the text where that is missing. */
int blocks_read(struct plain *plain, uint64_t from, const struct import_options *o,
                struct builder *b, uint64_t *ret_end, struct err *e) MUST_USE;

#endif
