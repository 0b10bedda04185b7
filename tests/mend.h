/* mend.h: makes the checksums of a mangled .strata file right again, so that a test can reach what
 * they guard. */
#ifndef STRATA_TESTS_MEND_H
#define STRATA_TESTS_MEND_H

#include <string.h>

#include "format/strata_file.h"
#include "format/xxh64.h"

static inline void mend_section(char *p, size_t n, char *at)
{
    struct strata_section s;
    memcpy(&s, at, sizeof s);
    bool fits = s.item_bytes && s.offset <= n && s.n_items <= (n - s.offset) / s.item_bytes;
    if (!fits || s.id == SECTION_ARGS_BLOCKS) return;
    s.checksum = xxh64(p + s.offset, s.n_items * s.item_bytes);
    memcpy(at, &s, sizeof s);
}

static inline void mend_checksums(char *p, size_t n)
{
    struct strata_head h;
    struct strata_foot f;
    if (n < sizeof h + sizeof f) return;
    memcpy(&h, p, sizeof h);
    memcpy(&f, p + n - sizeof f, sizeof f);
    memcpy(f.magic, STRATA_END_MAGIC, sizeof f.magic);
    f.file_bytes = n;
    size_t most = STRATA_MAX_SECTIONS * sizeof(struct strata_section);
    if (f.table_offset <= n && f.n_sections <= STRATA_MAX_SECTIONS &&
        f.n_sections * sizeof(struct strata_section) <= n - f.table_offset) {
        size_t n_table = f.n_sections * sizeof(struct strata_section);
        for (size_t i = 0; i < n_table && i < most; i += sizeof(struct strata_section))
            mend_section(p, n, p + f.table_offset + i);
        f.table_checksum = xxh64(p + f.table_offset, n_table);
    }
    f.checksum = strata_file_checksum(&h, &f);
    memcpy(p + n - sizeof f, &f, sizeof f);
}

#endif
