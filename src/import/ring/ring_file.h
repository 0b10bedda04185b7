/* ring_file.h: reading back the .proc and .ring files of format/ring.h, whatever state the process
 * left them in: killed half-way, disk full, wrapped, still being written, or not ours at all. */
#ifndef STRATA_IMPORT_RING_RING_FILE_H
#define STRATA_IMPORT_RING_RING_FILE_H

#include <stdbool.h>

#include "base/file.h"
#include "format/ring.h"

struct proc_file {
    struct file_map map;
    struct proc_head head; /* a copy, texts terminated */
    struct str *strings;   /* by id, n_strings of them; absent ones are empty */
    uint32_t n_strings;
};

/* ERR_FORMAT when it is not such a file; a file whose process was killed before it wrote its head
 * is one with nothing in it. */
int proc_file_open(struct proc_file *f, const char *path, struct err *e) MUST_USE;
void proc_file_close(struct proc_file *f);

static inline struct str proc_file_string(const struct proc_file *f, uint32_t id)
{
    return id < f->n_strings ? f->strings[id] : (struct str){"", 0};
}

struct ring_file {
    struct file_map map;
    uint32_t pid;
    uint64_t first, n_written; /* records that may still be there: [first, n_written) */
    uint64_t n_logged, log_slots, n_lost;
    uint64_t n_overwritten; /* by later ones, when the log was not to grow */
};

int ring_file_open(struct ring_file *f, const char *path, struct err *e) MUST_USE;
void ring_file_close(struct ring_file *f);

/* The slots of block `number`, in *ret_n how many; none when they are not in the file. */
const struct ring_record *ring_file_block(const struct ring_file *f, uint64_t number,
                                          uint32_t *ret_n);

/* One record, its number, and the value of those that have one. */
struct ring_entry {
    struct ring_record r;
    uint64_t value;
    uint32_t extra; /* what else the value's slot holds */
    uint64_t number;
};

struct ring_cursor {
    const struct ring_file *file;
    uint64_t next, end;
    uint64_t n_missing; /* records skipped because they are not in the file */
};

void ring_cursor_init(struct ring_cursor *c, const struct ring_file *f, uint64_t from);
void ring_cursor_block(struct ring_cursor *c, const struct ring_file *f, uint64_t number);

/* The next record; false at the end. Padding, stray values and records that lost their value are
 * skipped. */
bool ring_cursor_next(struct ring_cursor *c, struct ring_entry *ret);

#endif
