/* memory_levels.h: how much memory was taken over time, per device, from the allocator's own
 * events.
 *
 * Where the recorder wrote running totals they are used; older ones wrote sizes only, and then
 * the level is relative to whatever was there when the window opened. */
#ifndef STRATA_ANALYZE_DEVICE_MEMORY_LEVELS_H
#define STRATA_ANALYZE_DEVICE_MEMORY_LEVELS_H

#include "analyze/context.h"

struct memory_level {
    int64_t ts_ns;
    int64_t allocated; /* bytes in use from here on */
    int64_t reserved;  /* bytes the allocator holds, or -1 when not recorded */
    row_t row;         /* the event */
};

struct memory_level_line {
    int16_t device_type, device_id; /* 0, -1: the CPU */
    bool relative;                  /* no totals recorded: 0 is where the window opened */
    struct memory_level *levels;    /* by time */
    uint32_t n;
    int64_t *most; /* most in use: [n + i] of levels[i], [i] of [2 * i] and [2 * i + 1] */
};

struct memory_levels {
    struct memory_level_line *lines; /* devices first, by id; the CPU last */
    uint32_t n;
};

/* Memory from `mem`. No lines when memory was not recorded. */
int memory_levels_run(const struct trace *t, struct arena *mem, struct memory_levels *ret,
                      struct err *e) MUST_USE;

static inline bool memory_level_line_is_cpu(const struct memory_level_line *l)
{
    return l->device_type == 0;
}

/* Index of the last level at or before `ts_ns`, or UINT32_MAX before the first. */
uint32_t memory_levels_at(const struct memory_level_line *l, int64_t ts_ns);

/* Most bytes in use at any moment of [begin, end], what was there before included; -1 when
 * nothing is known of that time. */
int64_t memory_levels_peak(const struct memory_level_line *l, int64_t begin_ns, int64_t end_ns);

extern const struct pass levels_pass;

static inline const struct memory_levels *levels_of(const struct context *cx)
{
    return context_kept(cx, PASS_LEVELS);
}

#endif
