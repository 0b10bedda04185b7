/* test_to_sqlite.c: what the tables hold, asked in SQL. */
#include <sqlite3.h>

#include "export/export.h"
#include "kit.h"
#include "scratch.h"

static sqlite3 *exported(struct trace *t, const struct export_options *o)
{
    sqlite3 *db = NULL;
    struct err e;
    err_init(&e);
    if (export_find("sqlite")->write(t, scratch("t.sqlite"), o, &e) < 0)
        test_fail(__FILE__, __LINE__, "%s", e.msg);
    sqlite3_open_v2(scratch("t.sqlite"), &db, SQLITE_OPEN_READONLY, NULL);
    trace_free(t);
    return db;
}

/* All cells of the answer, joined by | and newlines. */
static void check_sql(sqlite3 *db, const char *sql, const char *want)
{
    struct buf got = {0};
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
        test_fail(__FILE__, __LINE__, "%s: %s", sql, sqlite3_errmsg(db));
    while (s && sqlite3_step(s) == SQLITE_ROW) {
        if (got.n) buf_addc(&got, '\n');
        for (int i = 0; i < sqlite3_column_count(s); i++) {
            const char *cell = (const char *)sqlite3_column_text(s, i);
            buf_printf(&got, "%s%s", i ? "|" : "", cell ? cell : "NULL");
        }
    }
    sqlite3_finalize(s);
    if (strcmp(buf_c(&got), want) != 0)
        test_fail(__FILE__, __LINE__, "%s\ngave\n%s\nexpected\n%s", sql, buf_c(&got), want);
    buf_done(&got);
}

static struct trace *sample(void)
{
    struct kit k = kit_begin();
    kit_meta(&k, "schemaVersion", "1");
    kit_meta(&k, "env", "\"hunter2\"");
    kit_label(&k, "step", 0, 100);
    kit_launch(&k, 1, "gemm", 20, 50);
    kit_launch(&k, 10, "gemm", 70, 30);
    kit_work(&k, KIND_MEMCPY, "copy \xff", 110, 5);
    kit_memory(&k, 3, -1024, 2048, 4096);
    kit_python(&k, "f.py(1): f", 50, 10);
    return kit_end(&k);
}

TEST(tables)
{
    struct export_options o = {.n_threads = 1};
    sqlite3 *db = exported(sample(), &o);
    check_sql(db, "SELECT name, count(*), sum(dur_ns) FROM kernels GROUP BY name", "gemm|2|80000");
    check_sql(db, "SELECT row, ts_ns, name, kind, pid, tid, parent FROM timeline WHERE row < 3",
              "0|0|step|user_annotation|100|1|NULL\n1|1000|cudaLaunchKernel|cuda_runtime|100|1|0\n"
              "2|3000|[memory]|memory|100|1|1");
    check_sql(db,
              "SELECT c.name, g.name, g.ts_ns - c.ts_ns FROM links JOIN timeline c ON c.row = "
              "call_row JOIN timeline g ON g.row = gpu_row ORDER BY 3",
              "cudaLaunchKernel|gemm|19000\ncudaLaunchKernel|gemm|60000\n"
              "cudaLaunchKernel|copy \xef\xbf\xbd|100000");
    check_sql(db, "SELECT key, value FROM meta", "schemaVersion|1\nenv|\"hunter2\"");
    check_sql(db, "SELECT value FROM info WHERE key = 'schema_version'", "1");
    check_sql(db, "SELECT bytes, total_reserved FROM memory", "-1024|4096");
    check_sql(db, "SELECT count(*) FROM python", "1");
    check_sql(db, "SELECT correlation, bytes, grid_x FROM gpu WHERE bytes IS NOT NULL",
              "2|1000|NULL");
    check_sql(db, "SELECT kind, device, stream FROM lanes", "thread|NULL|NULL\nstream|0|7");
    check_sql(db, "SELECT count(*) FROM args", "0");
    check_sql(db, "PRAGMA integrity_check", "ok");
    sqlite3_close(db);
}

TEST(args_and_strip)
{
    struct export_options o = {.n_threads = 1, .with_args = true, .strip = true};
    sqlite3 *db = exported(sample(), &o);
    check_sql(db, "SELECT json FROM args WHERE row = 1", "{\"correlation\":1}");
    check_sql(db, "SELECT key FROM meta", "schemaVersion");
    check_sql(db, "SELECT count(*) FROM strings WHERE text LIKE '%hunter2%' OR text = 'env'", "0");
    sqlite3_close(db);
}

TEST(not_to_a_pipe)
{
    struct trace *t = sample();
    struct export_options o = {.n_threads = 1};
    CHECK_EQ_INT(export_find("sqlite")->write(t, "/dev/null", &o, NULL), ERR_USAGE);
    CHECK_EQ_INT(export_find("sqlite")->write(t, "-", &o, NULL), ERR_USAGE);
    trace_free(t);
}

static int write_oom(void *ctx)
{
    struct export_options o = {.n_threads = 1, .with_args = true};
    return export_find("sqlite")->write(ctx, scratch("oom.sqlite"), &o, NULL);
}

TEST(out_of_memory)
{
    struct trace *t = sample();
    scratch_clear();
    CHECK_EVERY_ALLOC(write_oom, t);
    CHECK_EQ_INT(scratch_count(), 1);
    trace_free(t);
}

TEST_MAIN
