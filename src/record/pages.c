/* pages.c: see pages.h. */
#include "record/pages.h"

#include <stdalign.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define CHUNK ((size_t)64 << 10)

static size_t pages_whole(size_t n)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (n + page - 1) / page * page;
}

void *pages_take(size_t n)
{
    void *p =
        mmap(NULL, pages_whole(n), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void pages_give(void *p, size_t n)
{
    if (p) munmap(p, pages_whole(n));
}

bool pages_wipe_on_fork(void *p, size_t n)
{
    return madvise(p, pages_whole(n), MADV_WIPEONFORK) == 0;
}

void pages_keep_from_child(void *p, size_t n)
{
    size_t extra = (uintptr_t)p % (size_t)sysconf(_SC_PAGESIZE);
    madvise((char *)p - extra, n + extra, MADV_DONTFORK);
}

void *pages_alloc(struct pages *p, size_t n)
{
    n = (n + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
    if (n > p->left) {
        size_t chunk = n > CHUNK ? pages_whole(n) : CHUNK;
        char *fresh = pages_take(chunk);
        if (!fresh) return NULL;
        p->at = fresh;
        p->left = chunk;
    }
    void *block = p->at;
    p->at += n;
    p->left -= n;
    return block;
}
