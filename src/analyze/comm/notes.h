/* notes.h: notes on collectives (CAT_COLLECTIVE): what they carry, said by somebody who did not
 * time them. A note is made when the collective is handed over, the range it belongs to begins then
 * or later: so of all with the same name the earliest that has no range yet is the one. */
#ifndef STRATA_ANALYZE_COMM_NOTES_H
#define STRATA_ANALYZE_COMM_NOTES_H

#include "analyze/context.h"

/* For each of `n` rows the note on it, or ROW_NONE; scratch from the context. */
int notes_find(struct context *cx, const row_t *rows, uint32_t n, row_t *ret) MUST_USE;

#endif
