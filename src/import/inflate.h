/* inflate.h: compressed input to plain text. */
#ifndef STRATA_IMPORT_INFLATE_H
#define STRATA_IMPORT_INFLATE_H

#include "base/buf.h"
#include "base/err.h"

bool inflate_is_gzip(struct str head);

/* Appends the text of all gzip members in `in` to `out`. *ret_cut tells that the data ended early
 * or was damaged after what could be read. */
int inflate_gzip(struct str in, struct buf *out, bool *ret_cut, struct err *e) MUST_USE;

#endif
