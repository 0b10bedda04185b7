/* run_recording.c: see run_folder.h. */
#include "cli/recording/run_folder.h"

#include <string.h>
#include <unistd.h>

#include "analyze/answer/checklist.h"
#include "analyze/focus.h"
#include "base/human.h"
#include "base/pool.h"
#include "base/shell.h"
#include "cli/browser/browser.h"
#include "cli/input/input.h"
#include "cli/show.h"
#include "export/export.h"
#include "import/import.h"
#include "import/ring/rings.h"
#include "report/diagnosis/view_report.h"
#include "trace/cut.h"

static bool has_device_rows(const struct trace *t)
{
    for (uint32_t l = 0; l < t->n_lanes; l++)
        if (t->lanes[l].kind == LANE_STREAM) return true;
    return false;
}

int run_recording_open(struct run_recording *r, struct cli *cli, const char *folder, struct err *e)
{
    *r = (struct run_recording){.folder = folder, .cli = cli};
    arena_init(&r->mem);
    const char *torch = arena_printf(&r->mem, "%s/" IMPORT_TORCH_TRACE, folder);
    r->by_torch = torch && access(torch, R_OK) == 0;
    if (!r->by_torch && !rings_in(folder)) return 0;
    TRY(cli_open_shown(cli, folder, &r->t, e));
    r->on_device = has_device_rows(r->t);
    return 0;
}

void run_recording_done(struct run_recording *r)
{
    context_done(&r->cx);
    if (r->of_ranks) read_ranks_done(&r->ranks);
    arena_done(&r->mem);
    trace_free(r->t);
    *r = (struct run_recording){0};
}

static void run_recording_tell(void *ctx, uint64_t done, uint64_t all)
{
    progress_tell(ctx, done, all);
}

static int write_trace(const struct trace *t, const char *file, struct err *e)
{
    struct progress progress;
    struct export_options options = {.for_perfetto = true,
                                     .n_threads = pool_size(),
                                     .progress = run_recording_tell,
                                     .progress_ctx = &progress};
    progress_begin(&progress, "writing", file);
    int rc = export_find("chrome")->write(t, file, &options, e);
    progress_end(&progress);
    return rc;
}

static int write_md(const struct run_recording *r, const char *file, struct err *e)
{
    struct buf out;
    buf_init(&out);
    if (r->of_ranks) view_ranks_md(&out, &r->ranks.view, r->folder);
    else view_report_md(&out, &r->cx, r->folder);
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

static int write_html(struct run_recording *r, const char *file, struct err *e)
{
    const char *title = run_title(r->folder, &r->mem);
    struct page p = {.kind = "report", .title = title ? title : r->folder};
    struct html_side side = {&r->cx, r->folder};
    if (r->of_ranks) return ranks_page_write(r->cli, &r->ranks.view, p.title, file, e);
    return html_write(&p, &side, 1, file, &r->mem, e);
}

/* The path of a file in the folder; NULL if it exists already, or when out of memory. */
static const char *run_recording_missing(const char *folder, const char *name, struct arena *mem)
{
    const char *file = arena_printf(mem, "%s/%s", folder, name);
    return file && access(file, F_OK) < 0 ? file : NULL;
}

static void tell_failure(const char *file, int rc, const struct err *why)
{
    if (rc < 0) cli_say("cannot write %s: %s", strrchr(file, '/') + 1, why->msg);
}

static void write_reports(struct run_recording *r)
{
    const char *md = run_recording_missing(r->folder, "report.md", &r->mem);
    const char *html =
        page_viewer_bytes ? run_recording_missing(r->folder, "report.html", &r->mem) : NULL;
    struct err why;
    err_init(&why);
    if (md) tell_failure(md, write_md(r, md, &why), &why);
    err_init(&why);
    if (html) tell_failure(html, write_html(r, html, &why), &why);
}

/* What the ranks say together, where there are several with a timeline. */
static int run_recording_read_ranks(struct run_recording *r, struct err *e)
{
    struct picked_list list;
    char *paths[] = {(char *)(uintptr_t)r->folder};
    if (r->by_torch) return 0;
    TRY(pick_ranks_of(paths, 1, &r->mem, &list, e));
    if (!read_ranks_is(r->cli, &list)) return 0;
    r->of_ranks = true;
    return read_ranks(r->cli, &list, &r->ranks, e);
}

static int run_recording_analyse(struct run_recording *r, struct err *e)
{
    TRY(trace_cut_deep(&r->t, e));
    TRY(focus_cut(&r->t, e));
    if (!r->t->n_rows) return 0;
    context_init(&r->cx, r->t, &r->mem);
    r->cx.program_ns = show_program_wall(r->folder, &r->mem);
    TRY(view_report_need(&r->cx, e));
    r->analysed = true;
    return 0;
}

int run_recording_finish(struct run_recording *r, struct err *e)
{
    if (!r->t || !r->t->n_rows) return 0;
    const char *trace =
        r->by_torch ? NULL : run_recording_missing(r->folder, "trace.json.gz", &r->mem);
    struct err why;
    err_init(&why);
    int rc = trace ? write_trace(r->t, trace, &why) : 0;
    if (trace) tell_failure(trace, rc, &why);
    if (trace && rc == 0 && r->t->part.n_records)
        cli_say("trace.json.gz holds a part of the %s records; strata export %s writes them all",
                human_count(r->t->part.n_records).s, shell_word(r->folder).s);
    TRY(run_recording_read_ranks(r, e));
    if (!r->of_ranks) TRY(run_recording_analyse(r, e));
    if (r->of_ranks || r->analysed) write_reports(r);
    return 0;
}
