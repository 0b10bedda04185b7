/* model.h: a trace as a graph that can be replayed with other durations.
 *
 *   thread   --work--> [call] --work--> [call: waits] --work--> ...      CPU time in program order
 *                        | latency          ^ return
 *   stream   ........ [work] --gap--> [work]|...                         streams in order
 *
 * Every call that launches, waits or orders work is a node on its thread; what a thread does
 * between two nodes is a length of CPU time. Device work starts when its launch has had its
 * latency, the work before it on the stream has ended (plus a small gap), and any other stream it
 * was seen to wait for has got there. A wait ends when what it waits for has ended.
 *
 * The constants of each node (latency, gap, return delay) are those measured in the trace, so that
 * replaying unchanged gives the trace back. Where a constant was hidden (the queue was full, so the
 * latency did not show) the typical one of the trace stands in. */
#ifndef STRATA_ANALYZE_SIMULATE_MODEL_H
#define STRATA_ANALYZE_SIMULATE_MODEL_H

#include "analyze/names/calls.h"
#include "trace/trace.h"

#define SIM_NONE UINT32_MAX

struct sim_work {
    row_t row;
    uint32_t stream;    /* index into model->streams */
    uint32_t call;      /* launching node, or SIM_NONE: launched before the window */
    uint32_t before;    /* previous work on the stream, by start; SIM_NONE for the first */
    uint32_t waits_for; /* work of another stream it was seen to wait for, or SIM_NONE */
    int64_t begin_ns, end_ns;
    int64_t latency_ns; /* from the start of the call */
    int64_t gap_ns;     /* after the stream's earlier work has ended; may be negative (overlap) */
    int64_t wait_delay_ns; /* after `waits_for` has ended */
};

enum sim_wait {
    SIM_WAIT_NOTHING,
    SIM_WAIT_STREAM, /* until all work launched so far on `target` has ended */
    SIM_WAIT_DEVICE, /* until all work launched so far has ended */
    SIM_WAIT_WORK,   /* until work `target` has ended: a full queue, an event */
    SIM_WAIT_OWN,    /* until the work it launched has ended: a blocking copy */
};

struct sim_call {
    row_t row;
    uint32_t thread;             /* index into model->threads */
    uint32_t first_work, n_work; /* into model->works_by_call */
    uint32_t target;
    enum sim_wait wait;
    enum call_kind kind;
    int64_t begin_ns, end_ns;
    int64_t floor_ns;  /* what the call costs the CPU when there is nothing to wait for */
    int64_t return_ns; /* from the end of what it waited for to its own end */
    uint32_t next;     /* next node of the same thread, or SIM_NONE */
    float lead_weight; /* recording cost of the events since the previous node, in launch calls */
    float own_weight;  /* ... of the events that start inside it */
};

/* A thread that has to wait for another one (model_joins.c), or for a process beside the program
 * that hands something over occasionally: `other` is SIM_NONE. That one has its own pace: what it
 * hands over comes no sooner after the last one, however fast the program is. */
struct sim_join {
    uint32_t thread, other;
    int64_t begin_ns, end_ns; /* the waiting thread is silent in between */
    int64_t done_ns;          /* when the other one was done; begin_ns when no thread had to wait */
};

struct sim_thread {
    lane_id lane;
    int64_t begin_ns, end_ns;      /* first and last moment of the thread that count */
    uint32_t first_call;           /* its first node, or SIM_NONE */
    uint32_t calls_at, n_calls;    /* its nodes, in calls_by_thread */
    uint32_t first_join, end_join; /* its waits for others, in joins */
    uint32_t after;    /* the thread that was done right before it began, or SIM_NONE; see there */
    float tail_weight; /* recording cost after its last node, in launch calls */
};

struct sim_model {
    const struct trace *t;
    struct sim_thread *threads; /* by lane */
    struct sim_call *calls;     /* by start time, over all threads */
    struct sim_work *works;     /* by start time, over all streams */
    uint32_t *works_by_call;
    uint32_t *calls_by_thread; /* indices of calls, by thread, then start time */
    struct sim_join *joins;    /* by thread, then end time */
    uint32_t n_threads, n_calls, n_works, n_streams, n_joins;
    int64_t begin_ns, end_ns; /* the window that is replayed */
    int64_t typical_latency_ns, typical_gap_ns, typical_return_ns;
    int64_t typical_launch_ns; /* duration of a launch call that did not have to wait */
    float launch_weight, op_weight,
        python_weight;      /* recording cost of one event, in launch calls */
    uint32_t deepest_queue; /* launched and not started, at most, on one stream */
    double clock_drop_pct;  /* over the trace, at its power limit; see clock_power.h */
};

/* Builds the model; memory from `mem`. A trace without calls or device work gives an empty model
 * whose window is that of its spans. */
int sim_model_run(const struct trace *t, const struct calls *calls, struct arena *mem,
                  struct sim_model *ret, struct err *e) MUST_USE;

extern const struct pass model_pass;

static inline const struct sim_model *model_of(const struct context *cx)
{
    return context_kept(cx, PASS_MODEL);
}

/* Makes first_work, n_work, works_by_call, next and first_call fit the calls and works as they
 * are: after an analysis has moved work to another call or put calls in. */
void sim_model_link(struct sim_model *m);

/* Whether this is the first work of its call: a graph is launched, and queued, as one. */
static inline bool sim_is_first(const struct sim_model *m, uint32_t w)
{
    uint32_t c = m->works[w].call;
    return c == SIM_NONE || m->works_by_call[m->calls[c].first_work] == w;
}

/* First call of any thread that begins at or after `ts_ns`; n_calls when there is none. */
uint32_t sim_call_at(const struct sim_model *m, int64_t ts_ns);

/* The same of one thread; SIM_NONE when there is none. `next` of a call leads on. */
uint32_t sim_thread_call_at(const struct sim_model *m, uint32_t thread, int64_t ts_ns);

/* First wait of the thread for another one that ends after `ts_ns`; its end_join when there is
 * none. Waits of one thread lie apart, so only this one can hold the moment. */
uint32_t sim_join_after(const struct sim_model *m, uint32_t thread, int64_t ts_ns);

/* The replayed thread of a lane, or SIM_NONE. */
uint32_t sim_thread_of(const struct sim_model *m, lane_id lane);

/* The sim_call of a row, or SIM_NONE. O(log n). */
uint32_t sim_find_call(const struct sim_model *m, row_t row);

#endif
