/* recorder.h: this process as a recorder: its files, its threads' writers, what happens at fork
 * and exit. There is one process, so there is one recorder; everything here is safe on any thread.
 *
 * Starting only remembers where to record. Folder and files are made when the first record comes,
 * so a program that imports an instrumented library and uses none of it leaves nothing behind.
 * When files cannot be made, records are counted and dropped, and the reason is kept. */
#ifndef STRATA_RECORD_RECORDER_H
#define STRATA_RECORD_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "record/rundir.h"
#include "record/writer.h"

struct recorder_options {
    struct rundir_request where; /* texts are copied */
    uint64_t budget_bytes;       /* of all rings together; 0 for the default, 2 GiB */
    bool os_clock;               /* never the CPU's counter */
};

/* Options from STRATA_RUN, STRATA_OUT, STRATA_PIPELINE, STRATA_RING_MB, STRATA_TEST_CLOCK. */
void recorder_options_from_env(struct recorder_options *o);

/* Starting while started only turns recording on again. */
int recorder_start(const struct recorder_options *o, struct err *e) MUST_USE;
bool recorder_started(void);

/* Another place for the run's folder, while it is not made yet; NULL fields stay as they are. */
void recorder_set_place(const struct rundir_request *where);

/* Makes folder and files now; 0, or why that did not work. */
int recorder_open(struct err *e) MUST_USE;

/* The run's folder, once it is made; NULL before. Holds until the process ends. */
const char *recorder_dir(void);

/* Why nothing is written, or NULL. */
const char *recorder_trouble(void);

/* Records that are known to be missing from the files of this process. */
uint64_t recorder_lost(void);

/* What ticks mean here. Both work without a recorder having been started. */
enum clock_source recorder_clock(void);
double recorder_ticks_per_second(void); /* better the longer the process has run */

void recorder_set_rank(int rank, int world);
void recorder_set_process_name(uint32_t name);
void recorder_set_thread_name(uint32_t name);

/* The calling thread's writer, made or taken over on first use; NULL when there is none. Also in a
 * signal handler, wherever it came. */
extern __thread struct writer *recorder_mine __attribute__((tls_model("initial-exec")));
struct writer *recorder_adopt(void);

/* Counts a record that has no ring to go to, and returns the time. */
uint64_t recorder_lose(void);

/* Writes a record to the calling thread's ring; see writer_put. */
static inline uint64_t recorder_put(struct ring_record r, uint64_t value)
{
    struct writer *w = recorder_mine;
    if (__builtin_expect(!w || !w->head, 0) && !(w = recorder_adopt())) return recorder_lose();
    return writer_put(w, r, value);
}

/* Slots as they are, all or none; see writer_put_all. */
static inline void recorder_put_all(const struct ring_record *slots, int n)
{
    struct writer *w = recorder_mine;
    if (__builtin_expect(!w || !w->head, 0) && !(w = recorder_adopt())) recorder_lose();
    else writer_put_all(w, slots, n);
}

#endif
