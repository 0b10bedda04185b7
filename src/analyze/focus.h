/* focus.h: the part of a recording that is worth looking at.
 *
 * A recording of a whole program begins with imports, loading, compiling and first calls, and ends
 * with taking everything down. None of that is what its user calls slow; it would drown what is.
 *
 *     import  load  call (cold)   call   call   call   exit
 *                                 <------ part ----->
 *
 * The part is made of the calls of the program's outermost stage (pipeline_call), or else of the
 * rounds of its main loop, without those at the beginning that are not warmed up. Where neither is
 * found, or little would be left out, everything is examined. A program that was killed has
 * launched work without a record on the device: its last calls are left out, if they are few. In a
 * recording that was too long to read as a whole, it is the rounds that the part read holds from
 * begin to end. Traces of other profilers are not cut here: recorded.h does that. */
#ifndef STRATA_ANALYZE_FOCUS_H
#define STRATA_ANALYZE_FOCUS_H

#include "trace/trace.h"

struct focus {
    bool found;
    int64_t begin_ns, end_ns;
    str_id name; /* of the calls, or STR_NONE: rounds of a loop */
    uint32_t n_calls;
    uint32_t n_cold; /* calls before those, not warmed up */
    int64_t cold_ns; /* how long they took */
    bool lost_end;   /* calls at the end are left out, whose device records were lost */
};

/* ret->found is false when everything is to be examined. Memory from `mem`. */
int focus_find(const struct trace *t, struct arena *mem, struct focus *ret, struct err *e) MUST_USE;

/* Cuts the trace down to its focus, and says so in (*t)->part. For a program that recorded several
 * parts of itself (recorded_parts.c), that is the last of them. */
int focus_cut(struct trace **t, struct err *e) MUST_USE;

/* Cuts it down to the part of this number, from 1. */
int focus_cut_part(struct trace **t, uint32_t number, struct err *e) MUST_USE;

#endif
