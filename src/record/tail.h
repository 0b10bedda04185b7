/* tail.h: a file of ours (spool.h) that grows at its end through a small mapped window, so that
 * what was written survives the process. The caller publishes the new end afterwards. */
#ifndef STRATA_RECORD_TAIL_H
#define STRATA_RECORD_TAIL_H

#include "record/spool.h"

struct tail {
    struct spool *file;
    char *window;
    uint64_t window_at; /* offset of the window in the file */
};

/* Writes `n` bytes at offset `at` of the file. */
int tail_write(struct tail *t, const void *p, size_t n, uint64_t at, struct err *e) MUST_USE;

/* Lets go of the window; the file stays the caller's. */
void tail_done(struct tail *t);

#endif
