/* sqlite_in.c: see sqlite_in.h. */
#include "import/sqlite_in.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/buf.h"

enum {
    LONGEST_TEXT = 16 << 20,
    SMALLEST_ROW = 4,
    SMALLEST_PAGE = 512,
    MOST_READINGS = 16,
    SCHEMA_PAGES = 100000 /* that SQLite reads again and again to see what tables there are */
};

static int sqlite_in_fail_sql(struct sqlite_in *d, int rc, struct err *e)
{
    if ((rc & 0xff) == SQLITE_NOMEM) return err_nomem(e);
    return FAIL(e, ERR_FORMAT, "damaged SQLite database: %s", sqlite3_errmsg(d->db));
}

static void sqlite_in_lock_down(sqlite3 *db)
{
    static const int off[] = {SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW,
                              SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION,
                              SQLITE_DBCONFIG_DQS_DML,        SQLITE_DBCONFIG_DQS_DDL};
    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        sqlite3_db_config(db, off[i], 0, (int *)NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, LONGEST_TEXT);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(db, SQLITE_LIMIT_WORKER_THREADS, 0);
}

/* A database that was last used with a write-ahead log says so in its header and then cannot be
 * opened in memory. The log is not part of the export; our private copy of the page may forget it.
 */
static void forget_log(struct file_map *f)
{
    enum { WRITE_VERSION = 18, READ_VERSION = 19, LEGACY = 1, PAGE = 4096 };
    unsigned char *p = (unsigned char *)(uintptr_t)f->p;
    if (f->n < 100 || (p[WRITE_VERSION] != 2 && p[READ_VERSION] != 2)) return;
    if (f->mapped && mprotect(p, PAGE, PROT_READ | PROT_WRITE) < 0) return;
    p[WRITE_VERSION] = p[READ_VERSION] = LEGACY;
}

int sqlite_in_open(struct sqlite_in *d, struct file_map *f, struct err *e)
{
    *d = (struct sqlite_in){.rows_left = f->n / SMALLEST_ROW,
                            .bytes_left = MOST_READINGS * f->n,
                            .pages_left = MOST_READINGS * (f->n / SMALLEST_PAGE) + SCHEMA_PAGES};
    int rc = sqlite3_open_v2(":memory:", &d->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK) {
        sqlite_in_lock_down(d->db);
        forget_log(f);
        rc = sqlite3_deserialize(d->db, "main", (unsigned char *)(uintptr_t)f->p,
                                 (sqlite3_int64)f->n, (sqlite3_int64)f->n,
                                 SQLITE_DESERIALIZE_READONLY);
    }
    if (rc == SQLITE_OK) rc = sqlite3_exec(d->db, "PRAGMA cell_size_check=1", NULL, NULL, NULL);
    return rc == SQLITE_OK ? 0 : sqlite_in_fail_sql(d, rc, e);
}

void sqlite_in_close(struct sqlite_in *d)
{
    sqlite3_close(d->db);
    d->db = NULL;
}

bool sqlite_in_has(struct sqlite_in *d, const char *table)
{
    sqlite3_stmt *s = NULL;
    bool found = false;
    /* views and virtual tables have no root page */
    static const char sql[] =
        "SELECT 1 FROM sqlite_schema WHERE type='table' AND name=? AND rootpage>0";
    if (sqlite3_prepare_v2(d->db, sql, -1, &s, NULL) == SQLITE_OK) {
        sqlite3_bind_text(s, 1, table, -1, SQLITE_STATIC);
        found = sqlite3_step(s) == SQLITE_ROW;
    }
    sqlite3_finalize(s);
    return found;
}

/* Whether rows hold a value of it. What the schema computes whenever it is requested (a generated
 * column that is not stored) may take any time and memory, and no profiler writes it. */
static bool has_column(struct sqlite_in *d, const char *table, const char *column)
{
    enum { COMPUTED = 2 };
    static const char sql[] =
        "SELECT hidden FROM pragma_table_xinfo(?) WHERE name=? COLLATE NOCASE";
    sqlite3_stmt *s = NULL;
    bool found = false;
    if (sqlite3_prepare_v2(d->db, sql, -1, &s, NULL) == SQLITE_OK) {
        sqlite3_bind_text(s, 1, table, -1, SQLITE_STATIC);
        sqlite3_bind_text(s, 2, column, -1, SQLITE_STATIC);
        found = sqlite3_step(s) == SQLITE_ROW && sqlite3_column_int(s, 0) != COMPUTED;
    }
    sqlite3_finalize(s);
    return found;
}

