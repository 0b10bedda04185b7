/* ncu_log.c: see ncu_args.h. */
#include "dive/ncu_args.h"

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
     {"the program did not launch the chosen kernels, or not often enough",
      "run the traced program with as many steps; --skip N sets how many launches of a kernel to "
      "skip first",
      true}},
    {"ResourceUnavailable",
     {"another profiler uses the GPU's counters (ResourceUnavailable)",
      "stop the other profiler (nsys, dcgm: dcgmi profiling --pause) and run again"}},
    {"LibraryNotLoaded",
     {"Nsight Compute cannot reach the GPU's counters here (LibraryNotLoaded)",
      "some sandboxes and virtual machines hide them; measure on another machine and read its "
      "report with --ncu"}},
    {"driver resource",
     {"another profiler uses the GPU's counters", "stop it (nsys, dcgm) and run again"}},
    {"Failed to find metric",
     {"this version of Nsight Compute lacks a required metric",
      "install a newer one (2023.1 or later), or read a report of `ncu --set full` with --ncu"}},
    {"unrecognised option",
     {"this version of Nsight Compute lacks a required option",
      "install a newer one (2023.1 or later); set STRATA_NCU to its path"}},
    {"not supported on this device",
     {"Nsight Compute does not support this GPU", "use a GPU of compute capability 7.0 or later"}},
    {"out of memory",
     {"there is not enough memory to save the GPU's memory between passes",
      "try --replay application, which runs the program once per pass"}},
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
                                "see ncu's message; you can also make its report by hand "
                                "(ncu --set full -o kernels ...) and read it with --ncu",
                                false};
}
