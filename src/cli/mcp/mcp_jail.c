/* mcp_jail.c: see mcp_private.h. The structs and numbers are those of <linux/landlock.h>, which
 * older systems do not have. */
#include "cli/mcp/mcp_private.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule       445
#define SYS_landlock_restrict_self  446
#endif

enum {
    FS_EXECUTE = 1 << 0,
    FS_WRITE_FILE = 1 << 1,
    FS_READ_FILE = 1 << 2,
    FS_READ_DIR = 1 << 3,
    FS_ALL_OF_VERSION_1 = (1 << 13) - 1,
    RULE_PATH_BENEATH = 1
};

struct ruleset {
    uint64_t handled_access_fs;
};

struct path_beneath {
    uint64_t allowed_access;
    int32_t parent_fd;
} __attribute__((packed));

static bool allow_reading(int rules, const char *folder)
{
    int fd = open(folder, O_PATH | O_CLOEXEC);
    struct path_beneath p = {FS_READ_FILE | FS_READ_DIR, fd};
    bool ok = fd >= 0 && syscall(SYS_landlock_add_rule, rules, RULE_PATH_BENEATH, &p, 0) == 0;
    if (fd >= 0) close(fd);
    return ok;
}

bool mcp_jail_enter(const char *const *folders, uint32_t n)
{
    struct rlimit none = {0, 0};
    struct ruleset set = {FS_ALL_OF_VERSION_1};
    bool ok = setrlimit(RLIMIT_FSIZE, &none) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
    long rules = syscall(SYS_landlock_create_ruleset, &set, sizeof set, 0);
    if (rules < 0) return false;
    for (uint32_t i = 0; i < n; i++) ok &= allow_reading((int)rules, folders[i]);
    ok = ok && syscall(SYS_landlock_restrict_self, (int)rules, 0) == 0;
    close((int)rules);
    return ok;
}
