/* mcp_answers.c: see mcp_private.h. */
#include "cli/mcp/mcp_private.h"

#include <string.h>

#include "analyze/names/graph_origin.h"
#include "analyze/names/source_place.h"
#include "analyze/ranks/rank_summary.h"
#include "base/mem.h"
#include "cli/show.h"
#include "report/lists/views_file.h"
#include "tables/tables.h"

extern const struct cmd cmd_report, cmd_gaps, cmd_syncs;

/* Answers that are kept. A context gathers what calls need on the way; it is made again
 * occasionally, so that it does not grow for ever. */
enum {
    MOST_DOCS = 16,
    MOST_DOC_BYTES = 64 << 20,
    MOST_CALLS = 200,
    LONGEST_TEXT = 160,
    OTHERS = 8, /* entries of lists that have no pages */
    INNER = 5   /* and of lists inside */
};

struct doc {
    char *key;
    struct buf text;
    uint32_t n;    /* entries of its main list, of which it shows a page */
    uint64_t used; /* when last */
};

struct mcp_answers_state {
    const struct mcp_folders *folders;
    const struct mcp_path *paths;
    int n_paths;
    struct import_progress *watch;
    struct trace *t;
    struct arena mem;
    struct context cx;
    uint32_t n_calls; /* since the context was made */
    struct ask *sql;
    struct rank_store rank; /* what it reads besides the context */
    struct doc docs[MOST_DOCS];
    uint64_t clock;
};

struct mcp_answers_state *mcp_answers_new(const struct mcp_folders *folders,
                                          const struct mcp_path *paths, int n_paths,
                                          struct import_progress *watch)
{
    struct mcp_answers_state *s = mem_zalloc(1, sizeof *s);
    if (!s) return NULL;
    s->folders = folders;
    s->paths = paths;
    s->n_paths = n_paths;
    s->watch = watch;
    return s;
}

static void drop_context(struct mcp_answers_state *s)
{
    ask_free(s->sql);
    s->sql = NULL;
    rank_store_done(&s->rank);
    s->rank = (struct rank_store){0};
    if (s->cx.t) context_done(&s->cx);
    arena_done(&s->mem);
    arena_init(&s->mem);
    s->n_calls = 0;
}

static void drop_doc(struct doc *d)
{
    mem_free(d->key);
    buf_done(&d->text);
    *d = (struct doc){0};
}

void mcp_answers_free(struct mcp_answers_state *s)
{
    if (!s) return;
    drop_context(s);
    for (int i = 0; i < MOST_DOCS; i++) drop_doc(&s->docs[i]);
    trace_free(s->t);
    mem_free(s);
}

/* ---- answers that were given */

static struct doc *find_doc(struct mcp_answers_state *s, const char *key)
{
    for (int i = 0; i < MOST_DOCS; i++)
        if (s->docs[i].key && strcmp(s->docs[i].key, key) == 0) return &s->docs[i];
    return NULL;
}

static struct doc *oldest_doc(struct mcp_answers_state *s)
{
    struct doc *best = &s->docs[0];
    for (int i = 1; i < MOST_DOCS; i++)
        if (s->docs[i].used < best->used) best = &s->docs[i];
    return best;
}

/* Takes the text over. What does not fit drives out what was not used for longest. */
static struct doc *keep_doc(struct mcp_answers_state *s, const char *key, struct buf *text,
                            uint32_t n)
{
    size_t total = text->n;
    for (int i = 0; i < MOST_DOCS; i++) total += s->docs[i].text.n;
    for (int i = 0; i < MOST_DOCS && total > MOST_DOC_BYTES; i++) {
        struct doc *d = oldest_doc(s);
        total -= d->text.n;
        drop_doc(d);
        d->used = ++s->clock;
    }
    struct doc *d = oldest_doc(s);
    drop_doc(d);
    *d = (struct doc){mem_strdup(key), *text, n, 0};
    *text = (struct buf){0};
    return d;
}

/* ---- the commands */

