/* replay.c: a main for fuzz targets without a fuzzer: feeds every file of the given corpus folders
 * to the target once. A crash, hang or sanitizer report is the failure. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

enum { LONGEST_S = 60 }; /* an input that takes longer hangs */

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static int replay(const char *path)
{
    struct file_map f;
    struct err e;
    err_init(&e);
    if (file_map(&f, path, &e) < 0) {
        printf("%s: %s\n", path, e.msg);
        return -1;
    }
    /* A heap copy of the exact size, so that the sanitizer sees a read past the end. */
    size_t n = f.n;
    uint8_t *copy = mem_alloc(n);
    if (copy && n) memcpy(copy, f.p, n);
    file_unmap(&f);
    if (!copy) return -1;
    alarm(LONGEST_S);
    LLVMFuzzerTestOneInput(copy, n);
    alarm(0);
    mem_free(copy);
    return 0;
}

static void replay_folder(const char *folder, int *passed, int *failed)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        bool hidden = entries[i]->d_name[0] == '.';
        free(entries[i]);
        if (hidden) continue;
        if (getenv("FUZZ_VERBOSE")) puts(path);
        replay(path) == 0 ? ++*passed : ++*failed;
    }
    if (n >= 0) free(entries);
    else printf("%s: no such folder\n", folder), ++*failed;
}

int main(int argc, char **argv)
{
    int passed = 0, failed = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 1; i < argc; i++) replay_folder(argv[i], &passed, &failed);
    printf("%d passed, %d failed\n", passed, failed);
    return failed || !passed;
}
