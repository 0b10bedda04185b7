/* cmd_try.c: `strata try`: a front end for the Python package, which starts the program again and
 * again with fixes applied from outside. It checks the options, starts `python -m strata._try` with
 * them and returns its exit status. */
#include "cli/cli.h"
#include "cli/recording/child.h"

static const struct opt opts[] = {
    {"fix", 'f', "FIX",
     "fix to try, can be repeated; report stands for those that the report names (default)", NULL},
    {"list", 'l', NULL, "list all fixes: what they change and when they are safe", NULL},
    {"time", 't', "TIME", "time for everything (default 15m)", NULL},
    {"output", 0, "FUNC", "compare what this function returns (default: what the unit returns)",
     NULL},
    {"units", 'n', "N",
     "end a process after this many calls or steps, unless fixes alternate in it", NULL},
    {"blocks", 0, "N",
     "at most this many rounds, for fixes that are not settled (default 5, as the time allows)",
     NULL},
    {"threshold", 0, "PCT", "ignore differences below this (default 1)", NULL},
    {"no-record", 0, NULL,
     "do not record the program: no predicted gains, and no fixes of a "
     "report",
     NULL},
    {"no-combine", 0, NULL, "do not try the best fixes together", NULL},
    {"trace", 0, NULL, "record a timeline of every fix, for strata diff", NULL},
    {"scratch", 0, NULL, "run every process in a copy of the working directory", NULL},
    {"html", 0, "FILE", "write the result as an HTML page", NULL},
    {"dir", 'o', "DIR", "folder for runs (default strata_out)", NULL},
    {"history", 0, NULL, "show how good predictions have been on this machine", NULL},
    {"python", 0, "PROGRAM", "the Python that runs strata itself (default python3)", NULL},
    {0},
};

static const char *const examples[] = {
    "strata try -- python pipe.py",
    "records once, tries the fixes that the report names, and says what they gain",
    "strata try strata_out/pipe/20260105_101502 -- python pipe.py",
    "the same with a recording that exists",
    "strata try --fix compile:unet --fix tf32 -- python pipe.py",
    "two fixes, alone and together",
    "strata try --fix loader:8 --fix fused_optimizer --time 5m -- python train.py",
    "a training loop, for five minutes",
    "strata try --history",
    "predicted and measured gains so far",
    NULL,
};

static const struct python_front front = {"strata._try", "a Python 3.10 or later"};

static int cmd_try_run(struct cli *cli, const struct opts *o, struct err *e)
{
    if (o->n_args == 0 && !opt_has(o, "list") && !opt_has(o, "history"))
        return FAIL(e, ERR_USAGE,
                    "give the program to try: strata try -- python pipe.py; strata try --help has "
                    "examples");
    double ignored = 0;
    long number = 0;
    int64_t ns = 0;
    TRY(opt_time_ns(o, "time", 1000000000, 10000000 * 1000000000LL, &ns, e));
    if (opt_has(o, "threshold")) TRY(opt_double(o, "threshold", 0.01, 100, &ignored, e));
    if (opt_has(o, "units")) TRY(opt_long(o, "units", 3, 1000000, &number, e));
    if (opt_has(o, "blocks")) TRY(opt_long(o, "blocks", 1, 100, &number, e));
    return python_front_run(&front, cli, o, e);
}

const struct cmd cmd_try = {
    .name = "try",
    .summary = "apply fixes to an unmodified program, and measure what they gain",
    .args = "[RUN|TRACE --] COMMAND [ARGUMENT...]",
    .about =
        "Tests fixes on a Python program without editing it, and measures each against the "
        "unchanged program. Fixes that can be switched at run time alternate inside one process; "
        "the others run in fresh processes that alternate. The fixes are those that the report "
        "of a recording names, or those of --fix.\n"
        "What to time is detected: calls of a diffusers pipeline or of generate(), optimizer "
        "steps, DataLoader batches, calls of the outermost module, or otherwise the whole "
        "program. Warm-up and compilation are reported separately.\n"
        "The result says whether a difference is real, whether the outputs are the same, which "
        "combination is best, and what code to write for it. The program's output is passed on "
        "once; afterwards it goes to files in the folder of each trial. The table goes to "
        "standard error, or with --json to standard output. The exit status is the program's.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_RECORD,
    .min_args = 0,
    .max_args = -1,
    .passes_args = true,
    .run = cmd_try_run,
};
