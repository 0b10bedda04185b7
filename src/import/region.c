/* region.c: see region.h. Moving a page costs next to nothing; having a new one cleared costs more
 * than inflating text into it. */
#include "import/region.h"

#include <sys/mman.h>

#define LARGE_PAGE ((size_t)2 << 20)   /* moved as a whole, by one entry of the page table */
#define SMALLEST   ((uint64_t)1 << 30) /* reservation worth trying */

static size_t page_up(uint64_t n)
{
    return (size_t)((n + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE);
}

int region_init(struct region *r, uint64_t most, struct err *e)
{
    *r = (struct region){0};
    for (size_t want = page_up(most);; want = page_up(want / 2)) {
        size_t room = want + LARGE_PAGE;
        void *p = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p != MAP_FAILED) {
            char *aligned = (char *)p + (page_up((uintptr_t)p) - (uintptr_t)p);
            *r = (struct region){.p = aligned, .reserved = want, .mapping = p, .mapped = room};
            return 0;
        }
        if (want <= SMALLEST)
            return FAIL(e, ERR_NOMEM, "not enough address space to decompress the file");
    }
}

void region_done(struct region *r)
{
    if (r->mapping) munmap(r->mapping, r->mapped);
    *r = (struct region){0};
}

/* Moves the oldest page to the front; false when the system cannot. */
static bool move_page(struct region *r)
{
#ifdef MREMAP_DONTUNMAP
    int how = MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP;
    char *from = r->p + r->reclaimed, *to = r->p + r->committed;
    return mremap(from, LARGE_PAGE, LARGE_PAGE, how, to) == to;
#else
    return false;
#endif
}

static int new_page(struct region *r, struct err *e)
{
    char *p = r->p + r->committed;
    if (mprotect(p, LARGE_PAGE, PROT_READ | PROT_WRITE) < 0) return err_nomem(e);
    madvise(p, LARGE_PAGE, MADV_HUGEPAGE);
    return 0;
}

int region_commit(struct region *r, uint64_t upto, uint64_t released, struct err *e)
{
    if (upto > r->reserved)
        return FAIL(e, ERR_LIMIT, "the decompressed text does not fit into memory");
    while (r->committed < upto) {
        bool old = r->reclaimed + LARGE_PAGE <= released;
        if (!old || !move_page(r)) {
            if (old) madvise(r->p + r->reclaimed, LARGE_PAGE, MADV_DONTNEED);
            TRY(new_page(r, e));
        }
        if (old) r->reclaimed += LARGE_PAGE;
        r->committed += LARGE_PAGE;
    }
    return 0;
}
