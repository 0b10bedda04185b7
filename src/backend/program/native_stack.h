/* native_stack.h: the C and C++ functions between the Python that runs, if any, and a call of the
 * device that waited, as frames of the same stack.
 *
 * The stack is walked in the process by the thread itself, when the call returns: never in a signal
 * handler, and never beyond the thread's own stack. Where functions keep what of their caller is
 * found out once per place (native_cfi.c) and remembered, so that a frame costs some tens of
 * nanoseconds. Frames are addresses in files (DEF_ADDRESS): names and lines are looked up by
 * the reader of the recording. STRATA_NATIVE=off leaves them out. */
#ifndef STRATA_BACKEND_PROGRAM_NATIVE_STACK_H
#define STRATA_BACKEND_PROGRAM_NATIVE_STACK_H

#include <stdint.h>

enum { NATIVE_DEEPEST = 64 };

/* The stack of the calling thread, where `python` (a DEF_FRAME, or 0) is what Python knows of it.
 * `python` itself where nothing can be added. In a process with Python, only functions of libraries
 * that have line tables are added. */
uint32_t native_stack_on(uint32_t python);

#endif
