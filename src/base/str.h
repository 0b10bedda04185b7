/* str.h: a borrowed run of bytes: pointer and length, not terminated, never owned. */
#ifndef STRATA_BASE_STR_H
#define STRATA_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct str {
    const char *p;
    size_t n;
};

#define STR_FMT    "%.*s"
#define STR_ARG(s) (int)(s).n, (s).p

static inline struct str str_from(const char *p, size_t n)
{
    return (struct str){p, n};
}

static inline struct str str_c(const char *s)
{
    return (struct str){s, strlen(s)};
}

static inline bool str_eq(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool str_is(struct str a, const char *s)
{
    return str_eq(a, str_c(s));
}

/* Whether `a` begins with, ends with or contains the C string `s`. */
bool str_starts(struct str a, const char *s);
bool str_ends(struct str a, const char *s);
bool str_has(struct str a, const char *s);

/* Whether a path has a name that ends in one of the blank-separated extensions. */
bool str_ends_in_one_of(struct str path, const char *extensions);

/* Byte index of `s` in `a`, or -1. */
long str_find(struct str a, const char *s);

/* Without leading and trailing blanks. */
struct str str_trim(struct str a);

/* memcmp order, shorter first on a tie. */
int str_cmp(struct str a, struct str b);

#endif
