/* ring_process.h: what all rings of one recorded process share. */
#ifndef STRATA_IMPORT_RING_PROCESS_H
#define STRATA_IMPORT_RING_PROCESS_H

#include "base/map.h"
#include "import/defs_file.h"
#include "import/ring_file.h"
#include "import/stack_rows.h"
#include "import/tick_map.h"
#include "trace/build.h"

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
    struct part_key pid;     /* its text, if any, is of no part: see pid_text */
    const char *pid_text;    /* instead of a number where hosts share numbers; else NULL */
    const char *device_text; /* before the numbers of its devices where several processes use some;
                                else NULL */
    struct stack_rows *stacks; /* of the run; NULL where nobody recorded any */
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

#endif
