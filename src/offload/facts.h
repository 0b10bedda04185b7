/* facts.h: what is known about a model and the machine it runs on: from a trace, from a list of its
 * modules, or from what the user says. Everything the planner needs stands here, with where it
 * came from, so that a prediction can say what it rests on. */
#ifndef STRATA_OFFLOAD_FACTS_H
#define STRATA_OFFLOAD_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum offload_host { HOST_PAGEABLE, HOST_PINNED, HOST_KINDS };

/* A first pass slower than this (1 GB/s) reads from a disk or a page file. */
#define FACTS_DISK_BYTES_PER_NS 1.0

enum fact_from { FACT_UNKNOWN, FACT_ASSUMED, FACT_GIVEN, FACT_MEASURED };

struct facts_module {
    const char *name; /* NULL when not known */
    int64_t bytes;
    int64_t moved_bytes; /* what a scheme moves for it; 0: its bytes */
    int64_t compute_ns;  /* a pass */
    double flops;        /* a pass; 0: not known */
    uint32_t n_tensors;  /* copies it takes */
    uint32_t block;      /* the group of modules that repeats; ascending */
    bool loose;          /* outside of all such groups */
};

struct facts_rate {
    double bytes_per_ns;
    double low, high; /* p10 and p90 of what was measured; 0 otherwise */
    enum fact_from from;
};

struct facts {
    struct facts_module *modules; /* in the order they run */
    uint32_t n_modules;
    bool modules_are_pieces; /* only the total is known: cut into equal parts */
    int64_t model_bytes;
    int64_t
        rest_bytes;  /* moved for what lies outside of all blocks, as a list says; 0: not known */
    uint32_t passes; /* how often a step goes through the model */

    enum offload_host host; /* where the weights lie, or would lie */
    bool empties_cache;     /* memory goes back to the driver after every module */
    bool resident_now;      /* the run as it is streams nothing */
    struct facts_rate rate[HOST_KINDS];
    struct facts_rate cold; /* first read: from disk or a page file */
    struct facts_rate back; /* to pageable host memory that is new to the program */
    double flops_per_ns;    /* that the device reaches */
    enum fact_from flops_from;
    struct facts_rate device_memory; /* of the device */
    int64_t call_ns;                 /* CPU time of one copy besides its bytes */
    int64_t alloc_ns;                /* of one device allocation */
    int64_t hooks_ns;                /* of the code around a group that is brought over */

    int64_t first_ns;   /* first step with what happens only once, as it is now; 0: not known */
    int64_t step_ns;    /* a later step, as it is now; 0: not known */
    int64_t compute_ns; /* of a step: device work without copies */
    enum fact_from compute_from;
    uint32_t tokens;  /* rows that go through every weight; 0: not known */
    int64_t fixed_ns; /* before and after the loop */
    uint32_t steps;

    int64_t vram_bytes, ram_bytes; /* 0: not known */
    int64_t activation_bytes;      /* -1: not known */
    double noise_pct;              /* run-to-run, one way */
    enum fact_from noise_from;
};

const char *host_name(enum offload_host h); /* "pageable" */
const char *fact_from_name(enum fact_from f);

/* Fills in what follows from the rest: pieces when there are no modules, blocks, rates from the
 * time of a step, assumed rates for a device of compute capability `major` (0: not known). Memory
 * from `mem`. ERR_USAGE when not enough is known to predict anything. */
int facts_complete(struct facts *f, int major, struct arena *mem, struct err *e) MUST_USE;

/* readings.c: what was measured elsewhere and written down: rates by `strata offload calibrate
 * --json`, the time of a stage alone by `strata bench --json`. */

/* Rates of copies, over what is not measured in `f` yet: a trace knows better what it ran at.
 * Scratch from `mem`. */
int readings_rates(const char *path, struct arena *mem, struct facts *f, struct err *e) MUST_USE;

/* What a step computes: the time of the stage until the device is done. */
int readings_bench(const char *path, struct arena *mem, struct facts *f, struct err *e) MUST_USE;

/* modules.c: the modules of a model from a file: a list that `python -m strata.offload list` wrote,
 * or the header of a .safetensors file, which is all of it that is read. */

/* Appends the modules in `path` to f->modules, which stand in `mem`. A list may also say how long
 * modules compute and how often a step runs them; a safetensors file knows names and bytes, and
 * the order is guessed from the names. */
int modules_read(const char *path, struct arena *mem, struct facts *f, struct err *e) MUST_USE;

#endif
