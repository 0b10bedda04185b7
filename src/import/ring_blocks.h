/* ring_blocks.h: what stands in the blocks of a ring, from its index where there is one, else from
 * the ring itself. An index is not believed where it can be seen to be wrong: summaries carry
 * their number and a checksum, and blocks that are read are compared with theirs. */
#ifndef STRATA_IMPORT_RING_BLOCKS_H
#define STRATA_IMPORT_RING_BLOCKS_H

#include "format/ring_index.h"
#include "import/ring_file.h"

struct ring_blocks {
    struct ring_summary *list; /* of blocks [first, first + n): the last one is the stage */
    uint64_t first;
    size_t n;
    size_t n_read; /* blocks that had to be read for this */
    bool indexed;  /* some are as an index says */
};

/* `index` is the path of the index; NULL reads the ring. ERR_NOMEM alone is a failure. */
int ring_blocks_open(struct ring_blocks *b, const struct ring_file *f, const char *index) MUST_USE;
void ring_blocks_close(struct ring_blocks *b);

/* Whether block number `i` of the list holds what its summary says. */
bool ring_blocks_agree(const struct ring_blocks *b, const struct ring_file *f, size_t i);

#endif
