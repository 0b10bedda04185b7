/* pywalk.h: the raw frames of a thread: addresses, as they lie in the interpreter's memory.
 * pycode.h knows what they mean. */
#ifndef STRATA_BACKEND_PYWALK_H
#define STRATA_BACKEND_PYWALK_H

#include "backend/program/pylayout.h"

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
 * thread was moving, but nothing can crash; 0 where that shows. `memo` is where the frames were
 * last time: they lie close together, and those places are read in one go. */
enum { PYWALK_REGIONS = 16, PYWALK_REGION_BYTES = 16384, PYWALK_CODES = 512 };

struct pywalk_memo {
    uintptr_t outermost; /* the frame that ended the last walk; 0 when it did not get there */
    uintptr_t holder;    /* of the pointer to the innermost frame, 0 at first */
    int n;
    struct pywalk_region {
        uintptr_t begin, end;
    } at[PYWALK_REGIONS];
    uintptr_t pointers[2];           /* what is there now, one after the other */
    char bytes[PYWALK_REGION_BYTES]; /* of the regions */
    uintptr_t codes[PYWALK_CODES];   /* code objects seen, by address */
};
int pywalk_any(const struct pyapi *api, uintptr_t tstate, struct pywalk_memo *memo,
               struct pyframe *ret, int cap);

#endif
