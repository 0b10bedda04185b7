/* plain.h: the plain text of a trace as one range of addresses that never moves.
 *
 * A plain file is mapped and ready at once. Compressed input is inflated ahead of its readers by a
 * thread of its own into a large reserved range (see plain.c); text that has been dealt with gives
 * its memory to the text to come, so that only a window of it ever takes any.
 *
 *     text   |.. given back ..|== being read ==|== inflated ahead ==|.. not there yet ..|
 *                          released           wanted              ready
 */
#ifndef STRATA_IMPORT_BYTES_PLAIN_H
#define STRATA_IMPORT_BYTES_PLAIN_H

#include "base/file.h"
#include "import/importer.h"

struct plain;

/* `file` stays the caller's and must outlive this. */
int plain_open(struct plain **ret, const struct file_map *file, const struct import_options *o,
               struct err *e) MUST_USE;
void plain_close(struct plain *s);

/* Where the text begins. FILE_PADDING bytes past what is ready may be examined. */
const char *plain_text(const struct plain *s);

/* Waits until `want` bytes of text are ready or there is no more; returns how many are, and
 * whether that is all. Any thread. */
uint64_t plain_wait(struct plain *s, uint64_t want, bool *ret_all);

/* Text before `offset` will not be examined again. One thread at a time. Tells progress. */
void plain_release(struct plain *s, uint64_t offset);

/* Once all text is ready: 0 and whether the input was sound to its end, or why reading failed. */
int plain_result(struct plain *s, bool *ret_whole, struct err *e) MUST_USE;

#endif
