/* to_sqlite.c: a SQLite database for people who want to ask in SQL. Filled without a journal under
 * the temporary name of a file_out, so that it is there whole or not at all. */
#include "base/file.h"
#include "base/mem.h"
#include "export/export.h"
#include "export/export_private.h"

enum { PROGRESS_EVERY = 65536 };

struct database {
    sqlite3 *db;
    const char *path;
};

static int to_sqlite_fail_sql(const struct database *d, int rc, struct err *e)
{
    int code = (rc & 0xff) == SQLITE_NOMEM ? ERR_NOMEM : ERR_IO;
    err_at(e, d->path, ERR_NO_OFFSET);
    return FAIL(e, code, "cannot write: %s", d->db ? sqlite3_errmsg(d->db) : sqlite3_errstr(rc));
}

static int to_sqlite_run_sql(const struct database *d, const char *sql, struct err *e)
{
    int rc = sqlite3_exec(d->db, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? 0 : to_sqlite_fail_sql(d, rc, e);
}

static int open_database(struct database *d, const char *temp, struct err *e)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    int rc = sqlite3_open_v2(temp, &d->db, flags, NULL);
    if (rc != SQLITE_OK) return to_sqlite_fail_sql(d, rc, e);
    return to_sqlite_run_sql(
        d,
        "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;"
        "PRAGMA application_id=1398034017; BEGIN;",
        e);
}

/* One entry: 0 or an error code. */
static int to_sqlite_insert(const struct database *d, struct sqlite_fill *f,
                            const struct sqlite_table *table, uint64_t i)
{
    int bound = table->bind(f, i);
    if (bound <= 0) return bound;
    if (!buf_ok(&f->scratch) || !buf_ok(&f->args)) return err_nomem(f->e);
    int rc = sqlite3_step(f->insert);
    if (rc != SQLITE_DONE) return to_sqlite_fail_sql(d, rc, f->e);
    sqlite3_reset(f->insert);
    return 0;
}

static int to_sqlite_fill_table(const struct database *d, struct sqlite_fill *f,
                                const struct sqlite_table *table)
{
    const struct export_options *o = f->o;
    uint64_t n = table->count(f);
    for (uint64_t i = 0; i < n; i++) {
        TRY(to_sqlite_insert(d, f, table, i));
        if (o->progress && i % PROGRESS_EVERY == 0) o->progress(o->progress_ctx, i, n);
    }
    return 0;
}

static int to_sqlite_put_table(const struct database *d, struct sqlite_fill *f,
                               const struct sqlite_table *table)
{
    TRY(to_sqlite_run_sql(d, table->create, f->e));
    int rc = sqlite3_prepare_v2(d->db, table->insert, -1, &f->insert, NULL);
    rc = rc == SQLITE_OK ? to_sqlite_fill_table(d, f, table) : to_sqlite_fail_sql(d, rc, f->e);
    sqlite3_finalize(f->insert);
    f->insert = NULL;
    return rc;
}

static int to_sqlite_fill(const struct database *d, const struct trace *t,
                          const struct export_options *o, struct err *e)
{
    struct sqlite_fill f = {.t = t, .o = o, .e = e};
    f.strings = strip_strings(t, o);
    int rc = f.strings ? 0 : err_nomem(e);
    for (int i = 0; i < sqlite_n_tables && rc == 0; i++)
        rc = to_sqlite_put_table(d, &f, &sqlite_tables[i]);
    mem_free(f.strings);
    buf_done(&f.scratch);
    buf_done(&f.args);
    if (rc == 0) rc = to_sqlite_run_sql(d, sqlite_tables_indexes, e);
    return rc == 0 ? to_sqlite_run_sql(d, "COMMIT; ANALYZE;", e) : rc;
}

static int write_database(const struct trace *t, const struct file_out *file,
                          const struct export_options *o, struct err *e)
{
    struct database d = {.path = file->path};
    if (!file->temp) return FAIL(e, ERR_USAGE, "a SQLite database can only be written to a file");
    int rc = open_database(&d, file->temp, e);
    if (rc == 0) rc = to_sqlite_fill(&d, t, o, e);
    int closed = sqlite3_close(d.db);
    return rc == 0 && closed != SQLITE_OK ? to_sqlite_fail_sql(&d, closed, e) : rc;
}

static int write_sqlite(const struct trace *t, const char *path, const struct export_options *o,
                        struct err *e)
{
    struct file_out file;
    TRY(file_out_begin(&file, path, e));
    int rc = write_database(t, &file, o, e);
    if (rc == 0) return file_out_commit(&file, e);
    file_out_abort(&file);
    return rc;
}

const struct exporter to_sqlite = {
    .name = "sqlite",
    .summary = "a SQLite database with indexes and views, for SQL queries",
    .extensions = ".sqlite .sqlite3 .db",
    .uses = EXPORT_ARGS,
    .next = {"sqlite3 ", " 'SELECT name, sum(dur_ns) FROM kernels GROUP BY 1 ORDER BY 2 DESC'"},
    .write = write_sqlite,
};
