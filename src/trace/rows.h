/* rows.h: rows before they are frozen: columns and side tables that grow together.
 *
 * Both a part (one worker's share) and the builder (all of them so far) are made of these. */
#ifndef STRATA_TRACE_ROWS_H
#define STRATA_TRACE_ROWS_H

#include "trace/trace.h"

/* Columns of a row and side tables, each listed once; the names are those of struct trace. */
#define ROW_OWN_COLUMNS(X) \
    X(ts_ns)               \
    X(dur_ns)              \
    X(name)                \
    X(kind)                \
    X(cat)                 \
    X(phase)               \
    X(flags)               \
    X(aux)                 \
    X(src)
#define ROW_COLUMNS(X) ROW_OWN_COLUMNS(X) X(lane)
#define ROW_TABLES(X) \
    X(ops)            \
    X(calls)          \
    X(gpu)            \
    X(py)             \
    X(mem)            \
    X(asyncs)

struct rows {
    size_t n, cap;
    int64_t *ts_ns, *dur_ns;
    str_id *name;
    uint32_t *lane;
    uint8_t *kind, *cat;
    char *phase;
    uint8_t *flags;
    uint32_t *aux;
    uint64_t *src;

    struct op_info *ops;
    struct call_info *calls;
    struct gpu_info *gpu;
    struct py_info *py;
    struct mem_info *mem;
    struct async_info *asyncs;
    size_t n_ops, n_calls, n_gpu, n_py, n_mem, n_asyncs;
    size_t cap_ops, cap_calls, cap_gpu, cap_py, cap_mem, cap_asyncs;
};

void rows_done(struct rows *r);
void rows_reset(struct rows *r); /* empty, memory kept */

/* Room for `more` rows in every column; true on failure. Side tables grow one by one. */
bool rows_reserve(struct rows *r, size_t more);

/* How the ids of one set of rows read in another. `cats` has 256 entries. */
struct rows_ids {
    const str_id *strings;
    const uint32_t *lanes;
    const uint8_t *cats;
};

/* Appends all rows and table entries of `from`, translated; true when out of memory. */
bool rows_append(struct rows *into, const struct rows *from, const struct rows_ids *ids);

#endif
