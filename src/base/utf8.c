/* utf8.c: decoding by the table of well-formed sequences (no overlong forms, no surrogates). */
#include "base/utf8.h"

#include <stdint.h>

static size_t utf8_decode(struct str s, size_t i, uint32_t *ret)
{
    const unsigned char *p = (const unsigned char *)s.p + i;
    size_t left = s.n - i;
    if (p[0] < 0x80) {
        *ret = p[0];
        return 1;
    }
    size_t len = p[0] >= 0xf0 && p[0] < 0xf5   ? 4
                 : p[0] >= 0xe0 && p[0] < 0xf0 ? 3
                 : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
                                               : 0;
    if (!len || left < len) return 0;
    uint32_t c = p[0] & (0xffu >> (len + 1));
    for (size_t k = 1; k < len; k++) {
        if ((p[k] & 0xc0) != 0x80) return 0;
        c = c << 6 | (p[k] & 0x3f);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return 0;
    *ret = c;
    return len;
}

size_t utf8_len(struct str s, size_t i)
{
    uint32_t c;
    return utf8_decode(s, i, &c);
}

static bool is_unsafe(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029 ||
           (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0x200e ||
           c == 0x200f || c == 0x061c;
}

size_t utf8_safe_len(struct str s, size_t i)
{
    uint32_t c;
    size_t len = utf8_decode(s, i, &c);
    return len && !is_unsafe(c) ? len : 0;
}

static bool is_wide(uint32_t c)
{
    return (c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) ||
           (c >= 0xac00 && c <= 0xd7a3) || (c >= 0xf900 && c <= 0xfaff) ||
           (c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) ||
           (c >= 0x1f300 && c <= 0x1faff) || (c >= 0x20000 && c <= 0x3fffd);
}

int utf8_width(struct str s)
{
    int width = 0;
    for (size_t i = 0; i < s.n;) {
        uint32_t c = 0;
        size_t len = utf8_decode(s, i, &c);
        width += len && is_wide(c) ? 2 : 1;
        i += len ? len : 1;
    }
    return width;
}
