/* cmd_doctor.c: `strata doctor`: what can be recorded here, what is missing, how to get it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/backend.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/jout.h"
#include "base/str.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/install_dirs.h"

/* Every probe looks at one thing and says in one line what it found and, if
 * something is missing, how to get it. */

enum doctor_state {
    DOCTOR_OK,
    DOCTOR_ABSENT,  /* not here, and not needed on this machine */
    DOCTOR_MISSING, /* missing, and something cannot be recorded because of it */
};

struct doctor_probe {
    const char *id;   /* "cuda", "cupti" ...: stable, for JSON */
    const char *what; /* what it is about: "NVIDIA GPUs" */
    enum doctor_state state;
    const char *found;  /* what was found, or what is missing */
    const char *remedy; /* how to get it; NULL when there is nothing to do */
};

enum { DOCTOR_MOST = 16 };

struct doctor {
    struct doctor_probe list[DOCTOR_MOST];
    int n;
    const char *timeline; /* what would record a timeline: "cupti" or "torch.profiler" */
};

#define LIBRARY "libstrata_inject.so"

struct visit {
    struct doctor *d;
    struct arena *mem;
};

static struct doctor_probe *doctor_add(struct visit *v, const char *id, const char *what)
{
    struct doctor_probe *c = &v->d->list[v->d->n++];
    *c = (struct doctor_probe){.id = id, .what = what, .found = ""};
    return c;
}

static void probe_backends(struct visit *v)
{
    for (int i = 0; backends[i] && v->d->n < DOCTOR_MOST; i++) {
        struct backend_probe p;
        backends[i]->probe(&p);
        struct doctor_probe *c = doctor_add(v, backends[i]->name, backends[i]->summary);
        c->state = p.state == BACKEND_READY    ? DOCTOR_OK
                   : p.state == BACKEND_ABSENT ? DOCTOR_ABSENT
                                               : DOCTOR_MISSING;
        c->found = arena_printf(v->mem, "%s%s%s", p.what, p.missing[0] ? ": " : "", p.missing);
        if (p.remedy[0]) c->remedy = arena_strdup(v->mem, str_c(p.remedy));
        if (p.state == BACKEND_READY) v->d->timeline = "cupti";
    }
}

static void probe_library(struct visit *v)
{
    const char *package = install_dirs_package(v->mem);
    const char *path = package ? arena_printf(v->mem, "%s/strata/" LIBRARY, package) : NULL;
    struct doctor_probe *c = doctor_add(v, "library", "recording library");
    if (path && access(path, R_OK) == 0) {
        c->found = path;
        return;
    }
    c->state = DOCTOR_MISSING;
    c->found = arena_printf(v->mem, LIBRARY " is not in %s",
                            package ? package : "any folder next to this program");
    c->remedy = "pip install strata-profiler";
}

static void probe_door(struct visit *v, const char *variable, const char *what)
{
    const char *holder = getenv(variable);
    struct doctor_probe *c = doctor_add(v, variable, what);
    if (!holder || !*holder || str_ends(str_c(holder), LIBRARY)) {
        c->found = "free";
        return;
    }
    c->state = DOCTOR_MISSING;
    c->found = arena_printf(v->mem, "%s is set to %s", variable, holder);
    c->remedy = arena_printf(v->mem, "unset %s; only one tool can use it at a time", variable);
}

/* A small program for the user's Python that prints KEY=VALUE lines; torch is not imported. */
static const char script[] =
    "python3 - 2>/dev/null <<'END'\n"
    "import sys, os, glob, importlib.util as u, sysconfig\n"
    "print('python=%d.%d.%d' % sys.version_info[:3])\n"
    "print('free=%d' % bool(sysconfig.get_config_var('Py_GIL_DISABLED')))\n"
    "s = u.find_spec('torch')\n"
    "if s and s.submodule_search_locations:\n"
    "    d = s.submodule_search_locations[0]\n"
    "    v = {}\n"
    "    exec(open(os.path.join(d, 'version.py')).read(), v)\n"
    "    print('torch=' + str(v.get('__version__')))\n"
    "    print('cuda=' + str(v.get('cuda') or ''))\n"
    "    f = glob.glob(os.path.join(os.path.dirname(d), 'nvidia', '*', 'lib', 'libcupti.so.*'))\n"
    "    print('cupti=' + (sorted(f)[-1] if f else ''))\n"
    "END\n";

