/* cmd_run.c: `strata run -- CMD`: any program with recording on. The environment turns recording
 * on; Python finds our sitecustomize first, which then loads the program's own. */
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/human.h"
#include "base/mem.h"
#include "base/shell.h"
#include "cli/recording/child.h"
#include "cli/recording/run_folder.h"
#include "cli/show.h"
#include "format/ring.h"
#include "record/rank.h"
#include "record/rundir.h"
#include "record/spool.h"

static const struct opt opts[] = {
    {"output", 'o', "DIR", "folder for runs (default strata_out)", NULL},
    {"pipeline", 0, "NAME", "name of the run (default: the program's name)", NULL},
    {"level", 0, "LEVEL", "what to record (default stages)", "stages|timeline|standby"},
    {"always", 0, NULL, "with --level timeline: record a long run throughout, not in parts", NULL},
    {"keep", 0, "TIME",
     "keep a timeline of the last seconds only (20s); see --slow and strata "
     "record",
     NULL},
    {"slow", 0, "FACTOR",
     "with --keep: write it out when a step or stage takes this much longer (1.5x)", NULL},
    {"ops", 0, "WHICH", "which torch operators to record in a timeline (default user)",
     "off|user|all|shapes"},
    {"depth", 0, "N",
     "record the first unit of each kind and N in a row in depth, with every operator, shape and "
     "line (default 2; 1: only the first; 0: none)",
     NULL},
    {"graphs", 0, "HOW", "record CUDA graphs by node or whole (default node)", "node|whole"},
    {"only", 0, "STAGES", "record a timeline only inside these stages: a,b or *", NULL},
    {"steps", 0, "N", "with --only: calls per stage to record (default 1)", NULL},
    {"skip", 0, "N", "with --only: calls to skip first (default 0)", NULL},
    {0},
};

static const char *const examples[] = {
    "strata run -- python pipe.py",
    "stages of a diffusers pipeline, or those the program marks",
    "strata run -- torchrun --nproc-per-node 4 train.py",
    "all ranks, and which one the others wait for",
    "strata run --level timeline -- python pipe.py",
    "kernels, copies and syncs with their Python lines, then the report",
    "strata run --level standby -- python server.py",
    "runs normally; strata record can record it later",
    "strata run --keep 20s --slow 1.5x -- python server.py",
    "the last 20 seconds before a stage took 1.5x as long as usual",
    "strata run --only vae_decode --steps 2 -- python pipe.py",
    "stages, and a timeline of two calls of one stage",
    NULL,
};

/* Name of the program: the script or module that Python runs, else the program's own name. */
static void guess_pipeline(int argc, char **argv, char *out, size_t cap)
{
    static const char *const launchers[] = {"python", "torchrun", "accelerate", "deepspeed"};
    const char *name = basename(argv[0]);
    bool launcher = false;
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        launcher |= strncmp(name, launchers[i], strlen(launchers[i])) == 0;
    for (int i = 1; launcher && i < argc; i++) {
        if (strcmp(argv[i], "-m") == 0 && i + 1 < argc) {
            name = argv[i + 1];
            break;
        }
        if (str_ends(str_c(argv[i]), ".py")) {
            name = basename(argv[i]);
            break;
        }
    }
    rundir_clean_name(name, out, cap);
    char *end = strrchr(out, '.');
    if (end && strcmp(end, ".py") == 0) *end = 0;
}

/* An option with a number, as a variable of the program's environment. */
static int pass_number(const struct opts *o, const char *option, const char *variable, long least,
                       struct err *e)
{
    long n = 0;
    char text[32];
    if (!opt_has(o, option)) return 0;
    TRY(opt_long(o, option, least, 1000000, &n, e));
    snprintf(text, sizeof text, "%ld", n);
    setenv(variable, text, 1);
    return 0;
}

static bool wants_timeline(const struct opts *o)
{
    return opt_has(o, "keep") || opt_has(o, "slow") || opt_has(o, "always") ||
           strcmp(opt_get(o, "level", "stages"), "stages") != 0;
}

