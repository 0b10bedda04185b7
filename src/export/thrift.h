/* thrift.h: writes Thrift's compact protocol, as much of it as the footer of a Parquet file needs.
 *
 *     thrift_init(&t, &out);
 *     thrift_int(&t, 1, THRIFT_I32, 2);
 *     thrift_list(&t, 2, THRIFT_STRUCT, n);
 *     ... n times: thrift_begin(&t); fields; thrift_end(&t);
 *     thrift_end(&t);
 *
 * Fields are written in the order of their ids. A failed append shows in the buffer. */
#ifndef STRATA_EXPORT_THRIFT_H
#define STRATA_EXPORT_THRIFT_H

#include <stdint.h>

#include "base/buf.h"

enum thrift_type {
    THRIFT_I32 = 5,
    THRIFT_I64 = 6,
    THRIFT_BINARY = 8,
    THRIFT_LIST = 9,
    THRIFT_STRUCT = 12
};

enum { THRIFT_DEPTH = 8 };

struct thrift {
    struct buf *out;
    int last[THRIFT_DEPTH]; /* id of the last field, by depth */
    int depth;
};

void thrift_init(struct thrift *t, struct buf *out); /* inside the outermost struct */
void thrift_int(struct thrift *t, int id, enum thrift_type type, int64_t v);
void thrift_text(struct thrift *t, int id, struct str s);
void thrift_list(struct thrift *t, int id, enum thrift_type of, uint32_t n);

/* A struct as a field, or as an element of a list (id 0). */
void thrift_begin(struct thrift *t, int id);
void thrift_end(struct thrift *t);

/* Elements of a list. */
void thrift_item_int(struct thrift *t, int64_t v);
void thrift_item_text(struct thrift *t, struct str s);

/* Seven bits per byte, lowest first. */
void thrift_varint(struct buf *out, uint64_t v);

#endif
