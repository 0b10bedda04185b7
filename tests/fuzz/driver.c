/* driver.c: a main for fuzz targets where there is no libFuzzer.
 *
 *   TARGET FOLDER...                                feeds every file of the folders once
 *   TARGET --fuzz SECONDS SEED LAST FOLDER...       then mutants of them, until the time is over
 *
 * A crash, hang or sanitizer report is the failure; the input of the moment is then in the file
 * LAST. The same seed makes the same mutants. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/vec.h"
#include "fuzz/mutate.h"

enum { LONGEST_S = 60, MOST_BYTES = 1 << 20, KEPT = 64, SAY_S = 60 };

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

struct input {
    uint8_t *p;
    size_t n;
};

struct inputs {
    struct input *list;
    size_t n, cap;
    int failed; /* what could not be read */
};

/* An input that takes longer hangs: of processor time, so that a busy machine makes no hang. */
static void limit(int seconds)
{
    struct itimerval t = {.it_value.tv_sec = seconds};
    setitimer(ITIMER_PROF, &t, NULL);
}

static void feed(const uint8_t *p, size_t n)
{
    limit(LONGEST_S);
    LLVMFuzzerTestOneInput(p, n);
    limit(0);
}

/* A heap copy of the exact size, so that the sanitizer sees a read past the end. */
static bool copy_of(const uint8_t *p, size_t n, struct input *ret)
{
    *ret = (struct input){mem_alloc(n ? n : 1), n};
    if (ret->p && n) memcpy(ret->p, p, n);
    return ret->p;
}

static bool read_input(const char *path, struct inputs *in)
{
    struct file_map f;
    struct err e;
    err_init(&e);
    if (file_map(&f, path, &e) < 0) {
        printf("%s: %s\n", path, e.msg);
        return false;
    }
    bool ok = VEC_RESERVE(in->list, in->n, in->cap, 1) == 0 &&
              copy_of((const uint8_t *)f.p, f.n, &in->list[in->n]);
    file_unmap(&f);
    in->n += ok;
    return ok;
}

/* Reads and feeds, so that the name of the file is known where one fails. */
static void read_folder(const char *folder, struct inputs *in)
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
        if (read_input(path, in)) feed(in->list[in->n - 1].p, in->list[in->n - 1].n);
        else in->failed++;
    }
    if (n >= 0) free(entries);
    else printf("%s: no such folder\n", folder), in->failed++;
}

/* The file LAST as memory: what is in it stays when this process ends in any way. */
struct last {
    int fd;
    uint8_t *p;
};

static bool last_open(struct last *l, const char *path)
{
    l->fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (l->fd < 0 || ftruncate(l->fd, MOST_BYTES) < 0) return false;
    l->p = mmap(NULL, MOST_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, l->fd, 0);
    return l->p != MAP_FAILED;
}

/* One mutant; now and then it takes the place of an earlier one, so that changes add up. */
static void feed_mutant(struct inputs *in, size_t n_files, struct last *l, uint64_t *state)
{
    const struct input *from = &in->list[mutate_random(state) % in->n];
    struct input mutant;
    size_t n = from->n < MOST_BYTES ? from->n : MOST_BYTES;
    if (ftruncate(l->fd, MOST_BYTES) < 0) exit(2);
    memcpy(l->p, from->p, n);
    n = mutate(l->p, n, MOST_BYTES, state);
    if (!copy_of(l->p, n, &mutant) || ftruncate(l->fd, (off_t)n) < 0) exit(2);
    feed(mutant.p, mutant.n);
    if (mutate_random(state) % 8 || VEC_RESERVE(in->list, in->n, in->cap, 1)) {
        mem_free(mutant.p);
    } else if (in->n < n_files + KEPT) {
        in->list[in->n++] = mutant;
    } else {
        struct input *old = &in->list[n_files + mutate_random(state) % KEPT];
        mem_free(old->p);
        *old = mutant;
    }
}

static int fuzz(struct inputs *in, long seconds, uint64_t seed, const char *path)
{
    struct last l;
    uint64_t state = seed * 2654435769u + 1, n_runs = 0;
    size_t n_files = in->n;
    time_t began = time(NULL), said = began;
    if (!last_open(&l, path)) return perror(path), 2;
    while (time(NULL) - began < seconds) {
        feed_mutant(in, n_files, &l, &state);
        n_runs++;
        if (time(NULL) - said < SAY_S) continue;
        said = time(NULL);
        printf("%llu mutants in %lld s\n", (unsigned long long)n_runs, (long long)(said - began));
    }
    printf("%llu mutants of %zu files in %ld s (seed %llu): no failure\n",
           (unsigned long long)n_runs, n_files, seconds, (unsigned long long)seed);
    munmap(l.p, MOST_BYTES);
    close(l.fd);
    return unlink(path);
}

int main(int argc, char **argv)
{
    struct inputs in = {0};
    bool loop = argc > 5 && strcmp(argv[1], "--fuzz") == 0;
    int rc = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = loop ? 5 : 1; i < argc; i++) read_folder(argv[i], &in);
    if (loop && in.n)
        rc = fuzz(&in, strtol(argv[2], NULL, 10), strtoull(argv[3], NULL, 10), argv[4]);
    else printf("%zu passed, %d failed\n", in.n, in.failed);
    for (size_t i = 0; i < in.n; i++) mem_free(in.list[i].p);
    rc |= in.failed || !in.n;
    mem_free(in.list);
    return rc;
}
