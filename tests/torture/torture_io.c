/* torture_io.c: whole commands and the recorder, with every call that touches a file failing.
 *
 *   torture_io write COMMAND... -o FILE   once for every call and every kind of failure
 *   torture_io record                     the same for a program that records itself
 *
 * A command that fails says why, exits with a status of its own and leaves FILE as it was (there is
 * none, or the old one) and nothing beside it; one that succeeds has written what it always writes.
 * A program that records itself runs to its end with its own exit status, says why something is
 * missing, and what it left behind can be read or is refused. */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "import/ring/rings.h"
#include "record/recorder.h"
#include "strata/strata.h"
#include "torture/io_faults.h"
#include "trace/verify.h"

enum { MOST_ARGS = 16, MOST_CALLS = 5000, MOST_FAILURES = 5, LONGEST_S = 60, OWN_STATUS = 7 };
enum { SPANS = 200 };

static char folder[] = "/tmp/strata-io-XXXXXX";
static int n_passed, n_failed, n_tried;
static int said, null, real_stdout, real_stderr;

/* Where sanitizer reports go while the command's own standard error is captured. */
void __sanitizer_set_report_fd(void *fd) __attribute__((weak));

static void empty_folder(void)
{
    char line[128];
    snprintf(line, sizeof line, "rm -rf %s && mkdir %s", folder, folder);
    if (system(line) != 0) exit(2); /* NOLINT(cert-env33-c): a name of our own */
}

static int files_in(const char *path)
{
    DIR *d = opendir(path);
    int n = 0;
    for (struct dirent *x; d && (x = readdir(d));) n += x->d_name[0] != '.';
    if (d) closedir(d);
    return n;
}

/* ---- commands that write a file ---- */

static void put_streams(int out, int err)
{
    fflush(stdout);
    fflush(stderr);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
}

static int run(int argc, char *const *argv, long at, enum io_fault f)
{
    char *copy[MOST_ARGS + 1] = {0};
    memcpy(copy, argv, (size_t)argc * sizeof *copy);
    if (ftruncate(said, 0) < 0 || lseek(said, 0, SEEK_SET) < 0) exit(2);
    put_streams(null, said);
    alarm(LONGEST_S);
    io_fail_at(at, f);
    return cli_main(argc, copy);
}

static long run_end(void)
{
    long n = io_count();
    io_fail_at(0, IO_ERROR);
    alarm(0);
    put_streams(real_stdout, real_stderr);
    return n;
}

static struct buf bytes_of(const char *path)
{
    struct buf b;
    struct file_map f;
    buf_init(&b);
    if (file_map(&f, path, NULL) < 0) return b;
    if (f.n) buf_add(&b, f.p, f.n);
    file_unmap(&f);
    return b;
}

static const char *judge(int status, bool old, const char *path, struct str want)
{
    struct buf is = bytes_of(path);
    struct str now = buf_str(&is);
    const char *wrong = NULL;
    bool there = access(path, F_OK) == 0, whole = str_eq(now, want);
    if (status == EXIT_OK && !whole) wrong = "it says it succeeded, the file is not so";
    if (status != EXIT_OK && status != EXIT_BAD_INPUT) wrong = "an exit status of no I/O error";
    if (status != EXIT_OK && lseek(said, 0, SEEK_END) == 0) wrong = "it does not say why";
    /* what only could not be reported is whole */
    if (status != EXIT_OK && !old && there && !whole)
        wrong = "something half-written has the final name";
    if (status != EXIT_OK && old && !whole && !str_is(now, "old")) wrong = "the old file is gone";
    if (files_in(folder) != (there ? 1 : 0)) wrong = "something is left beside the file";
    buf_done(&is);
    return wrong;
}

static void fail(long k, enum io_fault f, const char *wrong)
{
    n_failed++;
    printf("call %ld, %s: %s\n", k, io_fault_name(f), wrong);
}

/* Whether there was a k-th call. */
static bool write_step(int argc, char *const *argv, long k, enum io_fault f, struct str want)
{
    const char *path = argv[argc - 1];
    bool old = k % 2 == 0;
    empty_folder();
    if (old && file_write_whole(path, "old", 3, NULL) < 0) exit(2);
    int status = run(argc, argv, k, f);
    bool reached = run_end() >= k;
    const char *wrong = judge(status, old, path, want);
    n_tried++;
    if (wrong) fail(k, f, wrong);
    return reached;
}

