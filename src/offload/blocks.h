/* blocks.h: which modules make a transformer block, recognized by their sizes alone: the longest
 * stretch that repeats is a row of equal blocks, and so on left and right of it. What does not
 * repeat is a block by itself. */
#ifndef STRATA_OFFLOAD_BLOCKS_H
#define STRATA_OFFLOAD_BLOCKS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"

/* `ret_block[i]` is the block of module i, ascending from 0; *ret_n how many there are. Scratch
 * from `mem`, given back. ERR_NOMEM is the only failure. */
int blocks_number(const int64_t *bytes, uint32_t n, struct arena *mem, uint32_t *ret_block,
                  uint32_t *ret_n) MUST_USE;

/* Whether module i stands outside of all blocks, in a model that has some: an embedding, an output
 * layer. `block` is what blocks_number gave. */
bool blocks_is_loose(const int64_t *bytes, const uint32_t *block, uint32_t n, uint32_t i);

#endif
