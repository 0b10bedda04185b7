/* ranges.h: the ranges that are open on a thread, opened by torch or through NVTX.
 *
 * In a ring an end closes the innermost range. Here every range has a key, so that one which ends
 * out of order takes those inside it along, and an end without a beginning, or on another thread,
 * does no harm. */
#ifndef STRATA_BACKEND_PROGRAM_RANGES_H
#define STRATA_BACKEND_PROGRAM_RANGES_H

#include <stdbool.h>
#include <stdint.h>

/* `category` and `name` are string ids of record/names.h. False when so many are open that this one
 * is not recorded. */
bool ranges_begin(uint32_t category, uint32_t name, uintptr_t key);

/* Ends the innermost range with that key, if there is one; what is left of it, in ticks. */
struct range_ended {
    uint32_t name; /* 0: there was none, or it was not recorded */
    uint64_t begin, end;
};
struct range_ended ranges_end(uintptr_t key);

/* Whether the calling thread's innermost range has that key and is recorded. */
bool ranges_is_innermost(uintptr_t key);

/* What the calling thread's innermost range was called with: a definition (DEF_SHAPES). */
void ranges_set_inputs(uint32_t inputs);

/* The same of its innermost range of that category, 0 for none; *ret_call is what tells its calls
 * apart. */
uint32_t ranges_inputs(uint32_t category, uint64_t *ret_call);

/* The name of the calling thread's innermost range of that category; 0 when it is in none. */
uint32_t ranges_innermost(uint32_t category);

#endif
