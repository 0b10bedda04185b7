/* cmd_dive.c: `strata dive`: what limits the kernels that matter. */
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/browser/browser.h"
#include "cli/cli.h"
#include "cli/kernels/gpu_tools.h"
#include "cli/recording/child.h"
#include "cli/show.h"
#include "dive/dive.h"
#include "report/dive/views_dive.h"

/* Counters of the whole GPU while a program runs. The GPU is sampled from here, not
 * from inside the program, which stays as it is. */

static int gpu_counters_tick(void *ctx, struct err *e)
{
    return pm_poll(ctx, e);
}

/* The first of CUDA_VISIBLE_DEVICES, where it is a number. */
static size_t first_device(void)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    return visible && *visible >= '0' && *visible <= '9' ? strtoul(visible, NULL, 10) : 0;
}

static int gpu_counters_sample(struct pm_sampler *s, char **command, struct pm_result *ret,
                               struct err *e)
{
    int status = 0;
    TRY(pm_start(s, e));
    TRY(child_run_ticking(command, gpu_counters_tick, s, &status, e));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        cli_say("%s failed; showing what was counted until then", command[0]);
    return pm_stop(s, ret, e);
}

/* Runs `command` to its end. ERR_UNSUPPORTED, with what to do, where counters cannot be read: then
 * the command was not started. */
static int gpu_counters_run(char **command, struct arena *mem, struct pm_result *ret, struct err *e)
{
    struct pm_api api;
    struct pm_sampler s;
    size_t device = first_device();
    unsetenv("CUDA_VISIBLE_DEVICES"); /* CUPTI counts all devices */
    TRY(pm_api_open(&api, mem, e));
    int rc = pm_open(&s, &api, device, mem, e);
    if (rc == 0) rc = gpu_counters_sample(&s, command, ret, e);
    pm_close(&s);
    pm_api_close(&api);
    return rc;
}

enum { DEFAULT_TOP = 5, MOST_TOP = 50 };

static const struct opt opts[] = {
    {"limit", 'n', "N", "number of kernels (default 5)", NULL},
    {"filter", 'f', "REGEX", "only kernels whose name matches", NULL},
    {"ncu", 0, "FILE", "read this report (.ncu-rep or CSV) instead of measuring", NULL},
    {"output", 'o', "FILE", "keep the Nsight Compute report here (opens in ncu-ui)", NULL},
    {"skip", 0, "N", "launches of each kernel to skip first (default: from the trace)", NULL},
    {"replay", 0, "HOW", "how passes are repeated (default kernel)", "kernel|application"},
    {"ceilings", 0, "FILE", "JSON file with the rates this GPU reaches, or the word table", NULL},
    {"calibrate", 0, NULL, "measure the rates this GPU reaches again", NULL},
    {"counters", 0, NULL,
     "sample counters of the whole GPU while COMMAND runs instead; needs no trace", NULL},
    {"html", 0, "FILE", "write an HTML page with the roofline", NULL},
    {0},
};

static const char *const examples[] = {
    "strata dive trace.json.gz -- python profile_denoise.py",
    "measure the five costliest kernels and what limits them",
    "strata dive trace.json.gz",
    "an estimate from the trace alone, without measuring",
    "strata dive kernels.ncu-rep",
    "read an existing report; ncu's CSV works too",
    "strata dive --counters -- python profile_denoise.py",
    "how busy SMs, tensor cores and memory are over the whole run, at full speed",
    NULL,
};

/* What the user gave, and what comes of it. */
struct job {
    const char *path;
    char **command; /* NULL-terminated; empty when nothing is to be run */
    struct context cx;
    struct targets targets;
    struct ncu_report report;
    bool has_report;
    struct ncu_trouble trouble;
};

static bool cmd_dive_is_python(const char *program)
{
    const char *slash = strrchr(program, '/');
    return strncmp(slash ? slash + 1 : program, "python", 6) == 0;
}

/* The report knows the GPU it was measured on; else the trace the one it was recorded on. */
static struct str cmd_dive_gpu_of(const struct job *j)
{
    for (uint32_t i = 0; j->has_report && i < j->report.n_launches; i++)
        if (j->report.launches[i].gpu.n) return j->report.launches[i].gpu;
    const struct trace *t = j->cx.t;
    return t && t->n_devices ? trace_str(t, t->devices[0].name) : str_from("", 0);
}

static const struct ncu_trouble nothing_fits = {
    "none of the measured launches is a kernel of this trace",
    "use a report of the traced program with the same inputs; strata dive REPORT alone shows what "
    "it holds"};

