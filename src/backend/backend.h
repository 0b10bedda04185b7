/* backend.h: a kind of device whose work can be recorded from inside the user's process.
 *
 * Every vendor's tracing library has the same shape: buffers asked for and handed back, kinds of
 * record switched on, a clock, callbacks around API calls. A backend hides which one it is. What
 * it records goes through record/: work as RING_WORK on its own thread's ring, calls as RING_CALL
 * on the ring of the thread that made them, definitions (kernels, devices) through defs_id.
 *
 * A backend is a const struct in its own folder, listed once in backend.c. The user's program
 * always runs on: whatever cannot be recorded becomes a note (backend_note), reported once. */
#ifndef STRATA_BACKEND_BACKEND_H
#define STRATA_BACKEND_BACKEND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct backend_options {
    uint64_t wait_ns;    /* calls that wait this long get the Python stack of their caller */
    bool whole_graphs;   /* one record per graph launch instead of one per node */
    bool from_the_start; /* the program has not used the device yet */
    bool sync_records;   /* the device's own of waits, beside those of the calls */
    bool clocks;         /* how fast the device runs is recorded, too */
    uint32_t flush_ms;   /* how often finished work is fetched */
    uint64_t most_bytes; /* of buffers lent to the vendor's library */
};

/* Options from STRATA_TEST_WAIT_US, STRATA_GRAPHS=node|whole, STRATA_TEST_SYNC_RECORDS=on,
 * STRATA_TEST_CLOCKS=off, STRATA_TEST_FLUSH_MS, STRATA_BUFFER_MB. */
void backend_options_from_env(struct backend_options *o);

enum backend_state {
    BACKEND_ABSENT,  /* no such device or driver here */
    BACKEND_MISSING, /* the device is there, something needed to record it is not */
    BACKEND_READY,
};

/* What `strata doctor` tells of a backend. Texts are for people, in words of one line. */
struct backend_probe {
    enum backend_state state;
    char what[280];    /* "NVIDIA driver 580.65, CUDA 13.0, 1 GPU" */
    char missing[200]; /* what is missing, empty when nothing is */
    char remedy[240];  /* how to get it, empty when nothing is missing */
};

/* What is known of the device's work, between start and stop. */
enum backend_work {
    BACKEND_WORK_NONE, /* there was none yet */
    BACKEND_WORK_SEEN,
    BACKEND_WORK_LOST, /* another profiler in this process has its records, or may have them */
};

struct backend {
    const char *name;    /* "cuda" */
    const char *summary; /* "NVIDIA GPUs, through CUPTI" */

    /* From another process than the recorded one: what could be recorded here. */
    void (*probe)(struct backend_probe *ret);

    /* In the recorded process, once; its runtime is loaded by then. */
    int (*start)(const struct backend_options *o, struct err *e);

    /* Everything recorded so far is in the files afterwards. With `detach` another profiler may
     * take the place: only where no other thread is inside a call of the device's library. */
    void (*stop)(bool detach);

    /* Between start and stop: what the device has finished is in the files afterwards. */
    void (*flush)(void);

    /* Between start and stop: waits until what was launched before the call is in the files, for
     * `ms` milliseconds at most: it does not wait for a device that is far behind. */
    void (*settle)(uint32_t ms);

    enum backend_work (*work)(void);

    /* Between start and stop: nothing is recorded, and nearly nothing costs time. */
    void (*pause)(bool paused);

    /* The caller knows that another profiler is about to start in this process (`begins`), or has
     * ended. */
    void (*meet_other)(bool begins);
};

extern const struct backend *const backends[]; /* NULL-terminated */

const struct backend *backend_find(const char *name);

/* A sentence for the summary of the run; the same one is kept once. */
void backend_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* What the Python side could not do, as notes. */
void backend_note_python(void);

/* A fact about the recording, for `strata info`: versions, settings. */
void backend_fact(const char *key, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
