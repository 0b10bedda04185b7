/* jout.h: writing JSON into a buf. Commas, indentation and escaping are its business; the caller
 * opens, fills and closes. Output is always valid UTF-8 JSON, whatever bytes a trace holds. */
#ifndef STRATA_BASE_JOUT_H
#define STRATA_BASE_JOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

#define JOUT_DEPTH 32

struct jout {
    struct buf *out;
    int depth;
    bool pretty;           /* two-space indentation, one value a line */
    bool used[JOUT_DEPTH]; /* whether something stands at this level already */
};

void jout_init(struct jout *j, struct buf *out, bool pretty);

/* `key` is NULL inside arrays and at the top. */
void jout_obj(struct jout *j, const char *key);
void jout_end_obj(struct jout *j);
void jout_arr(struct jout *j, const char *key);
void jout_end_arr(struct jout *j);

void jout_str(struct jout *j, const char *key, struct str s);
void jout_cstr(struct jout *j, const char *key, const char *s); /* NULL writes null */
void jout_int(struct jout *j, const char *key, int64_t v);
void jout_uint(struct jout *j, const char *key, uint64_t v);
void jout_num(struct jout *j, const char *key, double v, int decimals); /* null when not finite */
void jout_bool(struct jout *j, const char *key, bool v);
void jout_null(struct jout *j, const char *key);
void jout_us(struct jout *j, const char *key, int64_t ns); /* exact microseconds, three decimals */
void jout_raw(struct jout *j, const char *key, struct str json); /* already JSON */

/* The quoted, escaped form of `s` alone. */
void jout_quote(struct buf *out, struct str s);

#endif
