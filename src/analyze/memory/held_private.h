/* held_private.h: what the files of held.h share. */
#ifndef STRATA_ANALYZE_MEMORY_HELD_PRIVATE_H
#define STRATA_ANALYZE_MEMORY_HELD_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

struct held;
struct held_by;
struct held_device;
struct held_space;
struct snapshot;
struct arena;
struct err;

/* Events are counted from 0 on each device. */
struct held_life {
    int64_t size;
    uint32_t from;  /* the event that made it, or HELD_NEVER: before the first */
    uint32_t until; /* the event that ended it, or HELD_NEVER */
    uint32_t stack;
};

struct held_lives {
    struct held_device *d;
    struct held_life *list;
    uint32_t n;
    int64_t *level;    /* live bytes after each event */
    int64_t *reserved; /* reserved bytes after each event */
};

struct held_sum {
    struct held_by *by; /* largest first */
    uint32_t n;
};

/* By stack: bytes and blocks live after `event` (HELD_NEVER: at the end). */
int held_add_up(const struct held *h, const struct held_lives *l, uint32_t event,
                struct held_sum *ret, struct err *e);

int held_growth_run(const struct held *h, const struct held_lives *l, struct err *e);
int held_space_run(const struct snapshot *s, struct arena *mem, struct held_device *d,
                   struct err *e);
int held_stacks_run(const struct snapshot *s, struct arena *mem, struct held *ret, struct err *e);

#endif
