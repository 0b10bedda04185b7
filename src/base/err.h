/* err.h: how every fallible function reports failure.
 *
 * A function that can fail returns 0 or one of the negative codes below and takes an optional
 * `struct err *` as its last parameter. The innermost function that knows what went wrong fills
 * it once (message, file, byte offset); callers only pass it on. Nothing here prints or exits. */
#ifndef STRATA_BASE_ERR_H
#define STRATA_BASE_ERR_H

#include <stdint.h>

enum err_code {
    ERR_NOMEM = -1,       /* an allocation failed */
    ERR_IO = -2,          /* the operating system said no */
    ERR_FORMAT = -3,      /* the input is not what it should be */
    ERR_VERSION = -4,     /* written by a version we do not read */
    ERR_UNSUPPORTED = -5, /* valid, but this build or machine cannot do it */
    ERR_LIMIT = -6,       /* a ceiling of ours was reached */
    ERR_USAGE = -7,       /* the caller's words are off */
    ERR_INTERNAL = -8,    /* our own mistake */
};

#define ERR_NO_OFFSET (-1)

struct err {
    int code;
    int64_t offset; /* byte offset in `file`, or ERR_NO_OFFSET */
    char file[256]; /* empty when no file is involved */
    char msg[512];
};

#define MUST_USE __attribute__((warn_unused_result))

/* Clears `e`; NULL is allowed everywhere an err is. */
void err_init(struct err *e);

/* Records `code` and a formatted message unless `e` already holds one. */
void err_set(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Adds where it happened. A file that is already set is kept. */
void err_at(struct err *e, const char *file, int64_t offset);

/* Propagates a negative result to the caller. */
#define TRY(expr)                        \
    do {                                 \
        int try_rc_ = (expr);            \
        if (try_rc_ < 0) return try_rc_; \
    } while (0)

/* Fails with a message: `return FAIL(e, ERR_FORMAT, "expected %c", c);`. The code is repeated so
 * that compilers and checkers see what is returned. */
#define FAIL(e, code, ...) (err_set((e), (code), __VA_ARGS__), (code))

/* The only words for ERR_NOMEM: `if (!rows) return err_nomem(e);`. */
static inline int err_nomem(struct err *e)
{
    return FAIL(e, ERR_NOMEM, "out of memory");
}

/* Words for the result of something that grows (vec, map, intern) and itself takes no `struct
 * err`: `return err_grow(e, rc);`. What is not negative is passed on as 0. */
int err_grow(struct err *e, int rc);

#endif
