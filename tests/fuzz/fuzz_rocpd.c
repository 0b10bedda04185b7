/* fuzz_rocpd.c: rocpd databases from any bytes. What opens must keep the promises of a trace.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "import/nsys.h"
#include "trace/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    char *copy = mem_zalloc(1, n + FILE_PADDING);
    if (!copy) return 0;
    if (n) memcpy(copy, p, n);
    struct file_map f = {copy, n, false};
    struct import_options o = {.n_threads = 1};
    struct trace *t = NULL;
    struct err e;
    err_init(&e);
    if (import_nsys.open(&f, "fuzz", &o, &t, &e) < 0) return 0;
    if (trace_verify(t, 1, &e) < 0) abort();
    trace_free(t);
    return 0;
}
