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

struct import_options {
    int n_threads;                    /* 0 = as many as are worth using */
    uint64_t block_bytes;             /* text a worker takes at a time; 0 = a good size */
    struct import_progress *progress; /* may be NULL */
    bool skip_rows;  /* a mapped file need not prove its rows: the caller uses only what
                        native_open allows */
    bool check_args; /* of a mapped file, which else are proved when they are asked for */
};

/* A format. `open` takes the file over, also on failure. */
struct importer {
    const char *name;
    bool (*sniff)(struct str head); /* the first bytes of the file */
    int (*open)(struct file_map *file, const char *path, const struct import_options *o,
                struct trace **ret, struct err *e);
};

#endif
