/* run_folder.c: see run_folder.h. */
#include "cli/run_folder.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analyze/compare/ranks.h"
#include "analyze/compare/timing_rows.h"
#include "analyze/focus.h"
#include "base/file.h"
#include "base/pool.h"
#include "cli/html.h"
#include "cli/progress.h"
#include "export/export.h"
#include "import/import.h"
#include "report/view_report.h"
#include "report/view_run.h"

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int run_folder_show(struct cli *cli, const char *path, const struct screen *s, struct err *e)
{
    struct arena mem;
    arena_init(&mem);
    struct timing_run run;
    struct ranks ranks;
    int rc = timing_run_read(path, &mem, &run, e);
    if (rc == 0 && !run.n) {
        err_at(e, path, ERR_NO_OFFSET);
        rc = FAIL(e, ERR_FORMAT, "cannot read any of its %u timing files", run.n_bad);
    }
    if (rc == 0) rc = ranks_run(run.list, run.n, &mem, &ranks, e);
    if (rc == 0 && cli->json) view_run_json(s->out, &ranks);
    else if (rc == 0) view_run_text(s, &ranks);
    if (rc == 0 && run.n_bad)
        cli_say("%s: left out %u unreadable timing file%s", path, run.n_bad,
                run.n_bad == 1 ? "" : "s");
    arena_done(&mem);
    return rc;
}

static bool has_own(const struct timing_run *run, const struct ring_facts *f)
{
    for (uint32_t i = 0; i < run->n; i++)
        if (run->list[i].pid == f->pid && strcmp(run->list[i].host, f->host) == 0) return true;
    return false;
}

/* The process of the trace that these facts belong to. */
static uint32_t find_process(const struct trace *t, const struct ring_facts *f)
{
    for (uint32_t i = 0; i < t->n_processes; i++) {
        const struct process *p = &t->processes[i];
        if (f->pid_text ? str_is(trace_str(t, p->pid_text), f->pid_text) : p->pid == f->pid)
            return i;
    }
    return UINT32_MAX;
}

static const char *when(int64_t real_ns, struct arena *mem)
{
    time_t seconds = (time_t)(real_ns / 1000000000);
    struct tm t;
    char text[32] = "";
    if (gmtime_r(&seconds, &t)) strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &t);
    return arena_printf(mem, "%s+00:00", text);
}

/* timing.json, with the rank if there is one, or with the process number if that name is taken. */
static const char *file_name(const char *folder, const struct ring_facts *f, struct arena *mem)
{
    const char *path = f->rank >= 0 ? arena_printf(mem, "%s/timing_rank%d.json", folder, f->rank)
                                    : arena_printf(mem, "%s/timing.json", folder);
    if (!path || access(path, F_OK) < 0) return path;
    return arena_printf(mem, "%s/timing_pid%lld.json", folder, (long long)f->pid);
}

static int write_timing(const char *path, const struct timing *t, struct err *e)
{
    struct buf out;
    buf_init(&out);
    timing_print(t, &out);
    int rc = buf_ok(&out) ? file_write_whole(path, out.p, out.n, e) : err_nomem(e);
    buf_done(&out);
    return rc;
}

static int recover_one(const char *folder, const struct trace *t, const struct ring_facts *f,
                       struct arena *mem, const char **ret_path, struct err *e)
{
    uint32_t process = find_process(t, f);
    if (process == UINT32_MAX) return 0;
    struct timing timing = {
        .pipeline = f->name[0] ? f->name : f->program,
        .host = f->host,
        .timestamp = when(f->start_real_ns, mem),
        .pid = f->pid,
        .rank = f->rank,
        .world = f->world,
        .lost_records = f->n_lost,
        .recovered = !f->ended,
    };
    TRY(timing_rows_run(t, process, mem, &timing, e));
    if (!timing.n_stages) return 0;
    const char *path = file_name(folder, f, mem);
    if (!path) return err_nomem(e);
    TRY(write_timing(path, &timing, e));
    *ret_path = path;
    return 0;
}

int run_folder_recover(const char *path, struct arena *mem, struct run_folder_made *ret,
                       struct err *e)
{
    struct ring_survey survey;
    struct timing_run run;
    *ret = (struct run_folder_made){0};
    if (!rings_in(path)) return 0;
    TRY(rings_survey(path, mem, &survey, e));
    TRY(timing_run_read(path, mem, &run, e));
    bool needed = false;
    for (uint32_t i = 0; i < survey.n; i++) needed |= !has_own(&run, &survey.list[i]);
    if (!needed) return 0;
    ret->paths = arena_zalloc(mem, survey.n, sizeof *ret->paths);
    if (!ret->paths) return err_nomem(e);
    struct trace *t;
    TRY(rings_open(path, NULL, &t, e));
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < survey.n; i++) {
        const char *made = NULL;
        if (has_own(&run, &survey.list[i]) || survey.list[i].running) continue;
        rc = recover_one(path, t, &survey.list[i], mem, &made, e);
        if (made) ret->paths[ret->n++] = made;
    }
    trace_free(t);
    return rc;
}

