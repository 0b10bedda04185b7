/* child.c: see child.h. */
#include "cli/recording/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t child_pid;

static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH};

/* A terminal sends signals to every process of the group: the child has received them already. */
static void child_forward(int number, siginfo_t *info, void *context)
{
    (void)context;
    int saved = errno;
    if (info->si_code <= 0 && child_pid > 0) kill((pid_t)child_pid, number);
    errno = saved;
}

static void forward_signals(void)
{
    struct sigaction a = {.sa_sigaction = child_forward, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigemptyset(&a.sa_mask);
    for (size_t i = 0; i < sizeof forwarded / sizeof *forwarded; i++) {
        struct sigaction old;
        /* a signal that was ignored when we started (nohup) stays ignored, also by the child */
        if (sigaction(forwarded[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN) continue;
        sigaction(forwarded[i], &a, NULL);
    }
}

static const char *stop_message;
static const char *const *stop_unfinished;

/* Only what is safe in a handler. The signal is blocked here and kills on return. */
static void child_stop(int number)
{
    if (write(STDERR_FILENO, stop_message, strlen(stop_message)) < 0) {}
    for (const char *const *file = stop_unfinished; *file; file++) unlink(*file);
    signal(number, SIG_DFL);
    raise(number);
}

void child_stop_on_signals(const char *message, const char *const *unfinished)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction a = {.sa_handler = child_stop};
    sigemptyset(&a.sa_mask);
    stop_message = message;
    stop_unfinished = unfinished;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction old;
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN) continue;
        sigaction(numbers[i], &a, NULL);
    }
}

/* If exec fails, the child reports why through a pipe that closes on exec. */
static void child_become(char **argv, int out, int tell)
{
    if (out >= 0) dup2(out, STDOUT_FILENO);
    execvp(argv[0], argv);
    int why = errno;
    if (write(tell, &why, sizeof why) < 0) _exit(126);
    _exit(why == ENOENT ? 127 : 126);
}

static void child_wait_for(pid_t pid, int *ret_status)
{
    while (waitpid(pid, ret_status, 0) < 0 && errno == EINTR) {}
    child_pid = 0;
}

/* Starts the program with `out` as its standard output, or with ours if it is negative. */
static int child_start(char **argv, int out, pid_t *ret, struct err *e)
{
    int tell[2];
    if (pipe2(tell, O_CLOEXEC) < 0) return FAIL(e, ERR_IO, "cannot start: %s", strerror(errno));
    pid_t pid = fork();
    if (pid < 0) {
        close(tell[0]);
        close(tell[1]);
        return FAIL(e, ERR_IO, "cannot start a process: %s", strerror(errno));
    }
    if (pid == 0) child_become(argv, out, tell[1]);
    child_pid = (sig_atomic_t)pid;
    forward_signals();
    close(tell[1]);
    int why = 0, status;
    ssize_t n;
    do n = read(tell[0], &why, sizeof why);
    while (n < 0 && errno == EINTR);
    close(tell[0]);
    *ret = pid;
    if (n != sizeof why) return 0;
    child_wait_for(pid, &status);
    return FAIL(e, ERR_USAGE, "cannot run %s: %s", argv[0], strerror(why));
}

int child_run(char **argv, int stdout_to_stderr, int *ret_status, struct err *e)
{
    pid_t pid;
    TRY(child_start(argv, stdout_to_stderr ? STDERR_FILENO : -1, &pid, e));
    child_wait_for(pid, ret_status);
    return 0;
}

int child_run_ticking(char **argv, child_tick *tick, void *ctx, int *ret_status, struct err *e)
{
    pid_t pid, ended;
    int rc = 0;
    TRY(child_start(argv, STDERR_FILENO, &pid, e));
    while ((ended = waitpid(pid, ret_status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
        struct timespec pause = {.tv_nsec = CHILD_TICK_MS * 1000000L};
        if (rc == 0) rc = tick(ctx, e);
        nanosleep(&pause, NULL);
    }
    child_pid = 0;
    return rc;
}

/* Reads to the end even if nothing is kept, so that the program can finish. */
static void child_read_all(int fd, struct buf *out)
{
    char piece[1 << 16];
    for (;;) {
        ssize_t n = read(fd, piece, sizeof piece);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return;
        if (out->n <= CHILD_MOST_BYTES) buf_add(out, piece, (size_t)n);
    }
}

int child_read(char **argv, struct buf *out, int *ret_status, struct err *e)
{
    int ends[2];
    pid_t pid;
    if (pipe2(ends, O_CLOEXEC) < 0) return FAIL(e, ERR_IO, "cannot start: %s", strerror(errno));
    int rc = child_start(argv, ends[1], &pid, e);
    close(ends[1]);
    if (rc == 0) {
        child_read_all(ends[0], out);
        child_wait_for(pid, ret_status);
    }
    close(ends[0]);
    if (rc < 0) return rc;
    if (out->n > CHILD_MOST_BYTES) return FAIL(e, ERR_LIMIT, "%s prints too much output", argv[0]);
    return buf_ok(out) ? 0 : err_nomem(e);
}

int child_end_alike(int status)
{
    if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
    int number = WTERMSIG(status);
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none); /* only the child's core dump is of interest */
    signal(number, SIG_DFL);
    raise(number);
    return 128 + number;
}
