/* cmd_sql.c: `strata sql`: questions to the tables that `strata export --to tables` wrote. */
#include <ctype.h>
#include <unistd.h>

#include "base/jout.h"
#include "base/shell.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/sql/sql.h"
#include "dive/csv.h"

static const struct opt opts[] = {
    {"query", 'q', "NAME", "a query that comes with strata; --list names them", NULL},
    {"list", 0, NULL, "the queries and what they answer", NULL},
    {"csv", 0, NULL, "print the result as CSV", NULL},
    {"print", 0, "DATABASE", "print the views and the query instead of running them",
     "duckdb|clickhouse"},
    {"python", 0, "PROGRAM",
     "the Python that has duckdb (default: those beside strata and on PATH)", NULL},
    {0},
};

static const char *const examples[] = {
    "strata sql tables --query stragglers",
    "who keeps the others waiting, and what it did meanwhile",
    "strata sql tables \"SELECT rank, sum(total_ns) / 1e6 AS ms FROM kernels GROUP BY rank\"",
    "any question; strata sql --list shows what there is",
    "strata sql tables --query ranks --print clickhouse",
    "the same for ClickHouse",
    NULL,
};

static int show_list(struct cli *cli, struct arena *mem, struct err *e)
{
    struct sql_list list;
    struct jout j;
    TRY(sql_list(mem, &list, e));
    if (!cli->json) {
        for (uint32_t i = 0; i < list.n; i++)
            buf_printf(&cli->out, "  %-13s %s\n", list.all[i].name, list.all[i].summary);
        return 0;
    }
    jout_init(&j, &cli->out, true);
    jout_arr(&j, NULL);
    for (uint32_t i = 0; i < list.n; i++) {
        jout_obj(&j, NULL);
        jout_cstr(&j, "name", list.all[i].name);
        jout_cstr(&j, "summary", list.all[i].summary);
        jout_end_obj(&j);
    }
    jout_end_arr(&j);
    return 0;
}

/* ---- the result as a table */

static bool cmd_sql_is_number(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!isdigit((unsigned char)s.p[i]) && !strchr("+-.eE", s.p[i])) return false;
    return true;
}

struct result {
    struct str **rows; /* the names first */
    size_t n, n_columns;
};

static int read_result(struct str text, struct arena *mem, struct result *r, struct err *e)
{
    struct csv c;
    size_t lines = 2;
    for (size_t i = 0; i < text.n; i++) lines += text.p[i] == '\n';
    *r = (struct result){.rows = arena_zalloc(mem, lines, sizeof *r->rows)};
    if (!r->rows) return err_nomem(e);
    csv_init(&c, text, mem);
    int rc;
    while ((rc = csv_next(&c, e)) > 0 && r->n < lines) {
        if (!r->n) r->n_columns = c.n;
        struct str *row = arena_zalloc(mem, r->n_columns, sizeof *row);
        if (!row) {
            rc = err_nomem(e);
            break;
        }
        memcpy(row, c.fields, (c.n < r->n_columns ? c.n : r->n_columns) * sizeof *row);
        r->rows[r->n++] = row;
    }
    csv_done(&c);
    return rc;
}

static void cmd_sql_show_table(struct cli *cli, const struct result *r)
{
    struct text_table t;
    text_table_init(&t);
    for (size_t k = 0; k < r->n_columns; k++) {
        bool right = true;
        for (size_t i = 1; i < r->n && right; i++) right = cmd_sql_is_number(r->rows[i][k]);
        struct str name = r->rows[0][k];
        char *head = arena_printf(&t.mem, STR_FMT, STR_ARG(name));
        text_table_col(&t, head ? head : "", right ? TEXT_RIGHT : TEXT_LEFT);
    }
    for (size_t i = 1; i < r->n; i++) {
        text_table_row(&t, TEXT_PLAIN);
        for (size_t k = 0; k < r->n_columns; k++)
            text_table_cellf(&t, (int)k, STR_FMT, STR_ARG(r->rows[i][k]));
    }
    text_table_print(&t, &cli->out, 0, cli->width, cli->color);
    if (t.failed) cli->out.failed = true;
    text_table_done(&t);
    if (r->n <= 1) buf_adds(&cli->out, "no rows\n");
}

/* Lines end as those of the program do, not as RFC 4180 has it. */
static void put_lines(struct cli *cli, const struct buf *text)
{
    for (size_t i = 0; i < text->n; i++)
        if (text->p[i] != '\r' || i + 1 == text->n || text->p[i + 1] != '\n')
            buf_addc(&cli->out, text->p[i]);
}

