/* snappy.c: literals, and copies of what came before. */
#include "import/snappy.h"

#include <stdint.h>

struct in {
    const unsigned char *p, *end;
};

static bool take(struct in *in, int n_bytes, uint32_t *ret)
{
    if (in->end - in->p < n_bytes) return false;
    *ret = 0;
    for (int i = 0; i < n_bytes; i++) *ret |= (uint32_t)*in->p++ << 8 * i;
    return true;
}

static bool read_size(struct in *in, uint64_t *ret)
{
    *ret = 0;
    for (int shift = 0; shift < 35 && in->p < in->end; shift += 7) {
        unsigned char c = *in->p++;
        *ret |= (uint64_t)(c & 0x7f) << shift;
        if (c < 0x80) return true;
    }
    return false;
}

/* An element: its length, and how far back it copies from; 0 for a literal. */
static bool read_element(struct in *in, uint32_t *ret_n, uint32_t *ret_back)
{
    uint32_t tag = *in->p++, more;
    *ret_back = 0;
    switch (tag & 3) {
    case 0:
        *ret_n = (tag >> 2) + 1;
        if (tag >> 2 < 60) return true;
        if (!take(in, (int)(tag >> 2) - 59, &more) || more == UINT32_MAX) return false;
        *ret_n = more + 1;
        return true;
    case 1:
        if (!take(in, 1, &more)) return false;
        *ret_n = (tag >> 2 & 7) + 4;
        *ret_back = tag >> 5 << 8 | more;
        return *ret_back > 0;
    default:
        if (!take(in, (tag & 3) == 2 ? 2 : 4, ret_back)) return false;
        *ret_n = (tag >> 2) + 1;
        return *ret_back > 0;
    }
}

bool snappy_unpack(struct str packed, char *to, size_t n)
{
    struct in in = {(const unsigned char *)packed.p, (const unsigned char *)packed.p + packed.n};
    uint64_t size;
    size_t at = 0;
    if (!read_size(&in, &size) || size != n) return false;
    while (in.p < in.end) {
        uint32_t len, back;
        if (!read_element(&in, &len, &back) || len > n - at || back > at) return false;
        if (back == 0) {
            if ((size_t)(in.end - in.p) < len) return false;
            memcpy(to + at, in.p, len);
            in.p += len;
        } else { /* may overlap with itself: byte by byte */
            for (uint32_t i = 0; i < len; i++) to[at + i] = to[at + i - back];
        }
        at += len;
    }
    return at == n;
}
