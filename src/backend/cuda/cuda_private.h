/* cuda_private.h: the parts of the CUDA backend. */
#ifndef STRATA_BACKEND_CUDA_CUDA_PRIVATE_H
#define STRATA_BACKEND_CUDA_CUDA_PRIVATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "backend/backend.h"
#include "backend/cuda/cupti_api.h"

/* activity.c: what the GPU did: CUPTI's activity records, fetched and recorded. */

/* Switches the kinds on, with our buffers and our clock. */
int activity_start(const struct cupti_api *api, const struct backend_options *o,
                   struct err *e) MUST_USE;

/* Fetches what has ended and records it; with `all` also what has not. One thread at a time. */
void activity_fetch(bool all);

/* Switches the kinds off, and on again, with our buffers and our clock: another profiler may have
 * had the place in between, and must have ended. */
void activity_pause(bool paused);

/* Another profiler is about to begin, or has ended: everything so far is fetched on our clock; at
 * its end the place is ours again. Not while fetching. */
void activity_meet_other(bool begins);

/* Whether another profiler has the records. */
bool activity_is_taken(void);

/* After fork: the child has neither the GPU nor the library's threads. */
void activity_forget(void);

/* callbacks.c: what the program asked of the driver, and how long it waited: callbacks around the
 * few driver calls that launch, copy, allocate or wait. Each becomes a RING_CALL on the ring of the
 * thread that made it. */

/* Becomes the one subscriber of the process; says who is when another holds the place. */
int callbacks_start(const struct cupti_api *api, const struct backend_options *o,
                    struct err *e) MUST_USE;

/* `fn` is called before a call that ends a context, on the thread that makes it. */
void callbacks_at_context_end(void (*fn)(void));

/* Calls get no callback until they are wanted again. */
void callbacks_pause(bool paused);

/* Records no more; the subscription is kept where `detach` is false: giving it up while other
 * threads are in calls is not safe. */
void callbacks_stop(bool detach);

/* clocks.c: how fast the devices run while they are recorded, and what holds them down: clocks,
 * power, temperature and the driver's reasons, through NVML; the energy they have taken since the
 * driver was loaded, the memory in use, and who else works on them. Counters on the ring of the
 * calling thread:
 *
 *     GPU 0 SM clock (MHz)   GPU 0 power (W)   GPU 0 temperature (C)   GPU 0 clock limits
 *     GPU 0 energy (J)   GPU 0 memory in use (MB)   GPU 0 other processes
 *
 * The limits are NVML's bits (nvmlClocksEventReasons). Memory is read and processes are listed once
 * per second (processes.h); without the last counter it is not known whether there are others. */

/* Loads NVML, which takes some milliseconds: once, before there is anything to record. */
void clocks_load(void);

/* Looks at the devices of the mask, ten times per second at most. Without NVML it does nothing. */
void clocks_sample(uint64_t devices);

/* While paused clocks_sample does nothing. */
void clocks_pause(bool paused);

/* devices.c: the GPUs of this process, as definitions in its recording. */

/* True once they are written; false while the driver is not ready to tell. */
bool devices_define(void);

/* Waits for what the calling thread's device was given. */
void devices_wait(void);

/* graph_nodes.c: what ran when a node of a CUDA graph was made: the operator and the Python stack.
 * When the graph is launched later its kernels name their node, and nothing else is known of them.
 *
 * An executable graph consists of copies of the nodes that were captured; the copies are named by
 * the kernels. Both go to the definitions as DEF_NODES, and the reader follows them. */

/* On the thread that makes it. */
void graph_nodes_created(uint64_t node);
void graph_nodes_cloned(uint64_t node, uint64_t from);

/* To the definitions. */
void graph_nodes_write(void);

/* After fork: the child has no graphs. */
void graph_nodes_forget(void);

/* pulse.c: whether CUPTI's records still come to us.
 *
 * Its buffers, its clock and its kinds of record belong to the process, not to the subscriber:
 * another profiler that registers its own takes ours away, and no one is notified. What we still
 * see are the calls. A launch that the program waited for has left a record; when several of them
 * leave none, another profiler has it. Work without such a wait proves nothing: a GPU may be busy
 * for long. */

extern atomic_uint_fast64_t pulse_launched;   /* calls that put work on a device */
extern atomic_uint_fast64_t pulse_waited_for; /* of them, before the last wait that returned */

extern _Atomic uint32_t pulse_newest_launch; /* correlation of the last of them, on any thread */
extern _Atomic uint32_t pulse_newest_record; /* the last one whose record was read */

extern atomic_int pulse_capturing; /* streams whose launches go into a graph */

static inline void pulse_launch(uint32_t correlation)
{
    if (atomic_load_explicit(&pulse_capturing, memory_order_relaxed) > 0) return;
    atomic_fetch_add_explicit(&pulse_launched, 1, memory_order_relaxed);
    atomic_store_explicit(&pulse_newest_launch, correlation, memory_order_relaxed);
}

/* One thread at a time reads records. Numbers grow, and begin again after the largest. */
static inline void pulse_record(uint32_t correlation)
{
    uint32_t newest = atomic_load_explicit(&pulse_newest_record, memory_order_relaxed);
    if ((int32_t)(correlation - newest) > 0)
        atomic_store_explicit(&pulse_newest_record, correlation, memory_order_relaxed);
}

/* Whether a record as new as that launch was read. */
static inline bool pulse_has_reached(uint32_t launch)
{
    uint32_t newest = atomic_load_explicit(&pulse_newest_record, memory_order_relaxed);
    return (int32_t)(newest - launch) >= 0;
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
