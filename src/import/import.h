/* import.h: from a file of any format we read to a trace. The format is told from the content. */
#ifndef STRATA_IMPORT_IMPORT_H
#define STRATA_IMPORT_IMPORT_H

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
    bool skip_rows; /* a mapped file need not prove its rows: the caller uses only what
                       native_open allows */
};

/* A format. `open` takes the file over, also on failure. */
struct importer {
    const char *name;
    bool (*sniff)(struct str head); /* the first bytes of the file */
    int (*open)(struct file_map *file, const char *path, const struct import_options *o,
                struct trace **ret, struct err *e);
};

extern const struct importer *const importers[]; /* NULL-terminated, asked in this order */

/* In a run folder: what torch.profiler recorded where the device is none of ours. */
#define IMPORT_TORCH_TRACE "torch_trace.json.gz"

/* Opens `path` ("-": standard input). `o` may be NULL. Damage is in (*ret)->damage. */
int import_open(const char *path, const struct import_options *o, struct trace **ret,
                struct err *e) MUST_USE;

/* The same for a file that is already in memory; `name` stands for its path. */
int import_bytes(struct str bytes, const char *name, const struct import_options *o,
                 struct trace **ret, struct err *e) MUST_USE;

#endif
