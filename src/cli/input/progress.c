/* progress.c: see input.h. */
#include "cli/input/input.h"

#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/human.h"

static double progress_now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void progress_begin(struct progress *p, const char *what, const char *name)
{
    *p = (struct progress){.what = what, .name = name};
    p->next_s = isatty(STDERR_FILENO) ? progress_now_s() + 1 : HUGE_VAL;
}

void progress_tell(struct progress *p, uint64_t done, uint64_t all)
{
    if (p->next_s == HUGE_VAL || !all) return;
    double now = progress_now_s();
    if (now < p->next_s) return;
    p->next_s = now + 0.1;
    p->shown = true;
    char name[128];
    fprintf(stderr, "\rstrata: %s %s: %.0f %% ", p->what,
            human_cut(str_c(p->name), 60, name, sizeof name), 100.0 * (double)done / (double)all);
}

void progress_end(struct progress *p)
{
    if (p->shown) fputs("\r\033[K", stderr);
    p->shown = false;
}
