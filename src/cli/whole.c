/* whole.c: see whole.h. */
#include "cli/whole.h"

#include <unistd.h>

#include "analyze/compare/whole.h"
#include "cli/pick_trace.h"
#include "cli/progress.h"
#include "cli/show.h"
#include "import/import.h"
#include "import/rings.h"
#include "report/view_whole.h"

/* Whether import_open would read the recordings of this folder, and they are too many. */
static bool is_long(const char *path, struct arena *mem, uint64_t most)
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
static int add_piece(struct whole *w, const char *path, const struct import_span *whole,
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
            rc = add_piece(w, path, &pieces->list[0], &pieces->list[i], e);
    }
    progress_end(&progress);
    return rc;
}

static int show(struct cli *cli, const struct opts *o, const char *path, struct arena *mem,
                struct err *e)
{
    struct import_pieces pieces;
    struct screen s;
    struct whole w;
    long top = 10;
    TRY(opt_long(o, "top", 1, 1000, &top, e));
    TRY(show_screen(cli, o, (uint32_t)top, &s, e));
    TRY(rings_pieces(path, cli_most_records() / 4, mem, &pieces, e));
    TRY(whole_init(&w, pieces.n, mem, e));
    w.n_records = pieces.n_records;
    int rc = add_pieces(&w, path, &pieces, e);
    if (rc == 0) {
        whole_finish(&w);
        if (cli->json) view_whole_json(&cli->out, &w);
        else view_whole_text(&s, &w);
    }
    whole_done(&w);
    return rc;
}

int whole_show(struct cli *cli, const struct opts *o, bool *ret_done, struct err *e)
{
    struct arena mem;
    const char *picked;
    arena_init(&mem);
    int rc = pick_trace(o->args[0], &mem, &picked, e);
    *ret_done = rc == 0 && is_long(picked, &mem, cli_most_records());
    if (*ret_done && (opt_has(o, "md") || opt_has(o, "html")))
        rc = FAIL(e, ERR_USAGE, "--whole of a recording this long is text or --json only");
    if (*ret_done && rc == 0) rc = show(cli, o, picked, &mem, e);
    arena_done(&mem);
    return rc;
}
