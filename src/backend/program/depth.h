/* depth.h: units in depth: a few calls of which everything is recorded, every operator with what it
 * was called with and the Python line of every launch, so that all others can stay cheap. Readers
 * carry what these say to the others (analyze/depth).
 *
 * A unit begins where a thread enters an outermost module or stage, and lasts until it enters the
 * next one; what it does in between (a sampler, an optimizer) belongs to it. Units are alike when
 * they are of the same kind: the same class, given tensors of the same size. The first of a class
 * is warming up; the next few of each kind are recorded in depth, as long as that takes a small
 * part of the time. New sizes later are new kinds. A wait for the device at both ends lets a
 * unit be taken out of the time of the recording.
 *
 * A program that enters no modules or stages has windows of a tenth of a second instead. */
#ifndef STRATA_BACKEND_PROGRAM_DEPTH_H
#define STRATA_BACKEND_PROGRAM_DEPTH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

extern atomic_bool depth_now;       /* a unit in depth is open */
extern atomic_bool depth_listening; /* launches are counted: windows may be needed */
extern atomic_uint depth_n_launches;
extern __thread bool depth_waiting __attribute__((tls_model("initial-exec")));

/* From here on, for so many units of each kind; 0: none. None either without a device. In a program
 * that has run for a while windows begin soon. */
void depth_start(unsigned units, bool late);

/* Ends what is open. */
void depth_stop(void);

/* The same, but the next start goes on with the same recording: kinds that were seen in depth are
 * known. */
void depth_rest(void);

/* How the thread waits for its device; NULL when it has none. */
void depth_wait_by(void (*wait)(void));

/* The calling thread enters a unit of that kind, and leaves the one that it was in. `warm` says
 * what warms up together. True when something is to be done about it: depth_turn, without the GIL,
 * for it waits for the device. */
bool depth_unit(uint64_t warm, uint64_t kind);

/* What the calling thread's unit lies in has ended, and the unit with it. The same. */
bool depth_unit_ends(void);
void depth_turn(void);

/* On our own thread, some twenty times per second: windows, and units that last too long. */
void depth_chore(void);

static inline bool depth_is_on(void)
{
    return atomic_load_explicit(&depth_now, memory_order_relaxed);
}

/* The calling thread is in a call of ours, of which nothing is to be recorded. */
static inline bool depth_is_waiting(void)
{
    return depth_waiting;
}

static inline void depth_launched(void)
{
    if (atomic_load_explicit(&depth_listening, memory_order_relaxed))
        atomic_fetch_add_explicit(&depth_n_launches, 1, memory_order_relaxed);
}

#endif
