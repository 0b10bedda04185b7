/* scratch.h: a directory of the test's own, gone when it ends. */
#ifndef STRATA_TESTS_SCRATCH_H
#define STRATA_TESTS_SCRATCH_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char scratch_dir[64];

/* The path of `name` in the directory; good until the fourth call from now. */
static inline const char *scratch(const char *name)
{
    static char path[4][512];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", scratch_dir, name);
    return path[turn];
}

static inline int scratch_count(void)
{
    int n = 0;
    DIR *d = opendir(scratch_dir);
    for (struct dirent *f; d && (f = readdir(d));) n += f->d_name[0] != '.';
    if (d) closedir(d);
    return n;
}

static inline void scratch_clear(void)
{
    DIR *d = opendir(scratch_dir);
    for (struct dirent *f; d && (f = readdir(d));) unlink(scratch(f->d_name));
    if (d) closedir(d);
}

__attribute__((constructor)) static void scratch_make(void)
{
    snprintf(scratch_dir, sizeof scratch_dir, "/tmp/strata-test-XXXXXX");
    if (!mkdtemp(scratch_dir)) scratch_dir[0] = '\0';
}

__attribute__((destructor)) static void scratch_remove(void)
{
    scratch_clear();
    rmdir(scratch_dir);
}

#endif
