/* held.h: who holds the memory in a snapshot: at its peak, when it ran out, at the end; what is
 * left unused between blocks; what grows from round to round.
 *
 * Every allocation is a life, from the event that made it to the one that ended it. What was there
 * before the recording began, or outlives it, is open on that side. Sizes are those that were
 * requested, which is what events say; what the allocator rounds up is in held_space.
 *
 *     events    a1   a2   f1   a3   f0   snapshot
 *     life 1    [---------)
 *     life 2         [------------------ still there
 *     life 0  ...................)                      freed, but its beginning was not recorded
 */
#ifndef STRATA_ANALYZE_MEMORY_HELD_H
#define STRATA_ANALYZE_MEMORY_HELD_H

#include "base/arena.h"
#include "base/err.h"
#include "trace/snapshot.h"

enum held_category {
    HELD_WEIGHTS,
    HELD_OPTIMIZER,
    HELD_BACKWARD,
    HELD_FORWARD,
    HELD_WORKSPACE,
    HELD_COMMUNICATION,
    HELD_OTHER,   /* a stack that says nothing of these */
    HELD_UNKNOWN, /* no stack */
    HELD_BEFORE,  /* allocated before the recording began, without a stack */
    HELD_CATEGORIES
};

const char *held_category_name(enum held_category c);  /* "optimizer" */
const char *held_category_words(enum held_category c); /* "optimizer state" */

/* The function of a frame as a report names it: "DivBackward0" for the node of autograd that
 * applies, without its arguments if it is of C++. */
struct str held_function_name(struct str function);

#define HELD_NEVER        UINT32_MAX
#define HELD_BEFORE_STACK UINT32_MAX /* as a stack: before the recording, none known */

struct held_by {
    uint32_t stack; /* or HELD_BEFORE_STACK */
    uint32_t blocks;
    int64_t bytes;
};

/* One moment: after which event, and who held what then. */
struct held_moment {
    uint32_t event; /* HELD_NEVER: at the snapshot */
    int64_t since_us;
    int64_t live_bytes, reserved_bytes;
    struct held_by *by; /* largest first */
    uint32_t n;
    int64_t categories[HELD_CATEGORIES];
    int64_t asked_bytes, device_free_bytes; /* when it ran out; else 0 */
    uint32_t asked_stack;
};

struct held_segment {
    uint32_t segment;
    int64_t free_bytes;    /* between blocks that are in use */
    uint32_t largest_used; /* block, or HELD_NEVER */
};

/* What the allocator holds at the snapshot. */
struct held_space {
    int64_t reserved_bytes, active_bytes, awaiting_bytes, requested_bytes;
    int64_t free_bytes; /* in segments */
    int64_t
        empty_bytes; /* of those, in segments without any block in use: empty_cache frees them */
    int64_t largest_free; /* block */
    uint32_t n_segments, n_stuck;
    struct held_segment *stuck; /* partly used, most free bytes first */
};

/* Rounds of the program by what it allocates again and again. */
struct held_growth {
    bool found;
    bool grows;
    bool as_layers; /* the rounds may be layers of one pass */
    uint32_t n_rounds;
    int64_t *levels; /* live bytes at the same point of each round */
    int64_t per_round_bytes;
    struct held_by *by; /* what grew from the second round to the last, largest first */
    uint32_t n;
};

enum { HELD_MOST_OOMS = 8 };

struct held_device {
    int32_t device;
    uint32_t first_event, n_events;
    int64_t span_us;      /* from the first event to the last */
    int64_t before_bytes; /* live before the first event */
    uint32_t n_ooms, n_oom_moments;
    struct held_moment now, peak; /* peak.event is HELD_NEVER where no events were recorded */
    struct held_moment ooms[HELD_MOST_OOMS]; /* the first ones, and the last */
    struct held_space space;
    struct held_growth growth;
};

struct held {
    const struct snapshot *s;
    struct arena *mem;
    struct held_device *devices; /* those that hold or did something */
    uint32_t n_devices;
    uint8_t *categories; /* by stack */
    uint32_t *user;      /* by stack: the innermost frame of the user's code, else the innermost */
};

/* Memory from `mem`; `s` must outlive it. */
int held_run(const struct snapshot *s, struct arena *mem, struct held *ret, struct err *e) MUST_USE;

/* A copy of `by` with one entry per line, largest first, which mem_free frees; NULL when out of
 * memory. */
struct held_by *held_by_line(const struct held *h, const struct held_by *by, uint32_t *n);

#endif
