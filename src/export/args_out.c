/* args_out.c: gathers records until a wave of blocks is full, compresses the wave in parallel,
 * writes it. Blocks do not depend on each other, so the bytes do not depend on the threads. */
#include "export/args_out.h"

#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "export/order.h"
#include "export/packer.h"
#include "format/strata_file.h"

struct gathering {
    struct args_out *a;
    struct file_out *out;
    struct buf plain; /* records not yet written */
    struct packer packer;
};

static int add_index(struct args_out *a, uint64_t offset, struct err *e)
{
    if (VEC_RESERVE(a->index, a->n_index, a->cap_index, 1)) return err_nomem(e);
    a->index[a->n_index++] = offset;
    return 0;
}

/* Compresses and writes the first blocks of what was gathered. */
static int write_wave(struct gathering *g, struct err *e)
{
    size_t used = (size_t)PACKER_WAVE * STRATA_ARGS_BLOCK;
    if (used > g->plain.n) used = g->plain.n;
    int n = packer_run(&g->packer, str_from(g->plain.p, used), e);
    if (n < 0) return n;
    for (int i = 0; i < n; i++) {
        struct str block = packer_get(&g->packer, i);
        TRY(file_out_write(g->out, block.p, block.n, e));
        TRY(add_index(g->a, g->a->index[g->a->n_index - 1] + block.n, e));
    }
    g->plain.n -= used;
    memmove(g->plain.p, g->plain.p + used, g->plain.n);
    return 0;
}

/* Appends one record: the length is patched in once the text stands behind it. */
static int add_record(struct gathering *g, const struct trace *t, row_t r, struct err *e)
{
    struct buf *b = &g->plain;
    uint32_t n = 0;
    size_t at = b->n;
    g->a->src[r] = g->a->plain_bytes;
    buf_add(b, &n, sizeof n);
    TRY(trace_args(t, r, b, e));
    if (!buf_ok(b)) return err_nomem(e);
    size_t text = b->n - at - sizeof n;
    if (text > STRATA_ARGS_MOST)
        return FAIL(e, ERR_LIMIT, "an event has %zu bytes of args; the format allows %d", text,
                    (int)STRATA_ARGS_MOST);
    if (str_is(str_from(b->p + at + sizeof n, text), "{}")) b->n -= text;
    n = (uint32_t)(b->n - at - sizeof n);
    memcpy(b->p + at, &n, sizeof n);
    g->a->plain_bytes += sizeof n + n;
    return 0;
}

static int add_records(struct gathering *g, const struct trace *t, const row_t *rows,
                       const struct export_options *o, struct err *e)
{
    for (row_t i = 0; i < t->n_rows; i++) {
        TRY(add_record(g, t, rows[i], e));
        while (g->plain.n >= (size_t)PACKER_WAVE * STRATA_ARGS_BLOCK) TRY(write_wave(g, e));
        if (o->progress && i % 65536 == 0) o->progress(o->progress_ctx, i, t->n_rows);
    }
    return g->plain.n ? write_wave(g, e) : 0;
}

int args_out_write(struct args_out *a, const struct trace *t, struct file_out *out,
                   const struct export_options *o, struct err *e)
{
    struct gathering g = {.a = a, .out = out};
    *a = (struct args_out){0};
    row_t *rows = order_by_src(t);
    a->src = mem_alloc(t->n_rows * sizeof *a->src);
    int rc = rows && a->src ? add_index(a, 0, e) : err_nomem(e);
    if (rc == 0) rc = packer_init(&g.packer, &packer_zstd, STRATA_ARGS_BLOCK, o->n_threads, e);
    if (rc == 0) rc = add_records(&g, t, rows, o, e);
    packer_done(&g.packer);
    buf_done(&g.plain);
    mem_free(rows);
    return rc;
}

void args_out_done(struct args_out *a)
{
    mem_free(a->src);
    mem_free(a->index);
    *a = (struct args_out){0};
}
