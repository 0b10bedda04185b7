/* importer.h: any bytes through a reader. What opens must keep the promises of a trace. */
#ifndef STRATA_TESTS_FUZZ_IMPORTER_H
#define STRATA_TESTS_FUZZ_IMPORTER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "import/importer.h"
#include "trace/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static inline void fuzz_check(const struct trace *t)
{
    struct err e;
    err_init(&e);
    if (trace_verify(t, 1, &e) == 0) return;
    fprintf(stderr, "%s\n", e.msg);
    abort();
}

/* The trace, or NULL where the reader refuses. */
static inline struct trace *fuzz_open(const struct importer *format, const uint8_t *p, size_t n,
                                      const struct import_options *o)
{
    char *copy = mem_zalloc(1, n + FILE_PADDING);
    struct trace *t = NULL;
    struct err e;
    if (!copy) return NULL;
    if (n) memcpy(copy, p, n);
    struct file_map f = {copy, n, false};
    err_init(&e);
    if (format->open(&f, "fuzz", o, &t, &e) < 0) return NULL;
    fuzz_check(t);
    return t;
}

static inline void fuzz_read_args(const struct trace *t)
{
    struct buf b;
    buf_init(&b);
    for (row_t r = 0; r < t->n_rows && r < 50; r++)
        if (trace_args(t, r, &b, NULL) < 0) abort();
    buf_done(&b);
}

static inline int fuzz_importer(const struct importer *format, const uint8_t *p, size_t n)
{
    struct import_options o = {.n_threads = 1};
    struct trace *t = fuzz_open(format, p, n, &o);
    if (!t) return 0;
    fuzz_read_args(t);
    trace_free(t);
    return 0;
}

#endif
