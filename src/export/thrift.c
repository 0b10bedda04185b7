/* thrift.c: see thrift.h. */
#include "export/thrift.h"

#include <assert.h>

void thrift_varint(struct buf *out, uint64_t v)
{
    for (; v >= 128; v >>= 7) buf_addc(out, (char)(v | 128));
    buf_addc(out, (char)v);
}

static uint64_t zigzag(int64_t v)
{
    return ((uint64_t)v << 1) ^ (v < 0 ? UINT64_MAX : 0);
}

static void field(struct thrift *t, int id, enum thrift_type type)
{
    int delta = id - t->last[t->depth];
    assert(delta > 0 && delta < 16);
    buf_addc(t->out, (char)(delta << 4 | (int)type));
    t->last[t->depth] = id;
}

void thrift_init(struct thrift *t, struct buf *out)
{
    *t = (struct thrift){.out = out};
}

void thrift_item_int(struct thrift *t, int64_t v)
{
    thrift_varint(t->out, zigzag(v));
}

void thrift_int(struct thrift *t, int id, enum thrift_type type, int64_t v)
{
    field(t, id, type);
    thrift_item_int(t, v);
}

void thrift_item_text(struct thrift *t, struct str s)
{
    thrift_varint(t->out, s.n);
    buf_add_str(t->out, s);
}

void thrift_text(struct thrift *t, int id, struct str s)
{
    field(t, id, THRIFT_BINARY);
    thrift_item_text(t, s);
}

void thrift_list(struct thrift *t, int id, enum thrift_type of, uint32_t n)
{
    field(t, id, THRIFT_LIST);
    if (n < 15) {
        buf_addc(t->out, (char)(n << 4 | (uint32_t)of));
        return;
    }
    buf_addc(t->out, (char)(0xf0 | (int)of));
    thrift_varint(t->out, n);
}

void thrift_begin(struct thrift *t, int id)
{
    if (id) field(t, id, THRIFT_STRUCT);
    t->depth++;
    assert(t->depth < THRIFT_DEPTH);
    t->last[t->depth] = 0;
}

void thrift_end(struct thrift *t)
{
    buf_addc(t->out, 0);
    if (t->depth) t->depth--;
}
