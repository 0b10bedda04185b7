/* import.h: from a file of any format we read to a trace. The format is recognized by its content.
 */
#ifndef STRATA_IMPORT_IMPORT_H
#define STRATA_IMPORT_IMPORT_H

#include "import/importer.h"

extern const struct importer *const importers[]; /* NULL-terminated, asked in this order */

/* In a run folder: what torch.profiler recorded where the device is none of ours. */
#define IMPORT_TORCH_TRACE "torch_trace.json.gz"

/* What a path is, by what is in it. Compressed files are judged by what is inside. */
enum import_what {
    IMPORT_UNKNOWN,
    IMPORT_RUN,      /* a folder with recordings, or with a trace made from them */
    IMPORT_TRACE,    /* a file that import_open reads */
    IMPORT_SNAPSHOT, /* of torch's memory */
    IMPORT_TIMING,   /* a timing.json */
    IMPORT_FOREIGN   /* a format that we know and do not read */
};
enum import_what import_recognize(const char *path);

/* Opens `path` ("-": standard input). `o` may be NULL. Damage is in (*ret)->damage. */
int import_open(const char *path, const struct import_options *o, struct trace **ret,
                struct err *e) MUST_USE;

/* The same for a file that is already in memory; `name` stands for its path. */
int import_bytes(struct str bytes, const char *name, const struct import_options *o,
                 struct trace **ret, struct err *e) MUST_USE;

#endif
