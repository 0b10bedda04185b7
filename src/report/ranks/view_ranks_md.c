/* view_ranks_md.c: many ranks side by side, as markdown: what the text says, small enough to paste.
 */
#include <string.h>

#include "report/md.h"
#include "report/ranks/ranks_parts.h"
#include "report/ranks/view_ranks.h"

#define MOST_RANKS 16
#define WIDTH      300
#define NARROW     120

/* A sentence with `before` it; nothing where there is none. */
static void view_ranks_md_put_cut(struct buf *out, const char *before, struct buf *line, int width)
{
    char cut[4 * WIDTH];
    if (line->n) {
        buf_adds(out, before);
        md_text(out, human_cut(str_c(buf_c(line)), width, cut, sizeof cut));
        buf_addc(out, '\n');
    }
    if (!buf_ok(line)) out->failed = true;
    buf_reset(line);
}

static void view_ranks_md_put_line(struct buf *out, const char *before, struct buf *line)
{
    view_ranks_md_put_cut(out, before, line, WIDTH);
}

static void view_ranks_md_put_verdict(struct buf *out, const struct view_ranks *v, struct buf *line)
{
    const struct rank_set *r = v->set;
    if (ranks_no_answer(r)) {
        buf_printf(out, "\n%s\n", ranks_no_answer(r));
        return;
    }
    ranks_headline(line, r);
    view_ranks_md_put_line(out, "\n", line);
    ranks_gain(line, r, v->step_without_ns);
    view_ranks_md_put_line(out, "\n", line);
    if (r->n_stragglers) buf_addc(out, '\n');
    for (uint32_t i = 0; ranks_late(line, r, i); i++) view_ranks_md_put_line(out, "- ", line);
    if (r->n_stragglers > RANKS_STRAGGLERS)
        buf_printf(out, "- %s more ranks are late\n",
                   human_count(r->n_stragglers - RANKS_STRAGGLERS).s);
    ranks_bubbles(line, r);
    view_ranks_md_put_line(out, "- ", line);
    ranks_experts(line, r);
    view_ranks_md_put_line(out, "- ", line);
}

static void put_tables(struct buf *out, const struct rank_set *r)
{
    struct text_table table;
    ranks_table(&table, r, MOST_RANKS);
    md_table(out, &table);
    text_table_done(&table);
    if (r->n > MOST_RANKS)
        buf_printf(out, "\n%s more ranks are left out.\n", human_count(r->n - MOST_RANKS).s);
    ranks_collectives(&table, r);
    if (table.failed) out->failed = true;
    if (table.n_rows) {
        buf_adds(out, "\n## Where ranks arrive furthest apart\n");
        md_table(out, &table);
    }
    text_table_done(&table);
}

static const char *view_ranks_md_last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

void view_ranks_md(struct buf *out, const struct view_ranks *v, const char *path)
{
    struct buf line;
    buf_init(&line);
    buf_printf(&line, "%s: ", view_ranks_md_last_part(path));
    ranks_who(&line, v->set);
    view_ranks_md_put_line(out, "# ", &line);
    for (uint32_t i = 0; ranks_doubt(&line, v->set, i); i++)
        view_ranks_md_put_cut(out, "\n> ", &line, NARROW);
    view_ranks_md_put_verdict(out, v, &line);
    put_tables(out, v->set);
    ranks_path(&line, v->set);
    view_ranks_md_put_line(out, "\n", &line);
    ranks_clocks(&line, v->set);
    view_ranks_md_put_line(out, "\n", &line);
    buf_done(&line);
}
