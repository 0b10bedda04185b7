/* thrift_in.c: see thrift_in.h. */
#include "import/thrift_in.h"

enum { DEEPEST = 32 };

static uint64_t varint(struct thrift_in *t)
{
    uint64_t v = 0;
    for (int shift = 0; shift < 70 && t->p < t->end; shift += 7) {
        unsigned char c = (unsigned char)*t->p++;
        if (shift < 64) v |= (uint64_t)(c & 0x7f) << shift;
        if (c < 0x80) return v;
    }
    t->bad = true;
    return 0;
}

static int64_t zigzag(struct thrift_in *t)
{
    uint64_t v = varint(t);
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

bool thrift_in_next(struct thrift_in *t, struct thrift_field *f)
{
    if (t->bad || t->p >= t->end) {
        t->bad = true;
        return false;
    }
    unsigned char c = (unsigned char)*t->p++;
    if (c == 0) return false;
    f->type = c & 15;
    if (c >> 4) f->id += c >> 4;
    else f->id = (int32_t)(int16_t)zigzag(t);
    if (f->id > INT16_MAX) t->bad = true;
    return !t->bad;
}

static void skip(struct thrift_in *t, int type, bool in_list, int depth);

int64_t thrift_in_int(struct thrift_in *t, const struct thrift_field *f)
{
    if (f->type == THRIFT_TRUE || f->type == THRIFT_FALSE) return f->type == THRIFT_TRUE;
    if (f->type == THRIFT_I16 || f->type == THRIFT_I32 || f->type == THRIFT_I64) return zigzag(t);
    skip(t, f->type, false, 0);
    return 0;
}

static struct str bytes(struct thrift_in *t)
{
    uint64_t n = varint(t);
    if (t->bad || n > (uint64_t)(t->end - t->p)) {
        t->bad = true;
        return str_c("");
    }
    t->p += n;
    return str_from(t->p - n, (size_t)n);
}

struct str thrift_in_text(struct thrift_in *t, const struct thrift_field *f)
{
    if (f->type == THRIFT_BINARY) return bytes(t);
    skip(t, f->type, false, 0);
    return str_c("");
}

/* Type and number of items; each takes at least a byte, but for booleans of old writers. */
static int64_t list_head(struct thrift_in *t, int *ret_type)
{
    if (t->p >= t->end) t->bad = true;
    if (t->bad) return -1;
    unsigned char c = (unsigned char)*t->p++;
    uint64_t n = c >> 4 == 15 ? varint(t) : c >> 4;
    *ret_type = c & 15;
    if (n > (uint64_t)(t->end - t->p)) t->bad = true;
    return t->bad ? -1 : (int64_t)n;
}

int64_t thrift_in_list(struct thrift_in *t, const struct thrift_field *f)
{
    int type;
    if (f->type == THRIFT_LIST) return list_head(t, &type);
    skip(t, f->type, false, 0);
    return -1;
}

static void skip_list(struct thrift_in *t, int depth)
{
    int type = 0;
    int64_t n = list_head(t, &type);
    for (int64_t i = 0; i < n && !t->bad; i++) skip(t, type, true, depth + 1);
}

static void skip_map(struct thrift_in *t, int depth)
{
    uint64_t n = varint(t);
    if (n == 0 || t->bad) return;
    if (t->p >= t->end || n > (uint64_t)(t->end - t->p)) {
        t->bad = true;
        return;
    }
    unsigned char types = (unsigned char)*t->p++;
    for (uint64_t i = 0; i < n && !t->bad; i++) {
        skip(t, types >> 4, true, depth + 1);
        skip(t, types & 15, true, depth + 1);
    }
}

static void skip_fixed(struct thrift_in *t, int n)
{
    if (t->end - t->p < n) t->bad = true;
    else t->p += n;
}

static void skip(struct thrift_in *t, int type, bool in_list, int depth)
{
    struct thrift_field f = {0};
    if (depth > DEEPEST) t->bad = true;
    if (t->bad) return;
    switch (type) {
    case THRIFT_TRUE:
    case THRIFT_FALSE:
        if (in_list) skip_fixed(t, 1); /* in a struct the type is the value */
        break;
    case THRIFT_BYTE: skip_fixed(t, 1); break;
    case THRIFT_I16:
    case THRIFT_I32:
    case THRIFT_I64: (void)varint(t); break;
    case THRIFT_DOUBLE: skip_fixed(t, 8); break;
    case THRIFT_BINARY: (void)bytes(t); break;
    case THRIFT_LIST:
    case THRIFT_SET: skip_list(t, depth); break;
    case THRIFT_MAP: skip_map(t, depth); break;
    case THRIFT_STRUCT:
        while (thrift_in_next(t, &f)) skip(t, f.type, false, depth + 1);
        break;
    default: t->bad = true; break;
    }
}

void thrift_in_skip(struct thrift_in *t, const struct thrift_field *f)
{
    skip(t, f->type, false, 0);
}
