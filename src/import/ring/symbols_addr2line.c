/* symbols_addr2line.c: see symbols.h. Its answer is, per address, a line with it, and two
 * lines per function whose code was put there, innermost first: its name, and FILE:LINE; "??" and 0
 * where it does not know. */
#include "import/ring/symbols.h"

#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BATCH = 256, FIXED = 6, DIGITS = 24 };

static pid_t symbols_addr2line_start(const char *path, const uint64_t *addresses, size_t n,
                                     int *ret_fd)
{
    char *argv[FIXED + BATCH + 1], digits[BATCH][DIGITS];
    int ends[2];
    pid_t pid = -1;
    posix_spawn_file_actions_t files;
    argv[0] = (char *)"addr2line";
    argv[1] = (char *)"-a";
    argv[2] = (char *)"-i";
    argv[3] = (char *)"-f";
    argv[4] = (char *)"-e";
    argv[5] = (char *)path;
    for (size_t i = 0; i < n; i++) {
        snprintf(digits[i], DIGITS, "0x%" PRIx64, addresses[i]);
        argv[FIXED + i] = digits[i];
    }
    argv[FIXED + n] = NULL;
    if (pipe2(ends, O_CLOEXEC) < 0) return -1;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawnp(&pid, argv[0], &files, NULL, argv, environ) != 0) pid = -1;
    posix_spawn_file_actions_destroy(&files);
    close(ends[1]);
    if (pid < 0) close(ends[0]);
    *ret_fd = ends[0];
    return pid;
}

/* "FILE:LINE" with perhaps a remark behind; ?? where it is not known. */
static int symbols_addr2line_take_place(char *text, struct arena *mem, struct symbol *ret)
{
    char *colon = strrchr(text, ':');
    if (!colon || text[0] == '?') return 0;
    long line = strtol(colon + 1, NULL, 10);
    *colon = 0;
    if (line <= 0 || line > INT32_MAX) return 0;
    ret->line = (uint32_t)line;
    ret->file = arena_strdup(mem, str_c(text));
    return ret->file ? 0 : ERR_NOMEM;
}

/* One function at an address: it counts unless one further in has done so, or is of a header that
 * only hands on. */
static int take_function(const char *function, char *place, struct arena *mem, struct symbol *ret)
{
    if (ret->file && !symbol_hands_on(ret->file)) return 0;
    struct symbol s = {0};
    if (function[0] != '?' && !(s.function = arena_strdup(mem, str_c(function)))) return ERR_NOMEM;
    if (symbols_addr2line_take_place(place, mem, &s) < 0) return ERR_NOMEM;
    if (s.file || !ret->function) *ret = s;
    return 0;
}

static int read_answers(FILE *f, size_t n, struct arena *mem, struct symbol *ret)
{
    char line[4096], place[4096];
    size_t i = 0; /* addresses begun */
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "0x", 2) == 0) {
            if (++i > n) return 0;
            continue;
        }
        if (!i || !fgets(place, sizeof place, f)) return 0;
        place[strcspn(place, "\n")] = 0;
        if (take_function(line, place, mem, &ret[i - 1]) < 0) return ERR_NOMEM;
    }
    return 0;
}

static int symbols_addr2line_ask(const char *path, const uint64_t *addresses, size_t n,
                                 struct arena *mem, struct symbol *ret)
{
    int fd, status;
    pid_t pid = symbols_addr2line_start(path, addresses, n, &fd);
    if (pid < 0) return 0;
    FILE *f = fdopen(fd, "r");
    int rc = f ? read_answers(f, n, mem, ret) : 0;
    if (f) fclose(f);
    else close(fd);
    (void)waitpid(pid, &status, 0);
    return rc;
}

int symbols_addr2line(const char *path, const uint64_t *addresses, size_t n, struct arena *mem,
                      struct symbol *ret)
{
    for (size_t i = 0; i < n; i += BATCH) {
        size_t batch = n - i < BATCH ? n - i : BATCH;
        int rc = symbols_addr2line_ask(path, addresses + i, batch, mem, ret + i);
        if (rc < 0) return rc;
    }
    return 0;
}