struct question {
    const struct cmd *cmd;
    struct jout_page *page;                           /* of the JSON; NULL: a text is requested */
    char *words[MCP_MOST_WORDS + MCP_MOST_PATHS + 2]; /* options, then operands */
    int n_words;
};

static bool mcp_answers_has_word(const struct question *q, const char *option)
{
    for (int i = 0; i < q->n_words; i++)
        if (strncmp(q->words[i] + 2, option, strlen(option)) == 0 && q->words[i][0] == '-')
            return true;
    return false;
}

static int need_trace(struct mcp_answers_state *s, struct cli *cli, const struct opts *o,
                      struct err *e)
{
    if (s->n_calls++ >= MOST_CALLS) drop_context(s);
    if (!s->cx.t) context_init(&s->cx, s->t, &s->mem);
    if (!s->t) TRY(cli_open_judged(cli, o, o->args[0], &s->t, &s->cx, e));
    s->cx.program_ns = show_program_wall(o->args[0], &s->mem);
    return 0;
}

/* Options that change what passes compute want passes of their own. */
static int show_apart(struct mcp_answers_state *s, struct cli *cli, const struct opts *o,
                      struct err *e)
{
    struct arena mem;
    struct context cx;
    arena_init(&mem);
    context_init(&cx, s->t, &mem);
    cx.program_ns = s->cx.program_ns;
    int rc = cli->cmd->show(cli, o, &cx, e);
    context_done(&cx);
    arena_done(&mem);
    return rc;
}

static int run_question(struct mcp_answers_state *s, struct question *q, struct buf *ret,
                        struct err *e)
{
    struct opts o;
    const struct opt *known[] = {cli_common_opts, q->cmd->opts, NULL};
    struct cli cli = {.out = *ret,
                      .json = q->page != NULL,
                      .page = q->page,
                      .width = 100,
                      .cmd = q->cmd,
                      .watch = s->watch};
    bool apart = mcp_answers_has_word(q, "min-us") || mcp_answers_has_word(q, "wall") ||
                 mcp_answers_has_word(q, "all");
    TRY(opt_parse(&o, known, q->n_words, q->words, false, e));
    int rc = 0;
    if (!q->cmd->show) rc = q->cmd->run(&cli, &o, e);
    else if ((rc = need_trace(s, &cli, &o, e)) == 0)
        rc = apart ? show_apart(s, &cli, &o, e) : q->cmd->show(&cli, &o, &s->cx, e);
    *ret = cli.out;
    return rc < 0 ? rc : 0;
}

static void put_page(struct buf *key, const struct jout_page *p)
{
    buf_printf(key, "%s %s %u %u %u %u %zu %d", p->list ? p->list : "", p->hidden ? p->hidden : "",
               p->offset, p->limit, p->others, p->inner, p->most_bytes, p->alone);
}

/* The answer to the question: kept, or made and kept. */
static int doc_of(struct mcp_answers_state *s, struct question *q, struct arena *mem,
                  struct doc **ret, struct err *e)
{
    struct buf key = {0}, text = {0};
    buf_printf(&key, "%s ", q->cmd->name);
    if (q->page) put_page(&key, q->page);
    for (int i = 0; i < q->n_words; i++) buf_printf(&key, "\n%s", q->words[i]);
    const char *name = buf_ok(&key) ? arena_strdup(mem, buf_str(&key)) : NULL;
    buf_done(&key);
    if (!name) return err_nomem(e);
    struct doc *d = find_doc(s, name);
    int rc = d ? 0 : run_question(s, q, &text, e);
    if (rc == 0 && !d && !buf_ok(&text)) rc = err_nomem(e);
    if (rc == 0 && !d) d = keep_doc(s, name, &text, q->page ? q->page->n : 0);
    buf_done(&text);
    if (rc < 0) return rc;
    if (!d->key) return err_nomem(e);
    d->used = ++s->clock;
    *ret = d;
    return 0;
}

