/* test_control.c: a process that waits to be recorded, and those that ask it to be. */
#include "backend/control.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "backend/parts.h"
#include "backend/program/watched.h"
#include "format/control.h"
#include "record/recorder.h"
#include "recording.h"

enum { CYCLES = 1000, SHORT_MS = 5000 };

static char run_dir[64];

static int connect_to(long pid)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof at.sun_path, "%s/" CONTROL_FOLDER "/%ld", run_dir, pid);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&at, sizeof at) == 0) return fd;
    close(fd);
    return -1;
}

static int ask(const char *request)
{
    int fd = connect_to(getpid());
    if (fd >= 0) CHECK_EQ_INT(send(fd, request, strlen(request), MSG_NOSIGNAL), strlen(request));
    return fd;
}

/* A line of an answer, "" when none comes. */
static const char *told(int fd)
{
    static __thread char line[CONTROL_LINE];
    struct pollfd p = {.fd = fd, .events = POLLIN};
    size_t n = 0;
    line[0] = 0;
    while (n + 1 < sizeof line && poll(&p, 1, SHORT_MS) == 1 && recv(fd, line + n, 1, 0) == 1) {
        if (line[n] == '\n') break;
        n++;
    }
    line[n] = 0;
    return line;
}

static void check_answer(const char *request, const char *expected)
{
    int fd = ask(request);
    CHECK(fd >= 0);
    CHECK_EQ_STR(told(fd), expected);
    close(fd);
}

static void wait_in(const char *dir)
{
    snprintf(run_dir, sizeof run_dir, "%s", dir);
    setenv("STRATA_RUN", run_dir, 1);
    setenv("STRATA_LEVEL", "standby", 1);
    CHECK(parts_wanted());
    parts_wait();
    parts_wait();
}

static atomic_int switches, n_on;

static void on_switch(int on)
{
    atomic_fetch_add(&switches, 1);
    atomic_fetch_add(&n_on, on ? 1 : -1);
}

static void talk(const char *dir)
{
    struct stat st;
    char path[600];
    wait_in(dir);
    snprintf(path, sizeof path, "%s/" CONTROL_FOLDER "/%ld", run_dir, (long)getpid());
    CHECK_EQ_INT(stat(path, &st), 0);
    CHECK_EQ_INT(st.st_mode & 0777, 0600);
    parts_on_switch(on_switch);
    check_answer("status\n", "ok state=idle parts=0");
    check_answer("nonsense\n", "error unknown request");
    check_answer("snapshot\n", "error it keeps nothing: that takes strata run --keep");
    int fd = ask("begin 0\n");
    CHECK_EQ_STR(told(fd), "ok part=1");
    CHECK_EQ_INT(atomic_load(&n_on), 1);
    check_answer("status\n", "ok state=recording parts=1");
    check_answer("begin 100\n", "error it is being recorded already (part 1)");
    CHECK_EQ_INT(send(fd, "end\n", 4, 0), 4);
    CHECK_EQ_STR(told(fd), "ended part=1");
    close(fd);
    check_answer("status\n", "ok state=idle parts=1");
    fd = ask("begin 50\n"); /* ends by itself */
    CHECK_EQ_STR(told(fd), "ok part=2");
    CHECK_EQ_STR(told(fd), "ended part=2");
    close(fd);
    fd = ask("begin 0\n"); /* whoever asked is gone */
    CHECK_EQ_STR(told(fd), "ok part=3");
    close(fd);
    for (int i = 0; i < 1000 && atomic_load(&n_on); i++) usleep(1000);
    CHECK_EQ_INT(atomic_load(&n_on), 0);
    CHECK_EQ_INT(atomic_load(&switches), 6);
}

TEST(parts_are_recorded_when_somebody_asks)
{
    struct folder f;
    struct trace *t = record_in_child(talk, &f);
    REQUIRE(t != NULL);
    CHECK_EQ_INT(count_rows(t, "strata.timeline begins"), 3);
    CHECK_EQ_INT(count_rows(t, "strata.timeline ends"), 3);
    trace_free(t);
    folder_done(&f);
}

