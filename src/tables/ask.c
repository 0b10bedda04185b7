/* ask.c: see tables.h. The tables of the analysis are small and are copied into a database in
 * memory; after that an authorizer lets nothing pass but reading. */
#include "tables/tables.h"

#include <assert.h>
#include <sqlite3.h>
#include <string.h>

#include "base/clock.h"
#include "base/jout.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "export/parquet.h"
#include "tables/tables_private.h"

enum {
    CHECK_EVERY = 1000, /* steps: one may make a value of LONGEST_VALUE bytes */
    LONGEST_VALUE = 4 << 20,
    LONGEST_SQL = 64 << 10,
    MOST_BYTES = 4 << 20
};

struct ask {
    sqlite3 *db;
    uint64_t until_ns; /* when a query has to be done */
};

static int ask_fail_sql(const struct ask *a, int rc, struct err *e)
{
    if ((rc & 0xff) == SQLITE_NOMEM) return err_nomem(e);
    if ((rc & 0xff) == SQLITE_INTERRUPT)
        return FAIL(e, ERR_LIMIT, "the query ran longer than %d s; narrow it with WHERE",
                    ASK_MOST_S);
    if ((rc & 0xff) == SQLITE_AUTH)
        return FAIL(e, ERR_USAGE,
                    "only SELECT over events, steps, stages, kernels, gaps, syncs, "
                    "collectives, findings and runs is allowed");
    return FAIL(e, ERR_USAGE, "%s", a->db ? sqlite3_errmsg(a->db) : sqlite3_errstr(rc));
}

static int ask_authorize(void *ctx, int action, const char *what, const char *more, const char *db,
                         const char *by)
{
    (void)ctx, (void)db, (void)by;
    bool ok = action == SQLITE_SELECT || action == SQLITE_RECURSIVE;
    if (action == SQLITE_READ) ok = what && strncmp(what, "pragma_", 7) != 0;
    if (action == SQLITE_FUNCTION)
        ok = more && strcmp(more, "load_extension") != 0 && strcmp(more, "fts3_tokenizer") != 0;
    return ok ? SQLITE_OK : SQLITE_DENY;
}

static int too_long(void *ctx)
{
    return clock_mono_ns() > ((struct ask *)ctx)->until_ns;
}

