/* host_stretches.h: what a thread does between two calls to the device, by the user's function that
 * holds most of it.
 *
 *     thread   [copy: waits]  clip  round  astype  clip  round ...   [launch]
 *     stretch               |---------------------------------------|   of to_bytes()
 *
 * Apart are stretches in which another thread of the program launches, in the user's code as well:
 * there the thread waits for that one, for a lock or for the GIL. */
#ifndef STRATA_ANALYZE_FINDINGS_HOST_STRETCHES_H
#define STRATA_ANALYZE_FINDINGS_HOST_STRETCHES_H

#include "analyze/findings/rule.h"

enum { STRETCHES_FUNCTIONS = 32, STRETCHES_PARTS = 16 };

/* Something that takes time inside a stretch. */
struct stretch_part {
    str_id name;
    row_t row; /* one of that name */
    int64_t ns;
};

struct stretch_parts {
    struct stretch_part list[STRETCHES_PARTS];
    uint32_t n;
};

/* A function of the user, and its stretches. */
struct stretched {
    str_id name;
    row_t frame;           /* one call of it */
    struct sim_cut *spans; /* by thread and time */
    uint32_t n, cap, n_steps, last_step;
    int64_t cpu_ns, idle_ns, longest_ns;
    struct stretch_parts inside; /* what else runs in it: deepest functions and operators */
};

struct host_stretches {
    struct stretched list[STRETCHES_FUNCTIONS];
    uint32_t n;
};

/* Stretches in which the device is idle; with `waiting`, those in which another thread
 * launches. */
int host_stretches_find(const struct context *cx, bool waiting, struct host_stretches *ret,
                        struct err *e) MUST_USE;

/* Whether they are worth a finding: they cost the device time, and again and again. */
bool host_stretches_matter(const struct context *cx, const struct stretched *f);

#endif
