/* pystack.h: the Python stack of the calling thread, as a number.
 *
 * The walk reads the interpreter's own frames, by offsets known for CPython 3.10 to 3.15, without
 * the GIL and without a call into Python: the frames belong to the calling thread, which is here
 * and not changing them. Each holds its code object, whose name, file and line table never change.
 * A stack is a node in a tree of frames (DEF_FRAME in format/ring.h); about 100 ns when it was
 * seen before.
 *
 * Before the first walk the layout is compared with what the interpreter itself says of a frame,
 * which needs the GIL for a moment: pystack_init does it when the caller has it, and else asks
 * the main thread to do it at its next chance. Until then there are no stacks. */
#ifndef STRATA_BACKEND_PROGRAM_PYSTACK_H
#define STRATA_BACKEND_PROGRAM_PYSTACK_H

#include <stdbool.h>
#include <stdint.h>

#include "backend/program/pylayout.h"

/* Looks for an interpreter in this process and checks that its frames are as we know them. 0 also
 * when the check is still to come; ERR_UNSUPPORTED for what we do not know. Any thread, any time,
 * again and again. */
int pystack_init(struct err *e) MUST_USE;

/* The check has passed: there will be stacks. */
bool pystack_ready(void);

/* The interpreter, for those who walk other threads; NULL while there will be no stacks. */
const struct pyapi *pystack_api(void);

/* The number of the calling thread's stack, 0 when it has none (no thread of Python's, nothing
 * running, not ready, out of memory). Never from a signal handler. */
uint32_t pystack_now(void);

/* Notes in the calling thread's ring that its stack was this one from `begin` to `end` (ticks of
 * recorder_clock), with the native functions inside: for calls that waited, when they return. */
void pystack_mark(uint64_t begin, uint64_t end);

#endif
