/* fuzz_ring.c: recordings from any bytes. The input is a .proc file and a .ring file in a row: two
 * bytes with the length of the first. What opens, as a whole or in part, must keep the promises of
 * a trace, and args must be readable. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "import/ring/rings.h"
#include "trace/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static char folder[] = "/tmp/strata-fuzz-XXXXXX";

static void clean_up(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/x-1-1.proc", folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/x-1-1.0.ring", folder);
    unlink(path);
    rmdir(folder);
}

static void put(const char *name, const uint8_t *p, size_t n)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, p, n) != (ssize_t)n) abort();
    close(fd);
}

static void read_args(const struct trace *t)
{
    struct buf b;
    buf_init(&b);
    for (row_t r = 0; r < t->n_rows && r < 50; r++)
        if (trace_args(t, r, &b, NULL) < 0) abort();
    buf_done(&b);
}

static void open_with(const struct import_options *o)
{
    struct trace *t = NULL;
    struct err e;
    err_init(&e);
    if (rings_open(folder, o, &t, &e) < 0) return;
    if (trace_verify(t, 1, &e) < 0) {
        fprintf(stderr, "%s\n", e.msg);
        abort();
    }
    read_args(t);
    trace_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    static int ready;
    if (!ready) {
        if (!mkdtemp(folder)) abort();
        atexit(clean_up);
        ready = 1;
    }
    if (n < 2) return 0;
    size_t proc = (size_t)(p[0] | p[1] << 8);
    if (proc > n - 2) proc = n - 2;
    put("x-1-1.proc", p + 2, proc);
    put("x-1-1.0.ring", p + 2 + proc, n - 2 - proc);
    open_with(&(struct import_options){.n_threads = 1});
    open_with(&(struct import_options){.n_threads = 1, .most_records = 1});
    open_with(&(struct import_options){.n_threads = 1, .most_records = 1, .has_at = true});
    return 0;
}
