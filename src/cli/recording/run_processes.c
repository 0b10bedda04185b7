/* run_processes.c: see run_folder.h. */
#include "cli/recording/run_folder.h"

#include "base/human.h"
#include "base/text.h"

static const char *run_processes_ended(const struct trace *t, const struct ring_facts *f)
{
    if (f->ended) return "exit";
    if (f->running) return "running";
    return run_folder_was_cut(t, f) ? "killed" : "unknown";
}

/* What the process was doing when it died: the path of an open range, innermost. */
static void run_processes_last_words(struct buf *out, const struct trace *t)
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

void run_processes_text(struct cli *cli, const struct ring_survey *v, const struct trace *t)
{
    struct text_table tt;
    text_table_init(&tt);
    text_table_col(&tt, "process", TEXT_LEFT);
    static const char *const heads[] = {"pid", "rank", "ended", "threads", "records", "lost", NULL};
    for (int i = 0; heads[i]; i++) text_table_col(&tt, heads[i], TEXT_RIGHT);
    for (uint32_t i = 0; i < v->n; i++) {
        const struct ring_facts *f = &v->list[i];
        char name[100];
        text_table_row(&tt, f->ended ? TEXT_PLAIN : TEXT_YELLOW);
        text_table_cell(&tt, 0,
                        human_cut(str_c(f->name[0] ? f->name : f->program), 40, name, sizeof name));
        text_table_cellf(&tt, 1, "%lld", (long long)f->pid);
        if (f->rank >= 0) text_table_cellf(&tt, 2, "%d", f->rank);
        else text_table_cell(&tt, 2, "-");
        text_table_cell(&tt, 3, run_processes_ended(t, f));
        text_table_cell(&tt, 4, human_count(f->n_threads).s);
        text_table_cell(&tt, 5, human_count(f->n_records).s);
        text_table_cell(&tt, 6, human_count(f->n_lost).s);
    }
    text_table_print(&tt, &cli->out, 2, cli->width, cli->color);
    text_table_done(&tt);
    if (v->n_bad)
        buf_printf(&cli->out, "  %u unreadable file%s\n", v->n_bad, v->n_bad == 1 ? "" : "s");
    run_processes_last_words(&cli->out, t);
}

int run_processes_list(const struct ring_survey *v, const struct trace *t, struct arena *mem,
                       struct view_info *ret, struct err *e)
{
    struct info_process *list = arena_alloc(mem, (v->n + 1) * sizeof *list);
    if (!list) return err_nomem(e);
    for (uint32_t i = 0; i < v->n; i++) {
        const struct ring_facts *f = &v->list[i];
        list[i] = (struct info_process){
            f->pid,       f->rank,      f->host,  f->program, run_processes_ended(t, f),
            f->n_threads, f->n_records, f->n_lost};
    }
    ret->run = list;
    ret->n_run = v->n;
    ret->unreadable_files = v->n_bad;
    return 0;
}
