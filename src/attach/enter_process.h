/* enter_process.h: gets the library of a recording into a process that was not started for it, or
 * a few words of Python. One thread of it is held for that, for a fraction of a millisecond. */
#ifndef STRATA_ATTACH_ENTER_PROCESS_H
#define STRATA_ATTACH_ENTER_PROCESS_H

#include <stdbool.h>

#include "attach/target.h"

struct enter_request {
    long pid;
    const char *python;  /* what an interpreter is to run */
    const char *library; /* what is loaded otherwise; its strata_inject_enter gets the two below */
    const char *run;
};

/* What it took. */
struct enter_cost {
    long tid;
    uint64_t held_ns, longest_ns; /* the thread that was entered; the longest of all stops */
    unsigned n_stops;
};

/* CPython 3.10 and later: the words are run by its main thread, between two instructions of
 * Python's, as a pending call. *ret_python says whether there is an interpreter that takes them; 0
 * and false when there is none. The words may be run much later. */
int enter_process_python(const struct enter_request *r, bool *ret_python, struct enter_cost *ret,
                         struct err *e) MUST_USE;

/* Any program with the GNU C library: a thread of ours is started in it, which loads the
 * library. */
int enter_process_native(const struct enter_request *r, struct enter_cost *ret,
                         struct err *e) MUST_USE;

#endif
