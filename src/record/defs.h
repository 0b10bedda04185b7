/* defs.h: what records of this process refer to by a 32-bit id: kernels, devices, code, stacks.
 *
 * A definition is a type and some bytes; equal ones get one id. Ids last as long as the process
 * and survive fork. A definition is in the .defs file before its id is handed out. Known
 * ones are found without a lock. */
#ifndef STRATA_RECORD_DEFS_H
#define STRATA_RECORD_DEFS_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "format/ring.h"

/* The id of a definition of at most RING_DEF_BYTES; 0 when there are too many, out of memory, or
 * the file cannot grow. Takes the lock of the definitions for one not seen before. */
uint32_t defs_id(enum def_type type, struct str bytes);

/* The same without the lock, so also from a signal handler: 0 for one not seen before. */
uint32_t defs_find(enum def_type type, struct str bytes);

/* From now on definitions go to `path`, which is created when there is one to write. */
int defs_attach(const char *path, struct err *e) MUST_USE;
void defs_detach(void);

/* Around fork, as in names.h: the child inherits the ids and must detach. */
void defs_lock(void);
void defs_unlock(void);
void defs_unlock_in_child(void);

#endif