struct python {
    char version[32], torch[64], cuda[32], cupti[512];
    bool free_threaded;
};

static void doctor_keep(struct python *p, char *line)
{
    char *value = strchr(line, '=');
    if (!value) return;
    *value++ = 0;
    value[strcspn(value, "\n")] = 0;
    if (strcmp(line, "python") == 0) snprintf(p->version, sizeof p->version, "%s", value);
    else if (strcmp(line, "torch") == 0) snprintf(p->torch, sizeof p->torch, "%s", value);
    else if (strcmp(line, "cuda") == 0) snprintf(p->cuda, sizeof p->cuda, "%s", value);
    else if (strcmp(line, "cupti") == 0) snprintf(p->cupti, sizeof p->cupti, "%s", value);
    else if (strcmp(line, "free") == 0) p->free_threaded = value[0] == '1';
}

static struct python ask_python(void)
{
    struct python p = {0};
    char line[1024];
    FILE *f = popen(script, "re");
    while (f && fgets(line, sizeof line, f)) doctor_keep(&p, line);
    if (f) pclose(f);
    return p;
}

static void probe_python(struct visit *v, const struct python *p)
{
    struct doctor_probe *c = doctor_add(v, "python", "Python lines");
    int major = 0, minor = 0;
    if (sscanf(p->version, "%d.%d", &major, &minor) != 2) {
        c->state = DOCTOR_ABSENT;
        c->found = "python3 is not on the path";
        return;
    }
    bool known = major == 3 && minor >= 10 && minor <= 14 && !p->free_threaded;
    c->found = arena_printf(v->mem, "CPython %s%s", p->version,
                            p->free_threaded ? ", free-threaded: its frames cannot be read" : "");
    if (known) return;
    c->state = DOCTOR_MISSING;
    c->remedy =
        "use CPython 3.10 to 3.15 with a GIL; without it syncs are recorded without line numbers";
}

static void probe_torch(struct visit *v, const struct python *p)
{
    struct doctor_probe *c = doctor_add(v, "torch", "torch");
    if (!p->torch[0]) {
        c->state = DOCTOR_ABSENT;
        c->found = "not installed for this python3";
        return;
    }
    c->found =
        arena_printf(v->mem, "%s, %s%s", p->torch, p->cuda[0] ? "CUDA " : "no CUDA", p->cuda);
}

static void probe_cupti(struct visit *v, const struct python *p)
{
    static const char *const toolkit[] = {"/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
                                          "/usr/local/cuda/lib64/libcupti.so",
                                          "/usr/local/cuda/lib/libcupti.so"};
    struct doctor_probe *c = doctor_add(v, "cupti", "CUPTI");
    const char *found = p->cupti[0] ? arena_strdup(v->mem, str_c(p->cupti)) : NULL;
    for (size_t i = 0; !found && i < sizeof toolkit / sizeof *toolkit; i++)
        if (access(toolkit[i], R_OK) == 0) found = toolkit[i];
    if (found) {
        c->found = found;
        return;
    }
    bool needed = v->d->timeline != NULL;
    c->state = needed ? DOCTOR_MISSING : DOCTOR_ABSENT;
    c->found = "libcupti is neither next to torch nor in /usr/local/cuda";
    if (!needed) return;
    c->remedy = "pip install nvidia-cuda-cupti (CUDA 12: nvidia-cuda-cupti-cu12), or name one in "
                "STRATA_CUPTI";
    v->d->timeline = NULL;
}

