/* ring_rows.h: the records of one thread's ring as rows of a trace. */
#ifndef STRATA_IMPORT_RING_ROWS_H
#define STRATA_IMPORT_RING_ROWS_H

#include "import/ring_blocks.h"
#include "import/ring_process.h"

struct ring_source {
    const struct ring_file *file;
    const struct ring_blocks *blocks; /* NULL: all of it is read, else what the window needs */
    uint32_t number;
};

/* Adds the rows of a ring. */
int ring_rows_add(struct part *part, struct ring_process *p,
                  const struct ring_source *from) MUST_USE;

/* Of the blocks that the window of the process needs: how many there are, and whether they hold
 * what their summaries say. */
uint64_t ring_rows_count(const struct ring_process *p, const struct ring_blocks *b);
bool ring_rows_agree(const struct ring_process *p, const struct ring_blocks *b,
                     const struct ring_file *f);

#endif