static void tell(void *ctx, uint64_t done, uint64_t all)
{
    progress_tell(ctx, done, all);
}

static int write_trace(const struct trace *t, const char *file, struct err *e)
{
    struct progress progress;
    struct export_options options = {.for_perfetto = true,
                                     .n_threads = pool_size(),
                                     .progress = tell,
                                     .progress_ctx = &progress};
    progress_begin(&progress, "writing", file);
    int rc = export_find("chrome")->write(t, file, &options, e);
    progress_end(&progress);
    return rc;
}

static int write_md(const struct context *cx, const char *folder, const char *file, struct err *e)
{
    struct buf out;
    buf_init(&out);
    view_report_md(&out, cx, folder);
    int rc = buf_ok(&out) ? file_write_whole(file, out.p, out.n, e) : err_nomem(e);
    buf_done(&out);
    return rc;
}

/* A run is known by its pipeline and its time, the last two parts of its path. */
static const char *run_title(const char *folder, struct arena *mem)
{
    const char *time = strrchr(folder, '/'), *pipeline = time;
    while (pipeline && pipeline > folder && pipeline[-1] != '/') pipeline--;
    if (!time || pipeline == time) return folder;
    return arena_printf(mem, "%.*s %s", (int)(time - pipeline), pipeline, time + 1);
}

static int write_html(struct context *cx, const char *folder, const char *file, struct err *e)
{
    const char *title = run_title(folder, cx->mem);
    struct page p = {.kind = "report", .title = title ? title : folder};
    struct html_side side = {cx, folder};
    return html_write(&p, &side, 1, file, cx->mem, e);
}

/* The path of a file in the folder; NULL if it exists already, or when out of memory. */
static const char *missing(const char *folder, const char *name, struct arena *mem)
{
    const char *file = arena_printf(mem, "%s/%s", folder, name);
    return file && access(file, F_OK) < 0 ? file : NULL;
}

static void tell_failure(const char *file, int rc, const struct err *why)
{
    if (rc < 0) cli_say("cannot write %s: %s", strrchr(file, '/') + 1, why->msg);
}

static void write_reports(const struct trace *t, const char *folder, struct arena *mem)
{
    const char *md = missing(folder, "report.md", mem);
    const char *html = page_viewer_bytes ? missing(folder, "report.html", mem) : NULL;
    struct context cx;
    struct err why;
    if (!md && !html) return;
    context_init(&cx, t, mem);
    err_init(&why);
    int rc = context_need(&cx, &checklist_pass, &why);
    tell_failure("/report.md", rc, &why);
    if (rc == 0 && md) tell_failure(md, write_md(&cx, folder, md, &why), &why);
    err_init(&why);
    if (rc == 0 && html) tell_failure(html, write_html(&cx, folder, html, &why), &why);
    context_done(&cx);
}

int run_folder_files(const char *path, struct arena *mem, struct err *e)
{
    const char *torch = arena_printf(mem, "%s/" IMPORT_TORCH_TRACE, path);
    bool by_torch = torch && access(torch, R_OK) == 0;
    if (!by_torch && !rings_in(path)) return 0;
    const char *trace = by_torch ? NULL : missing(path, "trace.json.gz", mem);
    struct trace *t;
    struct err why;
    TRY(import_open(path, NULL, &t, e));
    err_init(&why);
    if (t->n_rows && trace) tell_failure(trace, write_trace(t, trace, &why), &why);
    int rc = t->n_rows ? focus_cut(&t, e) : 0;
    if (rc == 0 && t->n_rows) write_reports(t, path, mem);
    trace_free(t);
    return rc;
}

int run_folder_timing(const char *path, struct arena *mem, struct timing *ret, struct err *e)
{
    if (!is_folder(path)) return timing_read(path, mem, ret, e);
    struct timing_run run;
    TRY(timing_run_read(path, mem, &run, e));
    if (!run.n) {
        err_at(e, path, ERR_NO_OFFSET);
        return FAIL(e, ERR_FORMAT,
                    "the folder has no timing.json; strata recover makes one from recordings");
    }
    *ret = run.list[0];
    for (uint32_t i = 1; i < run.n; i++)
        if (run.list[i].wall_ns > ret->wall_ns) *ret = run.list[i];
    return 0;
}
