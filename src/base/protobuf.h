/* protobuf.h: reading protocol buffers in place: one field at a time, nothing copied.
 *
 *     struct pb m = pb_open(bytes);
 *     struct pb_field f;
 *     while (pb_next(&m, &f)) ...          f.number, f.value or f.bytes
 *     if (m.bad) ...                       what follows the last field cannot be read
 *
 * Lengths are held against the message that holds them, so bytes never reach beyond their end.
 * Messages inside messages are opened by the caller, who knows how deep that may go. */
#ifndef STRATA_BASE_PROTOBUF_H
#define STRATA_BASE_PROTOBUF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum pb_type { PB_VARINT = 0, PB_FIXED64 = 1, PB_BYTES = 2, PB_FIXED32 = 5 };

enum { PB_DEEPEST = 32 }; /* how deep readers follow messages that hold themselves */

struct pb {
    const char *p, *end;
    bool bad;
};

struct pb_field {
    uint32_t number;
    enum pb_type type;
    uint64_t value;   /* of a number, as it is on the wire; 0 for bytes */
    struct str bytes; /* of PB_BYTES, else empty */
};

static inline struct pb pb_open(struct str s)
{
    const char *p = s.n ? s.p : ""; /* an empty one may lie nowhere */
    return (struct pb){p, p + s.n, false};
}

/* The varint at the cursor; false where it is cut or longer than ten bytes. */
static inline bool pb_varint(struct pb *m, uint64_t *ret)
{
    const char *p = m->p;
    if (p < m->end && (unsigned char)*p < 0x80) { /* most are this short */
        *ret = (unsigned char)*p;
        m->p = p + 1;
        return true;
    }
    uint64_t value = 0;
    for (int shift = 0; shift < 70 && p < m->end; shift += 7) {
        unsigned char c = (unsigned char)*p++;
        if (shift < 64) value |= (uint64_t)(c & 0x7f) << shift;
        if (c & 0x80) continue;
        *ret = value;
        m->p = p;
        return true;
    }
    return false;
}

static inline bool pb_fixed(struct pb *m, size_t n, uint64_t *ret)
{
    if ((size_t)(m->end - m->p) < n) return false;
    *ret = 0;
    memcpy(ret, m->p, n); /* little-endian, as all machines we run on */
    m->p += n;
    return true;
}

static inline bool pb_bytes(struct pb *m, struct str *ret)
{
    uint64_t n;
    if (!pb_varint(m, &n) || n > (uint64_t)(m->end - m->p)) return false;
    *ret = str_from(m->p, (size_t)n);
    m->p += n;
    return true;
}

static inline bool pb_value(struct pb *m, struct pb_field *f)
{
    switch (f->type) {
    case PB_VARINT: return pb_varint(m, &f->value);
    case PB_FIXED64: return pb_fixed(m, 8, &f->value);
    case PB_FIXED32: return pb_fixed(m, 4, &f->value);
    case PB_BYTES: return pb_bytes(m, &f->bytes);
    }
    return false;
}

/* The next field; false at the end of the message, and where it cannot be read: then m->bad. */
static inline bool pb_next(struct pb *m, struct pb_field *f)
{
    uint64_t tag;
    if (m->p >= m->end || m->bad) return false;
    m->bad = !pb_varint(m, &tag) || tag >> 3 == 0 || tag >> 3 > UINT32_MAX;
    if (m->bad) return false;
    f->number = (uint32_t)(tag >> 3);
    f->type = (enum pb_type)(tag & 7);
    f->value = 0;
    f->bytes = str_from("", 0);
    m->bad = !pb_value(m, f);
    return !m->bad;
}

static inline double pb_double(uint64_t wire)
{
    double v;
    memcpy(&v, &wire, sizeof v);
    return v;
}

#endif
