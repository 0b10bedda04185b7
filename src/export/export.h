/* export.h: a trace written for others. Every format is a const struct in its own file to_<name>.c,
 * listed once in export.c. Files are written whole or not at all. */
#ifndef STRATA_EXPORT_EXPORT_H
#define STRATA_EXPORT_EXPORT_H

#include "base/err.h"
#include "trace/trace.h"

struct export_options {
    bool strip;        /* leave out metadata that may tell of the machine or its secrets */
    bool for_perfetto; /* chrome: overlapping spans go to threads of their own */
    bool with_args;    /* csv, sqlite: the raw args of every event too */
    int n_threads;     /* >= 1 */
    void (*progress)(void *ctx, uint64_t done, uint64_t all); /* or NULL; units are the format's */
    void *progress_ctx;
};

/* Options that mean something to some formats only. */
enum export_uses { EXPORT_VIEWER = 1, EXPORT_ARGS = 2 };

struct exporter {
    const char *name;       /* as in --to */
    const char *summary;    /* one line */
    const char *extensions; /* ".json .json.gz": how its files are called */
    unsigned uses;          /* enum export_uses */
    const char *next[2];    /* what to do with the file: the words before and after its name */

    /* `path` may be "-" where the format can be written front to back. */
    int (*write)(const struct trace *t, const char *path, const struct export_options *o,
                 struct err *e);
};

extern const struct exporter *const exporters[]; /* NULL-terminated */

const struct exporter *export_find(const char *name); /* NULL when there is none */

/* The format whose files end like `path`, or NULL. */
const struct exporter *export_for_path(const char *path);

#endif
