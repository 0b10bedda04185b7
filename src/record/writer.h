/* writer.h: a thread's writing end of its ring file (format/ring.h).
 *
 * One producer, no lock; system calls only when the stage is full or a second has passed since the
 * clocks were last compared. A writer outlives its thread and is handed to the next one, so that
 * a program with many short threads leaves few files.
 *
 * Writers lie in pages of their own, not on the heap (guard.h), which a forked child gets empty:
 * there `head` is NULL, and nothing of the parent's can be written. */
#ifndef STRATA_RECORD_WRITER_H
#define STRATA_RECORD_WRITER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/clock.h"
#include "format/ring_index.h"
#include "record/spool.h"

struct writer {
    struct ring_record *next, *end; /* free slots of the stage */
    uint64_t n_written;
    uint64_t refresh_at; /* ticks when the clocks are due to be compared */
    struct ring_head *head;
    enum clock_source clock;
    uint16_t check;
    atomic_bool busy; /* a record is being written: a signal handler must not write one */

    /* Off the hot path. */
    struct ring_record *stage;
    uint64_t limit_slots;                /* of the log, until it gets more */
    atomic_uint_least64_t *budget_bytes; /* or NULL: there is no more */
    uint64_t ticks_per_second;
    struct writer *next_all, *next_free; /* the recorder's lists */
    struct spool file;
    struct spool
        index; /* made with the first block of the log; without a path where it cannot be */
    bool index_failed;
    struct ring_state state; /* at the begin of the stage */
};

struct writer_options {
    enum clock_source clock;
    double ticks_per_second;
    uint64_t limit_bytes; /* of the log */

    /* What all rings together may still take, or NULL. A log that is full takes a step of it as
     * long as it has less than a seventh of what is left: one busy thread gets an eighth of all,
     * each of n busy ones a share of 1 / (n + 7), and the last one still finds some. */
    atomic_uint_least64_t *budget_bytes;
};

/* A new ring at `path`; NULL when it cannot be made. */
struct writer *writer_new(const char *path, const struct writer_options *o, struct err *e);

/* Lets go of the mappings; the file stays. Only when no thread can be writing. */
void writer_free(struct writer *w);

/* Slow path of writer_put: empties a stage without two free slots, compares the clocks. */
void writer_refresh(struct writer *w);

/* Counts a record that was not written. */
void writer_lose(struct writer *w);

static inline void writer_store(struct writer *w, struct ring_record r)
{
    r.check = w->check;
    *w->next++ = r;
    w->n_written++;
}

static inline void writer_publish(struct writer *w)
{
    __atomic_store_n(&w->head->n_written, w->n_written, __ATOMIC_RELEASE);
}

/* Writes `n` slots as they are, all of them or none: a record, its values and what belongs to it.
 * The time of the first tells when the clocks are due. At most WRITER_MOST; in a signal handler
 * that interrupted writing they count as lost. */
#define WRITER_MOST 8
void writer_put_all(struct writer *w, const struct ring_record *slots, int n);

/* Writes `r`, and the value if its kind has one. Fills the time in if it is 0; returns it. */
static inline uint64_t writer_put(struct writer *w, struct ring_record r, uint64_t value)
{
    if (!r.ticks) r.ticks = clock_ticks(w->clock);
    if (__builtin_expect(atomic_load_explicit(&w->busy, memory_order_relaxed), 0)) {
        writer_lose(w);
        return r.ticks;
    }
    atomic_store_explicit(&w->busy, true, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(w->end - w->next < 2 || r.ticks >= w->refresh_at, 0)) writer_refresh(w);
    writer_store(w, r);
    if (r.kind >= RING_WIDE)
        writer_store(w, (struct ring_record){.ticks = value, .kind = RING_VALUE});
    writer_publish(w);
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&w->busy, false, memory_order_relaxed);
    return r.ticks;
}

#endif
