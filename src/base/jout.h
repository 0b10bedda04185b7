/* jout.h: writing JSON into a buf. Commas, indentation and escaping are its business; the caller
 * opens, fills and closes. Output is always valid UTF-8 JSON, whatever bytes a trace holds. */
#ifndef STRATA_BASE_JOUT_H
#define STRATA_BASE_JOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

#define JOUT_DEPTH 32

/* A part of a document whose top is an object, for readers that take little at a time: of one of
 * its lists a page, of the others the first entries, long texts cut in the middle. The end of the
 * document says what was left out. Entries of the main list get their number, which is the same on
 * every page. */
struct jout_page {
    const char *list;   /* the main list: a key at the top; NULL where there is none */
    const char *hidden; /* a list at the top of which nothing is shown, or NULL */
    uint32_t offset;    /* its entries before this one are left out */
    uint32_t limit;     /* entries of it that are shown */
    uint32_t others;    /* entries of the other lists at the top */
    uint32_t inner;     /* entries of lists inside */
    size_t most_bytes;  /* of a text; 0: any */
    bool alone;         /* only that page, without brackets around it */

    uint32_t n; /* entries of the main list; for who writes, once it is written */

    /* For jout alone. */
    struct jout_left {
        const char *key;
        uint32_t from, shown, of;
    } left[32];
    uint32_t n_left;
    bool left_inside;
    int silent; /* the level below which nothing is written, or 0 */
    struct jout_level {
        bool is_list, is_main;
        uint32_t n, from, to; /* entries so far; those that are shown */
        const char *key;      /* of a list at the top */
    } level[JOUT_DEPTH];
};

struct jout {
    struct buf *out;
    struct jout_page *page; /* NULL: all of it */
    int depth;
    bool pretty;           /* two-space indentation, one value per line */
    bool used[JOUT_DEPTH]; /* whether something stands at this level already */
};

void jout_init(struct jout *j, struct buf *out, bool pretty);

/* The same for a part of what will be written, on one line. `p` is changed. */
void jout_init_page(struct jout *j, struct buf *out, struct jout_page *p);

/* Whether the next value, with this key, is not shown: then it need not be made. An entry of a list
 * is counted, and must not be written. */
bool jout_skips(struct jout *j, const char *key);

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
