/* ncu_log.c: see ncu_log.h. */
#include "dive/ncu_log.h"

#include "base/human.h"

static const struct {
    const char *sign;
    struct ncu_trouble trouble;
} known[] = {
    {"ERR_NVGPUCTRPERM",
     {"this user may not read the GPU's performance counters (ERR_NVGPUCTRPERM)",
      "run it as root (sudo -E env PATH=\"$PATH\" strata dive ...), or let an administrator set "
      "'options nvidia NVreg_RestrictProfilingToAdminUsers=0' in /etc/modprobe.d and reboot; in a "
      "container start it with --cap-add=SYS_ADMIN (driver 565 and later: PERFMON)"}},
    {"No kernels were profiled",
     {"none of the chosen kernels was launched by the program, or not often enough",
      "run the program that the trace is of, with as many steps; --skip N says how many launches "
      "of a kernel to let go by",
      true}},
    {"ResourceUnavailable",
     {"another profiler holds the GPU's counters (ResourceUnavailable)",
      "end the other profiler (nsys, dcgm: dcgmi profiling --pause) and run again"}},
    {"LibraryNotLoaded",
     {"Nsight Compute cannot reach the GPU's counters here (LibraryNotLoaded)",
      "some sandboxes and virtual machines keep them away; measure on another machine and read its "
      "report with --ncu"}},
    {"driver resource",
     {"another profiler holds the GPU's counters", "end it (nsys, dcgm) and run again"}},
    {"Failed to find metric",
     {"this version of Nsight Compute lacks a metric that was asked for",
      "install a newer one (2023.1 or later), or read a report of `ncu --set full` with --ncu"}},
    {"unrecognised option",
     {"this version of Nsight Compute does not know an option that was used",
      "install a newer one (2023.1 or later); STRATA_NCU names the one to use"}},
    {"not supported on this device",
     {"Nsight Compute does not support this GPU", "it needs a GPU of compute capability 7.0 on"}},
    {"out of memory",
     {"saving the GPU's memory between passes needs more than there is",
      "try --replay application, which runs the program once for each pass"}},
};

/* The first line that starts with "==ERROR==", without it; .n is 0 when there is none. */
static struct str first_error(struct str text)
{
    static const char mark[] = "==ERROR==";
    long at = str_find(text, mark);
    if (at < 0) return str_from("", 0);
    size_t from = (size_t)at + sizeof mark - 1, to = from;
    while (to < text.n && text.p[to] != '\n' && text.p[to] != '\r') to++;
    return str_trim(str_from(text.p + from, to - from));
}

struct ncu_trouble ncu_log_trouble(struct str text, struct arena *mem)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_has(text, known[i].sign)) return known[i].trouble;
    struct str error = first_error(text);
    if (!error.n) return (struct ncu_trouble){0};
    if (error.n > 200) error.n = 200;
    char *what = arena_printf(mem, "Nsight Compute says: " STR_FMT, STR_ARG(error));
    return (struct ncu_trouble){what ? human_clean(what) : "Nsight Compute failed",
                                "ncu's own words say most; its report can also be made by hand "
                                "(ncu --set full -o kernels ...) and read with --ncu",
                                false};
}
