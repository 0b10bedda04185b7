/* pulse.h: whether CUPTI's records still come to us.
 *
 * Its buffers, its clock and its kinds of record belong to the process, not to the subscriber:
 * another profiler that registers its own takes ours away, and nobody is notified. What we still
 * see are the calls. A launch that was waited for has left a record; when several of them leave
 * none, somebody else has it. Work that was not waited for proves nothing: a GPU may be busy for
 * long. */
#ifndef STRATA_BACKEND_PULSE_H
#define STRATA_BACKEND_PULSE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

extern atomic_uint_fast64_t pulse_launched;   /* calls that put work on a device */
extern atomic_uint_fast64_t pulse_waited_for; /* of them, before the last wait that returned */

extern atomic_int pulse_capturing; /* streams whose launches go into a graph */

static inline void pulse_launch(void)
{
    if (atomic_load_explicit(&pulse_capturing, memory_order_relaxed) > 0) return;
    atomic_fetch_add_explicit(&pulse_launched, 1, memory_order_relaxed);
}

static inline void pulse_wait(void)
{
    uint64_t n = atomic_load_explicit(&pulse_launched, memory_order_relaxed);
    atomic_store_explicit(&pulse_waited_for, n, memory_order_relaxed);
}

/* A stream begins to be captured into a graph, or is no longer: launches do not run meanwhile. */
void pulse_capture(bool begins);

/* What is known at one fetch. */
struct pulse_look {
    uint64_t launched, waited_for; /* by the calls, before the fetch */
    uint64_t signs;                /* of life: any change says that CUPTI works for us */
    uint64_t now_ns;
    bool last; /* all there is was fetched by force: nothing can come later */
};

struct pulse {
    uint64_t signs;                           /* at the last look */
    uint64_t alive_ns;                        /* when there was a sign of life */
    uint64_t launched_alive, launched_before; /* launches until then, and until the last look */
    int missed;                               /* looks that should have found one since */
};

/* The counts of calls, now. */
struct pulse_look pulse_count(void);

/* True when the records go elsewhere. `p` begins as zeroes. */
bool pulse_is_lost(struct pulse *p, const struct pulse_look *look);

#endif
