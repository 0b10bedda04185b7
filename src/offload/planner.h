/* planner.h: what every way of keeping weights would cost, next to how the run is now.
 *
 * One row a way (policy) and host memory, all from the same engine: replays of the trace where
 * there is one, the estimate otherwise. Every run is taken to start with all weights in host
 * memory: what stays on the device is brought over in the first step. */
#ifndef STRATA_OFFLOAD_PLANNER_H
#define STRATA_OFFLOAD_PLANNER_H

#include "offload/facts.h"
#include "offload/trial.h"

/* observe.c: what a trace of a streamed run shows about its transfers, in numbers that can be
 * checked by hand: bytes, rates, what was hidden behind compute and what was not, what the
 * allocator did. */

/* Copies of one kind inside the loop. Rates are of copies large enough to show them. */
struct observed_copies {
    uint32_t n;
    int64_t bytes, ns;
    struct facts_rate rate; /* median, p10, p90; from is FACT_UNKNOWN without large copies */
};

struct observed_churn {
    uint32_t allocs, frees, host_allocs; /* calls to the driver's allocator */
    int64_t ns;
};

struct observed {
    struct observed_copies to_device[HOST_KINDS];
    struct observed_copies to_host;     /* weights copied back */
    int64_t copying_ns;                 /* in the loop: time at least one upload ran */
    int64_t overlapped_ns;              /* of that: time a kernel ran too */
    int64_t compute_ns;                 /* time at least one kernel ran */
    struct observed_churn first, later; /* of the first step, and of all later ones together */
    bool empties_cache;                 /* device memory is given back to the driver every step */
    int64_t first_bytes, step_bytes;    /* brought over in the first step, in a later one */
    struct scheme_times times;          /* as traced, profiler included */
    int64_t peak_allocated;             /* by the framework's allocator; -1 when not recorded */
};

/* Scratch from `mem`, given back. */
int observe_run(const struct trial *tr, struct arena *mem, struct observed *ret,
                struct err *e) MUST_USE;

/* What follows from a trace: modules, rates, times, costs. Modules in `mem`. */
int observe_facts(const struct trial *tr, const struct observed *o, struct arena *mem,
                  struct facts *ret, struct err *e) MUST_USE;

struct prediction {
    const char *policy; /* "stream_all", "smallest" ...: see planner.c */
    const char *about;  /* the same in words */
    enum offload_host host;
    int64_t resident_bytes;
    uint32_t depth;
    bool by_block;
    uint32_t weight_bits; /* after quantising; 0: as they are */
    struct scheme_times times;
    int64_t total_ns, low_ns, high_ns; /* for facts.steps steps, fixed stages included */
    int64_t peak_vram_bytes;           /* weights, and activations where they are known */
    int64_t host_ram_bytes;
    double gain_pct;          /* against the run as it is */
    uint32_t break_even;      /* steps from which it gains wish.target_pct; 0: never */
    enum fact_from rate_from; /* what the rate of its copies rests on */
    bool fits;                /* in what there is of device and host memory, as far as is known */
    const char *verdict;      /* "as it is", "worth it", "within noise", "worse", "does not fit",
                                 "needs host RAM" */
};

/* What the user asks for. */
struct wish {
    int64_t resident_bytes; /* -1: half of the model, or what fits in vram_bytes when given */
    uint32_t depth;         /* groups to copy ahead */
    double target_pct;      /* the gain that break-even asks for */
    bool vram_given;
};

/* A run that was measured, to compare predictions with. */
struct measured_run {
    uint32_t steps;
    int64_t total_ns, resident_bytes;
    enum offload_host host;
    bool host_given;
    int64_t predicted_ns; /* set by the planner */
    double off_pct;       /* measured over predicted, minus one */
};

struct curve_point {
    int64_t resident_bytes;
    struct {
        int64_t total_ns, low_ns, high_ns;
    } from[HOST_KINDS];
};

#define PLAN_TEXTS 16
enum { PLAN_CURVE = 9 };

struct plan {
    struct facts facts;
    struct observed observed;  /* valid with a trace */
    const struct trial *trial; /* NULL without a trace */
    struct wish wish;
    struct prediction *rows;
    uint32_t n_rows, base;                /* rows[base] is the run as it is */
    int64_t ceiling_ns;                   /* total if no copy after the first step took any time */
    double ceiling_pct;                   /* gain of that */
    double ceiling_many_pct;              /* the same for very many steps */
    struct curve_point curve[PLAN_CURVE]; /* from nothing resident to everything */
    struct measured_run *runs;
    uint32_t n_runs;
    const char *inconsistent[PLAN_TEXTS]; /* numbers that do not fit together */
    uint32_t n_inconsistent;
    const char *advice[PLAN_TEXTS]; /* what to do, most telling first */
    uint32_t n_advice;
};

/* `p` has facts (complete), wish, runs and, with a trace, trial and observed set. Memory from
 * `mem`. */
int plan_run(struct plan *p, struct arena *mem, struct err *e) MUST_USE;

/* The row of a policy, or NULL. */
const struct prediction *plan_find(const struct plan *p, const char *policy,
                                   enum offload_host host);

/* Total of `steps` steps with these times, fixed stages included. */
int64_t plan_total(const struct facts *f, const struct scheme_times *t, uint32_t steps);

/* One way to run, predicted; `limit` bytes stay, largest first. For comparing with measured runs.
 */
int plan_predict(const struct plan *p, enum offload_host host, int64_t limit, struct arena *mem,
                 struct scheme_times *ret, struct err *e) MUST_USE;

#endif
