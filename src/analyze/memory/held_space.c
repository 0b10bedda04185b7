/* held_space.c: what the allocator holds at the snapshot, and what of it lies unused between
 * blocks: a segment goes back to the driver only when all of it is free. */
#include <stdlib.h>

#include "analyze/memory/held.h"
#include "analyze/memory/held_private.h"

struct sums {
    int64_t used, unused, largest_free, largest_used;
    uint32_t largest_block;
};

static void held_space_add_block(const struct snapshot *s, uint32_t i, struct held_space *p,
                                 struct sums *u)
{
    const struct snap_block *b = &s->blocks[i];
    if (b->state == SNAP_INACTIVE) {
        u->unused += b->size;
        if (b->size > u->largest_free) u->largest_free = b->size;
        return;
    }
    u->used += b->size;
    if (b->size > u->largest_used || u->largest_block == HELD_NEVER) {
        u->largest_used = b->size;
        u->largest_block = i;
    }
    if (b->state == SNAP_ACTIVE) p->active_bytes += b->size;
    else p->awaiting_bytes += b->size;
    p->requested_bytes += b->requested ? b->requested : b->size;
}

static int more_free(const void *a, const void *b)
{
    const struct held_segment *x = a, *y = b;
    if (x->free_bytes != y->free_bytes) return x->free_bytes < y->free_bytes ? 1 : -1;
    return x->segment < y->segment ? -1 : x->segment > y->segment;
}

int held_space_run(const struct snapshot *s, struct arena *mem, struct held_device *d,
                   struct err *e)
{
    struct held_space *p = &d->space;
    p->stuck = arena_zalloc(mem, s->n_segments + 1, sizeof *p->stuck);
    if (!p->stuck) return err_nomem(e);
    for (uint32_t i = 0; i < s->n_segments; i++) {
        const struct snap_segment *g = &s->segments[i];
        struct sums u = {.largest_block = HELD_NEVER};
        if (g->device != d->device) continue;
        for (uint32_t k = 0; k < g->n_blocks; k++)
            held_space_add_block(s, g->first_block + k, p, &u);
        p->n_segments++;
        p->reserved_bytes += g->size;
        p->free_bytes += u.unused;
        if (u.largest_free > p->largest_free) p->largest_free = u.largest_free;
        if (!u.used) p->empty_bytes += u.unused;
        else if (u.unused)
            p->stuck[p->n_stuck++] = (struct held_segment){i, u.unused, u.largest_block};
    }
    if (p->n_stuck) qsort(p->stuck, p->n_stuck, sizeof *p->stuck, more_free);
    return 0;
}
