/* timing.h: timing.json, the numbers of a run by stage: what the Python package writes at exit, and
 * what `strata export --to timing` makes of the rings of a process that could not. docs/format has
 * every key.
 *
 * Only what is compared and merged is read; other keys are ignored. */
#ifndef STRATA_FORMAT_TIMING_H
#define STRATA_FORMAT_TIMING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

struct jdoc;

#define TIMING_SCHEMA 1

/* Times in ns; -1 where the file does not say. */
struct timing_stage {
    const char *path, *name;
    uint64_t count, errors, unfinished;
    int64_t total_ns, self_ns;
    int64_t first_ns, median_ns, p95_ns, min_ns, max_ns;
    double std_ns; /* of the calls; negative with fewer than two */
    int64_t gpu_ns, gpu_median_ns;
    int64_t active_ns, awaited_ns; /* coroutines and generators */
    int64_t peak_bytes;            /* of the device that held most, else of the host */
    bool peak_on_device;
    const struct jdoc *document; /* of the file, or NULL */
};

struct timing {
    const char *file; /* as it was opened */
    const char *pipeline, *host, *timestamp;
    int64_t pid;
    int rank, world; /* -1 when it is not one of several */
    int64_t wall_ns, total_ns;
    uint64_t lost_records;
    bool recovered; /* made from rings */
    bool running;   /* written before the end: the rings may know of more */
    struct timing_stage *stages;
    uint32_t n_stages;
    const struct jdoc *document; /* of the file, or NULL */
};

/* Everything in `ret` lives in `mem`. ERR_FORMAT when it is not such a file. */
int timing_read(const char *path, struct arena *mem, struct timing *ret, struct err *e) MUST_USE;

/* The stage with this path, or NULL. */
const struct timing_stage *timing_find(const struct timing *t, const char *path);

/* Keys of the documents it was read from that are not known here are kept. */
void timing_print(const struct timing *t, struct buf *out);

/* Whether a file is one, by its first bytes. */
bool timing_is(const char *path);
bool timing_is_head(struct str head);

/* Brings what a file says of a process up to what its rings say, which is `rings`. What only the
 * file knows stays: memory, device times (for more calls by now) and metadata. */
int timing_catch_up(struct timing *file, const struct timing *rings, struct arena *mem,
                    struct err *e) MUST_USE;

/* The moment that its numbers start from, in ns since 1970; -1 when that is not known. */
int64_t timing_start_ns(const struct timing *t);

/* All timing files of a run folder, by rank, then by name; n is 0 when there are none. A file that
 * cannot be read is left out and counted in n_bad. */
struct timing_run {
    struct timing *list;
    uint32_t n, n_bad;
    uint32_t n_workers; /* that were added to others (workers_fold) */
};
bool timing_run_in(const char *folder); /* whether there are any, readable or not */

/* Also of one file. */
int timing_run_read(const char *folder, struct arena *mem, struct timing_run *ret,
                    struct err *e) MUST_USE;

#endif
