/* importer.h: what a format is: how it is recognised, and how a file of it becomes a trace. */
#ifndef STRATA_IMPORT_IMPORTER_H
#define STRATA_IMPORT_IMPORTER_H

#include "base/file.h"
#include "trace/trace.h"

/* Told how far reading has come, now and then, from any thread. `total_bytes` is 0 while unknown.
 */
struct import_progress {
    void (*tell)(struct import_progress *self, uint64_t done_bytes, uint64_t total_bytes);
};

/* A part of a recording, in the time of its trace. */
struct import_span {
    int64_t begin_ns, end_ns;
};

struct import_options {
    int n_threads;                    /* 0 = as many as are worth using */
    uint64_t block_bytes;             /* text a worker takes at a time; 0 = a good size */
    struct import_progress *progress; /* may be NULL */
    bool skip_rows;  /* a mapped file need not prove its rows: the caller uses only what
                        native_open allows */
    bool check_args; /* of a mapped file, which else are proved when they are asked for */

    /* Of recordings with more records than this only a part is read, and trace->part says which:
     * `span`, or about a quarter as many records around `at_ns` since the begin, or around the
     * middle of what the devices did. 0 reads everything. */
    uint64_t most_records;
    bool has_at;
    int64_t at_ns;
    const struct import_span *span; /* may be NULL */
    bool only_ranges; /* of a recording: neither devices nor stacks nor operators that ended */
    struct file_map *given; /* the file, where it was read before: taken over. May be NULL */
    bool one_rank;          /* of recordings, only the processes of `rank` */
    int rank;
};

/* A format. `open` takes the file over, also on failure. */
struct importer {
    const char *name;
    bool (*sniff)(struct str head); /* the first bytes of the file */
    int (*open)(struct file_map *file, const char *path, const struct import_options *o,
                struct trace **ret, struct err *e);
    bool inflates; /* reads compressed files piece by piece; the others get them unpacked */
};

#endif
