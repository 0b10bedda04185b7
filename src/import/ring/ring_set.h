/* ring_set.h: all recordings of a run, opened: processes with their strings and clocks, and their
 * rings. */
#ifndef STRATA_IMPORT_RING_RING_SET_H
#define STRATA_IMPORT_RING_RING_SET_H

#include "format/ring_index.h"
#include "import/importer.h"
#include "import/ring/ring_file.h"
#include "import/ring/ring_process.h"

/* ring_blocks.c: what stands in the blocks of a ring, from its index where there is one, else from
 * the ring itself. An index is not believed where it can be seen to be wrong: summaries carry
 * their number and a checksum, and blocks that are read are compared with theirs. */

struct ring_blocks {
    struct ring_summary *list; /* of blocks [first, first + n): the last one is the stage */
    uint64_t first;
    size_t n;
    size_t n_read; /* blocks that had to be read for this */
    bool indexed;  /* some are as an index says */
};

/* `index` is the path of the index; NULL reads the ring. ERR_NOMEM alone is a failure. */
int ring_blocks_open(struct ring_blocks *b, const struct ring_file *f, const char *index) MUST_USE;
void ring_blocks_close(struct ring_blocks *b);

/* Whether block number `i` of the list holds what its summary says. */
bool ring_blocks_agree(const struct ring_blocks *b, const struct ring_file *f, size_t i);

/* ring_rows.c: the records of one thread's ring as rows of a trace. */

struct ring_source {
    const struct ring_file *file;
    const struct ring_blocks *blocks; /* NULL: all of it is read, else what the window needs */
    uint32_t number;
};

/* Adds the rows of a ring. */
int ring_rows_add(struct batch *part, struct ring_process *p,
                  const struct ring_source *from) MUST_USE;

/* Of the blocks that the window of the process needs: how many there are, and whether they hold
 * what their summaries say. */
uint64_t ring_rows_count(const struct ring_process *p, const struct ring_blocks *b);
bool ring_rows_agree(const struct ring_process *p, const struct ring_blocks *b,
                     const struct ring_file *f);

struct ring_set {
    struct args_source args; /* first: a set is one, once it belongs to a trace (ring_args.c) */
    struct arena mem;
    struct ring_process *processes;
    size_t n_processes, cap_processes;
    struct ring_file *rings; /* by ring number */
    uint32_t *owner;         /* index of the ring's process */
    const char **index;      /* paths of the rings' indexes, which may not be there */
    size_t n_rings, cap_rings, cap_owner, cap_index;
    struct ring_blocks *blocks; /* by ring number, once only a part of them is read; else NULL */
    struct stack_rows stacks;   /* while they become rows */
    uint32_t n_bad;             /* files that cannot be used: counted, not fatal */
    const char *folder;         /* while it is being opened */
};

#define RING_SET_PATH 4096

/* Whether `folder` holds recordings, itself or in rings/; `ret` gets that folder. */
bool ring_set_locate(const char *folder, char ret[RING_SET_PATH]);

/* ERR_USAGE when there are none. Reads no records: clocks are due before any time is requested. */
int ring_set_open(const char *folder, struct ring_set **ret, struct err *e) MUST_USE;
void ring_set_free(struct ring_set *s);

/* What the rings know about the clocks of their processes: from all of their records, or from the
 * summaries of their blocks, which are looked up or made. */
int ring_set_clocks(struct ring_set *s, struct err *e) MUST_USE;
int ring_set_blocks(struct ring_set *s, struct err *e) MUST_USE;
int ring_set_block_clocks(struct ring_set *s, struct err *e) MUST_USE; /* again, after a change */

uint64_t ring_set_records(const struct ring_set *s);

/* ring_args.c: the recordings a trace was made from, kept open to answer what its rows' args are.
 */

/* The set as the trace's source of args, which frees it. */
struct args_source *ring_args_make(struct ring_set *s);

/* ring_devices.c: which device is which, over the processes of a run.
 *
 * A process numbers the devices it may use from 0. Where two processes mean different devices by
 * one number (torchrun with CUDA_VISIBLE_DEVICES per rank), devices get the machine's numbers, as
 * CUDA_VISIBLE_DEVICES has them; else the numbers stay as the program knows them. Processes that
 * share a device share its number. */

/* Sets device_number of every process. */
int ring_devices_number(struct ring_set *s) MUST_USE;

/* Adds every device once, with its UUID and the user's number of it as metas. */
int ring_devices_add(struct builder *b, const struct ring_set *s) MUST_USE;

/* ring_window.c: which part of a long recording is read, found from the summaries of its blocks.
 *
 *     records   ..:::::||||||||||||||||||||||||||||||||||||:..
 *     work             ######################################
 *                                 <-- part -->
 *
 * The part lies around the moment at which half of the devices' work is done: a program spends most
 * of its device time in what it is for, so that moment is in it, past loading and warming up. */

struct ring_extent {
    int64_t begin_ns, end_ns; /* of the whole recording, in trace time */
};

/* Sets the window of every process, after ring_set_blocks and with the offsets known. Summaries of
 * blocks that are needed are compared with them; where one is wrong its ring is summed up again. */
int ring_window_choose(struct ring_set *s, const struct import_options *o, struct ring_extent *ret,
                       struct err *e) MUST_USE;

/* A recording as pieces of about `most` records one after the other, which together are all of it:
 * *ret has the end of each, in trace time; the first begins at `whole`. */
struct ring_pieces {
    struct ring_extent whole;
    struct import_span *list;
    uint32_t n;
};
int ring_window_pieces(struct ring_set *s, uint64_t most, struct arena *mem,
                       struct ring_pieces *ret, struct err *e) MUST_USE;

/* ring_settings.c: what is set in the programs of a run (TRACE_META_SETTINGS). */

/* Nothing where no process says anything. */
int ring_settings_add(struct builder *b, const struct ring_set *s) MUST_USE;

/* ring_stacks.c: which of a run's recordings hold Python stacks, and their rows. */

/* Before rings are read: tells processes where stacks go, if there are any. */
void ring_stacks_begin(struct ring_set *s);

/* After all rings were read: adds their rows, and notes in the trace what they are made of. */
int ring_stacks_add(struct builder *b, struct ring_set *s, struct err *e) MUST_USE;

#endif