static int ask_command(struct mcp_answers_state *s, const struct mcp_args *a, const struct cmd *cmd,
                       struct arena *mem, struct question *q, struct err *e)
{
    *q = (struct question){.cmd = cmd};
    int n = mcp_args_words(a, mem, q->words, e);
    if (n < 0) return n;
    q->n_words = n;
    for (int i = 0; i < s->n_paths; i++) q->words[q->n_words++] = (char *)s->paths[i].shown;
    return 0;
}

static int by_command(struct mcp_answers_state *s, const struct mcp_args *a, struct arena *mem,
                      struct buf *ret, struct err *e)
{
    struct question q;
    struct doc *d;
    const char *list = jdoc_text(a->given, "list", a->tool->list);
    bool single = strcmp(list, "gaps") == 0, gaps = a->tool->cmd == &cmd_gaps;
    struct jout_page page = {.list = list,
                             .hidden = !gaps    ? NULL
                                       : single ? "causes"
                                                : "gaps",
                             .offset = a->offset,
                             .limit = a->limit,
                             .others = OTHERS,
                             .inner = INNER,
                             .most_bytes = a->full_names ? 0 : LONGEST_TEXT};
    TRY(ask_command(s, a, a->tool->cmd, mem, &q, e));
    q.page = &page;
    TRY(doc_of(s, &q, mem, &d, e));
    buf_add_str(ret, buf_str(&d->text));
    return 0;
}

static int by_markdown(struct mcp_answers_state *s, const struct mcp_args *a, struct arena *mem,
                       struct buf *ret, struct err *e)
{
    struct question q;
    struct doc *d;
    if (strcmp(jdoc_text(a->given, "format", "md"), "json") == 0)
        return by_command(s, a, mem, ret, e);
    TRY(ask_command(s, a, a->tool->cmd, mem, &q, e));
    char *md = arena_printf(mem, "--md");
    if (!md) return err_nomem(e);
    memmove(q.words + 1, q.words, (size_t)q.n_words * sizeof *q.words);
    q.words[0] = md;
    q.n_words++;
    TRY(doc_of(s, &q, mem, &d, e));
    buf_add_str(ret, buf_str(&d->text));
    buf_adds(ret, "\nGo deeper: evidence with finding=N (how we know), whatif (what a change would "
                  "gain), gaps, syncs, kernels.\n");
    return 0;
}

/* ---- evidence */

static int mcp_answers_pick(struct mcp_answers_state *s, const struct mcp_args *a, const char *what,
                            struct arena *mem, struct buf *ret, struct err *e)
{
    bool gap = strcmp(what, "gap") == 0;
    double number = jdoc_number(a->given, what, 0);
    struct question q;
    struct doc *d;
    struct jout_page page = {.list = gap ? "gaps" : "findings",
                             .offset = (uint32_t)number - 1,
                             .limit = 1,
                             .inner = UINT32_MAX,
                             .alone = true};
    TRY(ask_command(s, a, gap ? &cmd_gaps : &cmd_report, mem, &q, e));
    q.page = &page;
    TRY(doc_of(s, &q, mem, &d, e));
    buf_add_str(ret, buf_str(&d->text));
    if (d->text.n) return 0;
    return FAIL(e, ERR_USAGE, "there is no %s %.0f: the trace has %u; `%s` lists them", what,
                number, d->n, gap ? "gaps" : "report");
}

static int sync_story(struct mcp_answers_state *s, const struct mcp_args *a, struct arena *mem,
                      struct buf *ret, struct err *e)
{
    struct jout_page all = {.others = UINT32_MAX, .inner = UINT32_MAX};
    struct question q;
    struct doc *d;
    TRY(ask_command(s, a, &cmd_syncs, mem, &q, e));
    char *site = arena_printf(mem, "--site=%.0f", jdoc_number(a->given, "sync", 0));
    if (!site) return err_nomem(e);
    memmove(q.words + 1, q.words, (size_t)q.n_words * sizeof *q.words);
    q.words[0] = site;
    q.n_words++;
    q.page = &all;
    TRY(doc_of(s, &q, mem, &d, e));
    buf_add_str(ret, buf_str(&d->text));
    return 0;
}