static int set_environment(const struct opts *o, const char *dir, const char *pipeline,
                           struct err *e)
{
    setenv("STRATA", "on", 1);
    const char *outer = getenv("STRATA_RUN");
    if (!outer || strcmp(outer, dir) != 0) unsetenv("STRATA_MAIN_PID"); /* a run of its own */
    setenv("STRATA_RUN", dir, 1);
    setenv("STRATA_PIPELINE", pipeline, 1);
    setenv("STRATA_TABLE", "off", 1); /* we print it, when all processes have ended */
    setenv("STRATA_AUTO", "on", 1);
    if (opt_has(o, "only")) setenv("STRATA_ONLY", opt_get(o, "only", ""), 1);
    TRY(pass_number(o, "steps", "STRATA_STEPS", 1, e));
    TRY(pass_number(o, "skip", "STRATA_SKIP", 0, e));
    TRY(pass_number(o, "depth", "STRATA_DEPTH", 0, e));
    struct arena mem;
    arena_init(&mem);
    python_prepare(&mem); /* without it, the program marks stages itself or none are seen */
    int rc = wants_timeline(o) ? run_timeline_prepare(o, &mem, e) : 0;
    arena_done(&mem);
    return rc;
}

/* Whether the folder takes a recording: what a process of the run would have found out. */
static bool has_room(const char *dir)
{
    struct spool file;
    struct err why;
    char path[RUNDIR_MAX + 32];
    void *window = NULL;
    err_init(&why);
    snprintf(path, sizeof path, "%s/.room-%ld", dir, (long)getpid());
    int rc = spool_create(&file, path, &why);
    if (rc == 0) {
        rc = spool_map(&file, 0, RING_LOG_OFFSET, &window, &why);
        spool_unmap(window, RING_LOG_OFFSET);
        spool_done(&file);
        unlink(path);
    }
    if (rc < 0) cli_say("nothing can be recorded in %s: %s", dir, why.msg);
    return rc == 0;
}

