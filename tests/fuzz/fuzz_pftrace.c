/* fuzz_pftrace.c: any bytes, as a Perfetto trace. Reading in one piece and in many small blocks
 * must come to the same trace, every promise of a trace must hold, and its args must be readable.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "import/pftrace.h"
#include "same_trace.h"
#include "trace/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static struct trace *read_in_blocks(const uint8_t *p, size_t n, uint64_t block_bytes)
{
    struct import_options o = {.n_threads = 1, .block_bytes = block_bytes};
    char *copy = mem_zalloc(1, n + FILE_PADDING);
    struct trace *t = NULL;
    struct err e;
    if (!copy) return NULL;
    if (n) memcpy(copy, p, n);
    struct file_map f = {copy, n, false};
    err_init(&e);
    if (import_pftrace.open(&f, "fuzz", &o, &t, &e) < 0) return NULL;
    if (trace_verify(t, 1, &e) < 0) {
        fprintf(stderr, "%s\n", e.msg);
        abort();
    }
    return t;
}

static void read_args(const struct trace *t)
{
    struct buf b;
    buf_init(&b);
    for (row_t r = 0; r < t->n_rows && r < 50; r++)
        if (trace_args(t, r, &b, NULL) < 0) abort();
    buf_done(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    (void)import_pftrace.sniff(str_from((const char *)p, n));
    struct trace *whole = read_in_blocks(p, n, 0), *pieces = read_in_blocks(p, n, 64);
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
