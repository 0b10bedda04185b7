/* defs_file.h: reading back a .defs file of format/ring.h, whatever state the process left it in.
 */
#ifndef STRATA_IMPORT_RING_DEFS_FILE_H
#define STRATA_IMPORT_RING_DEFS_FILE_H

#include "base/file.h"
#include "format/ring.h"

struct defs_entry {
    uint32_t type; /* enum def_type, 0 when there is none with this id */
    struct str bytes;
};

struct defs_file {
    struct file_map map;
    struct defs_entry *entries; /* by id */
    uint32_t n;
    uint64_t n_refused; /* definitions that found no room in it */
};

/* ERR_FORMAT when it is not such a file. A file with nothing in it is one without definitions. */
int defs_file_open(struct defs_file *f, const char *path, struct err *e) MUST_USE;
void defs_file_close(struct defs_file *f);

/* The bytes of definition `id` if it has that type, and are at least `least`; .p is NULL if not. */
struct str defs_file_get(const struct defs_file *f, uint32_t id, enum def_type type, size_t least);

#endif
