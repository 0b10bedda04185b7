/* names.h: the strings of this process and their ids, in memory and in its .proc file.
 *
 * Ids last as long as the process and survive fork. Looking up a known string takes no lock. A
 * new one is written to the file before its id is handed out, so that no record ever
 * refers to a string that is not there. */
#ifndef STRATA_RECORD_NAMES_H
#define STRATA_RECORD_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "format/ring.h"
#include "record/spool.h"

/* The id of `s`, cut to RING_TEXT_MAX bytes; 0 when there are too many or out of memory. Takes
 * the names lock for a string not seen before. */
uint32_t names_id(struct str s);

/* The text of an id that was given out; empty for 0. */
struct str names_text(uint32_t id);

/* From now on new strings go to `file` too, whose head is mapped at `head`; those known already
 * are written now. NULL takes the file away. The caller holds no other lock of this module. */
int names_attach(struct spool *file, struct proc_head *head, struct err *e) MUST_USE;
void names_detach(void);

/* Around fork: the child inherits a table that no thread is changing. It must detach. */
void names_lock(void);
void names_unlock(void);
void names_unlock_in_child(void);

#endif
