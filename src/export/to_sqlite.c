/* to_sqlite.c: a SQLite database for people who want to ask in SQL. Filled under a temporary name
 * without a journal, then synced and renamed, so that it is there whole or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "export/export.h"
#include "export/sqlite_tables.h"
#include "export/strip.h"

enum { PROGRESS_EVERY = 65536 };

struct database {
    sqlite3 *db;
    char *temp;
    const char *path;
};

static int fail_sql(const struct database *d, int rc, struct err *e)
{
    int code = (rc & 0xff) == SQLITE_NOMEM ? ERR_NOMEM : ERR_IO;
    err_at(e, d->path, ERR_NO_OFFSET);
    return FAIL(e, code, "cannot write: %s", d->db ? sqlite3_errmsg(d->db) : sqlite3_errstr(rc));
}

static int run_sql(const struct database *d, const char *sql, struct err *e)
{
    int rc = sqlite3_exec(d->db, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? 0 : fail_sql(d, rc, e);
}

static int open_temp(struct database *d, struct err *e)
{
    size_t n = strlen(d->path) + 32;
    d->temp = mem_alloc(n);
    if (!d->temp) return FAIL(e, ERR_NOMEM, "out of memory");
    snprintf(d->temp, n, "%s.tmp%ld", d->path, (long)getpid());
    unlink(d->temp);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    int rc = sqlite3_open_v2(d->temp, &d->db, flags, NULL);
    if (rc != SQLITE_OK) return fail_sql(d, rc, e);
    return run_sql(d,
                   "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;"
                   "PRAGMA application_id=1398034017; BEGIN;",
                   e);
}

/* One entry: 0 or an error code. */
static int insert(const struct database *d, struct sqlite_fill *f, const struct sqlite_table *table,
                  uint64_t i)
{
    int bound = table->bind(f, i);
    if (bound <= 0) return bound;
    if (!buf_ok(&f->scratch) || !buf_ok(&f->args)) return FAIL(f->e, ERR_NOMEM, "out of memory");
    int rc = sqlite3_step(f->insert);
    if (rc != SQLITE_DONE) return fail_sql(d, rc, f->e);
    sqlite3_reset(f->insert);
    return 0;
}

static int fill_table(const struct database *d, struct sqlite_fill *f,
                      const struct sqlite_table *table)
{
    const struct export_options *o = f->o;
    uint64_t n = table->count(f);
    for (uint64_t i = 0; i < n; i++) {
        TRY(insert(d, f, table, i));
        if (o->progress && i % PROGRESS_EVERY == 0) o->progress(o->progress_ctx, i, n);
    }
    return 0;
}

static int put_table(const struct database *d, struct sqlite_fill *f,
                     const struct sqlite_table *table)
{
    TRY(run_sql(d, table->create, f->e));
    int rc = sqlite3_prepare_v2(d->db, table->insert, -1, &f->insert, NULL);
    rc = rc == SQLITE_OK ? fill_table(d, f, table) : fail_sql(d, rc, f->e);
    sqlite3_finalize(f->insert);
    f->insert = NULL;
    return rc;
}

static int fill(const struct database *d, const struct trace *t, const struct export_options *o,
                struct err *e)
{
    struct sqlite_fill f = {.t = t, .o = o, .e = e};
    f.strings = strip_strings(t, o);
    int rc = f.strings ? 0 : FAIL(e, ERR_NOMEM, "out of memory");
    for (int i = 0; i < sqlite_n_tables && rc == 0; i++) rc = put_table(d, &f, &sqlite_tables[i]);
    mem_free(f.strings);
    buf_done(&f.scratch);
    buf_done(&f.args);
    if (rc == 0) rc = run_sql(d, sqlite_tables_indexes, e);
    return rc == 0 ? run_sql(d, "COMMIT; ANALYZE;", e) : rc;
}

/* The database is closed: make it last, and put it where it belongs. */
static int move_into_place(const struct database *d, struct err *e)
{
    int fd = open(d->temp, O_RDONLY | O_CLOEXEC);
    bool failed = fd < 0 || fsync(fd) < 0;
    if (fd >= 0) close(fd);
    if (!failed && rename(d->temp, d->path) == 0) return 0;
    err_at(e, d->path, ERR_NO_OFFSET);
    return FAIL(e, ERR_IO, "cannot write: %s", strerror(errno));
}

static int write_sqlite(const struct trace *t, const char *path, const struct export_options *o,
                        struct err *e)
{
    if (strcmp(path, "-") == 0)
        return FAIL(e, ERR_USAGE, "a SQLite database cannot be written to standard output");
    struct database d = {.path = path};
    int rc = open_temp(&d, e);
    if (rc == 0) rc = fill(&d, t, o, e);
    int closed = sqlite3_close(d.db);
    if (rc == 0 && closed != SQLITE_OK) rc = fail_sql(&d, closed, e);
    if (rc == 0) rc = move_into_place(&d, e);
    if (rc < 0 && d.temp) unlink(d.temp);
    mem_free(d.temp);
    return rc;
}

const struct exporter to_sqlite = {
    .name = "sqlite",
    .summary = "a SQLite database with indexes and views, for questions in SQL",
    .extensions = ".sqlite .sqlite3 .db",
    .next = {"sqlite3 ", " 'SELECT name, sum(dur_ns) FROM kernels GROUP BY 1 ORDER BY 2 DESC'"},
    .write = write_sqlite,
};
