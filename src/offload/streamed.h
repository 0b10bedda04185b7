/* streamed.h: the weights a run brings to the device again and again, read from its trace.
 *
 *     CPU     [ load 0 ] launch [ load 1 ] launch ... | [ load 0 ] launch ...       step | step
 *     stream     =copy=  #k#       =copy=  #k#        |    =copy=  #k#
 *
 * A load is one module on its way to the device: its copies, and the stretch of CPU time that
 * exists only because of them (the widest span around the copies that launches no kernel, with the
 * allocator calls that go with it). Copies with no kernel between them belong to one module. The
 * same module in another step is recognized by its place and its bytes. */
#ifndef STRATA_OFFLOAD_STREAMED_H
#define STRATA_OFFLOAD_STREAMED_H

#include "analyze/steps/steps.h"

#define STREAMED_NONE UINT32_MAX

struct streamed_load {
    uint32_t module; /* index into modules, or STREAMED_NONE: not one of the template step's */
    uint32_t step;
    lane_id lane;
    row_t first_call, last_call; /* of its copies, on that lane */
    int64_t begin_ns, end_ns;    /* CPU time that it takes */
    int64_t bytes, copy_ns;
    int64_t compute_ns; /* device work launched after it and before the next load */
    uint32_t n_copies;
    bool pageable; /* the larger part of its bytes */
    bool again;    /* its module was loaded before in this trace */
};

struct streamed_module {
    int64_t bytes;
    int64_t copy_ns, compute_ns; /* means over its loads */
    uint32_t n_copies, n_loads;
    uint32_t block; /* the repeating group it is part of, numbered in order */
    bool loose;     /* outside of all blocks */
};

struct streamed_step {
    struct span cpu;
    int64_t bytes;
    uint32_t n_loads;
    bool whole; /* loads every module: what "everything streamed" looks like */
};

struct streamed {
    struct streamed_load *loads; /* by step, then by time */
    uint32_t n_loads;
    struct streamed_module *modules; /* in the order they are loaded */
    uint32_t n_modules, n_blocks;
    struct streamed_step *steps;
    uint32_t n_steps;
    uint32_t passes;      /* how often a step goes through all modules: 2 with guidance */
    int64_t model_bytes;  /* of all modules */
    bool steps_are_guess; /* no loop was found: the whole trace counts as one step */
    uint32_t asked_steps, asked_passes; /* in: what the user knows; 0: find out */
};

/* Fills `ret`, of which the asked ones are set. Memory from `mem`. A trace that streams nothing
 * gives no loads. ERR_USAGE when the loads cannot be divided into the steps asked for. */
int streamed_run(const struct trace *t, const struct context *cx, struct arena *mem,
                 struct streamed *ret, struct err *e) MUST_USE;

/* The step that holds `ts_ns`, or STREAMED_NONE. */
uint32_t streamed_step_at(const struct streamed *s, int64_t ts_ns);

/* Whether the device row is a copy from or to the host, and whether its host memory is pageable. */
bool streamed_is_upload(const struct trace *t, row_t r);
bool streamed_is_download(const struct trace *t, row_t r);
bool streamed_is_pageable(const struct trace *t, row_t r);

#endif
