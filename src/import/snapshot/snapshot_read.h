/* snapshot_read.h: PyTorch memory snapshots: the pickle of torch.cuda.memory._dump_snapshot, plain
 * or compressed, read without executing anything (pickle.h). */
#ifndef STRATA_IMPORT_SNAPSHOT_SNAPSHOT_READ_H
#define STRATA_IMPORT_SNAPSHOT_SNAPSHOT_READ_H

#include "base/err.h"
#include "base/file.h"
#include "base/str.h"
#include "trace/snapshot.h"

/* Whether these first bytes of a file are those of a snapshot. */
bool snapshot_is(struct str head);

/* The same for a file, which may be compressed; false when it cannot be unpacked. */
bool snapshot_is_in(const struct file_map *f);

int snapshot_read(const struct file_map *f, struct snapshot **ret, struct err *e) MUST_USE;
int snapshot_read_bytes(struct str bytes, struct snapshot **ret, struct err *e) MUST_USE;

#endif