static int cmd_dive_write_page(const struct dive *d, const struct job *j, const char *file,
                               struct err *e)
{
    struct arena mem;
    struct buf doc;
    struct jout out;
    arena_init(&mem);
    buf_init(&doc);
    jout_init(&out, &doc, false);
    view_dive_json(&out, d, j->cx.t ? &j->cx : NULL);
    struct page p = {.kind = "dive", .title = j->path, .dive = buf_str(&doc)};
    int rc = buf_ok(&doc) ? html_write(&p, NULL, 0, file, &mem, e) : err_nomem(e);
    if (rc == 0) html_tell(file);
    buf_done(&doc);
    arena_done(&mem);
    return rc;
}

static int cmd_dive_show(struct cli *cli, const struct opts *o, struct job *j, struct arena *mem,
                         struct err *e)
{
    bool runs = j->has_report && *j->command && cmd_dive_is_python(*j->command);
    struct ceilings_wish wish = {.gpu = cmd_dive_gpu_of(j),
                                 .file = opt_get(o, "ceilings", NULL),
                                 .python = runs ? *j->command : NULL,
                                 .again = opt_has(o, "calibrate")};
    struct dive_in in = {.cx = j->cx.t ? &j->cx : NULL,
                         .targets = j->cx.t ? &j->targets : NULL,
                         .report = j->has_report ? &j->report : NULL};
    struct dive d;
    TRY(gpu_ceilings_get(&wish, mem, &in.ceilings, e));
    TRY(dive_run(&in, mem, &d, e));
    if (j->cx.t) TRY(context_need(&j->cx, &integrity_pass, e));
    if (j->has_report && !d.n_measured) j->trouble = nothing_fits;
    d.trouble = j->trouble.what;
    d.remedy = j->trouble.remedy;
    const char *page = opt_get(o, "html", NULL);
    if (page) TRY(cmd_dive_write_page(&d, j, page, e));
    struct screen s = {&cli->out, j->path, cli->width, cli->color, UINT32_MAX};
    if (cli->json) view_dive_json(SHOW_JSON(cli), &d, in.cx);
    else view_dive_text(&s, &d);
    return 0;
}

static int cmd_dive_measure(const struct opts *o, struct job *j, struct arena *mem, struct err *e)
{
    const struct trace *t = j->cx.t;
    long skip = -1;
    TRY(opt_long(o, "skip", 0, 1000000, &skip, e));
    struct ncu_run run = {.replay = opt_get(o, "replay", "kernel"),
                          .keep = opt_get(o, "output", NULL),
                          .skip = skip,
                          .major = t->n_devices ? t->devices[0].major : 0,
                          .command = j->command};
    TRY(ncu_run_profile(&run, &j->targets, mem, &j->report, &j->trouble, e));
    j->has_report = !j->trouble.what;
    return 0;
}

static int find_numbers(const struct opts *o, struct job *j, struct arena *mem, struct err *e)
{
    const char *given = opt_get(o, "ncu", NULL);
    if (given) {
        j->has_report = true;
        return ncu_run_read(given, mem, &j->report, e);
    }
    if (*j->command) return cmd_dive_measure(o, j, mem, e);
    j->trouble = (struct ncu_trouble){"there is no program to run",
                                      "strata dive TRACE -- python SCRIPT measures the kernels "
                                      "while SCRIPT runs; --ncu FILE reads a report"};
    return 0;
}

static int no_targets(const struct job *j, struct err *e)
{
    if (j->targets.n_kernels)
        return FAIL(e, ERR_USAGE, "%s: no kernel matches; strata kernels lists their names",
                    j->path);
    return FAIL(e, ERR_FORMAT, "%s: the trace has no kernels; record with ProfilerActivity.CUDA",
                j->path);
}

/* The trace in a run folder: that of the whole run, else that of the only stage that has one. Other
 * paths are opened as they are. */
static int find_trace(const char *path, struct arena *mem, const char **ret, struct err *e)
{
    static const char *const patterns[] = {"trace.json.gz", "trace.json", "*_trace.json.gz"};
    struct stat st;
    *ret = path;
    if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) return 0;
    const char *made = arena_printf(mem, "%s/trace.strata", path);
    if (made && access(made, R_OK) == 0) return 0; /* it or what it was made from, as it is newer */
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns && *ret == path; i++) {
        const char *pattern = arena_printf(mem, "%s/%s", path, patterns[i]);
        glob_t g;
        if (!pattern) return err_nomem(e);
        if (glob(pattern, 0, NULL, &g) != 0) continue;
        size_t n = g.gl_pathc;
        *ret = n == 1 ? arena_strdup(mem, str_c(g.gl_pathv[0])) : path;
        globfree(&g);
        if (n > 1)
            return FAIL(e, ERR_USAGE, "%s holds traces of %zu stages; name one of them", path, n);
        if (!*ret) return err_nomem(e);
    }
    return 0;
}