static atomic_bool enough;

static void *load(void *unused)
{
    while (!atomic_load(&enough)) {
        watched_passes(clock_ticks(recorder_clock()));
        recorder_put((struct ring_record){.kind = RING_INSTANT}, 0);
        usleep(100);
    }
    return unused;
}

static void *ask_others(void *unused)
{
    while (!atomic_load(&enough)) {
        int fd = ask("status\n");
        if (fd >= 0) CHECK(strncmp(told(fd), "ok state=", 9) == 0);
        if (fd >= 0) close(fd);
        usleep(500);
    }
    return unused;
}

static void cycle(const char *dir)
{
    pthread_t threads[3];
    wait_in(dir);
    parts_on_switch(on_switch);
    pthread_create(&threads[0], NULL, load, NULL);
    pthread_create(&threads[1], NULL, load, NULL);
    pthread_create(&threads[2], NULL, ask_others, NULL);
    for (int i = 1; i <= CYCLES; i++) {
        int part = 0, fd = ask("begin 0\n");
        CHECK_EQ_INT(sscanf(told(fd), "ok part=%d", &part), 1);
        CHECK_EQ_INT(part, i);
        if (i % 3) {
            CHECK_EQ_INT(send(fd, "end\n", 4, 0), 4);
            CHECK(strncmp(told(fd), "ended", 5) == 0);
        } else {
            shutdown(fd, SHUT_WR);
            CHECK(strncmp(told(fd), "ended", 5) == 0);
        }
        close(fd);
    }
    atomic_store(&enough, true);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    CHECK_EQ_INT(atomic_load(&switches), 2 * CYCLES);
}

TEST(a_thousand_times_on_and_off_under_load)
{
    struct folder f;
    struct trace *t = record_in_child(cycle, &f);
    REQUIRE(t != NULL);
    trace_free(t);
    folder_done(&f);
}

#if !defined(__SANITIZE_THREAD__) /* which refuses both: descriptors closed behind a thread's \
                                     back, and threads in a child of several */

/* A program that closes every descriptor, as one does that goes into the background, and opens
 * files of its own under the same numbers. */
static void close_everything(const char *dir)
{
    wait_in(dir);
    usleep(20000);
    for (int fd = 3; fd < 64; fd++) close(fd);
    int own[8];
    for (int i = 0; i < 8; i++) own[i] = open("/dev/zero", O_RDONLY);
    usleep(20000);
    int fd = connect_to(getpid());
    if (fd >= 0) close(fd);
    usleep(50000);
    for (int i = 0; i < 8; i++) {
        char byte = 1;
        CHECK_EQ_INT(read(own[i], &byte, 1), 1);
    }
    recorder_put((struct ring_record){.kind = RING_INSTANT}, 0);
}

TEST(a_program_that_closes_our_descriptors_keeps_its_own)
{
    struct folder f;
    struct trace *t = record_in_child(close_everything, &f);
    REQUIRE(t != NULL);
    trace_free(t);
    folder_done(&f);
}

/* A child has no socket until it waits itself. */
static void fork_one(const char *dir)
{
    wait_in(dir);
    pid_t child = fork();
    if (child == 0) {
        bool alone = connect_to(getpid()) < 0;
        parts_wait();
        int fd = ask("begin 0\n");
        bool works = strcmp(told(fd), "ok part=1") == 0;
        _exit(alone && works ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    CHECK_EQ_INT(status, 0);
    check_answer("status\n", "ok state=idle parts=0");
    recorder_put((struct ring_record){.kind = RING_INSTANT}, 0);
}

TEST(a_child_waits_for_itself)
{
    struct folder f;
    struct trace *t = record_in_child(fork_one, &f);
    REQUIRE(t != NULL);
    trace_free(t);
    folder_done(&f);
}

#endif

TEST_MAIN