static void ask_lock_down(struct ask *a)
{
    sqlite3_limit(a->db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(a->db, SQLITE_LIMIT_LENGTH, LONGEST_VALUE);
    sqlite3_limit(a->db, SQLITE_LIMIT_SQL_LENGTH, LONGEST_SQL);
    sqlite3_limit(a->db, SQLITE_LIMIT_EXPR_DEPTH, 200);
    sqlite3_limit(a->db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200);
    sqlite3_db_config(a->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_set_authorizer(a->db, ask_authorize, a);
    sqlite3_progress_handler(a->db, CHECK_EVERY, too_long, a);
}

/* ---- the tables of the analysis */

static void ask_put_names(struct buf *sql, const struct parquet *p, bool types)
{
    static const char *const words[] = {
        [PARQUET_INT] = " INTEGER", [PARQUET_NUM] = " REAL", [PARQUET_TEXT] = " TEXT"};
    for (uint32_t i = 0; i < p->n_columns; i++)
        buf_printf(sql, "%s\"%s\"%s", i ? ", " : "", p->columns[i].name,
                   types ? words[p->columns[i].type] : "");
}

static int ask_run_sql(const struct ask *a, struct buf *sql, struct err *e)
{
    if (!buf_ok(sql)) return err_nomem(e);
    int rc = sqlite3_exec(a->db, buf_c(sql), NULL, NULL, NULL);
    return rc == SQLITE_OK ? 0 : ask_fail_sql(a, rc, e);
}

static int bind_row(sqlite3_stmt *insert, struct parquet_cells *c)
{
    int rc = SQLITE_OK;
    for (uint32_t i = 0; i < c->p->n_columns && rc == SQLITE_OK; i++) {
        struct parquet_cell v = parquet_cells_next(c, i);
        if (v.is_null) rc = sqlite3_bind_null(insert, (int)i + 1);
        else if (c->p->columns[i].type == PARQUET_INT)
            rc = sqlite3_bind_int64(insert, (int)i + 1, v.integer);
        else if (c->p->columns[i].type == PARQUET_NUM)
            rc = sqlite3_bind_double(insert, (int)i + 1, v.number);
        else
            rc = sqlite3_bind_text64(insert, (int)i + 1, v.text.p, v.text.n, SQLITE_TRANSIENT,
                                     SQLITE_UTF8);
    }
    return rc;
}

static int insert_rows(const struct ask *a, struct parquet *p, sqlite3_stmt *insert, struct err *e)
{
    struct parquet_cells c;
    int rc = parquet_cells_begin(&c, p, e);
    for (uint64_t i = 0; i < p->n_rows && rc == 0; i++) {
        int code = bind_row(insert, &c);
        if (code == SQLITE_OK) code = sqlite3_step(insert);
        if (code != SQLITE_DONE) rc = ask_fail_sql(a, code, e);
        sqlite3_reset(insert);
    }
    parquet_cells_done(&c);
    return rc;
}

static int ask_fill_table(const struct ask *a, const struct table *t, struct parquet *p,
                          struct err *e)
{
    struct buf sql = {0};
    sqlite3_stmt *insert = NULL;
    buf_printf(&sql, "CREATE TABLE %s(", t->name);
    ask_put_names(&sql, p, true);
    buf_addc(&sql, ')');
    int rc = ask_run_sql(a, &sql, e);
    buf_reset(&sql);
    buf_printf(&sql, "INSERT INTO %s VALUES(?", t->name);
    for (uint32_t i = 1; i < p->n_columns; i++) buf_adds(&sql, ",?");
    buf_addc(&sql, ')');
    if (rc == 0 && !buf_ok(&sql)) rc = err_nomem(e);
    if (rc == 0) {
        int code = sqlite3_prepare_v2(a->db, buf_c(&sql), -1, &insert, NULL);
        rc = code == SQLITE_OK ? insert_rows(a, p, insert, e) : ask_fail_sql(a, code, e);
    }
    sqlite3_finalize(insert);
    buf_done(&sql);
    return rc;
}

static int ask_add_table(const struct ask *a, const struct tables_in *in, const struct table *t,
                         struct err *e)
{
    struct parquet p;
    int rc = tables_fill(in, t, &p, e);
    if (rc == 0) rc = ask_fill_table(a, t, &p, e);
    parquet_done(&p);
    return rc;
}

static int ask_fill(struct ask *a, const struct tables_in *in, struct err *e)
{
    int rc = sqlite3_open_v2(":memory:", &a->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK) rc = ask_events_register(a->db, in->cx->t);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(a->db, "PRAGMA temp_store=MEMORY; BEGIN", NULL, NULL, NULL);
    if (rc != SQLITE_OK) return ask_fail_sql(a, rc, e);
    for (const struct table *const *t = tables; *t; t++) TRY(ask_add_table(a, in, *t, e));
    /* SQLite meets the events once before it is locked: nothing can be declared after that */
    rc = sqlite3_exec(a->db, "COMMIT; SELECT 1 FROM events LIMIT 0", NULL, NULL, NULL);
    if (rc != SQLITE_OK) return ask_fail_sql(a, rc, e);
    ask_lock_down(a);
    return 0;
}

int ask_new(const struct tables_in *in, struct ask **ret, struct err *e)
{
    struct ask *a = mem_zalloc(1, sizeof *a);
    if (!a) return err_nomem(e);
    int rc = ask_fill(a, in, e);
    if (rc < 0) ask_free(a);
    else *ret = a;
    return rc;
}

void ask_free(struct ask *a)
{
    if (!a) return;
    sqlite3_close(a->db);
    mem_free(a);
}

/* ---- a query */

static void ask_put_text(struct jout *j, struct str s, size_t most)
{
    if (!most || s.n <= most) {
        jout_str(j, NULL, s);
        return;
    }
    struct buf cut = {0};
    buf_add(&cut, s.p, most / 2);
    buf_adds(&cut, "...");
    buf_add(&cut, s.p + s.n - most / 2, most / 2);
    jout_str(j, NULL, buf_ok(&cut) ? buf_str(&cut) : str_c("..."));
    buf_done(&cut);
}

static void ask_put_cell(struct jout *j, sqlite3_stmt *q, int i, size_t most)
{
    const char *p = (const char *)sqlite3_column_text(q, i);
    switch (sqlite3_column_type(q, i)) {
    case SQLITE_INTEGER: jout_int(j, NULL, sqlite3_column_int64(q, i)); break;
    case SQLITE_FLOAT: jout_num(j, NULL, sqlite3_column_double(q, i), 6); break;
    case SQLITE_NULL: jout_null(j, NULL); break;
    default:
        ask_put_text(j, str_from(p ? p : "", p ? (size_t)sqlite3_column_bytes(q, i) : 0), most);
    }
}

static void ask_put_row(struct jout *j, sqlite3_stmt *q, size_t most)
{
    jout_arr(j, NULL);
    for (int i = 0; i < sqlite3_column_count(q); i++) ask_put_cell(j, q, i, most);
    jout_end_arr(j);
}

static int ask_put_rows(struct jout *j, const struct ask *a, sqlite3_stmt *q,
                        const struct ask_page *page, struct err *e)
{
    uint64_t n = 0, shown = 0;
    int rc;
    size_t from = j->out->n;
    jout_arr(j, "rows");
    while ((rc = sqlite3_step(q)) == SQLITE_ROW) {
        if (shown == page->limit || j->out->n - from > MOST_BYTES) break;
        if (n++ < page->offset) continue;
        ask_put_row(j, q, page->most_bytes);
        shown++;
    }
    jout_end_arr(j);
    jout_bool(j, "more", rc == SQLITE_ROW);
    if (rc == SQLITE_ROW) jout_uint(j, "next_offset", page->offset + shown);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : ask_fail_sql(a, rc, e);
}

static int ask_answer(const struct ask *a, sqlite3_stmt *q, const struct ask_page *page,
                      struct buf *out, struct err *e)
{
    struct jout j;
    jout_init(&j, out, false);
    jout_obj(&j, NULL);
    jout_arr(&j, "columns");
    for (int i = 0; i < sqlite3_column_count(q); i++)
        jout_cstr(&j, NULL, sqlite3_column_name(q, i));
    jout_end_arr(&j);
    TRY(ask_put_rows(&j, a, q, page, e));
    jout_end_obj(&j);
    return 0;
}

int ask_run(struct ask *a, const char *query, const struct ask_page *page, struct buf *out,
            struct err *e)
{
    sqlite3_stmt *q = NULL;
    const char *rest = "";
    a->until_ns = clock_mono_ns() + (uint64_t)ASK_MOST_S * 1000000000u;
    int code = sqlite3_prepare_v2(a->db, query, -1, &q, &rest), rc = 0;
    if (code != SQLITE_OK) rc = ask_fail_sql(a, code, e);
    else if (!q) rc = FAIL(e, ERR_USAGE, "the query is empty; give one SELECT");
    else if (rest[strspn(rest, " \t\r\n;")])
        rc = FAIL(e, ERR_USAGE, "one SELECT at a time; found more after the first");
    else rc = ask_answer(a, q, page, out, e);
    sqlite3_finalize(q);
    return rc;
}
