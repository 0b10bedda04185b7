/* rank.c: see rank.h. */
#include "record/rank.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"

/* The first pair whose world is larger than one wins: inside a Slurm job, torchrun's own numbers
 * stand before those of the step that started it. */
static const struct {
    const char *rank, *world;
} launchers[] = {
    {"RANK", "WORLD_SIZE"},           {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"PMI_RANK", "PMI_SIZE"},         {"PMIX_RANK", "PMIX_SIZE"},
    {"SLURM_PROCID", "SLURM_NTASKS"},
};

static bool rank_number(const char *variable, int *ret)
{
    const char *text = getenv(variable);
    if (!text || !*text) return false;
    char *end;
    errno = 0;
    long v = strtol(text, &end, 10);
    if (errno || *end || v < 0 || v > INT_MAX) return false;
    *ret = (int)v;
    return true;
}

struct rank rank_find(void)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        struct rank r;
        if (rank_number(launchers[i].rank, &r.rank) && rank_number(launchers[i].world, &r.world) &&
            r.world > 1 && r.rank < r.world)
            return r;
    }
    return (struct rank){-1, -1};
}

/* When the process `pid` was started, in clock ticks since boot: field 22 of its stat, counted
 * after the name, which may hold anything. */
static uint64_t rank_start_of(long pid)
{
    char path[48], text[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    int fd = fd_open(path, O_RDONLY, 0);
    if (fd < 0) return 0;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0) return 0;
    text[n] = 0;
    char *p = strrchr(text, ')');
    for (int field = 2; p && field < 22; field++) p = strchr(p + 1, ' ');
    return p ? strtoull(p + 1, NULL, 10) : 0;
}

bool rank_launch_key(char *out, size_t cap)
{
    const char *inherited = getenv("STRATA_LAUNCH");
    if (inherited && *inherited) {
        snprintf(out, cap, "%s", inherited);
        return true;
    }
    if (rank_find().rank < 0) return false;
    const char *job = getenv("SLURM_JOB_ID"), *step = getenv("SLURM_STEP_ID");
    const char *elastic = getenv("TORCHELASTIC_RUN_ID");
    const char *pmix = getenv("PMIX_NAMESPACE");
    if (elastic && *elastic && strcmp(elastic, "none") != 0) {
        /* The id is the user's and may come again; the port is the rendezvous' own. */
        const char *port = getenv("MASTER_PORT"), *again = getenv("TORCHELASTIC_RESTART_COUNT");
        snprintf(out, cap, "elastic %s %s %s", elastic, port ? port : "", again ? again : "");
    } else if (job && *job) snprintf(out, cap, "slurm %s.%s", job, step ? step : "0");
    else if (pmix && *pmix) snprintf(out, cap, "pmix %s", pmix);
    else {
        /* Nothing but the launcher itself is common: good on one host. */
        long parent = (long)getppid();
        snprintf(out, cap, "parent %ld %llu", parent, (unsigned long long)rank_start_of(parent));
    }
    return true;
}
