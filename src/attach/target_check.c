/* target_check.c: see target.h. Reasons not to enter a process, each with what to do instead. */
#include "attach/target.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

/* What a process says of itself in /proc/PID/status. */
struct status {
    char state;
    long uid, tracer, seccomp, n_filters;
    bool shadow_stack, kernel; /* the last: it has no memory of its own */
};

static bool target_read_status(long pid, struct status *s)
{
    char path[64], line[512];
    *s = (struct status){.kernel = true};
    if (pid) snprintf(path, sizeof path, "/proc/%ld/status", pid);
    else snprintf(path, sizeof path, "/proc/self/status");
    FILE *f = fopen(path, "re");
    if (!f) return false;
    while (fgets(line, sizeof line, f)) {
        char *value = strchr(line, ':');
        if (!value) continue;
        *value++ = 0;
        value += strspn(value, " \t");
        if (strcmp(line, "State") == 0) s->state = *value;
        else if (strcmp(line, "VmSize") == 0) s->kernel = false;
        else if (strcmp(line, "TracerPid") == 0) s->tracer = strtol(value, NULL, 10);
        else if (strcmp(line, "Seccomp") == 0) s->seccomp = strtol(value, NULL, 10);
        else if (strcmp(line, "Seccomp_filters") == 0) s->n_filters = strtol(value, NULL, 10);
        else if (strcmp(line, "x86_Thread_features") == 0) s->shadow_stack = strstr(value, "shstk");
        else if (strcmp(line, "Uid") == 0) {
            strtol(value, &value, 10);
            s->uid = strtol(value, NULL, 10); /* the effective one */
        }
    }
    fclose(f);
    return true;
}

static int target_check_owner(long pid, const struct status *s, struct err *e)
{
    if (s->uid == (long)geteuid()) return 0;
    return FAIL(e, ERR_UNSUPPORTED,
                "process %ld belongs to another user (%ld): run strata as that user, who also gets "
                "the recording",
                pid, s->uid);
}

/* A library is a file, and a recording a folder: both have to be the same thing for both. */
static int target_check_namespaces(long pid, struct err *e)
{
    static const char *const kinds[] = {"mnt", "pid", "user"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char path[64];
        struct stat ours, theirs;
        snprintf(path, sizeof path, "/proc/self/ns/%s", kinds[i]);
        if (stat(path, &ours) < 0) continue;
        snprintf(path, sizeof path, "/proc/%ld/ns/%s", pid, kinds[i]);
        if (stat(path, &theirs) < 0 || ours.st_ino == theirs.st_ino) continue;
        return FAIL(e, ERR_UNSUPPORTED,
                    "process %ld runs in another container (%s namespace): run strata inside it, "
                    "for instance with docker exec",
                    pid, kinds[i]);
    }
    return 0;
}

static int target_check_seccomp(long pid, const struct status *s, struct err *e)
{
    struct status own;
    if (!s->seccomp || (target_read_status(0, &own) && s->seccomp == 2 && own.seccomp == 2 &&
                        own.n_filters >= s->n_filters))
        return 0; /* that of the container that both are in */
    return FAIL(e, ERR_UNSUPPORTED,
                "process %ld has put itself under seccomp: a call that its filter forbids could "
                "end it. Start it with strata run --level standby",
                pid);
}

static int target_check_state(long pid, const struct status *s, struct err *e)
{
    if (s->kernel || s->state == 'Z' || s->state == 'X')
        return FAIL(e, ERR_USAGE, "process %ld %s", pid,
                    s->state == 'Z' || s->state == 'X' ? "has ended" : "is a thread of the kernel");
    if (s->tracer)
        return FAIL(
            e, ERR_UNSUPPORTED,
            "process %ld is being traced by process %ld (a debugger, strace): end that first", pid,
            s->tracer);
    if (s->state == 'T' || s->state == 't')
        return FAIL(e, ERR_UNSUPPORTED, "process %ld is stopped: kill -CONT %ld first", pid, pid);
    if (s->shadow_stack)
        return FAIL(e, ERR_UNSUPPORTED,
                    "process %ld runs with shadow stacks, which let no call be put in between. "
                    "Start it with strata run --level standby",
                    pid);
    return 0;
}

static bool target_has_interpreter(int fd, const Elf64_Ehdr *h)
{
    for (int i = 0; i < h->e_phnum; i++) {
        Elf64_Phdr p;
        if (pread(fd, &p, sizeof p, (off_t)(h->e_phoff + (size_t)i * sizeof p)) != sizeof p) break;
        if (p.p_type == PT_INTERP) return true;
    }
    return false;
}

static int target_check_program(long pid, struct err *e)
{
    char path[64];
    Elf64_Ehdr h;
    snprintf(path, sizeof path, "/proc/%ld/exe", pid);
    int fd = fd_open(path, O_RDONLY, 0);
    if (fd < 0)
        return FAIL(e, ERR_UNSUPPORTED, "process %ld cannot be looked into: %s", pid,
                    strerror(errno));
    bool read = pread(fd, &h, sizeof h, 0) == sizeof h;
    bool ours = read && h.e_ident[EI_CLASS] == ELFCLASS64 && h.e_machine == EM_X86_64;
    bool dynamic = ours && target_has_interpreter(fd, &h);
    close(fd);
    if (!ours)
        return FAIL(e, ERR_UNSUPPORTED, "the program of process %ld is not one of 64-bit x86", pid);
    if (dynamic) return 0;
    return FAIL(e, ERR_UNSUPPORTED,
                "the program of process %ld is linked statically: no library can be loaded into "
                "it. Record it with strata.h (docs/guides/c.md)",
                pid);
}

int target_check(long pid, struct err *e)
{
    struct status s;
    if (!target_read_status(pid, &s)) return FAIL(e, ERR_USAGE, "there is no process %ld", pid);
#if !defined(__x86_64__)
    return FAIL(e, ERR_UNSUPPORTED,
                "process %ld was not started with strata run --level standby; entering one that "
                "runs already works on x86-64 only",
                pid);
#endif
    TRY(target_check_state(pid, &s, e));
    TRY(target_check_owner(pid, &s, e));
    TRY(target_check_namespaces(pid, e));
    TRY(target_check_seccomp(pid, &s, e));
    return target_check_program(pid, e);
}
