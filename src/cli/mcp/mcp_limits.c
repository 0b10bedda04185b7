/* mcp_limits.c: see mcp_private.h. */
#include "cli/mcp/mcp_private.h"

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

enum { LEAST_CPU_S = 30, MOST_CPU_S = 3600, BYTES_PER_CPU_S = 10 << 20, WAITS = 20 };

#define LEAST_MEMORY    ((uint64_t)1 << 30)
#define MEMORY_PER_BYTE 64
#define FOLDER_IS_WORTH ((uint64_t)1 << 30) /* what is in it is not known yet */

static uint64_t mcp_limits_size(const char *path)
{
    struct stat st;
    if (stat(path, &st) < 0) return 0;
    return S_ISDIR(st.st_mode) ? FOLDER_IS_WORTH : (uint64_t)st.st_size;
}

struct mcp_limits mcp_limits_of(const struct mcp_path *paths, int n)
{
    uint64_t bytes = 0, most = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < n; i++)
        if (paths[i].real) bytes += mcp_limits_size(paths[i].real);
    struct mcp_limits l = {LEAST_MEMORY + bytes * MEMORY_PER_BYTE, LEAST_CPU_S};
    if (most > LEAST_MEMORY && l.memory_bytes > most) l.memory_bytes = most;
    if (bytes / BYTES_PER_CPU_S < MOST_CPU_S) l.cpu_s += (int)(bytes / BYTES_PER_CPU_S);
    else l.cpu_s = MOST_CPU_S;
    return l;
}

/* What the process can write to already: its heap, and the tables of a sanitizer. */
static uint64_t mcp_limits_data(void)
{
    unsigned long long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (f && fscanf(f, "%*u %*u %*u %*u %*u %llu", &pages) != 1) pages = 0;
    if (f) fclose(f);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Not the address space: readers reserve more of that than they ever write to. */
void mcp_limits_memory(const struct mcp_limits *l)
{
    struct rlimit now;
    uint64_t limit = mcp_limits_data() + l->memory_bytes;
    if (getrlimit(RLIMIT_DATA, &now) < 0 || now.rlim_max < limit) return;
    now.rlim_cur = now.rlim_max = limit;
    (void)(setrlimit(RLIMIT_DATA, &now) == 0);
}

void mcp_limits_call(const struct mcp_limits *l, bool begins)
{
    struct itimerval cpu = {.it_value.tv_sec = begins ? l->cpu_s : 0};
    struct itimerval waits = {.it_value.tv_sec = begins ? (time_t)l->cpu_s * WAITS : 0};
    setitimer(ITIMER_PROF, &cpu, NULL);
    setitimer(ITIMER_REAL, &waits, NULL);
}

bool mcp_limits_ended(int number)
{
    return number == SIGPROF || number == SIGALRM;
}