static int cmd_dive_with_trace(struct cli *cli, const struct opts *o, struct job *j,
                               struct arena *mem, struct err *e)
{
    struct trace *t;
    struct targets_wish wish = {DEFAULT_TOP, opt_get(o, "filter", NULL)};
    long top = DEFAULT_TOP;
    TRY(opt_long(o, "limit", 1, MOST_TOP, &top, e));
    wish.top = (uint32_t)top;
    TRY(find_trace(j->path, mem, &j->path, e));
    TRY(cli_open_recorded(cli, j->path, &t, e));
    context_init(&j->cx, t, mem);
    int rc = context_need(&j->cx, &steps_pass, e);
    if (rc == 0) rc = targets_select(&j->cx, wish, mem, &j->targets, e);
    if (rc == 0 && !j->targets.n) rc = no_targets(j, e);
    if (rc == 0) rc = find_numbers(o, j, mem, e);
    if (rc == 0) rc = cmd_dive_show(cli, o, j, mem, e);
    context_done(&j->cx);
    trace_free(t);
    return rc;
}

/* Operands from `first` on, NULL-terminated; NULL when out of memory. */
static char **command_from(const struct opts *o, int first, struct arena *mem)
{
    char **command = arena_zalloc(mem, (size_t)o->n_args + 1, sizeof *command);
    for (int i = first; command && i < o->n_args; i++) command[i - first] = o->args[i];
    return command;
}

static int cmd_dive_count(struct cli *cli, const struct opts *o, struct arena *mem, struct err *e)
{
    struct pm_result r;
    char **command = command_from(o, 0, mem);
    if (!command) return err_nomem(e);
    TRY(gpu_counters_run(command, mem, &r, e));
    struct screen s = {&cli->out, o->args[0], cli->width, cli->color, UINT32_MAX};
    if (cli->json) view_counters_json(&cli->out, &r);
    else view_counters_text(&s, &r);
    return 0;
}

static int cmd_dive_dive(struct cli *cli, const struct opts *o, struct arena *mem, struct err *e)
{
    struct job j = {.path = o->args[0]};
    if (opt_has(o, "counters")) return cmd_dive_count(cli, o, mem, e);
    TRY(html_check(o, e));
    j.command = command_from(o, 1, mem);
    if (!j.command) return err_nomem(e);
    if (!ncu_run_is_report(j.path)) return cmd_dive_with_trace(cli, o, &j, mem, e);
    if (*j.command)
        return FAIL(e, ERR_USAGE,
                    "%s is a report, so there is nothing to run; to measure, give a trace", j.path);
    j.has_report = true;
    TRY(ncu_run_read(j.path, mem, &j.report, e));
    return cmd_dive_show(cli, o, &j, mem, e);
}

static int cmd_dive_run(struct cli *cli, const struct opts *o, struct err *e)
{
    struct arena mem;
    arena_init(&mem);
    int rc = cmd_dive_dive(cli, o, &mem, e);
    arena_done(&mem);
    return rc;
}

const struct cmd cmd_dive = {
    .name = "dive",
    .summary = "what limits the costliest kernels, measured with Nsight Compute",
    .args = "[TRACE|RUN|REPORT] [-- COMMAND...]",
    .about =
        "Chooses the kernels of a trace that take most time with nothing else running, measures "
        "one launch of each with Nsight Compute while COMMAND runs, and says what limits each: "
        "memory, tensor cores, arithmetic, issue slots, latency, occupancy, or a grid that does "
        "not fill the GPU. A verdict needs several measurements that agree, and states its "
        "confidence. Rates are compared with what this GPU reaches, which is measured once and "
        "kept. Without ncu, or without permission to use it, the trace alone gives an estimate, "
        "marked as such. An existing report (.ncu-rep, CSV) is read instead of measuring. With "
        "--counters the GPU samples its own counters instead while COMMAND runs.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_DIAGNOSE,
    .min_args = 1,
    .max_args = -1,
    .run = cmd_dive_run,
};
