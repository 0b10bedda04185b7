/* fuzz_strata.c: the reader of .strata files on any bytes: as they are, and with their checksums
 * put right, since no fuzzer guesses those. What opens is read to the end and written out again. */
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "export/export.h"
#include "import/importer.h"
#include "mend.h"
#include "trace/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static void read_all(const struct trace *t)
{
    struct buf args = {0};
    for (row_t r = 0; r < t->n_rows; r++) {
        buf_reset(&args);
        (void)trace_name(t, r);
        if (trace_args(t, r, &args, NULL) < 0) break;
        (void)trace_up(t, r, KIND_OP);
    }
    buf_done(&args);
    (void)intern_find(&t->strings, str_c("aten::mm"));
}

static void write_all(const struct trace *t)
{
    struct export_options o = {.n_threads = 1, .with_args = true, .for_perfetto = true};
    static const char *const formats[] = {"chrome", "strata", "csv", "perfetto"};
    for (int i = 0; i < 4; i++)
        if (export_find(formats[i])->write(t, "/dev/null", &o, NULL) < 0) continue;
}

static void open_file(const char *p, size_t n, bool skip_rows)
{
    char *copy = mem_zalloc(1, n + FILE_PADDING);
    if (!copy) return;
    memcpy(copy, p, n);
    struct file_map f = {copy, n, false};
    struct import_options o = {.n_threads = 1, .skip_rows = skip_rows};
    struct trace *t = NULL;
    struct err e;
    err_init(&e);
    if (import_native.open(&f, "fuzz", &o, &t, &e) < 0) return;
    if (!skip_rows) {
        read_all(t);
        write_all(t);
    }
    trace_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    char *copy = mem_alloc(n);
    if (!copy || !n) {
        mem_free(copy);
        return 0;
    }
    memcpy(copy, p, n);
    open_file(copy, n, false);
    mend_checksums(copy, n);
    open_file(copy, n, true);
    open_file(copy, n, false);
    mem_free(copy);
    return 0;
}
