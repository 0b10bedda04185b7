/* args_out.h: the raw args of all rows as they stand in a .strata file.
 *
 * One plain stream of records (32-bit length, then the JSON text; length 0 for "{}"), in the order
 * of the input, cut into blocks of STRATA_ARGS_BLOCK bytes that are compressed one by one. A row
 * finds its record by the offset in the plain stream, which becomes its `src` in the file. */
#ifndef STRATA_EXPORT_ARGS_OUT_H
#define STRATA_EXPORT_ARGS_OUT_H

#include "base/file.h"
#include "export/export.h"

struct args_out {
    uint64_t *src;   /* by row */
    uint64_t *index; /* by block: where it begins in the section; the last entry is the end */
    size_t n_index, cap_index;
    uint64_t plain_bytes;
};

/* Appends the blocks to `out` and fills `a`; args_out_done is due also after a failure. */
int args_out_write(struct args_out *a, const struct trace *t, struct file_out *out,
                   const struct export_options *o, struct err *e) MUST_USE;
void args_out_done(struct args_out *a);

#endif
