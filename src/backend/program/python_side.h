/* python_side.h: what a recording knows of the Python program around its device work: the line of
 * every wait, where its threads spend their time, its operators, its ranges.
 *
 * The whole of it is started once per process, after recorder_start, by the first caller: the
 * driver's injection, the Python package, a test. What cannot be had (another interpreter, another
 * torch) is left out, and python_side_trouble says why. Nothing here takes the GIL, waits for the
 * program, or keeps it from ending. */
#ifndef STRATA_BACKEND_PROGRAM_PYTHON_SIDE_H
#define STRATA_BACKEND_PROGRAM_PYTHON_SIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "backend/program/torch_ops.h"
#include "base/err.h"

struct python_side_options {
    bool stacks;               /* Python lines at waits */
    unsigned samples_a_second; /* of threads that are watched (sampler.c); 0 for none */
    enum torch_ops_level ops;
    unsigned depth; /* units in depth (depth.h) of each kind */
    bool late;      /* the program ran before the recording: it need not get warm first */
};

/* From STRATA_PYTHON_STACKS (on, off), STRATA_TEST_SAMPLES (a second), STRATA_OPS (off, user, all,
 * shapes), STRATA_DEPTH. Defaults: on, 1000, user, 2. */
void python_side_options_from_env(struct python_side_options *o);

/* Starting again completes what was missing, for instance when torch has been loaded since, and
 * goes on after a stop; the options are those of the first time. */
void python_side_start(const struct python_side_options *o);

/* Before the recording ends or pauses: no sample is taken after this returns. */
void python_side_stop(void);

/* The same, but ranges that the program marks with record_function are recorded on. */
void python_side_rest(void);

/* The program is about to end: what is known by now goes to the files. */
void python_side_flush(void);

/* Between start and stop. */
bool python_side_on(void);

/* Why a part is missing, one sentence a part, or NULL: "stacks", "samples" or "ops". Holds until
 * the process ends. */
const char *python_side_trouble(const char *part);

/* library_wait.c: waits of a thread that makes no call of the driver: its library has threads of
 * its own for that, as JAX does when a value is read. Who waits says so, from Python. */

/* Ticks of now; 0 when nothing is recorded. */
uint64_t library_wait_begin(void);

/* It is over: a call on the calling thread, with its Python stack. `begin` is what the other
 * returned; 0 is nothing to write. */
void library_wait_end(uint64_t begin, const char *name);

/* sampler.c: the Python stacks of threads at about regular moments, so that time between two calls
 * of the driver has a function's name.
 *
 * Threads that make calls read themselves (watched.h). A thread of ours wakes up once per period
 * and looks at those that have not (thread_peek.c): a program that launches all the time is not
 * examined at all. It takes at most a fiftieth of a core, also where there are many threads. */

struct sampler_options {
    unsigned samples_a_second; /* 0: chores only */
    void (*chore)(void);       /* run on our thread, some twenty times per second; may be NULL */
};

int sampler_start(const struct sampler_options *o, struct err *e) MUST_USE;

/* No thread is examined after this returns. */
void sampler_stop(void);

/* python_enter.c: a few words of Python in a process that we were loaded into while it runs. They
 * are run on a thread of ours, as soon as it gets the GIL; nothing happens where there is no
 * interpreter, or none that is up. */
void python_enter(const char *words);

#endif
