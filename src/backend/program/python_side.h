/* python_side.h: what a recording knows of the Python program around its device work: the line of
 * every wait, where its threads spend their time, its operators, its ranges.
 *
 * The whole of it is started once per process, after recorder_start, by whoever came first: the
 * driver's injection, the Python package, a test. What cannot be had (another interpreter, another
 * torch) is left out, and python_side_trouble says why. Nothing here takes the GIL, waits for the
 * program, or keeps it from ending. */
#ifndef STRATA_BACKEND_PROGRAM_SIDE_H
#define STRATA_BACKEND_PROGRAM_SIDE_H

#include <stdbool.h>

#include "backend/program/torch_ops.h"

struct python_side_options {
    bool stacks;               /* Python lines at waits */
    unsigned samples_a_second; /* of threads that are watched (sampler.h); 0 for none */
    enum torch_ops_level ops;
};

/* From STRATA_STACKS (on, off), STRATA_SAMPLES (a second), STRATA_OPS (off, user, all). Defaults:
 * on, 1000, user. */
void python_side_options_from_env(struct python_side_options *o);

/* Starting again completes what was missing, for instance when torch has been loaded since, and
 * goes on after a stop; the options are those of the first time. */
void python_side_start(const struct python_side_options *o);

/* Before the recording ends or pauses: no sample is taken after this returns. */
void python_side_stop(void);

/* The program is about to end: what is known by now goes to the files. */
void python_side_flush(void);

/* Between start and stop. */
bool python_side_on(void);

/* Why a part is missing, one sentence a part, or NULL: "stacks", "samples" or "ops". Holds until
 * the process ends. */
const char *python_side_trouble(const char *part);

#endif