static int cmd_sql_show_result(struct cli *cli, const struct buf *out, struct arena *mem,
                               struct err *e)
{
    struct result r;
    TRY(read_result(buf_str(out), mem, &r, e));
    if (r.n && r.n_columns <= TEXT_COLS) cmd_sql_show_table(cli, &r);
    else put_lines(cli, out);
    return 0;
}

/* ---- the question */

static bool is_pattern(const char *tables)
{
    return strstr(tables, "://") || strpbrk(tables, "*?[{");
}

static int check_tables(const char *tables, struct arena *mem, struct err *e)
{
    if (is_pattern(tables)) return 0;
    const char *runs = arena_printf(mem, "%s/runs", tables);
    if (!runs) return err_nomem(e);
    if (folder_is(runs)) return 0;
    if (!folder_is(tables) && access(tables, R_OK) == 0)
        return FAIL(e, ERR_USAGE,
                    "'%s' is a file, not a folder of tables; strata export --to tables %s -o "
                    "tables writes them",
                    tables, shell_word(tables).s);
    return FAIL(e, ERR_USAGE,
                "'%s' holds no tables; strata export --to tables TRACE... -o %s would write them",
                tables, shell_word(tables).s);
}

static int find_query(const struct opts *o, struct arena *mem, const char **ret, struct err *e)
{
    const char *name = opt_get(o, "query", NULL);
    if ((name != NULL) == (o->n_args > 1))
        return FAIL(e, ERR_USAGE, "give either a query in SQL or --query NAME; see --list");
    if (name) return sql_query(name, mem, ret, e);
    *ret = o->args[1];
    return 0;
}

static int cmd_sql_ask(struct cli *cli, const struct opts *o, struct sql_engine *q,
                       struct arena *mem, struct err *e)
{
    struct buf out = {0};
    q->python = opt_get(o, "python", NULL);
    q->json = cli->json;
    TRY(check_tables(o->args[0], mem, e));
    int rc = sql_engine_run(q, mem, &out, e);
    if (rc == 0 && (cli->json || opt_has(o, "csv"))) put_lines(cli, &out);
    else if (rc == 0) rc = cmd_sql_show_result(cli, &out, mem, e);
    buf_done(&out);
    return rc;
}

static int cmd_sql_answer(struct cli *cli, const struct opts *o, struct arena *mem, struct err *e)
{
    const char *database = opt_get(o, "print", NULL);
    struct sql_engine q = {0};
    if (opt_has(o, "list")) return show_list(cli, mem, e);
    if (!o->n_args)
        return FAIL(e, ERR_USAGE, "no tables: name the folder of strata export --to tables");
    TRY(find_query(o, mem, &q.query, e));
    TRY(sql_views(database ? database : "duckdb", o->args[0], mem, &q.views, e));
    if (!database) return cmd_sql_ask(cli, o, &q, mem, e);
    buf_printf(&cli->out, "%s\n%s", q.views, q.query);
    buf_adds(&cli->out, str_ends(str_c(q.query), "\n") ? ";\n" : "\n;\n");
    return 0;
}

static int cmd_sql_run(struct cli *cli, const struct opts *o, struct err *e)
{
    struct arena mem;
    arena_init(&mem);
    int rc = cmd_sql_answer(cli, o, &mem, e);
    arena_done(&mem);
    return rc;
}

const struct cmd cmd_sql = {
    .name = "sql",
    .summary = "ask the tables of strata export --to tables, with DuckDB",
    .args = "FOLDER [QUERY]",
    .about =
        "Runs SQL on the tables that strata export --to tables wrote: runs, steps, stages, "
        "kernels, gaps, syncs, collectives, findings, and two views over them: arrivals (every "
        "collective of every rank, with what the rank waited and did before) and matched (one "
        "row per collective).\n"
        "FOLDER may be a pattern ('runs/*/tables') or an address that DuckDB reads "
        "('s3://bucket/tables').\n"
        "DuckDB has to be installed: its Python package or its program. The SQL files are in the "
        "strata/sql folder of the Python package and run on ClickHouse, too (--print "
        "clickhouse).",
    .examples = examples,
    .opts = opts,
    .group = GROUP_FILES,
    .min_args = 0,
    .max_args = 2,
    .run = cmd_sql_run,
};
