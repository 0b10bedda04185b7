/* ranges.h: the ranges that are open on a thread, whoever opened them: torch, NVTX.
 *
 * In a ring an end closes the innermost range. Here every range has a key, so that one which ends
 * out of order takes those inside it along, and an end without a beginning, or on another thread,
 * does no harm. */
#ifndef STRATA_BACKEND_RANGES_H
#define STRATA_BACKEND_RANGES_H

#include <stdbool.h>
#include <stdint.h>

/* `category` and `name` are string ids of record/names.h. False when so many are open that this one
 * is not recorded. */
bool ranges_begin(uint32_t category, uint32_t name, uintptr_t key);

/* Ends the innermost range with that key, if there is one. */
void ranges_end(uintptr_t key);

/* The name of the calling thread's innermost range of that category; 0 when it is in none. */
uint32_t ranges_innermost(uint32_t category);

#endif
