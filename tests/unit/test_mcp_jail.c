/* test_mcp_jail.c: a process that was shut in reads its folders and nothing else. */
#include "cli/mcp/mcp_private.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>

#include "base/file.h"
#include "scratch.h"
#include "test.h"

/* What the process inside found, as an exit status: a bit for each thing that went wrong. */
static int inside(const char *folder)
{
    char path[600];
    int wrong = 0;
    const char *folders[] = {folder};
    if (!mcp_jail_enter(folders, 1)) return 64; /* a kernel without it */
    snprintf(path, sizeof path, "%s/a.json", folder);
    wrong |= open(path, O_RDONLY) < 0 ? 1 : 0;
    wrong |= open("/etc/passwd", O_RDONLY) >= 0 || errno != EACCES ? 2 : 0;
    snprintf(path, sizeof path, "%s/link.json", folder);
    wrong |= open(path, O_RDONLY) >= 0 || errno != EACCES ? 4 : 0;
    snprintf(path, sizeof path, "%s/new.json", folder);
    wrong |= open(path, O_WRONLY | O_CREAT, 0600) >= 0 ? 8 : 0;
    execl("/bin/true", "/bin/true", (char *)NULL);
    return wrong; /* unless that program ran: then it is 0, and the parent would not know */
}

TEST(only_its_folder)
{
    int status = 0;
    CHECK_EQ_INT(file_write_whole(scratch("a.json"), "[]", 2, NULL), 0);
    CHECK_EQ_INT(symlink("/etc/hostname", scratch("link.json")), 0);
    pid_t pid = fork();
    if (pid == 0) _exit(inside(scratch_dir) | 16);
    REQUIRE(pid > 0 && waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status));
    if (WEXITSTATUS(status) & 64) printf("this kernel has no Landlock\n");
    else CHECK_EQ_INT(WEXITSTATUS(status), 16);
}

TEST_MAIN
