/* buf.c: appending to a growable byte string. One spare byte is always kept for the terminator. */
#include "base/buf.h"

#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"

void buf_init(struct buf *b)
{
    *b = (struct buf){0};
}

void buf_done(struct buf *b)
{
    mem_free(b->p);
    buf_init(b);
}

void buf_reset(struct buf *b)
{
    b->n = 0;
    b->failed = b->over = false;
}

char *buf_room(struct buf *b, size_t n)
{
    if (b->most && (b->n > b->most || n > b->most - b->n)) b->failed = b->over = true;
    if (b->failed || n > SIZE_MAX / 2 - b->n) {
        b->failed = true;
        return NULL;
    }
    if (b->n + n + 1 > b->cap) {
        size_t cap = b->cap + b->cap / 2;
        if (cap < b->n + n + 1) cap = b->n + n + 1;
        if (cap < 64) cap = 64;
        char *p = mem_grow(b->p, cap, 1);
        if (!p) {
            b->failed = true;
            return NULL;
        }
        b->p = p;
        b->cap = cap;
    }
    return b->p + b->n;
}

void buf_add(struct buf *b, const void *p, size_t n)
{
    char *room = buf_room(b, n);
    if (!room) return;
    if (n) memcpy(room, p, n);
    b->n += n;
    b->p[b->n] = '\0';
}

void buf_adds(struct buf *b, const char *s)
{
    buf_add(b, s, strlen(s));
}

void buf_add_str(struct buf *b, struct str s)
{
    buf_add(b, s.p, s.n);
}

void buf_addc(struct buf *b, char c)
{
    buf_add(b, &c, 1);
}

void buf_pad(struct buf *b, char c, int n)
{
    if (n <= 0) return;
    char *room = buf_room(b, (size_t)n);
    if (!room) return;
    memset(room, c, (size_t)n);
    b->n += (size_t)n;
    b->p[b->n] = '\0';
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    char *room = n < 0 ? NULL : buf_room(b, (size_t)n);
    if (room) {
        vsnprintf(room, (size_t)n + 1, fmt, again);
        b->n += (size_t)n;
    } else {
        b->failed = true;
    }
    va_end(again);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(b, fmt, ap);
    va_end(ap);
}

bool buf_ok(const struct buf *b)
{
    return !b->failed;
}

int buf_status(const struct buf *b, struct err *e)
{
    if (b->over) return ERR_LIMIT;
    return b->failed ? err_nomem(e) : 0;
}

const char *buf_c(struct buf *b)
{
    if (!b->p || b->failed) return "";
    b->p[b->n] = '\0';
    return b->p;
}
