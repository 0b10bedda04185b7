/* integrity.h: whether the trace can be trusted, checked before any number is taken from it.
 *
 * Every problem says what is wrong, what it means for the figures, and what to record instead. The
 * verdict is that of the worst one. Views must not print idle time as a fact unless
 * `idle_trusted`: a device whose records were lost looks idle but is not. */
#ifndef STRATA_ANALYZE_QUALITY_INTEGRITY_H
#define STRATA_ANALYZE_QUALITY_INTEGRITY_H

#include "analyze/quality/coverage.h"
#include "analyze/quality/problems.h"

enum recorded_flag {
    RECORDED_STACKS = 1,
    RECORDED_SHAPES = 2,
    RECORDED_MEMORY = 4,
    RECORDED_MODULES = 8,
    RECORDED_FLOPS = 16,
};

/* Their names, in the order in which they are listed. */
struct recorded_word {
    uint8_t flag;
    const char *name;
};
enum { N_RECORDED = 5 };
extern const struct recorded_word recorded_words[N_RECORDED];

/* What recording cost the busiest thread, from a typical cost per kind of event. */
struct recording_cost {
    uint8_t flags; /* enum recorded_flag */
    uint64_t ops, calls, frames, instants;
    int64_t cost_ns;
    int64_t working_ns; /* of the thread, without waits for the device */
    double pct;         /* how much slower the CPU side was than without recording */
    int64_t sample_ns;  /* accuracy of Python function times if they are sampled, else 0 */
};

struct integrity {
    enum quality quality;
    bool idle_trusted;  /* idle time of devices */
    bool times_trusted; /* durations and starts of device work */
    bool links_trusted; /* which call, op and stage device work belongs to */
    bool shared;        /* idle time is not, for the only reason that others used the device too */
    struct coverage coverage;
    struct recording_cost recording;
    struct problem problems[N_PROBLEMS]; /* worst first */
    uint32_t n_problems;
};

extern const struct pass integrity_pass;

static inline const struct integrity *integrity_of(const struct context *cx)
{
    return context_kept(cx, PASS_INTEGRITY);
}

#endif
