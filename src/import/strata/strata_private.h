/* strata_private.h: parts of a .strata file. */
#ifndef STRATA_IMPORT_STRATA_STRATA_PRIVATE_H
#define STRATA_IMPORT_STRATA_STRATA_PRIVATE_H

#include <stdbool.h>

#include "base/err.h"
#include "format/strata_file.h"
#include "trace/trace.h"

/* strata_args.c: reads one row's raw args back from the compressed blocks of a .strata file. */

struct strata_args_file {
    const char *blocks;
    uint64_t n_blocks_bytes;
    const uint64_t *index; /* by block: where it begins in `blocks`; the last entry is the end */
    uint64_t n_index;
    uint64_t plain_bytes;
};

/* NULL when out of memory. The file's memory must outlive it. Safe to use from several threads. */
struct args_source *strata_args_new(const struct strata_args_file *f);

/* Opens every block; ERR_FORMAT names the first that is damaged. */
int strata_args_check(const struct strata_args_file *f, int n_threads, struct err *e) MUST_USE;

/* strata_sections.c: the sections of a .strata file, each proved to lie where it says. */

struct strata_sections {
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
int strata_sections_open(struct strata_sections *f, const char *p, uint64_t n,
                         struct err *e) MUST_USE;

bool strata_sections_has(const struct strata_sections *f, uint32_t section);

/* The items of a section, proved to lie inside the file and to take `item_bytes` each. */
int strata_sections_find(const struct strata_sections *f, uint32_t section, size_t item_bytes,
                         struct native_items *ret, struct err *e) MUST_USE;

/* The same for items that are numbered with 32 bits. */
int strata_sections_find_table(const struct strata_sections *f, uint32_t section, size_t item_bytes,
                               struct native_items *ret, struct err *e) MUST_USE;

/* Compares the checksums of all sections but the args, whose blocks have their own. */
int strata_sections_verify(const struct strata_sections *f, int n_threads, struct err *e) MUST_USE;

#endif
