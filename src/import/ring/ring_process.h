/* ring_process.h: what all rings of one recorded process share. */
#ifndef STRATA_IMPORT_RING_RING_PROCESS_H
#define STRATA_IMPORT_RING_RING_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/map.h"
#include "import/ring/defs_file.h"
#include "import/ring/ring_file.h"
#include "import/ring/stack_rows.h"
#include "trace/build.h"

/* tick_map.c: from the ticks of a process to nanoseconds of its monotonic clock, by the moments at
 * which it read both. */

struct tick_map {
    struct clock_pair *pairs; /* sorted, well apart */
    size_t n, cap;
    double ns_per_tick; /* where there is but one pair */
};

void tick_map_init(struct tick_map *m, double ticks_per_second);
void tick_map_done(struct tick_map *m);

/* In any order; true when out of memory. A pair that cannot be is left out. Then tick_map_sort
 * once, before the first question. */
bool tick_map_add(struct tick_map *m, struct clock_pair pair);
void tick_map_sort(struct tick_map *m);

/* Within thirty years of one of the pairs; 0 when there are none. */
uint64_t tick_map_ns(const struct tick_map *m, uint64_t ticks);

/* Where the args of a row are found again: which ring, which record. */
#define RING_SRC(ring, number) ((uint64_t)(ring) << 40 | (number))
#define RING_SRC_RING(src)     ((uint32_t)((src) >> 40))
#define RING_SRC_NUMBER(src)   ((src) & (((uint64_t)1 << 40) - 1))

/* The part of the recording that becomes rows; all of it where nothing was chosen. */
struct ring_window {
    int64_t begin_ns, end_ns;
};

enum { RING_DEVICES = 64 }; /* of one process */

/* What all rings of a process share. Times are trace times: ns since the trace's base. */
struct ring_process {
    struct proc_file proc;
    struct defs_file defs; /* empty when it defined nothing */
    struct tick_map clock;
    int64_t offset_ns; /* trace time = monotonic time + this */
    int64_t end_ns;    /* its exit, or the last thing it recorded */
    struct ring_window window;
    int32_t device_number[RING_DEVICES]; /* in the run, by its number in the process */
    bool only_ranges;                    /* import_options.only_ranges */
    int64_t *pauses_ns;                  /* sorted */
    size_t n_pauses, cap_pauses;
    struct batch_key pid;    /* its text, if any, is of no part: see pid_text */
    const char *pid_text;    /* instead of a number where hosts share numbers; else NULL */
    const char *device_text; /* before the numbers of its devices where several processes use some;
                                else NULL */
    struct stack_rows *stacks; /* of the run; NULL where none were recorded */
    uint32_t number;           /* in the run */
    uint32_t twin;       /* number of the first recorder of the same process: itself, mostly */
    struct map error_at; /* src of a range -> string id of what it was left by */
    uint64_t n_lost;
};

int64_t ring_process_ns(const struct ring_process *p, uint64_t ticks);

/* Cuts a span at the borders of the window; false when nothing of it is inside. */
bool ring_process_clip(const struct ring_process *p, int64_t *begin_ns, int64_t *end_ns);

/* The number in the run of a device of the process. */
static inline int32_t ring_process_device(const struct ring_process *p, int32_t device)
{
    return device >= 0 && device < RING_DEVICES ? p->device_number[device] : device;
}

/* Whether a moment is inside. */
static inline bool ring_process_shows(const struct ring_process *p, int64_t ns)
{
    return ns >= p->window.begin_ns && ns < p->window.end_ns;
}

/* ring_cframes.c: native frames of recorded stacks, named.
 *
 * A recording has addresses in files. Here they get function, file and line, in the definitions of
 * their process: a DEF_ADDRESS becomes a DEF_CODE "FILE(LINE): FUNCTION" as Python's functions
 * have, its frames get the line of their call, and frames that say nothing to a reader (the CUDA
 * runtime linked into a program, what stands before main) step aside for their callers. */

/* Memory from `mem`, which must live as long as the definitions. */
int ring_cframes_resolve(struct ring_process *p, struct arena *mem) MUST_USE;

/* ring_nodes.c: from the nodes of CUDA graphs that a process defined to the meta that says what ran
 * when they were captured (TRACE_META_CAPTURED). */

/* Adds the meta to the trace; nothing where the process has captured nothing. */
int ring_nodes_add(struct builder *b, const struct ring_process *p, struct err *e) MUST_USE;

#endif