/* The trace open, for answers that no command gives. */
static int need_open(struct mcp_answers_state *s, const struct mcp_args *a, struct arena *mem,
                     struct err *e)
{
    struct question q;
    struct opts o;
    const struct opt *known[] = {cmd_report.opts, NULL};
    struct cli cli = {.width = 100, .cmd = &cmd_report, .watch = s->watch};
    TRY(ask_command(s, a, &cmd_report, mem, &q, e));
    TRY(opt_parse(&o, known, q.n_words, q.words, false, e));
    return need_trace(s, &cli, &o, e);
}

static int show_row(struct mcp_answers_state *s, const struct mcp_args *a, struct arena *mem,
                    struct buf *ret, struct err *e)
{
    double row = jdoc_number(a->given, "row", 0);
    TRY(need_open(s, a, mem, e));
    if (row >= s->t->n_rows)
        return FAIL(e, ERR_USAGE, "there is no row %.0f: the trace has %u, from 0", row,
                    s->t->n_rows);
    TRY(context_need(&s->cx, &places_pass, e));
    TRY(context_need(&s->cx, &graph_origin_pass, e));
    return view_row_json(ret, &s->cx, (row_t)row, e);
}

static int mcp_answers_evidence(struct mcp_answers_state *s, const struct mcp_args *a,
                                struct arena *mem, struct buf *ret, struct err *e)
{
    static const char *const kinds[] = {"finding", "sync", "gap", "row"};
    int given = 0, which = 0;
    for (int i = 0; i < 4; i++)
        if (jdoc_get(a->given, kinds[i])) given++, which = i;
    if (given != 1)
        return FAIL(e, ERR_USAGE, "give one of finding, sync, gap and row, with its number");
    if (which == 1) return sync_story(s, a, mem, ret, e);
    if (which == 3) return show_row(s, a, mem, ret, e);
    return mcp_answers_pick(s, a, kinds[which], mem, ret, e);
}

/* ---- SQL */

static int open_sql(struct mcp_answers_state *s, struct err *e)
{
    struct rank_summary *rank = arena_zalloc(&s->mem, 1, sizeof *rank);
    if (!rank) return err_nomem(e);
    rank_store_done(&s->rank); /* of a call that failed */
    TRY(rank_store_init(&s->rank, e));
    TRY(rank_summary_run(&s->cx, s->paths[0].shown, &s->rank, rank, e));
    return ask_new(&(struct tables_in){&s->cx, rank}, &s->sql, e);
}

static int mcp_answers_sql(struct mcp_answers_state *s, const struct mcp_args *a, struct arena *mem,
                           struct buf *ret, struct err *e)
{
    TRY(need_open(s, a, mem, e));
    if (!s->sql) TRY(open_sql(s, e));
    struct ask_page page = {a->offset, a->limit, a->full_names ? 0 : LONGEST_TEXT};
    return ask_run(s->sql, jdoc_text(a->given, "query", ""), &page, ret, e);
}

static int mcp_answers_listing(struct mcp_answers_state *s, const struct mcp_args *a,
                               struct arena *mem, struct buf *ret, struct err *e)
{
    struct jout_page page = {.list = a->tool->list, .offset = a->offset, .limit = a->limit};
    struct jout j;
    jout_init_page(&j, ret, &page);
    return mcp_folder_list(s->folders, mem, &j, e);
}

int mcp_answer(struct mcp_answers_state *s, const struct mcp_args *a, struct arena *mem,
               struct buf *ret, struct err *e)
{
    switch (a->tool->answers) {
    case MCP_MARKDOWN: return by_markdown(s, a, mem, ret, e);
    case MCP_LISTING: return mcp_answers_listing(s, a, mem, ret, e);
    case MCP_SQL: return mcp_answers_sql(s, a, mem, ret, e);
    case MCP_EVIDENCE: return mcp_answers_evidence(s, a, mem, ret, e);
    case MCP_BY_COMMAND: break;
    }
    return by_command(s, a, mem, ret, e);
}
