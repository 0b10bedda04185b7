/* long_recording_sum.h: a recording too long to analyse at once, added up from its parts, one after
 * the other: what is kept does not grow with its length. */
#ifndef STRATA_ANALYZE_COMPARE_LONG_RECORDING_SUM_H
#define STRATA_ANALYZE_COMPARE_LONG_RECORDING_SUM_H

#include "analyze/findings/rule.h"
#include "base/map.h"

/* A finding that came up in at least one part: the same rule about the same thing. */
struct whole_finding {
    const char *rule, *title, *subject, *file;
    int32_t line;
    uint32_t n_parts;
    enum severity severity; /* the highest */
    int64_t blocked_ns, exposed_ns, gain_ns;
};

/* A kernel, copy or fill; of WHOLE_TABLE, any row of it. */
struct whole_kernel {
    const char *name;
    uint64_t calls;
    int64_t total_ns;                            /* on the device, its own */
    int64_t min_ns, max_ns;                      /* of one call; not of WHOLE_TABLE */
    int64_t self_cpu_ns, cpu_ns, with_inside_ns; /* WHOLE_TABLE; on the device with those inside */
};

/* What is added up. */
enum whole_what {
    WHOLE_REPORT,  /* findings, steps, kernels */
    WHOLE_STEPS,   /* steps by part */
    WHOLE_KERNELS, /* kernels, copies and fills */
    WHOLE_TABLE,   /* operators, calls and kernels, as strata table counts them */
};

enum { WHOLE_IDLEST = 3 };

struct long_excerpt {
    int64_t begin_ns, end_ns; /* since the begin of the recording */
    int64_t busy_ns;          /* of the busiest device */
    int64_t step_ns;          /* the median, 0 without steps */
    uint32_t n_steps;
};

struct whole {
    struct arena *mem;
    enum whole_what what; /* may be set after whole_init */
    uint64_t n_records;
    const char *device; /* "" when not known */
    struct long_excerpt *parts;
    uint32_t n_parts;
    const struct long_excerpt *idlest[WHOLE_IDLEST]; /* after whole_finish: the least busy ones */
    uint32_t n_idlest;
    int64_t wall_ns, busy_ns, step_min_ns, step_max_ns;
    uint64_t n_steps, n_rows;
    struct whole_finding *findings; /* by gain, after whole_finish */
    size_t n_findings, cap_findings;
    struct whole_kernel *kernels; /* by time on the device, then on the CPU, after whole_finish */
    size_t n_kernels, cap_kernels;
    int64_t kernels_ns; /* total_ns of all of them, after whole_finish */
    bool more_kernels;  /* kinds that found no room */
    struct map seen;    /* key of a finding or kernel -> its index */
};

/* Room for `n_parts`; memory from `mem`. */
int whole_init(struct whole *w, uint32_t n_parts, struct arena *mem, struct err *e) MUST_USE;
void whole_done(struct whole *w);

/* Adds a part that lies in [begin_ns, end_ns) since the begin. A step that it begins with belongs
 * to the part before. */
int whole_add(struct whole *w, struct context *cx, int64_t begin_ns, int64_t end_ns,
              struct err *e) MUST_USE;
void whole_finish(struct whole *w);

double whole_part_busy_pct(const struct long_excerpt *p);

#endif
