/* test_pyread.c: memory that may not be there, and in a process that has forked. */
#include "backend/program/pyread.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

/* The last bytes of a page that has nothing behind it. */
static char *end_of_page(size_t n)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(p + page, page);
    return p + page - n;
}

TEST(text_ends_at_its_end)
{
    char out[96], *p = end_of_page(300);
    memset(p, 'a', 299);
    CHECK_EQ_INT((int)pyread_text(out, (uintptr_t)p, sizeof out), 95); /* cut to fit */
    CHECK_EQ_INT((int)strlen(out), 95);
    memcpy(p + 290, "Linear", 7);
    CHECK_EQ_INT((int)pyread_text(out, (uintptr_t)(p + 290), sizeof out), 6);
    CHECK_EQ_STR(out, "Linear");
}

TEST(text_ends_where_the_memory_does)
{
    char out[96], *p = end_of_page(5);
    memcpy(p, "Conv2", 5); /* and no end */
    CHECK_EQ_INT((int)pyread_text(out, (uintptr_t)p, sizeof out), 5);
    CHECK_EQ_STR(out, "Conv2");
    CHECK_EQ_INT((int)pyread_text(out, 8, sizeof out), 0);
    CHECK_EQ_STR(out, "");
}

TEST(a_child_reads_its_own_memory)
{
    static volatile int word = 1;
    int copy = 0, status = 0;
    CHECK(pyread_works());
    pid_t child = fork();
    if (child == 0) {
        word = 2;
        _exit(pyread(&copy, (uintptr_t)&word, sizeof copy) && copy == 2 ? 0 : 1);
    }
    waitpid(child, &status, 0);
    CHECK_EQ_INT(status, 0);
    CHECK(pyread(&copy, (uintptr_t)&word, sizeof copy) && copy == 1);
}

TEST_MAIN
