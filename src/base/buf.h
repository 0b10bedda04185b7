/* buf.h: a growable byte string for building output.
 *
 * Appending never fails visibly: the first failed allocation sets `failed`, later appends do
 * nothing, and the owner checks once at the end with buf_ok. A buffer for what a file asks for has
 * a ceiling, `most`, which its owner sets. */
#ifndef STRATA_BASE_BUF_H
#define STRATA_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct buf {
    char *p; /* terminated whenever n > 0 or after buf_c */
    size_t n;
    size_t cap;
    size_t most; /* it grows no longer than this; 0: as memory allows */
    bool failed;
    bool over; /* failed because of `most`: of what goes in, not of memory */
};

void buf_init(struct buf *b);
void buf_done(struct buf *b);
void buf_reset(struct buf *b); /* empty, memory kept */

void buf_add(struct buf *b, const void *p, size_t n);
void buf_adds(struct buf *b, const char *s);
void buf_add_str(struct buf *b, struct str s);
void buf_addc(struct buf *b, char c);
void buf_pad(struct buf *b, char c, int n); /* n copies of c, none when n <= 0 */
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list ap);

/* Room for `n` more bytes at the end, or NULL; the caller writes there and adds to b->n. */
char *buf_room(struct buf *b, size_t n);

bool buf_ok(const struct buf *b);

/* 0, ERR_NOMEM, or ERR_LIMIT where it would have grown beyond `most`, which only its owner can put
 * into words. */
struct err;
int buf_status(const struct buf *b, struct err *e);
const char *buf_c(struct buf *b); /* terminated; "" when memory ran out */
static inline struct str buf_str(const struct buf *b)
{
    return str_from(b->p, b->n);
}

#endif
