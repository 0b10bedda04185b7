/* torture.c: runs whole commands in this process under bad luck.
 *
 *   torture alloc COMMAND...      once for every allocation, that one and all later ones failing
 *   torture cut COMMAND... FILE   once for every length of FILE, cut off there
 *   torture all FILE...           alloc for every command that takes a trace, on each FILE
 *
 * With its memory gone a command must say so (exit status 4) or give the answer it always gives:
 * a wrong answer is the one thing that is not allowed. A cut file is bad input (3) or readable (0).
 * Leaks and worse are the sanitizer's to find. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "cli/cli.h"

enum { MOST_ARGS = 16, MOST_ALLOCS = 200000, MOST_FAILURES = 5, LONGEST_S = 60 };

/* Where sanitizer reports go while the command's own standard error is thrown away. */
void __sanitizer_set_report_fd(void *fd) __attribute__((weak));

static int real_stdout, real_stderr, captured, null;
static int n_passed, n_failed;

struct result {
    int status;
    struct buf out;
};

static void put_streams(int out, int err)
{
    fflush(stdout);
    fflush(stderr);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
}

static void read_captured(struct buf *out)
{
    off_t n = lseek(captured, 0, SEEK_CUR);
    char *room = buf_room(out, (size_t)n);
    if (room && pread(captured, room, (size_t)n, 0) == n) out->n += (size_t)n;
}

/* Option parsing moves the arguments about, so every run gets a copy. */
static void run(int argc, char *const *argv, long fail_at, struct result *ret)
{
    char *copy[MOST_ARGS + 1] = {0};
    memcpy(copy, argv, (size_t)argc * sizeof *copy);
    if (ftruncate(captured, 0) < 0 || lseek(captured, 0, SEEK_SET) < 0) exit(2);
    put_streams(captured, null);
    alarm(LONGEST_S);
    mem_fail_at(fail_at);
    ret->status = cli_main(argc, copy);
    fflush(stdout);
}

static void run_end(struct result *ret)
{
    mem_fail_at(0);
    alarm(0);
    put_streams(real_stdout, real_stderr);
    buf_init(&ret->out);
    read_captured(&ret->out);
}

static void say(int argc, char *const *argv, const char *what)
{
    printf("%s:", what);
    for (int i = 1; i < argc; i++) printf(" %s", argv[i]);
    putchar('\n');
}

static void verdict(int failures, int argc, char *const *argv, const char *what)
{
    if (failures) n_failed++, say(argc, argv, what);
    else n_passed++;
}

/* Whether the k-th allocation was asked for; false ends the series. */
static bool alloc_step(int argc, char *const *argv, long k, const struct result *want,
                       int *failures)
{
    struct result got;
    run(argc, argv, k, &got);
    bool reached = mem_count() >= k;
    run_end(&got);
    bool same = got.status == want->status && str_eq(buf_str(&got.out), buf_str(&want->out));
    if (!same && (!reached || got.status != EXIT_INTERNAL)) {
        ++*failures;
        printf("allocation %ld failing: exit status %d, %zu bytes of output (normally %d, %zu)\n",
               k, got.status, got.out.n, want->status, want->out.n);
    }
    buf_done(&got.out);
    return reached && *failures < MOST_FAILURES;
}

static void torture_alloc(int argc, char *const *argv)
{
    struct result want;
    int failures = 0;
    run(argc, argv, 0, &want);
    run_end(&want);
    long k = 1;
    while (k < MOST_ALLOCS && alloc_step(argc, argv, k, &want, &failures)) k++;
    if (k == MOST_ALLOCS) failures++, printf("more than %d allocations\n", (int)MOST_ALLOCS);
    verdict(failures, argc, argv, "out of memory");
    buf_done(&want.out);
}

static int copy_of(const char *path, char *temp, size_t *ret_n)
{
    struct file_map f;
    int fd = mkstemp(temp);
    if (fd < 0 || file_map(&f, path, NULL) < 0) return -1;
    *ret_n = f.n;
    bool whole = write(fd, f.p, f.n) == (ssize_t)f.n;
    file_unmap(&f);
    return whole ? fd : -1;
}

static void torture_cut(int argc, char **argv)
{
    char temp[] = "/tmp/strata-cut-XXXXXX";
    size_t n = 0;
    int failures = 0;
    int fd = copy_of(argv[argc - 1], temp, &n);
    if (fd < 0) failures++, perror(argv[argc - 1]);
    char *cut_argv[MOST_ARGS + 1] = {0};
    memcpy(cut_argv, argv, (size_t)argc * sizeof *cut_argv);
    cut_argv[argc - 1] = temp;
    for (size_t len = n; fd >= 0 && len-- > 0 && failures < MOST_FAILURES;) {
        if (ftruncate(fd, (off_t)len) < 0) exit(2);
        struct result got;
        run(argc, cut_argv, 0, &got);
        run_end(&got);
        if (got.status != EXIT_OK && got.status != EXIT_BAD_INPUT) {
            failures++;
            printf("cut at byte %zu: exit status %d\n", len, got.status);
        }
        buf_done(&got.out);
    }
    close(fd);
    unlink(temp);
    verdict(failures, argc, argv, "cut short");
}

/* Every command on the list that takes a trace, in text and JSON. */
static void torture_all(char *file)
{
    for (int i = 0; cmds[i]; i++) {
        if (strcmp(cmds[i]->args, "TRACE") != 0 || cmds[i]->serves) continue;
        char strata[] = "strata", json[] = "--json";
        char *argv[] = {strata, (char *)(uintptr_t)cmds[i]->name, file, json};
        torture_alloc(3, argv);
        torture_alloc(4, argv);
    }
}

static void open_streams(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    real_stdout = dup(STDOUT_FILENO);
    real_stderr = dup(STDERR_FILENO);
    null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    captured = memfd_create("output", MFD_CLOEXEC);
    if (__sanitizer_set_report_fd) __sanitizer_set_report_fd((void *)(intptr_t)real_stderr);
}

int main(int argc, char **argv)
{
    if (argc < 3 || argc > MOST_ARGS) return 2;
    open_streams();
    /* The command's argv[0] stands where our own verb was. */
    if (strcmp(argv[1], "alloc") == 0) torture_alloc(argc - 1, argv + 1);
    else if (strcmp(argv[1], "cut") == 0) torture_cut(argc - 1, argv + 1);
    else
        for (int i = 2; i < argc; i++) torture_all(argv[i]);
    printf("%d passed, %d failed\n", n_passed, n_failed);
    return n_failed || !n_passed;
}
