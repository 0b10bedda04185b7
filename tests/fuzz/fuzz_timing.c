/* fuzz_timing.c: any bytes as timing.json. What is read can be printed, and reads the same again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "format/timing.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static int read_bytes(const char *path, struct str bytes, struct arena *mem, struct timing *ret)
{
    if (file_write_whole(path, bytes.p, bytes.n, NULL) < 0) abort();
    return timing_read(path, mem, ret, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    char path[] = "/tmp/strata-fuzz-XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0) abort();
    close(fd);
    struct arena mem;
    struct buf out;
    struct timing t, again;
    arena_init(&mem);
    buf_init(&out);
    if (read_bytes(path, str_from((const char *)p, n), &mem, &t) == 0) {
        timing_print(&t, &out);
        if (!buf_ok(&out) || read_bytes(path, buf_str(&out), &mem, &again) < 0) abort();
        if (again.n_stages != t.n_stages || again.rank != t.rank) abort();
        for (uint32_t i = 0; i < t.n_stages; i++)
            if (again.stages[i].count != t.stages[i].count) abort();
    }
    buf_done(&out);
    arena_done(&mem);
    unlink(path);
    return 0;
}
