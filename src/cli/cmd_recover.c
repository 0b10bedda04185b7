/* cmd_recover.c: `strata recover`: what a run left behind, even if it was killed. */
#include <string.h>

#include "base/human.h"
#include "base/jout.h"
#include "base/pool.h"
#include "base/text.h"
#include "cli/run_folder.h"
#include "cli/show.h"
#include "export/export.h"

static const struct opt opts[] = {
    {"output", 'o', "FILE", "write the trace here instead of DIR/trace.strata", NULL},
    {0},
};

static const char *const examples[] = {
    "strata recover strata_out/flux/20261115_101502",
    "the trace and timing of a run that was killed",
    NULL,
};

struct recovery {
    struct ring_survey survey;
    struct run_folder_made made;
    const char *trace; /* as it was written */
    uint32_t n_rows;
};

static const char *how_ended(const struct trace *t, const struct ring_facts *f)
{
    if (f->ended) return "exit";
    if (f->running) return "running";
    return run_folder_was_cut(t, f) ? "killed" : "unknown";
}

/* What the process was doing when it died: the path of an open range, innermost. */
static void put_last_words(struct buf *out, const struct trace *t)
{
    for (row_t r = 0; r < t->n_rows; r++) {
        if (!(t->flags[r] & ROW_UNFINISHED)) continue;
        bool innermost = true;
        for (row_t c = r + 1; c < t->n_rows && t->lane[c] == t->lane[r]; c++)
            if (t->parent[c] == r && t->flags[c] & ROW_UNFINISHED) innermost = false;
        if (!innermost) continue;
        char name[100];
        buf_printf(out, "  open when it ended: %s",
                   human_cut(trace_name(t, r), 60, name, sizeof name));
        for (row_t up = t->parent[r]; up != ROW_NONE; up = t->parent[up])
            buf_printf(out, " < %s", human_cut(trace_name(t, up), 40, name, sizeof name));
        buf_printf(out, "   for %s\n", human_time(t->dur_ns[r]).s);
    }
}

static void show_text(struct cli *cli, const struct recovery *v, const struct trace *t,
                      const char *folder)
{
    struct text_table tt;
    text_table_init(&tt);
    text_table_col(&tt, "process", TEXT_LEFT);
    static const char *const heads[] = {"pid", "rank", "ended", "threads", "records", "lost", NULL};
    for (int i = 0; heads[i]; i++) text_table_col(&tt, heads[i], TEXT_RIGHT);
    for (uint32_t i = 0; i < v->survey.n; i++) {
        const struct ring_facts *f = &v->survey.list[i];
        char name[100];
        text_table_row(&tt, f->ended ? TEXT_PLAIN : TEXT_YELLOW);
        text_table_cell(&tt, 0,
                        human_cut(str_c(f->name[0] ? f->name : f->program), 40, name, sizeof name));
        text_table_cellf(&tt, 1, "%lld", (long long)f->pid);
        if (f->rank >= 0) text_table_cellf(&tt, 2, "%d", f->rank);
        else text_table_cell(&tt, 2, "-");
        text_table_cell(&tt, 3, how_ended(t, f));
        text_table_cell(&tt, 4, human_count(f->n_threads).s);
        text_table_cell(&tt, 5, human_count(f->n_records).s);
        text_table_cell(&tt, 6, human_count(f->n_lost).s);
    }
    text_table_print(&tt, &cli->out, 2, cli->width, cli->color);
    text_table_done(&tt);
    if (v->survey.n_bad)
        buf_printf(&cli->out, "  %u unreadable file%s\n", v->survey.n_bad,
                   v->survey.n_bad == 1 ? "" : "s");
    put_last_words(&cli->out, t);
    buf_printf(&cli->out, "\nwrote %s (%s events)\n", v->trace, human_count(v->n_rows).s);
    for (uint32_t i = 0; i < v->made.n; i++) buf_printf(&cli->out, "wrote %s\n", v->made.paths[i]);
    buf_printf(&cli->out, "next: strata stages %s\n", folder);
}

static void show_json(struct cli *cli, const struct recovery *v, const struct trace *t)
{
    struct jout j;
    jout_init(&j, &cli->out, true);
    jout_obj(&j, NULL);
    jout_arr(&j, "processes");
    for (uint32_t i = 0; i < v->survey.n; i++) {
        const struct ring_facts *f = &v->survey.list[i];
        jout_obj(&j, NULL);
        jout_int(&j, "pid", f->pid);
        jout_int(&j, "rank", f->rank);
        jout_cstr(&j, "host", f->host);
        jout_cstr(&j, "program", f->program);
        jout_cstr(&j, "ended", how_ended(t, f));
        jout_uint(&j, "threads", f->n_threads);
        jout_uint(&j, "records", f->n_records);
        jout_uint(&j, "lost_records", f->n_lost);
        jout_end_obj(&j);
    }
    jout_end_arr(&j);
    jout_uint(&j, "unreadable_files", v->survey.n_bad);
    jout_uint(&j, "events", v->n_rows);
    jout_cstr(&j, "trace", v->trace);
    jout_arr(&j, "timing");
    for (uint32_t i = 0; i < v->made.n; i++) jout_cstr(&j, NULL, v->made.paths[i]);
    jout_end_arr(&j);
    jout_end_obj(&j);
}

static int recover(struct cli *cli, const struct opts *o, struct arena *mem, struct err *e)
{
    const char *folder = o->args[0];
    struct recovery v = {0};
    TRY(rings_survey(folder, mem, &v.survey, e));
    struct trace *t;
    TRY(rings_open(folder, NULL, &t, e));
    int rc = run_folder_recover(folder, t, mem, &v.made, e);
    v.trace = opt_get(o, "output", arena_printf(mem, "%s/trace.strata", folder));
    v.n_rows = t->n_rows;
    struct export_options options = {.n_threads = pool_size()};
    if (rc == 0)
        rc = v.trace ? export_find("strata")->write(t, v.trace, &options, e) : err_nomem(e);
    if (rc == 0 && cli->json) show_json(cli, &v, t);
    else if (rc == 0) show_text(cli, &v, t, folder);
    trace_free(t);
    return rc;
}

static int run(struct cli *cli, const struct opts *o, struct err *e)
{
    struct arena mem;
    arena_init(&mem);
    int rc = recover(cli, o, &mem, e);
    arena_done(&mem);
    return rc;
}

const struct cmd cmd_recover = {
    .name = "recover",
    .summary = "trace and timing of a run that was killed or crashed",
    .args = "DIR",
    .about =
        "Reads the recordings of every process in a run folder, whatever state they were left in, "
        "and\n"
        "writes them as one trace (trace.strata), plus a timing.json for every process that could "
        "not\n"
        "write its own. Nothing recorded before a kill is lost; the recordings themselves stay.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_RECORD,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
