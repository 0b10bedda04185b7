/* pywalk.h: the raw frames of a thread: addresses, as they lie in the interpreter's memory. What
 * they mean is pycode.h's business. */
#ifndef STRATA_BACKEND_PYWALK_H
#define STRATA_BACKEND_PYWALK_H

#include "backend/python/pylayout.h"

#define PYWALK_DEEPEST 256 /* frames further out are left off */

struct pyframe {
    uintptr_t code;
    uintptr_t self;  /* the first local variable, which of a method is its object; 0 unread */
    uint32_t offset; /* of the instruction that runs, in bytes */
};

/* The frames of the calling thread, innermost first; how many there are. Reads them directly, so
 * the thread must be in a call, not in the middle of the interpreter's own work: never from a
 * signal handler. `tstate` is its own thread state. */
int pywalk_here(const struct pyapi *api, const void *tstate, struct pyframe *ret, int cap);

/* The same for any thread at any moment, through the kernel: what comes out may be wrong where the
 * thread was moving, but nothing can crash; 0 where that shows. Safe in a signal handler. `memo` is
 * where the frames were last time: they lie close together, and those places are read in one go. */
enum { PYWALK_REGIONS = 16, PYWALK_REGION_BYTES = 16384 };

struct pywalk_memo {
    int n;
    struct pywalk_region {
        uintptr_t begin, end;
    } at[PYWALK_REGIONS];
    char bytes[PYWALK_REGION_BYTES]; /* what is there now, one after the other */
};
int pywalk_any(const struct pyapi *api, uintptr_t tstate, struct pywalk_memo *memo,
               struct pyframe *ret, int cap);

#endif