static bool counters_are_restricted(void)
{
    char line[256];
    bool restricted = false;
    FILE *f = fopen("/proc/driver/nvidia/params", "re");
    while (f && fgets(line, sizeof line, f))
        if (strstr(line, "RmProfilingAdminOnly: 1")) restricted = geteuid() != 0;
    if (f) fclose(f);
    return restricted;
}

static bool doctor_on_path(const char *program)
{
    const char *path = getenv("PATH");
    char file[1024];
    for (const char *end; path && *path; path = *end ? end + 1 : end) {
        end = strchrnul(path, ':');
        snprintf(file, sizeof file, "%.*s/%s", (int)(end - path), path, program);
        if (access(file, X_OK) == 0) return true;
    }
    return false;
}

static void probe_counters(struct visit *v, bool gpu)
{
    struct doctor_probe *c = doctor_add(v, "counters", "kernel metrics (strata dive)");
    bool ncu = doctor_on_path("ncu"), restricted = counters_are_restricted();
    c->state = ncu && gpu && !restricted ? DOCTOR_OK : gpu ? DOCTOR_MISSING : DOCTOR_ABSENT;
    c->found = arena_printf(v->mem, "%s%s", ncu ? "ncu found" : "ncu is not on the path",
                            restricted ? ", counters are restricted to administrators" : "");
    if (restricted)
        c->remedy =
            "use sudo, CAP_PERFMON, or the module option NVreg_RestrictProfilingToAdminUsers=0";
    else if (!ncu && gpu) c->remedy = "install Nsight Compute";
}

/* Who may enter a process that runs already: this user, where the kernel lets one process trace
 * another that it has not started. */
static void probe_entering(struct visit *v)
{
    struct doctor_probe *c = doctor_add(v, "entering", "strata record PID");
    int scope = 0;
    FILE *f = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
    if (f && fscanf(f, "%d", &scope) != 1) scope = 0;
    if (f) fclose(f);
    bool root = geteuid() == 0;
    c->found = "processes of this user; another user records theirs";
    if (scope == 0 || (root && scope < 3)) return;
    c->state = DOCTOR_ABSENT;
    c->found = arena_printf(v->mem,
                            "no process that was started without strata "
                            "(kernel.yama.ptrace_scope is %d)",
                            scope);
    c->remedy = scope < 3
                    ? "sudo sysctl kernel.yama.ptrace_scope=0, or start programs with strata run "
                      "--level standby"
                    : "start programs with strata run --level standby";
}

static void probe_container(struct visit *v)
{
    struct doctor_probe *c = doctor_add(v, "container", "container");
    bool inside = access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0 ||
                  getenv("KUBERNETES_SERVICE_HOST");
    c->found = inside
                   ? "strata runs in one: it can record the processes in it, and may not see who "
                     "else uses the GPU"
                   : "none was detected: processes inside containers are recorded from inside";
}

static void probe_clock(struct visit *v)
{
    struct doctor_probe *c = doctor_add(v, "clock", "clock");
    c->found = clock_best() == CLOCK_OS ? "the kernel's (about 20 ns per reading)"
                                        : "the CPU's counter (about 10 ns per reading)";
}

/* Looks at everything; texts live in `mem`. Fails only when out of memory. */
static int doctor_run(struct doctor *d, struct arena *mem, struct err *e)
{
    *d = (struct doctor){0};
    struct visit v = {d, mem};
    struct python p = ask_python();
    probe_door(&v, "CUDA_INJECTION64_PATH", "CUDA injection");
    probe_door(&v, "NVTX_INJECTION64_PATH", "NVTX injection");
    unsetenv("CUDA_INJECTION64_PATH"); /* not into this process */
    probe_backends(&v);
    probe_library(&v);
    probe_python(&v, &p);
    probe_torch(&v, &p);
    bool gpu = d->timeline != NULL;
    probe_cupti(&v, &p);
    probe_counters(&v, gpu);
    probe_entering(&v);
    probe_container(&v);
    probe_clock(&v);
    for (int i = 0; i < d->n; i++) {
        if (!d->list[i].found) return err_nomem(e);
        bool needed = strcmp(d->list[i].id, "library") == 0 ||
                      strcmp(d->list[i].id, "CUDA_INJECTION64_PATH") == 0;
        if (needed && d->list[i].state != DOCTOR_OK) d->timeline = NULL;
    }
    if (!d->timeline) d->timeline = p.torch[0] ? "torch.profiler" : "none";
    return 0;
}

