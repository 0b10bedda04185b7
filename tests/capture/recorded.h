/* recorded.h: buffers that a real CUPTI filled, as they were kept (tests/data/capture):
 *
 *     "BUF1" | u64 n | n bytes | u64 n_names | { u64 offset of a kernel record | u32 n | name } ...
 *
 * Names were pointers into that process; they are made pointers into this one. */
#ifndef STRATA_TESTS_RECORDED_H
#define STRATA_TESTS_RECORDED_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cupti_abi.h"

/* The next buffer of the file, on the heap for good; 0 at its end. */
static inline size_t recorded_next(FILE *f, uint8_t **ret)
{
    char magic[4];
    uint64_t n = 0, n_names = 0;
    if (fread(magic, 1, 4, f) != 4 || memcmp(magic, "BUF1", 4) != 0) return 0;
    if (fread(&n, sizeof n, 1, f) != 1 || n > (1 << 20)) return 0;
    uint8_t *bytes = calloc(1, n);
    if (fread(bytes, 1, n, f) != n || fread(&n_names, sizeof n_names, 1, f) != 1) return 0;
    for (uint64_t i = 0; i < n_names; i++) {
        uint64_t at = 0;
        uint32_t len = 0;
        if (fread(&at, sizeof at, 1, f) != 1 || fread(&len, sizeof len, 1, f) != 1) return 0;
        char *name = calloc(1, len + 1);
        if (fread(name, 1, len, f) != len || at + sizeof(struct cupti_kernel) > n) return 0;
        ((struct cupti_kernel *)(bytes + at))->name = name;
    }
    *ret = bytes;
    return n;
}

#endif
