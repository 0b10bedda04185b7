/* chrome_args.h: the args of an event, for formats that want JSON. */
#ifndef STRATA_EXPORT_CHROME_ARGS_H
#define STRATA_EXPORT_CHROME_ARGS_H

#include "trace/trace.h"

/* Appends the row's args as a valid JSON object: as written where the source has some and can still
 * be read (repaired if need be), else made from the row's side table with the keys Kineto uses.
 * `scratch` is memory to work in. *ret_any says whether there are any; nothing is appended
 * otherwise. */
int chrome_args_add(const struct trace *t, row_t r, struct buf *scratch, struct buf *out,
                    bool *ret_any, struct err *e) MUST_USE;

#endif
