/* native_args.h: reads one row's raw args back from the compressed blocks of a .strata file. */
#ifndef STRATA_IMPORT_NATIVE_ARGS_H
#define STRATA_IMPORT_NATIVE_ARGS_H

#include "trace/trace.h"

struct native_args_file {
    const char *blocks;
    uint64_t n_blocks_bytes;
    const uint64_t *index; /* by block: where it begins in `blocks`; the last entry is the end */
    uint64_t n_index;
    uint64_t plain_bytes;
};

/* NULL when out of memory. The file's memory must outlive it. Safe to use from several threads. */
struct args_source *native_args_new(const struct native_args_file *f);

/* Opens every block; ERR_FORMAT names the first that is damaged. */
int native_args_check(const struct native_args_file *f, int n_threads, struct err *e) MUST_USE;

#endif