static void torture_write(int argc, char **argv)
{
    char path[128];
    const char *name = strrchr(argv[argc - 1], '/');
    snprintf(path, sizeof path, "%s/%s", folder, name ? name + 1 : argv[argc - 1]);
    argv[argc - 1] = path;
    empty_folder();
    int status = run(argc, argv, 0, IO_ERROR);
    run_end();
    struct buf want = bytes_of(path);
    if (status != EXIT_OK || !want.n) fail(0, IO_ERROR, "it fails without any fault");
    for (int f = 0; f < IO_FAULTS; f++)
        for (long k = 1; k < MOST_CALLS && n_failed < MOST_FAILURES; k++)
            if (!write_step(argc, argv, k, (enum io_fault)f, buf_str(&want))) break;
    buf_done(&want);
}

/* ---- a program that records itself ---- */

static void *worker(void *p)
{
    for (int i = 0; i < SPANS; i++) {
        char name[32];
        snprintf(name, sizeof name, "work %d", i % 20);
        strata_begin(name);
        strata_arg_int("i", i);
        strata_end();
    }
    return p;
}

/* What the program knows about its recording. */
struct outcome {
    bool trouble;
    uint64_t lost;
    long calls;
};

static void program(const char *dir, struct outcome *o)
{
    pthread_t t;
    if (strata_start(dir) < 0) o->trouble = true;
    strata_process_name("program");
    bool second = pthread_create(&t, NULL, worker, NULL) == 0;
    worker(NULL);
    if (second) pthread_join(t, NULL);
    strata_stop();
    o->trouble |= strata_trouble() != NULL;
    o->lost = recorder_lost();
    o->calls = io_count();
}

static int record(const char *dir, long k, enum io_fault f, struct outcome *o)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(LONGEST_S);
        io_fail_at(k, f);
        program(dir, o);
        exit(OWN_STATUS);
    }
    int status = -1;
    if (pid < 0 || waitpid(pid, &status, 0) != pid) exit(2);
    return status;
}

/* Spans that can be read again, or -1 when what is there breaks a promise of a trace. */
static long spans_in(const char *dir)
{
    struct import_options io = {.n_threads = 1};
    struct trace *t = NULL;
    if (rings_open(dir, &io, &t, NULL) < 0) return 0;
    long n = trace_verify(t, 1, NULL) < 0 ? -1 : 0;
    for (row_t r = 0; n >= 0 && r < t->n_rows; r++) n += t->kind[r] == KIND_ANNOTATION;
    trace_free(t);
    return n;
}

static bool record_step(const char *dir, long k, enum io_fault f, struct outcome *o)
{
    empty_folder();
    *o = (struct outcome){0};
    int status = record(dir, k, f, o);
    long spans = spans_in(dir);
    n_tried++;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != OWN_STATUS) fail(k, f, "the program suffers");
    else if (spans < 0) fail(k, f, "what is left breaks a promise of a trace");
    else if (spans < 2 * SPANS && !o->trouble && !o->lost) fail(k, f, "spans are lost in silence");
    return o->calls >= k;
}

static void torture_record(void)
{
    char dir[64];
    snprintf(dir, sizeof dir, "%s/run", folder);
    struct outcome *o =
        mmap(NULL, sizeof *o, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (o == MAP_FAILED) exit(2);
    record_step(dir, 0, IO_ERROR, o);
    if (o->trouble || o->lost) fail(0, IO_ERROR, "it fails without any fault");
    for (int f = 0; f < IO_FAULTS; f++)
        for (long k = 1; k < MOST_CALLS && n_failed < MOST_FAILURES; k++)
            if (!record_step(dir, k, (enum io_fault)f, o)) break;
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > MOST_ARGS || !mkdtemp(folder)) return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    real_stdout = dup(STDOUT_FILENO);
    real_stderr = dup(STDERR_FILENO);
    null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    said = memfd_create("said", MFD_CLOEXEC);
    if (__sanitizer_set_report_fd) __sanitizer_set_report_fd((void *)(intptr_t)real_stderr);
    if (strcmp(argv[1], "record") == 0) torture_record();
    else torture_write(argc - 1, argv + 1); /* the command's argv[0] stands where our verb was */
    empty_folder();
    rmdir(folder);
    n_passed = n_failed == 0;
    printf("%d failures of input or output tried\n", n_tried);
    printf("%d passed, %d failed\n", n_passed, n_failed);
    return n_failed || !n_tried;
}