/* What is known of any program. */
static void tell_program(double wall_s)
{
    struct rusage used;
    if (getrusage(RUSAGE_CHILDREN, &used) < 0) return;
    cli_say("the program took %s, %s of CPU time, and at most %s of memory",
            human_time((int64_t)(wall_s * 1e9)).s,
            human_time((int64_t)((double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e9 +
                                 (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e3))
                .s,
            human_bytes((int64_t)used.ru_maxrss * 1024).s);
}

/* What was requested, how the program ended (as from wait) and how long it took. */
struct ended {
    bool timeline;
    int status;
    double wall_s;
};

/* It may have ended before the first mark: nothing is known of those. */
static void tell_failed(int status)
{
    const char *advice = WIFEXITED(status) && WEXITSTATUS(status) == 127
                             ? "; a command or a shared library was not found"
                             : "";
    if (WIFSIGNALED(status))
        cli_say("nothing was recorded until signal %d (%s) ended the program", WTERMSIG(status),
                strsignal(WTERMSIG(status)));
    else
        cli_say("nothing was recorded until the program ended with exit status %d%s",
                WEXITSTATUS(status), advice);
}

/* Nothing was recorded: say why, and remove the empty folder. */
static void tell_nothing(const char *dir, const struct ended *x)
{
    char rings[RUNDIR_MAX + 8];
    snprintf(rings, sizeof rings, "%s/rings", dir);
    bool room = has_room(dir);
    rmdir(rings);
    rmdir(dir);
    tell_program(x->wall_s);
    if (!room) return;
    if (x->status) {
        tell_failed(x->status);
        return;
    }
    cli_say("no stages were recorded because the program marks none. To mark stages, use");
    cli_say(
        "    with strata.stage(\"name\"):     in Python (diffusers pipelines are marked already)");
    cli_say("    STRATA_SCOPE(\"name\");          in C and C++");
    if (x->timeline) cli_say("Python functions are recorded in programs that import torch");
    else
        cli_say("strata run --level timeline records kernels, copies and waits without any, and "
                "Python functions where torch is imported");
}

/* The folder, relative to the working directory. */
static const char *cmd_run_shown(const char *dir)
{
    char here[RUNDIR_MAX];
    size_t n = getcwd(here, sizeof here) ? strlen(here) : 0;
    return n > 1 && strncmp(dir, here, n) == 0 && dir[n] == '/' ? dir + n + 1 : dir;
}

/* Writes what the processes of the run could not write themselves: the timing of those that were
 * killed, the trace of all, and the reports. The recordings are read once for all of it. */
static int complete_files(struct cli *cli, const char *dir, struct run_recording *r, struct err *e)
{
    struct run_folder_made made;
    struct arena mem;
    struct err why;
    err_init(&why);
    int read = run_recording_open(r, cli, dir, &why);
    bool whole = read == 0 && !r->by_torch && r->t && !r->t->part.n_records;
    arena_init(&mem);
    int rc = run_folder_recover(dir, whole ? r->t : NULL, &mem, &made, e);
    arena_done(&mem);
    if (rc < 0) return rc;
    if (read == 0) read = run_recording_finish(r, &why);
    if (read < 0) cli_say("cannot write the trace and the reports: %s", why.msg);
    return 0;
}

static int tell_stages(struct cli *cli, const char *dir, const struct run_recording *r,
                       struct err *e)
{
    struct buf text;
    buf_init(&text);
    struct screen s = {cli->json ? &cli->out : &text, cmd_run_shown(dir), cli->width, cli->color,
                       40};
    int rc = run_folder_show(cli, dir, &s, r->of_ranks ? &r->ranks.view : NULL, e);
    if (rc == 0 && !cli->json) cli_show_lines(cli, "strata: ", &text);
    buf_done(&text);
    return rc;
}

static int cmd_run_show_result(struct cli *cli, const struct ended *x, const char *dir,
                               struct run_recording *r, struct err *e)
{
    bool timeline = x->timeline;
    TRY(complete_files(cli, dir, r, e));
    bool stages = timing_run_in(dir);
    if (stages && !(timeline && cli->json)) TRY(tell_stages(cli, dir, r, e));
    if (timeline && run_timeline_tell(cli, r, cmd_run_shown(dir))) return 0;
    if (!stages && (!timeline || !rings_in(dir))) tell_nothing(dir, x);
    if (stages && !timeline && !cli->json)
        cli_say("strata run --level timeline also records what happens inside the stages, with "
                "source lines");
    return 0;
}

static int tell_result(struct cli *cli, const struct ended *x, const char *dir, struct err *e)
{
    struct run_recording r = {0};
    int rc = cmd_run_show_result(cli, x, dir, &r, e);
    run_recording_done(&r);
    return rc;
}

/* What a signal does while the recording is read and the files are written. */
struct stopping {
    char message[RUNDIR_MAX * 2 + 200];
    char names[4][RUNDIR_MAX + 16 + FILE_TEMP_MORE];
    const char *unfinished[5];
};

static void stop_on_signals(struct stopping *s, const char *dir)
{
    static const char *const files[] = {"trace.json.gz", "report.md", "report.html", "timing.json"};
    snprintf(s->message, sizeof s->message,
             "\nstrata: stopped; the recording is complete. strata report %s reads it\n",
             shell_word(cmd_run_shown(dir)).s);
    for (int i = 0; i < 4; i++) {
        char path[RUNDIR_MAX + 16];
        snprintf(path, sizeof path, "%s/%s", dir, files[i]);
        file_temp_name(path, s->names[i], sizeof s->names[i]);
        s->unfinished[i] = s->names[i];
    }
    s->unfinished[4] = NULL;
    child_stop_on_signals(s->message, s->unfinished);
}

static double cmd_run_now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The owner of the place of runs may have put another folder, or a link to one, where the run's was
 * made: what lies there is not ours to write over. */
static bool cmd_run_was_replaced(const char *dir, const struct stat *made)
{
    struct stat now;
    bool there = stat(dir, &now) == 0;
    return there && (now.st_dev != made->st_dev || now.st_ino != made->st_ino);
}

/* The program comes first: it runs also where nothing can be recorded. */
static int run_unrecorded(struct cli *cli, char **argv, const struct err *why, struct err *e)
{
    int status = 0;
    cli_say("nothing is recorded: %s%s%s; the program runs without", why->file,
            why->file[0] ? ": " : "", why->msg);
    TRY(child_run(argv, cli->json, &status, e));
    return child_end_alike(status);
}

static int cmd_run_run(struct cli *cli, const struct opts *o, struct err *e)
{
    static struct stopping stopping; /* for a handler, to the end */
    char dir[RUNDIR_MAX], name[128];
    guess_pipeline(o->n_args, o->args, name, sizeof name);
    struct rundir_request where = {getenv("STRATA_RUN"), opt_get(o, "output", getenv("STRATA_OUT")),
                                   opt_get(o, "pipeline", name)};
    if (where.dir && !*where.dir) where.dir = NULL;
    char **argv = mem_zalloc((size_t)o->n_args + 1, sizeof *argv);
    if (!argv) return err_nomem(e);
    for (int i = 0; i < o->n_args; i++) argv[i] = o->args[i];
    struct err why;
    err_init(&why);
    bool made = rundir_make(&where, dir, &why) == 0;
    int rc = made ? set_environment(o, dir, where.pipeline, e) : run_unrecorded(cli, argv, &why, e);
    if (!made || rc < 0) {
        mem_free(argv);
        return rc;
    }
    int status = 0;
    struct stat folder = {0};
    double began_s = cmd_run_now_s();
    (void)(stat(dir, &folder) == 0);
    rc = child_run(argv, cli->json, &status, e);
    struct ended x = {wants_timeline(o), status, cmd_run_now_s() - began_s};
    mem_free(argv);
    if (rc < 0) {
        rmdir(dir);
        return rc;
    }
    if (cmd_run_was_replaced(dir, &folder)) {
        cli_say("another folder took the place of %s while the program ran: nothing is written",
                dir);
        return child_end_alike(status);
    }
    stop_on_signals(&stopping, dir);
    /* Started by a launcher, we are one of its ranks: the first rank shows what exists by then. */
    if (rank_find().rank <= 0 && tell_result(cli, &x, dir, &why) < 0)
        cli_say("cannot read the recordings: %s", why.msg);
    return child_end_alike(status);
}

const struct cmd cmd_run = {
    .name = "run",
    .summary = "run a program with recording on, then show its stages",
    .args = "-- COMMAND [ARGUMENT...]",
    .about =
        "Runs any program unchanged, with recording switched on through its environment. Python "
        "programs get the strata package, diffusers pipelines are annotated automatically, and C "
        "and C++ programs that use strata.h start recording. If a torch program names no stages, "
        "they are derived from modules, generate(), backward, optimizer steps, waits for a "
        "DataLoader and Trainer phases. Processes that the program starts (torchrun, mpirun, "
        "multiprocessing) belong to the run, and their ranks are shown side by side. Signals are "
        "passed on, and the exit status is the program's. The table goes to standard error, the "
        "files to DIR/PIPELINE/TIME. With --json the program's standard output goes to standard "
        "error.\n"
        "With --level timeline every kernel, copy and sync of the GPU is recorded too, with the "
        "Python line that waited. docs/capture.md has the measured cost: under 1% for compiled "
        "pipelines, more for CPU-bound eager code. Where that is not possible, torch.profiler "
        "takes over. strata doctor shows what can be recorded on this machine. A long run is not "
        "recorded throughout: once enough steady steps are there, or after half a minute, the "
        "recorder rests, and wakes briefly at times; --always records all of it.\n"
        "With --level standby nothing is recorded until strata record asks for it.\n"
        "With --keep 20s the timeline of the last 20 seconds is kept. strata record --snapshot, "
        "SIGUSR2, strata.snapshot() or --slow write it to DIR/.../snapshots. After a crash it is "
        "in the run folder.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_RECORD,
    .min_args = 1,
    .max_args = -1,
    .passes_args = true,
    .run = cmd_run_run,
};
