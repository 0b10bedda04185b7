/* sink.h: where exporters put text: a file that is plain or, by its name, gzip or zstd.
 *
 *     sink_begin -> append to sink.text, sink_pump, append, sink_pump ... -> sink_commit
 *
 * or sink_abort, which leaves nothing behind. */
#ifndef STRATA_EXPORT_SINK_H
#define STRATA_EXPORT_SINK_H

#include "base/buf.h"
#include "base/file.h"
#include "export/packer.h"
#include "trace/trace.h"

enum sink_packing { SINK_PLAIN, SINK_GZIP, SINK_ZSTD };

struct sink {
    struct buf text; /* not yet written: append here */
    struct file_out file;
    enum sink_packing packing;
    struct packer packer;
    uint32_t crc;         /* of a gzip file so far */
    uint64_t plain_bytes; /* that were written, before packing */
    uint64_t most_bytes;  /* of plain text; see trace/budget.h */
};

/* The packing follows from the end of `path`: .gz, .zst or anything else. What is written comes
 * from `t`, which bounds how much that may be. */
int sink_begin(struct sink *s, const struct trace *t, const char *path, int n_threads,
               struct err *e) MUST_USE;

/* Writes out what has gathered once it is worth it. Also where a failed append is noticed. */
int sink_pump(struct sink *s, struct err *e) MUST_USE;

/* Both end the sink. */
int sink_commit(struct sink *s, struct err *e) MUST_USE;
void sink_abort(struct sink *s);

#endif
