/* fuzz_pftrace.c: any bytes, as a Perfetto trace. Reading in one piece and in many small blocks
 * must come to the same trace, every promise of a trace must hold, and its args must be readable.
 */
#include "import/importer.h"

#include "importer.h"
#include "same_trace.h"

static struct trace *read_in_blocks(const uint8_t *p, size_t n, uint64_t block_bytes)
{
    struct import_options o = {.n_threads = 1, .block_bytes = block_bytes};
    return fuzz_open(&import_pftrace, p, n, &o);
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
    fuzz_read_args(whole);
    trace_free(whole);
    trace_free(pieces);
    return 0;
}
