/* ring_rows.h: the records of one thread's ring as rows of a trace. */
#ifndef STRATA_IMPORT_RING_ROWS_H
#define STRATA_IMPORT_RING_ROWS_H

#include "import/ring_process.h"

/* Adds the rows of ring number `ring`. */
int ring_rows_add(struct part *part, struct ring_process *p, const struct ring_file *f,
                  uint32_t ring) MUST_USE;

#endif
