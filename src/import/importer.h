/* importer.h: what a format is: how it is recognised, and how a file of it becomes a trace. */
#ifndef STRATA_IMPORT_IMPORTER_H
#define STRATA_IMPORT_IMPORTER_H

#include "base/file.h"
#include "trace/trace.h"

/* Told how far reading has come, occasionally, from any thread. `total_bytes` is 0 while
   unknown. */
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
                        import_native allows */
    bool check_args; /* of a mapped file, which else are proved when they are requested */

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

/* The formats, one file each. Costs of .strata files (import_native) are the same at any size when
 * rows are skipped: then only the table of contents is proved, and of the trace only lanes,
 * processes, devices, metas, categories, counts, damage and times may be used. Otherwise every
 * column is read once, for checksums and trace_verify. Columns and strings are used where they lie
 * in the mapping. */
extern const struct importer import_native;  /* strata/: our own files */
extern const struct importer import_sqlite;  /* sqlite_formats.c: which of our readers a database is
                                                for shows in its tables */
extern const struct importer import_xplane;  /* xplane/: XLA's .xplane.pb (JAX, TensorFlow) */
extern const struct importer import_pftrace; /* pftrace/: Perfetto, plain or compressed */
extern const struct importer import_rocprof; /* rocm/: JSON of rocprofv3 (--output-format json) */
extern const struct importer import_json;    /* json/: Chrome and Kineto, plain or compressed */

/* Whether the bytes begin like an XSpace. */
bool xplane_sniff(struct str head);

/* foreign.c: formats that are not read, recognized so that the error says what the file is and
 * which command makes something of it that is. ERR_UNSUPPORTED with the words for it, or 0 where
 * the file is none of these. `head` is how it begins, unpacked if need be; `path` counts only
 * where the content says nothing. */
int foreign_check(struct str head, const char *path, struct err *e) MUST_USE;

#endif
