/* spool.h: a file of the recorder, in the user's process.
 *
 * No descriptor stays open (programs close all of theirs and reuse the numbers), room is allocated
 * before it is mapped (a full disk is an error here, not a SIGBUS there), the file size limit is
 * asked first (exceeding it is a signal), and a path that leads to another file by now is left
 * alone. */
#ifndef STRATA_RECORD_SPOOL_H
#define STRATA_RECORD_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define SPOOL_PATH 3840

struct spool {
    char path[SPOOL_PATH]; /* here, not on the heap: see guard.h */
    uint64_t dev, ino;     /* the file we made */
    uint64_t size_bytes;
};

/* Creates `path`, which must not exist; takes a copy of it. It may be the one in `s`. */
int spool_create(struct spool *s, const char *path, struct err *e) MUST_USE;

/* Forgets the file; it stays on disk, as do mappings made from it. */
void spool_done(struct spool *s);

/* Allocates the file up to `offset + n` and maps that window. Pages may be larger than `offset`
 * is a multiple of (64 KiB on some ARM kernels): what lies before it in the page is mapped too. */
int spool_map(struct spool *s, uint64_t offset, size_t n, void **ret_window,
              struct err *e) MUST_USE;
void spool_unmap(void *window, size_t n);

/* Writes all of it or fails; the file grows as it needs to. */
int spool_write(struct spool *s, uint64_t offset, const void *p, size_t n, struct err *e) MUST_USE;

/* A spool that grows at its end through a small mapped window, so that
 * what was written survives the process. The caller publishes the new end afterwards. */

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
