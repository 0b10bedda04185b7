/* long_recording.c: see input.h. */
#include "cli/input/input.h"

#include <unistd.h>

#include "cli/show.h"
#include "import/import.h"
#include "import/ring/rings.h"
#include "report/compare/views_compare.h"

/* Whether import_open would read the recordings of this folder, and they are too many. */
static bool long_recording_is_long(const char *path, struct arena *mem, uint64_t most)
{
    const char *made = arena_printf(mem, "%s/trace.strata", path);
    const char *torch = arena_printf(mem, "%s/" IMPORT_TORCH_TRACE, path);
    struct ring_survey survey;
    uint64_t n = 0;
    if (!made || !torch || access(made, F_OK) == 0 || access(torch, F_OK) == 0) return false;
    if (!rings_in(path) || rings_survey(path, mem, &survey, NULL) < 0) return false;
    for (uint32_t i = 0; i < survey.n; i++) n += survey.list[i].n_records;
    return n > most;
}

/* A part is opened, added and let go: what is kept is in `w`. */
static int long_recording_add_piece(struct whole *w, const char *path,
                                    const struct import_span *whole,
                                    const struct import_span *piece, struct err *e)
{
    struct import_options o = {.span = piece};
    struct trace *t;
    struct arena mem;
    struct context cx;
    TRY(rings_open(path, &o, &t, e));
    arena_init(&mem);
    context_init(&cx, t, &mem);
    int rc =
        whole_add(w, &cx, piece->begin_ns - whole->begin_ns, piece->end_ns - whole->begin_ns, e);
    context_done(&cx);
    arena_done(&mem);
    trace_free(t);
    return rc;
}

static int add_pieces(struct whole *w, const char *path, const struct import_pieces *pieces,
                      struct err *e)
{
    struct progress progress;
    int rc = 0;
    progress_begin(&progress, "analysing", path);
    for (uint32_t i = 0; i < pieces->n && rc == 0; i++) {
        progress_tell(&progress, i, pieces->n);
        if (pieces->list[i].begin_ns < pieces->list[i].end_ns)
            rc = long_recording_add_piece(w, path, &pieces->list[0], &pieces->list[i], e);
    }
    progress_end(&progress);
    return rc;
}

/* What is requested. */
struct job {
    struct cli *cli;
    const struct opts *o;
    enum whole_what what;
    const char *path;
    struct arena *mem;
};

static int make_screen(const struct job *job, struct screen *ret, struct err *e)
{
    long top = job->what == WHOLE_REPORT ? 10 : 40;
    if (job->what == WHOLE_REPORT) TRY(opt_long(job->o, "limit", 1, 1000, &top, e));
    return show_screen(job->cli, job->o, (uint32_t)top, ret, e);
}

static int long_recording_show(const struct job *job, struct err *e)
{
    struct import_pieces pieces;
    struct screen s;
    struct whole w;
    TRY(make_screen(job, &s, e));
    TRY(rings_pieces(job->path, cli_most_records() / 4, job->mem, &pieces, e));
    TRY(whole_init(&w, pieces.n, job->mem, e));
    w.what = job->what;
    w.n_records = pieces.n_records;
    int rc = add_pieces(&w, job->path, &pieces, e);
    if (rc == 0) {
        whole_finish(&w);
        if (job->cli->json) view_long_recording_json(SHOW_JSON(job->cli), &w);
        else view_long_recording_text(&s, &w);
    }
    whole_done(&w);
    return rc;
}

/* Options that a sum over parts cannot follow. */
static int long_recording_check_options(const struct opts *o, struct err *e)
{
    static const char *const refused[] = {"md", "html", "by", "roof", "filter", "sort", "python"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (opt_has(o, refused[i]))
            return FAIL(e, ERR_USAGE,
                        "--%s does not go with --whole of a recording this long, which is added "
                        "up part by part; --at TIME shows one part in detail",
                        refused[i]);
    return 0;
}

int whole_show(struct cli *cli, const struct opts *o, enum whole_what what, bool *ret_done,
               struct err *e)
{
    struct arena mem;
    struct job job = {cli, o, what, NULL, &mem};
    *ret_done = false;
    if (!opt_has(o, "whole") || opt_has(o, "at") || opt_has(o, "part")) return 0;
    arena_init(&mem);
    int rc = pick_trace(o->args[0], &mem, &job.path, e);
    *ret_done = rc == 0 && long_recording_is_long(job.path, &mem, cli_most_records());
    if (*ret_done) rc = long_recording_check_options(o, e);
    if (*ret_done && rc == 0) rc = long_recording_show(&job, e);
    arena_done(&mem);
    return rc;
}

int whole_refuse(const char *path, struct err *e)
{
    struct arena mem;
    arena_init(&mem);
    bool too_long = long_recording_is_long(path, &mem, cli_most_records());
    arena_done(&mem);
    if (!too_long) return 0;
    return FAIL(e, ERR_USAGE,
                "%s is too long to be shown here as a whole: strata report, steps, kernels and "
                "table add it up with --whole; --at TIME shows one part of it",
                path);
}
