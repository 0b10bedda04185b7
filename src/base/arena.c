/* arena.c: a list of chunks, newest on top, twice as large as the one below up to a limit.
 *
 *   top -> [header | used ......... | free ]  -> [header | used ... ]  -> NULL            */
#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>

#include "base/mem.h"

#define ALIGN         16
#define FIRST_CHUNK   ((size_t)16 << 10)
#define LARGEST_CHUNK ((size_t)4 << 20)

/* The address sanitizer sees a chunk as one block. So that it sees those that are made of it, what
 * is not handed out is hidden from the program, and a gap lies behind each. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define HIDES 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(HIDES)
#include <sanitizer/asan_interface.h>
enum { GAP = ALIGN };
#define hide(p, n) ASAN_POISON_MEMORY_REGION(p, n)
#define show(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#else
enum { GAP = 0 };
#define hide(p, n) ((void)0)
#define show(p, n) ((void)0)
#endif

struct arena_chunk {
    struct arena_chunk *below;
    size_t cap;
    size_t used;
    _Alignas(ALIGN) char bytes[];
};

void arena_init(struct arena *a)
{
    a->top = NULL;
}

void arena_done(struct arena *a)
{
    arena_reset_to(a, (struct arena_mark){NULL, 0});
}

static struct arena_chunk *push_chunk(struct arena *a, size_t need)
{
    size_t cap = a->top ? a->top->cap * 2 : FIRST_CHUNK;
    if (cap > LARGEST_CHUNK) cap = LARGEST_CHUNK;
    if (cap < need) cap = need;
    if (cap > SIZE_MAX - sizeof(struct arena_chunk)) return NULL;
    struct arena_chunk *c = mem_alloc(sizeof *c + cap);
    if (!c) return NULL;
    c->below = a->top;
    c->cap = cap;
    c->used = 0;
    a->top = c;
    hide(c->bytes, cap);
    return c;
}

void *arena_alloc(struct arena *a, size_t size)
{
    if (size > SIZE_MAX - ALIGN - GAP || mem_refuses_block()) return NULL;
    size_t need = ((size + ALIGN - 1) & ~(size_t)(ALIGN - 1)) + GAP;
    struct arena_chunk *c = a->top;
    if (!c || c->cap - c->used < need) {
        c = push_chunk(a, need);
        if (!c) return NULL;
    }
    void *p = c->bytes + c->used;
    c->used += need;
    show(p, size);
    return p;
}

void *arena_zalloc(struct arena *a, size_t n, size_t size)
{
    if (size && n > SIZE_MAX / size) return NULL;
    void *p = arena_alloc(a, n * size);
    if (p) memset(p, 0, n * size);
    return p;
}

char *arena_strdup(struct arena *a, struct str s)
{
    char *p = arena_alloc(a, s.n + 1);
    if (!p) return NULL;
    if (s.n) memcpy(p, s.p, s.n);
    p[s.n] = '\0';
    return p;
}

char *arena_vprintf(struct arena *a, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    char *p = n < 0 ? NULL : arena_alloc(a, (size_t)n + 1);
    if (p) vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *p = arena_vprintf(a, fmt, ap);
    va_end(ap);
    return p;
}

struct arena_mark arena_mark(const struct arena *a)
{
    return (struct arena_mark){a->top, a->top ? a->top->used : 0};
}

void arena_reset_to(struct arena *a, struct arena_mark m)
{
    while (a->top != m.chunk) {
        struct arena_chunk *c = a->top;
        a->top = c->below;
        show(c->bytes, c->cap);
        mem_free(c);
    }
    if (!a->top) return;
    a->top->used = m.used;
    hide(a->top->bytes + m.used, a->top->cap - m.used);
}
