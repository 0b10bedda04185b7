/* json_repair.h: raw text out of a damaged trace as the nearest valid JSON. */
#ifndef STRATA_EXPORT_JSON_REPAIR_H
#define STRATA_EXPORT_JSON_REPAIR_H

#include "base/buf.h"

/* Appends `s` as one valid JSON value: broken strings escaped, bare words quoted, commas put
 * right, what is open at the end closed. Sound parts keep their bytes, but for blanks. What follows
 * the value is dropped; what nests deeper than JSON_VALID_DEPTH becomes null. */
void json_repair(struct str s, struct buf *out);

#endif
