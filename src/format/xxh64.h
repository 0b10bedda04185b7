/* xxh64.h: the checksum of our files: xxHash64 with seed 0, as published. Any xxHash tool can
 * verify a section. Guards against damage, not against malice. */
#ifndef STRATA_FORMAT_XXH64_H
#define STRATA_FORMAT_XXH64_H

#include <stddef.h>
#include <stdint.h>

uint64_t xxh64(const void *p, size_t n);

#endif
