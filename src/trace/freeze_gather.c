/* freeze_gather.c: moves the columns into the trace, in their new order.
 *
 * A column is freed as soon as it was moved, and no more than two are moved at a time: so little
 * more memory is needed than the rows take anyway. */
#include "base/mem.h"
#include "base/pool.h"
#include "trace/freeze.h"

enum { MOST_AT_ONCE = 2 };

struct move {
    void **from, **to;
    size_t item_bytes;
};

struct moving {
    const struct trace *trace;
    const row_t *order;
    const struct move *moves;
};

#define GATHER(type)                                                                \
    {                                                                               \
        const type *from = *m->from;                                                \
        type *to = *m->to;                                                          \
        for (row_t i = 0; i < job->trace->n_rows; i++) to[i] = from[job->order[i]]; \
    }

static void move_column(void *ctx, int item, int worker)
{
    const struct moving *job = ctx;
    const struct move *m = &job->moves[item];
    *m->to = mem_alloc(job->trace->n_rows * m->item_bytes);
    if (*m->to) {
        if (m->item_bytes == 8) GATHER(uint64_t)
        else if (m->item_bytes == 4) GATHER(uint32_t)
        else GATHER(uint8_t)
    }
    mem_free(*m->from);
    *m->from = NULL;
}

/* Side tables keep the order of the file; the rows' aux column points into them. */
static void take_tables(struct rows *r, struct trace *t)
{
#define TAKE(table)                        \
    t->table = r->table;                   \
    t->n_##table = (uint32_t)r->n_##table; \
    r->table = NULL;                       \
    r->n_##table = r->cap_##table = 0;
    ROW_TABLES(TAKE)
#undef TAKE
}

int freeze_gather(struct rows *r, struct trace *t, const row_t *order, int n_threads)
{
    take_tables(r, t);
#define MOVE(column) {(void **)&r->column, (void **)&t->column, sizeof *t->column},
    const struct move moves[] = {ROW_COLUMNS(MOVE)};
#undef MOVE
    const int n = sizeof moves / sizeof *moves;
    struct moving job = {t, order, moves};
    pool_run(n_threads < MOST_AT_ONCE ? n_threads : MOST_AT_ONCE, n, move_column, &job);
    for (int i = 0; i < n; i++)
        if (!*moves[i].to) return ERR_NOMEM;
    return 0;
}
