/* freeze_gather.c: moves the columns into the trace, in their new order.
 *
 * Two threads move one column each, and the next into the memory of the last: so little more of it
 * is needed than the rows take anyway. The lane of a row follows from the order. */
#include "base/mem.h"
#include "base/pool.h"
#include "trace/freeze.h"

struct move {
    void **from, **to;
    size_t item_bytes;
};

struct moving {
    const struct trace *trace;
    const row_t *order;
    const struct move *moves;
    int n_moves;
};

#define GATHER(type)                                                                \
    {                                                                               \
        const type *from = *m->from;                                                \
        type *to = *m->to;                                                          \
        for (row_t i = 0; i < job->trace->n_rows; i++) to[i] = from[job->order[i]]; \
    }

static void freeze_gather_gather(const struct moving *job, const struct move *m)
{
    if (m->item_bytes == 8) GATHER(uint64_t)
    else if (m->item_bytes == 4) GATHER(uint32_t)
    else GATHER(uint8_t)
}

/* Moves all columns of one width. The memory a column moves out of is where the next one goes. */
static void move_width(const struct moving *job, size_t item_bytes)
{
    void *room = NULL;
    for (int i = 0; i < job->n_moves; i++) {
        const struct move *m = &job->moves[i];
        if (m->item_bytes != item_bytes) continue;
        if (!room) room = mem_alloc(job->trace->n_rows * item_bytes);
        if (!room) return;
        *m->to = room;
        freeze_gather_gather(job, m);
        room = *m->from;
        *m->from = NULL;
    }
    mem_free(room);
}

/* One thread takes the wide columns, the other the rest. */
static void move_share(void *ctx, int item, int worker)
{
    const struct moving *job = ctx;
    if (item == 0) {
        move_width(job, 8);
    } else {
        move_width(job, 4);
        move_width(job, 1);
    }
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

static int fill_lanes(struct trace *t)
{
    t->lane = mem_alloc(t->n_rows * sizeof *t->lane);
    if (!t->lane) return ERR_NOMEM;
    for (lane_id l = 0; l < t->n_lanes; l++)
        for (row_t r = t->lanes[l].begin; r < t->lanes[l].end; r++) t->lane[r] = l;
    return 0;
}

int freeze_gather(struct rows *r, struct trace *t, const row_t *order, int n_threads)
{
    take_tables(r, t);
    mem_free(r->lane);
    r->lane = NULL;
#define MOVE(column) {(void **)&r->column, (void **)&t->column, sizeof *t->column},
    const struct move moves[] = {ROW_OWN_COLUMNS(MOVE)};
#undef MOVE
    struct moving job = {t, order, moves, sizeof moves / sizeof *moves};
    pool_run(n_threads, 2, move_share, &job);
    for (int i = 0; i < job.n_moves; i++)
        if (!*moves[i].to) return ERR_NOMEM;
    return fill_lanes(t);
}
