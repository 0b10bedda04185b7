/* ranks_page.c: see ranks.h. */
#include "cli/ranks/ranks.h"

#include "analyze/comm/comm.h"
#include "analyze/steps/steps.h"
#include "base/pool.h"

enum { THREADS = 8 };

/* Rows in the making; each thread has memory of its own. */
struct drawing {
    struct cli *cli;
    const struct rank_set *s;
    struct rank_chart *c;
    struct arena mem[THREADS];
    bool nomem[RANK_CHART_ROWS];
};

static int ranks_page_open_index(struct cli *cli, const struct rank_set *s, uint32_t rank,
                                 struct open_rank *r, struct err *e)
{
    struct picked p = {s->ranks[rank].path, s->ranks[rank].part};
    return open_rank(cli, p, r, e);
}

static int ranks_page_find_window(struct drawing *d, struct err *e)
{
    struct open_rank r;
    int rc = ranks_page_open_index(d->cli, d->s, rank_chart_leader(d->s, d->c), &r, e);
    if (rc == 0) rc = rank_chart_window(&r.cx, d->s, d->c, e);
    close_rank(&r);
    return rc;
}

/* A trace that can no longer be read leaves its row empty. */
static void draw_row(void *drawing, int item, int worker)
{
    struct drawing *d = drawing;
    struct rank_row *row = &d->c->rows[item];
    struct open_rank r;
    struct err ignored;
    err_init(&ignored);
    int rc = ranks_page_open_index(d->cli, d->s, row->rank, &r, &ignored);
    if (rc == 0) rc = context_need(&r.cx, &steps_pass, &ignored);
    if (rc == 0) rc = context_need(&r.cx, &comm_pass, &ignored);
    if (rc == 0) rc = rank_chart_row(&r.cx, d->s, d->c, row, &d->mem[worker]);
    d->nomem[item] = rc == ERR_NOMEM;
    close_rank(&r);
}

static int ranks_page_draw(struct drawing *d, struct err *e)
{
    int threads = pool_size() < THREADS ? pool_size() : THREADS;
    TRY(ranks_page_find_window(d, e));
    pool_run(threads, (int)d->c->n_rows, draw_row, d);
    for (uint32_t i = 0; i < d->c->n_rows; i++)
        if (d->nomem[i]) return err_nomem(e);
    return 0;
}

static int ranks_page_write_page(const struct view_ranks *v, const struct rank_chart *c,
                                 const char *title, const char *file, struct err *e)
{
    struct buf doc;
    buf_init(&doc);
    view_ranks_page(&doc, v, c);
    struct page p = {.viewer = str_from(page_viewer, page_viewer_bytes),
                     .kind = "ranks",
                     .title = title,
                     .ranks = buf_str(&doc)};
    int rc = buf_ok(&doc) ? page_write(&p, file, e) : err_nomem(e);
    buf_done(&doc);
    return rc;
}

int ranks_page_write(struct cli *cli, const struct view_ranks *v, const char *title,
                     const char *file, struct err *e)
{
    struct rank_chart chart;
    struct drawing d = {.cli = cli, .s = v->set, .c = &chart};
    bool drawn = rank_chart_pick(v->set, &chart);
    int rc = 0;
    for (int i = 0; i < THREADS; i++) arena_init(&d.mem[i]);
    if (drawn) rc = ranks_page_draw(&d, e);
    if (rc == 0) rc = ranks_page_write_page(v, drawn ? &chart : NULL, title, file, e);
    for (int i = 0; i < THREADS; i++) arena_done(&d.mem[i]);
    return rc;
}
