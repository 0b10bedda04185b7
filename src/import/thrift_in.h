/* thrift_in.h: Thrift's compact protocol, read field by field. Whoever reads a field takes its
 * value or skips it; damage ends everything. */
#ifndef STRATA_IMPORT_THRIFT_IN_H
#define STRATA_IMPORT_THRIFT_IN_H

#include <stdint.h>

#include "base/str.h"

struct thrift_in {
    const char *p, *end;
    bool bad;
};

enum thrift_type {
    THRIFT_TRUE = 1,
    THRIFT_FALSE = 2,
    THRIFT_BYTE = 3,
    THRIFT_I16 = 4,
    THRIFT_I32 = 5,
    THRIFT_I64 = 6,
    THRIFT_DOUBLE = 7,
    THRIFT_BINARY = 8,
    THRIFT_LIST = 9,
    THRIFT_SET = 10,
    THRIFT_MAP = 11,
    THRIFT_STRUCT = 12
};

struct thrift_field {
    int32_t id; /* of the field before, to begin with: 0 */
    int type;
};

/* The next field of a struct; false at its end. */
bool thrift_in_next(struct thrift_in *t, struct thrift_field *f);

/* The value of an integer, boolean or enumeration; 0 where it is something else. */
int64_t thrift_in_int(struct thrift_in *t, const struct thrift_field *f);
struct str thrift_in_text(struct thrift_in *t, const struct thrift_field *f);

/* How many items follow; -1 where it is not a list. */
int64_t thrift_in_list(struct thrift_in *t, const struct thrift_field *f);

void thrift_in_skip(struct thrift_in *t, const struct thrift_field *f);

#endif
