/* native_file.h: the sections of a .strata file, each proved to lie where it says. */
#ifndef STRATA_IMPORT_NATIVE_FILE_H
#define STRATA_IMPORT_NATIVE_FILE_H

#include <stdbool.h>

#include "base/err.h"
#include "format/strata_file.h"

struct native_file {
    const char *p;
    const struct strata_section *sections;
    uint64_t n_sections;
    uint64_t end; /* where the section table begins: sections end before it */
};

struct native_items {
    const void *p;
    uint64_t n;
};

/* Proves head, foot and section table of the `n` bytes at `p`, which must stay there. */
int native_file_open(struct native_file *f, const char *p, uint64_t n, struct err *e) MUST_USE;

bool native_file_has(const struct native_file *f, uint32_t section);

/* The items of a section, proved to lie inside the file and to take `item_bytes` each. */
int native_file_find(const struct native_file *f, uint32_t section, size_t item_bytes,
                     struct native_items *ret, struct err *e) MUST_USE;

/* The same for items that are numbered with 32 bits. */
int native_file_find_table(const struct native_file *f, uint32_t section, size_t item_bytes,
                           struct native_items *ret, struct err *e) MUST_USE;

/* Compares the checksums of all sections but the args, whose blocks have their own. */
int native_file_verify(const struct native_file *f, int n_threads, struct err *e) MUST_USE;

#endif
