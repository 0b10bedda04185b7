/* pytable.h: raw frames to the numbers of stacks (DEF_FRAME in format/ring.h).
 *
 * Code objects and nodes seen before are found without a lock; new ones are read, named and
 * written under one. A code object may be freed and another take its address: an entry is believed
 * only while the object's pointers are those it was made from. */
#ifndef STRATA_BACKEND_PYTABLE_H
#define STRATA_BACKEND_PYTABLE_H

#include "backend/program/pycode.h"
#include "backend/program/pywalk.h"

/* The stack a thread had last, outermost first: most of it is still there next time. */
struct pytable_memo {
    int n;
    struct {
        struct pyframe frame;
        const struct pytable_code *code;
        uint32_t node;
    } at[PYWALK_DEEPEST];
};

/* Before the first use, by those who have locks of their own and call this while they hold one. */
void pytable_prepare(void);

/* The number of the stack `frames`, innermost first; 0 when there is none. `alive` says that the
 * frames are the calling thread's own and do not change, so that their code objects may be looked
 * at directly. Not in a signal handler. */
uint32_t pytable_find(const struct pyapi *api, struct pytable_memo *memo,
                      const struct pyframe *frames, int n, bool alive);

#endif
