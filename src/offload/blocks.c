/* blocks.c: see blocks.h. */
#include "offload/blocks.h"

#include "analyze/structure/period.h"
#include "base/map.h"

struct ranges {
    const int64_t *bytes;
    uint32_t *item; /* the sizes as small keys, for period_find */
    struct arena *mem;
    uint32_t *block;
    uint32_t n_blocks;
};

/* Left and right of a row of blocks are examined again, this often at most. */
enum { MOST_DEPTH = 16 };

static int number_range(struct ranges *g, uint32_t from, uint32_t to, int depth)
{
    while (from < to) {
        struct repeat r = {0};
        struct period_seq seq = {g->item + from, g->bytes + from, to - from, 0};
        if (depth < MOST_DEPTH) TRY(period_find(&seq, g->mem, &r, NULL));
        /* equal modules in a row are not blocks */
        if (r.count < 2 || r.period < 2) break;
        TRY(number_range(g, from, from + r.begin, depth + 1));
        for (uint32_t i = 0; i < r.period * r.count; i++)
            g->block[from + r.begin + i] = g->n_blocks + i / r.period;
        g->n_blocks += r.count;
        from += r.begin + r.period * r.count;
        depth++;
    }
    for (; from < to; from++) g->block[from] = g->n_blocks++;
    return 0;
}

bool blocks_is_loose(const int64_t *bytes, const uint32_t *block, uint32_t n, uint32_t i)
{
    bool has_blocks = block[n - 1] + 1 < n;
    bool joins_left = i > 0 && (block[i - 1] == block[i] || bytes[i - 1] == bytes[i]);
    bool joins_right = i + 1 < n && (block[i + 1] == block[i] || bytes[i + 1] == bytes[i]);
    return has_blocks && !joins_left && !joins_right;
}

int blocks_number(const int64_t *bytes, uint32_t n, struct arena *mem, uint32_t *ret_block,
                  uint32_t *ret_n)
{
    struct arena_mark mark = arena_mark(mem);
    struct ranges g = {.bytes = bytes, .mem = mem};
    g.block = ret_block;
    g.item = arena_alloc(mem, (n + (size_t)1) * sizeof *g.item);
    if (!g.item) return ERR_NOMEM;
    for (uint32_t i = 0; i < n; i++) g.item[i] = (uint32_t)map_mix((uint64_t)bytes[i]);
    int rc = number_range(&g, 0, n, 0);
    arena_reset_to(mem, mark);
    *ret_n = g.n_blocks;
    return rc;
}
