/* view_comm.c: see views_kernels.h. */
#include "report/lists/views_kernels.h"

#include "base/stats.h"
#include "report/result_text.h"
#include "results/result_json.h"
#include "results/results.h"

#define KINDS_SHOWN 5

/* "default_pg, 8 ranks", or as much of it as is known. */
static void view_comm_put_group(struct text_table *table, int col, const struct message_group *g)
{
    char name[64];
    struct str of =
        g->description.n && !str_is(g->description, "undefined") ? g->description : g->name;
    human_cut(of, 24, name, sizeof name);
    if (g->ranks)
        text_table_cellf(table, col, "%s%s%s ranks", name, name[0] ? ", " : "",
                         human_count((uint64_t)g->ranks).s);
    else text_table_cell(table, col, name[0] ? name : "-");
}

static void view_comm_put_table(const struct screen *s, const struct context *cx)
{
    static const char *const keys[] = {"name",         "group",       "calls", "time_us",
                                       "exposed_us",   "overlap_pct", "bytes", "algo_gb_per_s",
                                       "bus_gb_per_s", NULL};
    const struct messages *m = messages_of(cx);
    struct rows rows = rows_messages(cx);
    struct result_text t;
    result_text_begin(&t, &result_messages, NULL, keys);
    result_text_fit(&t, &rows);
    for (uint32_t i = 0; i < rows.n && i < KINDS_SHOWN; i++) {
        result_text_add(&t, &rows, i, NULL, TEXT_PLAIN);
        view_comm_put_group(&t.table, 1, &m->groups[m->kinds[i].group]);
    }
    result_text_print(&t, s);
    result_text_done(&t);
    if (m->n_kinds > KINDS_SHOWN)
        buf_printf(s->out, "  ... and %s more (--json lists all)\n",
                   human_count(m->n_kinds - KINDS_SHOWN).s);
}

void view_comm_text(const struct screen *s, const struct context *cx)
{
    const struct comm *c = comm_of(cx);
    struct comm_device d = comm_main(c);
    if (!c->n_works || !d.comm_ns) return;
    struct buf line;
    buf_init(&line);
    buf_printf(&line, "communication: %s in %s call%s, ", human_time(d.comm_ns).s,
               human_count(c->n_works).s, c->n_works == 1 ? "" : "s");
    buf_printf(&line, "%s of it overlapped by other work; ",
               human_pct(stats_pct((double)(d.comm_ns - d.exposed_ns), (double)d.comm_ns)).s);
    buf_printf(&line, "%s not overlapped, %s of the wall clock", human_time(d.exposed_ns).s,
               human_pct(comm_exposed_pct(c)).s);
    buf_adds(s->out, "\n  ");
    text_wrap(s->out, buf_c(&line), 2, s->width);
    buf_done(&line);
    view_comm_put_table(s, cx);
}
