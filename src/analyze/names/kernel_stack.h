/* kernel_stack.h: lines that a trace has with its kernels. Torch's handler for traces of compiled
 * programs (torch._inductor.profiler, torch 2.14) writes the Python stacks of what a kernel was
 * made of into its arguments, as "stack": a text for each, the innermost function last. */
#ifndef STRATA_ANALYZE_NAMES_KERNEL_STACK_H
#define STRATA_ANALYZE_NAMES_KERNEL_STACK_H

#include "analyze/context.h"
#include "analyze/names/kernel_name.h"

/* Fills said, said_of_all and said_of, where the trace has such stacks; all are left NULL where it
 * has none. */
int kernel_stack_read(struct context *cx, struct kernel_sources *ret) MUST_USE;

/* The innermost line of the user's code in a stack as Python prints it, else of any. False where it
 * has no line. */
bool kernel_stack_place(struct str stack, struct frame *ret);

#endif
