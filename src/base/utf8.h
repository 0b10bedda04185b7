/* utf8.h: just enough UTF-8 to print other people's strings safely. */
#ifndef STRATA_BASE_UTF8_H
#define STRATA_BASE_UTF8_H

#include <stdint.h>

#include "base/str.h"

/* Length in bytes of the well-formed sequence at `i`, or 0 when there is none. */
size_t utf8_len(struct str s, size_t i);

/* The same, but 0 also for what could move the cursor or turn the text around on a terminal:
 * control characters (the C1 ones too) and bidirectional overrides. */
size_t utf8_safe_len(struct str s, size_t i);

/* The bytes of a code point (of the replacement character for what is none); `out` has room for
 * four. How many they are. */
static inline size_t utf8_put(char *out, uint32_t c)
{
    if (c > 0x10ffff) c = 0xfffd;
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = n - 1; i > 0; i--, c >>= 6) out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)(first[n] | c);
    return n;
}

/* The value of a hexadecimal digit, or -1. */
static inline int utf8_hex(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Columns the string takes on a terminal: one per code point, two for wide East Asian and emoji. */
int utf8_width(struct str s);

#endif
