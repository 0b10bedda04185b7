/* requests.h: a program that serves: calls of one outermost stage that run beside one another, on
 * threads or as tasks. The slow ones against those in the middle, by what they spend their time in.
 */
#ifndef STRATA_ANALYZE_STAGES_REQUESTS_H
#define STRATA_ANALYZE_STAGES_REQUESTS_H

#include "analyze/stages/stages.h"

enum { REQUEST_PARTS = 8 };

/* Means per request. */
struct request_part {
    uint32_t stage; /* directly inside the request; STAGE_NONE: in none of them */
    int64_t usual_ns, slow_ns;
};

struct requests {
    bool found;
    uint32_t stage; /* index into stages.list */
    uint32_t n, most_at_once;
    int64_t median_ns, p95_ns, p99_ns;
    uint32_t n_usual, n_slow;  /* those around the median, and the slowest twentieth */
    int64_t usual_ns, slow_ns; /* means of them */
    struct request_part parts[REQUEST_PARTS]; /* by how much longer the slow ones take in them */
    uint32_t n_parts;
};

extern const struct pass requests_pass;

static inline const struct requests *requests_of(const struct context *cx)
{
    return context_kept(cx, PASS_REQUESTS);
}

#endif
