/* arena.h: memory that dies together.
 *
 * Blocks are bumped out of chunks and never freed one by one; arena_done releases all of them.
 * A mark taken with arena_mark and given back with arena_reset_to frees everything since, which
 * makes an arena usable as scratch space inside a function. */
#ifndef STRATA_BASE_ARENA_H
#define STRATA_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

#include "base/str.h"

struct arena_chunk;

struct arena {
    struct arena_chunk *top;
};

struct arena_mark {
    struct arena_chunk *chunk;
    size_t used;
};

void arena_init(struct arena *a);
void arena_done(struct arena *a);

/* NULL when out of memory. Aligned for any type; arena_zalloc clears, and checks n * size. */
void *arena_alloc(struct arena *a, size_t size);
void *arena_zalloc(struct arena *a, size_t n, size_t size);

/* A terminated copy of `s`, or NULL. */
char *arena_strdup(struct arena *a, struct str s);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *a, const char *fmt, va_list ap);

struct arena_mark arena_mark(const struct arena *a);
void arena_reset_to(struct arena *a, struct arena_mark m);

#endif
