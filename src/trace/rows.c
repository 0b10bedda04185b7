/* rows.c: growing and joining columns. */
#include "trace/rows.h"

#include <string.h>

#include "base/mem.h"
#include "base/vec.h"

void rows_done(struct rows *r)
{
#define FREE(column) mem_free(r->column);
    ROW_COLUMNS(FREE)
    ROW_TABLES(FREE)
#undef FREE
    *r = (struct rows){0};
}

void rows_reset(struct rows *r)
{
    r->n = 0;
#define EMPTY(table) r->n_##table = 0;
    ROW_TABLES(EMPTY)
#undef EMPTY
}

bool rows_reserve(struct rows *r, size_t more)
{
    if (r->n + more <= r->cap) return false;
    size_t want = r->cap + r->cap / 2;
    if (want < r->n + more) want = r->n + more;
    if (want < 64) want = 64;
        /* r->cap stays the smallest capacity of all until every column has grown */
#define GROW(column)                                                \
    {                                                               \
        void *grown = mem_grow(r->column, want, sizeof *r->column); \
        if (!grown) return true;                                    \
        r->column = grown;                                          \
    }
    ROW_COLUMNS(GROW)
#undef GROW
    r->cap = want;
    return false;
}

static str_id rows_translate(const struct rows_ids *ids, str_id s)
{
    return s == STR_NONE ? s : ids->strings[s];
}

static bool append_tables(struct rows *into, const struct rows *from, const struct rows_ids *ids)
{
#define COPY(table)                                                                    \
    if (VEC_RESERVE(into->table, into->n_##table, into->cap_##table, from->n_##table)) \
        return true;                                                                   \
    if (from->n_##table)                                                               \
        memcpy(into->table + into->n_##table, from->table, from->n_##table * sizeof *from->table);
    ROW_TABLES(COPY)
#undef COPY
    for (size_t i = 0; i < from->n_ops; i++) {
        struct op_info *op = &into->ops[into->n_ops + i];
        op->dims = rows_translate(ids, op->dims);
        op->types = rows_translate(ids, op->types);
        op->concrete = rows_translate(ids, op->concrete);
    }
    return false;
}

/* Side-table positions shift by what `into` already holds. */
static void append_aux(struct rows *into, const struct rows *from)
{
    uint32_t shift[KIND_COUNT];
    const uint32_t by_table[] = {
        [TABLE_NONE] = 0,
        [TABLE_OP] = (uint32_t)into->n_ops,
        [TABLE_CALL] = (uint32_t)into->n_calls,
        [TABLE_GPU] = (uint32_t)into->n_gpu,
        [TABLE_PY] = (uint32_t)into->n_py,
        [TABLE_MEM] = (uint32_t)into->n_mem,
        [TABLE_ASYNC] = (uint32_t)into->n_asyncs,
    };
    for (int k = 0; k < KIND_COUNT; k++) shift[k] = by_table[kind_table(k)];
    uint32_t *aux = into->aux + into->n;
    for (size_t i = 0; i < from->n; i++)
        aux[i] = from->aux[i] == UINT32_MAX ? UINT32_MAX : from->aux[i] + shift[from->kind[i]];
}

bool rows_append(struct rows *into, const struct rows *from, const struct rows_ids *ids)
{
    if (rows_reserve(into, from->n) || append_tables(into, from, ids)) return true;
    if (from->n == 0) return false;
#define COPY(column) memcpy(into->column + into->n, from->column, from->n * sizeof *from->column);
    COPY(ts_ns)
    COPY(dur_ns)
    COPY(kind)
    COPY(phase)
    COPY(flags)
    COPY(src)
#undef COPY
    for (size_t i = 0; i < from->n; i++) {
        into->name[into->n + i] = ids->strings[from->name[i]];
        into->lane[into->n + i] = ids->lanes[from->lane[i]];
        into->cat[into->n + i] = ids->cats[from->cat[i]];
    }
    append_aux(into, from);
    into->n += from->n;
#define COUNT(table) into->n_##table += from->n_##table;
    ROW_TABLES(COUNT)
#undef COUNT
    return false;
}
