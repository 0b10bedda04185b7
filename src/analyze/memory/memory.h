/* memory.h: memory over the steps of the loop: its level, its growth, its peaks, and who
 * allocates. From the allocator's own events, which are recorded with profile_memory=True only;
 * without them everything but the calls to the driver's allocator stays empty. */
#ifndef STRATA_ANALYZE_MEMORY_MEMORY_H
#define STRATA_ANALYZE_MEMORY_MEMORY_H

#include "analyze/device/memory_levels.h"
#include "analyze/names/source_place.h"
#include "analyze/stages/stages.h"

struct memory_step {
    int64_t end_bytes;  /* level when the step ends */
    int64_t peak_bytes; /* most at any time inside it */
    uint32_t allocations;
    int64_t alloc_bytes;
};

/* It counts as growth only when nearly every step ends higher than the one before. */
struct memory_growth {
    bool judged;         /* enough steps to tell */
    bool grows;          /* consistently */
    uint32_t n_steps;    /* steps compared: the first is left out when there are enough */
    uint32_t n_rises;    /* how many of the n_steps - 1 changes are upwards */
    int64_t per_step;    /* median change from one step to the next, bytes */
    int64_t total_bytes; /* last level minus first level of those steps */
};

struct memory_line {
    int16_t device_type, device_id; /* 0, -1: the CPU */
    bool relative;                  /* levels count from where the window opened */
    int64_t begin_bytes, end_bytes, peak_bytes;
    int64_t reserved_bytes;    /* the allocator's own, peak; -1 when not recorded */
    int64_t unused_bytes;      /* reserved minus allocated, peak; -1 when not recorded */
    row_t peak;                /* the event that reached the peak */
    uint32_t peak_stage;       /* index into stages.list, or STAGE_NONE */
    struct memory_step *steps; /* by step */
    struct memory_growth growth;
};

/* Allocations of one operator from one place in the program, inside steps. */
struct alloc_site {
    str_id op;          /* STR_NONE: outside any operator */
    struct place place; /* of the largest of them */
    uint32_t count;
    int64_t bytes, largest_bytes;
    int64_t kept_bytes; /* allocated in a step before the last and not freed in the trace */
};

/* Calls that take memory from the driver or give it back: each may stall the device. */
struct driver_alloc {
    str_id name;
    uint32_t count, in_steps;
    int64_t total_ns, in_steps_ns;
    row_t example; /* the longest, in a step if there is one */
};

struct memory {
    bool recorded;             /* false: profile_memory was off */
    struct memory_line *lines; /* devices first, the CPU last */
    uint32_t n_lines;
    struct alloc_site *sites; /* devices only; largest sum first */
    uint32_t n_sites;
    struct driver_alloc *calls;
    uint32_t n_calls;
    uint32_t calls_in_steps; /* of all of them */
};

extern const struct pass memory_pass;

static inline const struct memory *memory_of(const struct context *cx)
{
    return context_kept(cx, PASS_MEMORY);
}

#endif
