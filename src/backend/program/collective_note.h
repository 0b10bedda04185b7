/* collective_note.h: what a collective carries (its process group, its number in it, sizes),
 * written beside it under the names that torch's profiler uses, so that one reader serves both.
 *
 * The code that knows it may not be the code that times it: torch's flight recorder is read later,
 * NCCL describes a kernel after launching it. Then a note is a row of its own (RING_COLLECTIVE),
 * which the reader finds by name and time. */
#ifndef STRATA_BACKEND_PROGRAM_COLLECTIVE_NOTE_H
#define STRATA_BACKEND_PROGRAM_COLLECTIVE_NOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* Texts that are empty and numbers below 0 are not known. */
struct collective_note {
    struct str label;              /* "gloo:all_reduce" */
    struct str group, description; /* "0", "default_pg" */
    struct str members;            /* "[0, 1]" */
    struct str dtype;              /* "Float" */
    struct str algorithm, protocol;
    int64_t seq;     /* number in its group */
    int64_t in, out; /* elements of this rank */
    int64_t size;    /* ranks of the group */
    int64_t from, to;
    int64_t channels;
    uint64_t ticks; /* when that was known */
    bool launched;  /* its kernel is the one that was launched last */
};

/* One of which nothing is known. */
struct collective_note collective_note_of(struct str label);

/* A row of its own. */
void collective_note_put(const struct collective_note *n);

/* The arguments of the range that the calling thread has just begun. */
void collective_note_args(const struct collective_note *n);

/* torch_comms.c: what a collective carries, as torch has it while it hands it over to NCCL and
 * others (its own profiler reads the same): a ParamCommsDebugInfo of the calling thread. It is
 * there when the range of the collective begins, also where operators are not recorded, and costs
 * no call of Python or the device. Only memory is read, and only where the class is known. */

/* `library` is torch's; its version is 2.`minor`. Nothing is read before. */
void torch_comms_init(void *library, long minor);

/* False when the calling thread hands nothing over. The texts hold until it has. */
bool torch_comms_now(struct collective_note *ret);

#endif
