/* proto_out.h: writing protocol buffers: fields appended to a buf. A message inside another is
 * written into a buf of its own first, as its length comes before it. */
#ifndef STRATA_EXPORT_PROTO_OUT_H
#define STRATA_EXPORT_PROTO_OUT_H

#include <stdint.h>

#include "base/buf.h"

static inline void proto_varint(struct buf *b, uint64_t v)
{
    char bytes[10];
    size_t n = 0;
    for (; v >= 0x80; v >>= 7) bytes[n++] = (char)(v | 0x80);
    bytes[n++] = (char)v;
    buf_add(b, bytes, n);
}

static inline void proto_uint(struct buf *b, uint32_t field, uint64_t v)
{
    proto_varint(b, (uint64_t)field << 3);
    proto_varint(b, v);
}

/* Negative numbers take ten bytes, as in every int64 and int32 field. */
static inline void proto_int(struct buf *b, uint32_t field, int64_t v)
{
    proto_uint(b, field, (uint64_t)v);
}

static inline void proto_bytes(struct buf *b, uint32_t field, struct str s)
{
    proto_varint(b, (uint64_t)field << 3 | 2);
    proto_varint(b, s.n);
    buf_add_str(b, s);
}

static inline void proto_fixed64(struct buf *b, uint32_t field, uint64_t v)
{
    proto_varint(b, (uint64_t)field << 3 | 1);
    buf_add(b, &v, sizeof v);
}

static inline void proto_double(struct buf *b, uint32_t field, double v)
{
    uint64_t wire;
    __builtin_memcpy(&wire, &v, sizeof wire);
    proto_fixed64(b, field, wire);
}

#endif
