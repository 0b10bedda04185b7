/* recorded.h: what kind of recording this is, and which part of it can be judged.
 *
 *     start  load  step 0 (cold)   step   step   step
 *     <------- left out --------> <----- judged ---->
 *
 * A recording often holds more than the part that is to be fast: a process that has
 * just started, the capture of graphs, the profiler itself, a wait for what was launched before.
 * None of that is advised on. `recorded_cut` takes it out before anything is analyzed, so that no
 * pass knows about it; the pass says afterwards what was left out and what the rest can tell. */
#ifndef STRATA_ANALYZE_RECORDED_RECORDED_H
#define STRATA_ANALYZE_RECORDED_RECORDED_H

#include "analyze/names/serving_label.h"
#include "analyze/steps/steps.h"
#include "base/span_set.h"

/* The rounds of a server of language models by what they do: prefill or decode, and for
 * how many requests. Rounds of one phase are alike; those of two are not. */

enum { PHASES_MOST = 8 }; /* more kinds of rounds are not listed */

struct phase {
    struct serving_label what;
    uint32_t n;          /* rounds */
    int64_t step_ns;     /* the median of their length, on the device if that takes longer */
    double tokens_per_s; /* that they bring; 0 when not known */
};

struct phases {
    struct phase list[PHASES_MOST]; /* in the order they first appear */
    uint32_t n;
};

/* Needs the steps. ERR_NOMEM is the only failure. */
int phases_find(const struct context *cx, struct phases *ret) MUST_USE;

enum recorded_kind {
    RECORDED_WARM,     /* several rounds as they always are */
    RECORDED_COLD,     /* much of it is start-up */
    RECORDED_CAPTURE,  /* much of it is the capture of graphs */
    RECORDED_PROFILER, /* much of it is the profiler */
    RECORDED_CUT,      /* much of it waits for what was launched before */
    RECORDED_LITTLE,   /* one call: nothing shows whether it is as always */
};

struct recorded {
    enum recorded_kind kind;
    double left_out_pct;  /* of the recording */
    int64_t whole_ns;     /* the recording */
    struct span judged;   /* what is left of it */
    bool idle_judged;     /* idle time and work of the CPU in it are as in any other call */
    struct phases phases; /* of a server; none otherwise */
    const char *sentence; /* for people: what was left out and what to record; "" when nothing */
};

extern const struct pass recorded_pass;

static inline const struct recorded *recorded_of(const struct context *cx)
{
    return context_kept(cx, PASS_RECORDED);
}

const char *recorded_kind_name(enum recorded_kind k); /* "warm", "cold" ...: stable, for JSON */

/* Leaves out of *t what cannot be judged, and says so in (*t)->part. `cx` is a new context of *t.
 * Where nothing is left out it keeps what was computed for the decision; else it becomes one of the
 * trace that is left. Also after a failure it wants context_done. */
int recorded_cut(struct trace **t, struct context *cx, struct err *e) MUST_USE;

/* one_time.c: time of a recording that no later call would take again.
 *
 * A process that has just started creates contexts and handles and loads code; frameworks compile
 * and try kernels; graphs are captured; the profiler itself starts. The device does nothing
 * meanwhile. It counts as one-time only while no device works, and not where it comes back in
 * another step: then the program does it again and again, and that is a finding. */

struct one_time {
    struct span_set of[LEFT_OUT_KINDS]; /* by enum left_out; apart from one another */
    struct span_set all;
    bool only_captured; /* the steps capture graphs, and none is launched: a start-up of rounds */
};

/* Needs calls, overheads, host causes, timeline and steps. Memory from cx->mem. */
int one_time_find(const struct context *cx, struct one_time *ret, struct err *e) MUST_USE;

#endif
