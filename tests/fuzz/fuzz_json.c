/* fuzz_json.c: any bytes, as a JSON trace. Reading in one piece and in many small blocks must come
 * to the same trace, every promise of a trace must hold, and the args must be readable again. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "import/import.h"
#include "same_trace.h"
#include "trace/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static struct trace *read_in_blocks(struct str text, uint64_t block_bytes)
{
    struct import_options o = {.n_threads = 1, .block_bytes = block_bytes};
    struct trace *t = NULL;
    struct err e;
    err_init(&e);
    if (import_bytes(text, "fuzz", &o, &t, &e) < 0) return NULL;
    if (trace_verify(t, 1, &e) < 0) {
        fprintf(stderr, "%s\n", e.msg);
        abort();
    }
    return t;
}

static void read_args(const struct trace *t)
{
    struct buf b;
    struct err e;
    err_init(&e);
    buf_init(&b);
    for (row_t r = 0; r < t->n_rows && r < 50; r++)
        if (trace_args(t, r, &b, &e) < 0) abort();
    buf_done(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    struct str text = str_from((const char *)p, n);
    struct trace *whole = read_in_blocks(text, 0), *pieces = read_in_blocks(text, 64);
    if (!whole != !pieces) abort();
    if (!whole) return 0;
    const char *differs = same_trace(whole, pieces);
    if (differs) {
        fprintf(stderr, "blocks make a difference: %s\n", differs);
        abort();
    }
    read_args(whole);
    trace_free(whole);
    trace_free(pieces);
    return 0;
}
