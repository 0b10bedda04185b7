/* alloc_sites.c: groups device allocations inside steps by operator and place. An address that is
 * never freed again by the end of the trace was kept by the code that allocated it. */
#include "analyze/memory/memory.h"
#include "analyze/memory/memory_private.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"

enum { MOST_SITES = 4096 };

struct group {
    const struct trace *t;
    const struct context *cx;
    struct source_places *where;
    struct map site_at; /* (op, frame) -> site */
    struct map live;    /* address -> event + 1 in `line`, 0 once freed */
    struct alloc_site *sites;
    size_t n, cap;
};

static int find_site(struct group *g, row_t r, struct alloc_site **ret)
{
    const struct trace *t = g->t;
    struct place p;
    source_places_find(g->where, r, &p);
    str_id op = p.op == ROW_NONE ? STR_NONE : t->name[p.op];
    str_id frame = p.frame == ROW_NONE ? STR_NONE : t->name[p.frame];
    uint32_t *at = map_at(&g->site_at, ((uint64_t)op << 32 | frame) * 0x9e3779b97f4a7c15u);
    *ret = NULL;
    if (!at) return ERR_NOMEM;
    if (*at == MAP_NONE) {
        if (g->n == MOST_SITES) return 0;
        if (VEC_RESERVE(g->sites, g->n, g->cap, 1)) return ERR_NOMEM;
        g->sites[g->n] = (struct alloc_site){.op = op, .place = p};
        *at = (uint32_t)g->n++;
    }
    *ret = &g->sites[*at];
    if (trace_mem(t, r)->bytes > (*ret)->largest_bytes) (*ret)->place = p;
    return 0;
}

static int alloc_sites_add_event(struct group *g, row_t r, uint32_t index)
{
    const struct mem_info *m = trace_mem(g->t, r);
    uint32_t *live = map_at(&g->live, m->addr);
    if (!live) return ERR_NOMEM;
    *live = m->bytes > 0 ? index + 1 : 0;
    if (m->bytes <= 0 || steps_at(steps_of(g->cx), g->t->ts_ns[r]) == UINT32_MAX) return 0;
    struct alloc_site *s;
    TRY(find_site(g, r, &s));
    if (!s) return 0;
    s->count++;
    s->bytes += m->bytes;
    if (m->bytes > s->largest_bytes) s->largest_bytes = m->bytes;
    return 0;
}

/* What is still there at the end, of steps whose work is over. */
static int add_kept(struct group *g, const struct memory_level_line *l)
{
    const struct steps *steps = steps_of(g->cx);
    for (uint32_t i = 0; i < l->n; i++) {
        row_t r = l->levels[i].row;
        const struct mem_info *m = trace_mem(g->t, r);
        uint32_t step = steps_at(steps, g->t->ts_ns[r]);
        if (m->bytes <= 0 || step == UINT32_MAX || step + 1 >= steps->n_steps) continue;
        if (map_find(&g->live, m->addr) != i + 1) continue;
        struct alloc_site *s;
        TRY(find_site(g, r, &s));
        if (s) s->kept_bytes += m->bytes;
    }
    return 0;
}

static int alloc_sites_add_line(struct group *g, const struct memory_level_line *l)
{
    map_init(&g->live);
    int rc = 0;
    for (uint32_t i = 0; i < l->n && rc == 0; i++)
        rc = alloc_sites_add_event(g, l->levels[i].row, i);
    if (rc == 0) rc = add_kept(g, l);
    map_done(&g->live);
    return rc;
}

static int alloc_sites_largest_first(const void *a, const void *b)
{
    const struct alloc_site *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
    return (x->op > y->op) - (x->op < y->op);
}

int alloc_sites_run(const struct context *cx, struct memory *m, struct err *e)
{
    const struct memory_levels *levels = levels_of(cx);
    struct group g = {.t = cx->t, .cx = cx, .where = places_of(cx)};
    map_init(&g.site_at);
    int rc = 0;
    for (uint32_t i = 0; i < levels->n && rc == 0; i++)
        if (!memory_level_line_is_cpu(&levels->lines[i]))
            rc = alloc_sites_add_line(&g, &levels->lines[i]);
    if (rc == 0) {
        m->sites = arena_zalloc(cx->mem, g.n + 1, sizeof *m->sites);
        rc = m->sites ? 0 : ERR_NOMEM;
    }
    if (rc == 0 && g.n) {
        memcpy(m->sites, g.sites, g.n * sizeof *m->sites);
        m->n_sites = (uint32_t)g.n;
        qsort(m->sites, m->n_sites, sizeof *m->sites, alloc_sites_largest_first);
    }
    mem_free(g.sites);
    map_done(&g.site_at);
    return err_grow(e, rc);
}
