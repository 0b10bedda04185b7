/* fuzz_nsys_parquet.c: a folder of Parquet files from any bytes: for each file its name, a newline,
 * its length in four bytes, and what it holds. */
#include "import/nsys_parquet.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "importer.h"

enum { MOST_FILES = 64, MOST_NAME = 64 };

static char folder[64];

static void empty_folder(void)
{
    DIR *d = opendir(folder);
    int fd = d ? dirfd(d) : -1;
    for (struct dirent *x; d && (x = readdir(d));) unlinkat(fd, x->d_name, 0);
    if (d) closedir(d);
}

static void remove_folder(void)
{
    empty_folder();
    rmdir(folder);
}

/* In memory where the system has such a place. */
static void make_folder(void)
{
    if (folder[0]) return;
    const char *root = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(folder, sizeof folder, "%s/strata-fuzz-XXXXXX", root);
    if (!mkdtemp(folder)) exit(2);
    atexit(remove_folder);
}

static bool is_plain(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strchr("_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", p[i]) ||
            !p[i])
            return false;
    return n > 0 && n < MOST_NAME;
}

static void write_file(const uint8_t *name, size_t name_n, const uint8_t *p, size_t n)
{
    char path[256];
    if (!is_plain(name, name_n)) return;
    snprintf(path, sizeof path, "%s/%.*s.parquet", folder, (int)name_n, (const char *)name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) return;
    if (n && write(fd, p, n) != (ssize_t)n) exit(2);
    close(fd);
}

static void write_folder(const uint8_t *p, size_t n)
{
    for (int i = 0; i < MOST_FILES && n > 0; i++) {
        const uint8_t *line = memchr(p, '\n', n);
        uint32_t bytes;
        if (!line || n - (size_t)(line - p) < 1 + sizeof bytes) return;
        size_t name_n = (size_t)(line - p), head = name_n + 1 + sizeof bytes;
        memcpy(&bytes, line + 1, sizeof bytes);
        if (bytes > n - head) bytes = (uint32_t)(n - head);
        write_file(p, name_n, p + head, bytes);
        p += head + bytes;
        n -= head + bytes;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    struct import_options o = {.n_threads = 1};
    struct trace *t = NULL;
    struct err e;
    err_init(&e);
    make_folder();
    empty_folder();
    write_folder(p, n);
    if (!nsys_parquet_in(folder) || nsys_parquet_open(folder, &o, &t, &e) < 0) return 0;
    fuzz_check(t);
    fuzz_read_args(t);
    trace_free(t);
    return 0;
}
