/* parquet_cells.c: see parquet.h. */
#include "export/parquet.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"

struct parquet_cells_at {
    size_t plain, levels; /* bytes read */
    uint64_t run;         /* cells left of this run of nulls or others */
    bool there;
};

int parquet_cells_begin(struct parquet_cells *c, const struct parquet *p, struct err *e)
{
    *c = (struct parquet_cells){p, mem_zalloc(p->n_columns + (size_t)1, sizeof *c->at)};
    if (!c->at) return err_nomem(e);
    for (uint32_t i = 0; i < p->n_columns; i++)
        if (!buf_ok(&p->values[i].plain) || !buf_ok(&p->values[i].levels)) return err_nomem(e);
    return 0;
}

void parquet_cells_done(struct parquet_cells *c)
{
    mem_free(c->at);
}

/* The next run: written ones first, then the one that is still open. */
static void parquet_cells_next_run(const struct parquet_values *v, struct parquet_cells_at *at)
{
    if (at->levels >= v->levels.n) {
        at->run = v->run;
        at->there = v->there;
        return;
    }
    uint64_t n = 0;
    for (int shift = 0; at->levels < v->levels.n; shift += 7) {
        unsigned char byte = (unsigned char)v->levels.p[at->levels++];
        n |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) break;
    }
    at->run = n >> 1;
    at->there = at->levels < v->levels.n && v->levels.p[at->levels++];
}

static uint64_t parquet_cells_take_le(const struct parquet_values *v, struct parquet_cells_at *at,
                                      size_t bytes)
{
    uint64_t n = 0;
    assert(at->plain + bytes <= v->plain.n);
    for (size_t i = 0; i < bytes; i++)
        n |= (uint64_t)(unsigned char)v->plain.p[at->plain++] << 8 * i;
    return n;
}

struct parquet_cell parquet_cells_next(struct parquet_cells *c, uint32_t column)
{
    const struct parquet_column *col = &c->p->columns[column];
    const struct parquet_values *v = &c->p->values[column];
    struct parquet_cells_at *at = &c->at[column];
    struct parquet_cell cell = {0};
    if (col->may_be_null) {
        while (!at->run) parquet_cells_next_run(v, at);
        at->run--;
        cell.is_null = !at->there;
        if (cell.is_null) return cell;
    }
    if (col->type == PARQUET_TEXT) {
        size_t n = (size_t)parquet_cells_take_le(v, at, 4);
        cell.text = str_from(v->plain.p + at->plain, n);
        at->plain += n;
        return cell;
    }
    uint64_t bits = parquet_cells_take_le(v, at, 8);
    cell.integer = (int64_t)bits;
    memcpy(&cell.number, &bits, sizeof bits);
    return cell;
}
