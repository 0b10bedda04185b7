/* buffers.h: memory lent to a vendor's tracing library, which fills it with records.
 *
 *     ready ──take──> lent ──give_back──> filled ──next_filled──> read by us ──recycle──> ready
 *
 * take and give_back run on the user's threads or the library's own: they take no lock and, while
 * a buffer is ready, ask the system for nothing. Ready buffers are zeroed and their pages are
 * there, so that no other thread pays for that. One consumer at a time calls the rest. */
#ifndef STRATA_BACKEND_BUFFERS_H
#define STRATA_BACKEND_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUFFERS_BYTES ((size_t)256 << 10) /* of one buffer */
#define BUFFERS_READY 4                   /* kept ready at least */

struct buffer {
    char *bytes;
    size_t n_valid; /* filled: how much of it holds records */
    void *last;     /* the last record read from it, NULL before the first */
    void *seen;     /* while it is lent: the last record found in it */
    bool given_up;  /* lent, and not looked into any more */
    struct buffer *next;
};

/* All buffers together take at most `most_bytes`. Again for another start: those that are lent
 * stay so. */
void buffers_init(uint64_t most_bytes);

/* There are none. After fork: the parent's library fills the parent's. */
void buffers_forget(void);

/* The bytes of an empty buffer, BUFFERS_BYTES of them; NULL when there may be no more. */
void *buffers_take(void);

/* A buffer comes back with `n_valid` bytes of records; false if it is not one of ours. */
bool buffers_give_back(void *bytes, size_t n_valid);

/* The filled buffers in the order they came back, or NULL. */
struct buffer *buffers_filled(void);

/* Empties it; it is ready again. */
void buffers_recycle(struct buffer *b);

/* Makes as many ready as were taken since the last time, BUFFERS_READY at least: the thread that
 * takes one that is not ready pays for making it, in the middle of a launch. */
void buffers_replenish(void);

/* The i-th buffer while it is lent and not given up; until i reaches buffers_count. */
struct buffer *buffers_lent(uint32_t i);
uint32_t buffers_count(void);

#endif