static const char *const examples[] = {
    "strata doctor",
    "how a timeline would be recorded on this machine, and what is missing",
    "strata doctor --json | jq '.checks[] | select(.state == \"missing\")'",
    "only what is missing",
    NULL,
};

static const char *const states[] = {"ok", "absent", "missing"};
static const char *const marks[] = {"ok", "- ", "!!"};

static void cmd_doctor_show_json(struct cli *cli, const struct doctor *d)
{
    struct jout j;
    jout_init(&j, &cli->out, true);
    jout_obj(&j, NULL);
    jout_cstr(&j, "timeline", d->timeline);
    jout_arr(&j, "checks");
    for (int i = 0; i < d->n; i++) {
        const struct doctor_probe *c = &d->list[i];
        jout_obj(&j, NULL);
        jout_cstr(&j, "id", c->id);
        jout_cstr(&j, "state", states[c->state]);
        jout_cstr(&j, "found", c->found);
        if (c->remedy) jout_cstr(&j, "remedy", c->remedy);
        else jout_null(&j, "remedy");
        jout_end_obj(&j);
    }
    jout_end_arr(&j);
    jout_end_obj(&j);
}

static const char *cmd_doctor_verdict(const struct doctor *d)
{
    switch (d->timeline[0]) {
    case 'c': return "a timeline can be recorded here: kernels, copies and syncs through CUPTI";
    case 't':
        return "no NVIDIA GPU here: a timeline shows operators and Python; torch.profiler records "
               "other devices";
    default: return "stages can be recorded here; a timeline needs a GPU or torch";
    }
}

static void cmd_doctor_show_text(struct cli *cli, const struct doctor *d)
{
    buf_printf(&cli->out, "%s\n\n", cmd_doctor_verdict(d));
    for (int i = 0; i < d->n; i++) {
        const struct doctor_probe *c = &d->list[i];
        struct buf line;
        buf_init(&line);
        buf_printf(&line, "%s: %s", c->what, c->found);
        if (c->remedy && c->state != DOCTOR_OK) buf_printf(&line, ". To fix: %s", c->remedy);
        buf_printf(&cli->out, "  %s  ", marks[c->state]);
        text_wrap(&cli->out, buf_c(&line), 6, cli->width);
        buf_done(&line);
    }
    buf_adds(&cli->out, "\nnext: strata run --level timeline -- python pipe.py\n");
}

static int cmd_doctor_run(struct cli *cli, const struct opts *o, struct err *e)
{
    struct arena mem;
    struct doctor d;
    arena_init(&mem);
    int rc = doctor_run(&d, &mem, e);
    if (rc == 0 && cli->json) cmd_doctor_show_json(cli, &d);
    else if (rc == 0) cmd_doctor_show_text(cli, &d);
    arena_done(&mem);
    return rc;
}

const struct cmd cmd_doctor = {
    .name = "doctor",
    .summary = "what can be recorded on this machine, and what is missing",
    .args = "",
    .about =
        "Looks for devices, their drivers and what recording needs (CUPTI, the library that is\n"
        "loaded into programs, a Python whose line numbers can be read), and says what is missing\n"
        "and how to get it. It starts none of your programs and changes nothing.",
    .examples = examples,
    .group = GROUP_RECORD,
    .min_args = 0,
    .max_args = 0,
    .run = cmd_doctor_run,
};