/* SELECT "a",NULL,"c" FROM "table": names are ours, only whether they exist is the file's. */
static void put_select(struct sqlite_in *d, const char *table, const char *columns, struct buf *sql)
{
    buf_adds(sql, "SELECT ");
    while (*columns) {
        char name[64];
        size_t n = strcspn(columns, " ");
        snprintf(name, sizeof name, "%.*s", (int)n, columns);
        if (has_column(d, table, name)) buf_printf(sql, "\"%s\"", name);
        else buf_adds(sql, "NULL");
        columns += n + (columns[n] == ' ');
        if (*columns) buf_addc(sql, ',');
    }
    buf_printf(sql, " FROM \"%s\"", table);
}

int sqlite_in_select(struct sqlite_in *d, const char *table, const char *columns,
                     sqlite3_stmt **ret, struct err *e)
{
    struct buf sql = {0};
    put_select(d, table, columns, &sql);
    *ret = NULL;
    int rc = buf_ok(&sql) ? sqlite3_prepare_v2(d->db, buf_c(&sql), -1, ret, NULL) : SQLITE_NOMEM;
    buf_done(&sql);
    if ((rc & 0xff) == SQLITE_NOMEM) return err_nomem(e);
    d->n_broken += rc != SQLITE_OK;
    return 0;
}

/* Texts take their bytes from the file: rows that share pages, or a default value, do not. */
static int sqlite_in_count_texts(struct sqlite_in *d, sqlite3_stmt *s, struct err *e)
{
    for (int i = 0; i < sqlite3_column_count(s); i++) {
        if (sqlite3_column_type(s, i) != SQLITE_TEXT) continue;
        uint64_t n = (uint64_t)sqlite3_column_bytes(s, i);
        if (n > d->bytes_left)
            return FAIL(e, ERR_FORMAT, "damaged: its texts are longer than the file can hold");
        d->bytes_left -= n;
    }
    return 0;
}

/* What comes after a long value of a row is found by going through all its pages. */
static int sqlite_in_count_pages(struct sqlite_in *d, struct err *e)
{
    static const int looked_at[] = {SQLITE_DBSTATUS_CACHE_HIT, SQLITE_DBSTATUS_CACHE_MISS};
    for (int i = 0; i < 2; i++) {
        int n = 0, most;
        sqlite3_db_status(d->db, looked_at[i], &n, &most, 1);
        if ((uint64_t)n > d->pages_left)
            return FAIL(e, ERR_FORMAT, "damaged: its rows share their pages");
        d->pages_left -= (uint64_t)n;
    }
    return 0;
}

int sqlite_in_step(struct sqlite_in *d, sqlite3_stmt *s, struct err *e)
{
    if (!s) return 0;
    int rc = sqlite3_step(s);
    if ((rc & 0xff) == SQLITE_NOMEM) return err_nomem(e);
    if (rc == SQLITE_DONE) return 0;
    if (rc != SQLITE_ROW) { /* a damaged page: what came before it is good */
        d->n_broken++;
        return 0;
    }
    if (!d->rows_left--) return FAIL(e, ERR_FORMAT, "damaged: more rows than the file can hold");
    TRY(sqlite_in_count_pages(d, e));
    TRY(sqlite_in_count_texts(d, s, e));
    return 1;
}

int64_t sqlite_in_int(sqlite3_stmt *s, int column, int64_t otherwise)
{
    int type = sqlite3_column_type(s, column);
    if (type == SQLITE_INTEGER) return sqlite3_column_int64(s, column);
    if (type != SQLITE_FLOAT) return otherwise;
    double v = sqlite3_column_double(s, column);
    return v > -9e18 && v < 9e18 ? (int64_t)v : otherwise;
}

struct str sqlite_in_text(sqlite3_stmt *s, int column)
{
    if (sqlite3_column_type(s, column) != SQLITE_TEXT) return (struct str){NULL, 0};
    const char *p = (const char *)sqlite3_column_text(s, column);
    return (struct str){p, p ? (size_t)sqlite3_column_bytes(s, column) : 0};
}
