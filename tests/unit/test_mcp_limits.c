/* test_mcp_limits.c: what ends a call that never would, and what keeps memory for others. */
#include "cli/mcp/mcp_private.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "scratch.h"
#include "test.h"

static int status_of(void (*body)(void))
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        body();
        _exit(7);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    return status;
}

static bool can_map(size_t n)
{
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p != MAP_FAILED) munmap(p, n);
    return p != MAP_FAILED;
}

static void map_too_much(void)
{
    struct mcp_limits l = {64 << 20, 1};
    mcp_limits_memory(&l);
    _exit(can_map(16 << 20) && !can_map(256 << 20) ? 0 : 1);
}

static void spin(void)
{
    struct mcp_limits l = {64 << 20, 1};
    mcp_limits_call(&l, true);
    for (;;) {}
}

static void stop_in_time(void)
{
    struct mcp_limits l = {64 << 20, 1};
    mcp_limits_call(&l, true);
    mcp_limits_call(&l, false);
    struct timespec t = {.tv_sec = 0, .tv_nsec = 1000};
    nanosleep(&t, NULL);
}

TEST(memory_beyond_the_limit_is_refused)
{
    CHECK_EQ_INT(status_of(map_too_much), 0);
}

TEST(a_call_that_never_ends_is_ended)
{
    int status = status_of(spin);
    CHECK(WIFSIGNALED(status) && mcp_limits_ended(WTERMSIG(status)));
    CHECK(!mcp_limits_ended(SIGSEGV));
}

TEST(a_call_that_ends_is_not)
{
    int status = status_of(stop_in_time);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

TEST(limits_grow_with_what_is_read)
{
    FILE *f = fopen(scratch("large"), "wb");
    REQUIRE(f != NULL && ftruncate(fileno(f), 100 << 20) == 0);
    fclose(f);
    struct mcp_path paths[] = {{.real = scratch("large")}, {.real = "/nowhere"}};
    struct mcp_limits none = mcp_limits_of(paths + 1, 1), large = mcp_limits_of(paths, 2);
    CHECK(large.cpu_s > none.cpu_s && large.memory_bytes > none.memory_bytes);
}

TEST_MAIN
