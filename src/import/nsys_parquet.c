/* nsys_parquet.c: see nsys_parquet.h. The tables are the same as in the SQLite export: they are put
 * into a database in memory and read from there, so that both exports have one meaning. */
#include "import/nsys_parquet.h"

#include <stdio.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/mem.h"
#include "import/nsys_rows.h"
#include "import/parquet_file.h"

/* Tables besides those with events. */
static const char *const others[] = {"StringIds",
                                     "ThreadNames",
                                     "PROCESSES",
                                     "TARGET_INFO_GPU",
                                     "TARGET_INFO_CUDA_DEVICE",
                                     "TARGET_INFO_SESSION_START_TIME",
                                     "META_DATA_EXPORT"};

enum { N_OTHERS = sizeof others / sizeof *others, MOST_COLUMNS = 128 };

static bool has_table(const char *folder, const char *table)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.parquet", folder, table);
    return access(path, R_OK) == 0;
}

bool nsys_parquet_in(const char *folder)
{
    for (int i = 0; nsys_tables[i].name; i++)
        if (has_table(folder, nsys_tables[i].name)) return true;
    return false;
}

/* Names go into SQL: only those that need no thought. */
static bool is_plain_name(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (i == 0 || c < '0' || c > '9')) return false;
    }
    return s.n > 0 && s.n < 64;
}

struct filling {
    struct nsys_db *db;
    const char *table;
    struct parquet_file file;
    struct arena mem;
    uint32_t columns[MOST_COLUMNS]; /* those that go in */
    uint32_t n_columns;
};

static int run_sql(struct filling *f, struct buf *sql, sqlite3_stmt **ret, struct err *e)
{
    int rc = buf_ok(sql) ? sqlite3_prepare_v2(f->db->db, buf_c(sql), -1, ret, NULL) : SQLITE_NOMEM;
    if (rc == SQLITE_OK) return 0;
    return (rc & 0xff) == SQLITE_NOMEM ? err_nomem(e)
                                       : FAIL(e, ERR_FORMAT, "%s", sqlite3_errmsg(f->db->db));
}

static int make_table(struct filling *f, struct err *e)
{
    struct buf sql = {0};
    sqlite3_stmt *s = NULL;
    for (uint32_t i = 0; i < f->file.n_columns && f->n_columns < MOST_COLUMNS; i++) {
        bool twice = false;
        for (uint32_t k = 0; k < f->n_columns; k++)
            twice |= str_eq(f->file.columns[f->columns[k]].name, f->file.columns[i].name);
        if (is_plain_name(f->file.columns[i].name) && !twice) f->columns[f->n_columns++] = i;
    }
    buf_printf(&sql, "CREATE TABLE \"%s\"(", f->table);
    for (uint32_t i = 0; i < f->n_columns; i++)
        buf_printf(&sql, "%s\"" STR_FMT "\"", i ? "," : "",
                   STR_ARG(f->file.columns[f->columns[i]].name));
    buf_adds(&sql, ")");
    int rc = f->n_columns ? run_sql(f, &sql, &s, e) : 0;
    if (s) sqlite3_step(s);
    sqlite3_finalize(s);
    buf_done(&sql);
    return rc;
}

static void bind(sqlite3_stmt *s, int at, const struct parquet_value *v)
{
    switch (v->kind) {
    case PARQUET_IS_INT: sqlite3_bind_int64(s, at, v->number); break;
    case PARQUET_IS_REAL: sqlite3_bind_double(s, at, v->real); break;
    case PARQUET_IS_TEXT:
        sqlite3_bind_text64(s, at, v->text.p, v->text.n, SQLITE_STATIC, SQLITE_UTF8);
        break;
    default: sqlite3_bind_null(s, at); break;
    }
}

static int fill_group(struct filling *f, uint32_t group, sqlite3_stmt *s, struct err *e)
{
    struct parquet_value *values[MOST_COLUMNS];
    for (uint32_t i = 0; i < f->n_columns; i++)
        TRY(parquet_read(&f->file, group, f->columns[i], &f->mem, &values[i], e));
    for (int64_t row = 0; row < f->file.groups[group].n_rows; row++) {
        for (uint32_t i = 0; i < f->n_columns; i++) bind(s, (int)i + 1, &values[i][row]);
        if (sqlite3_step(s) != SQLITE_DONE) return err_nomem(e);
        sqlite3_reset(s);
    }
    return 0;
}

static int fill_table(struct filling *f, struct err *e)
{
    struct buf sql = {0};
    sqlite3_stmt *s = NULL;
    TRY(make_table(f, e));
    if (!f->n_columns) return 0;
    buf_printf(&sql, "INSERT INTO \"%s\" VALUES(", f->table);
    for (uint32_t i = 0; i < f->n_columns; i++) buf_adds(&sql, i ? ",?" : "?");
    buf_adds(&sql, ")");
    int rc = run_sql(f, &sql, &s, e);
    for (uint32_t g = 0; g < f->file.n_groups && rc == 0; g++) {
        struct arena_mark mark = arena_mark(&f->mem);
        rc = fill_group(f, g, s, e);
        arena_reset_to(&f->mem, mark);
    }
    sqlite3_finalize(s);
    buf_done(&sql);
    return rc;
}

static int add_table(struct nsys_db *db, const char *folder, const char *table, uint64_t *bytes,
                     struct err *e)
{
    char path[4096];
    struct file_map map;
    if (!has_table(folder, table) || nsys_db_has(db, table)) return 0;
    snprintf(path, sizeof path, "%s/%s.parquet", folder, table);
    TRY(file_map(&map, path, e));
    struct filling f = {.db = db, .table = table};
    arena_init(&f.mem);
    int rc = parquet_open(str_from(map.p, map.n), &f.mem, &f.file, e);
    if (rc == 0) rc = fill_table(&f, e);
    *bytes += map.n;
    arena_done(&f.mem);
    file_unmap(&map);
    if (rc < 0) err_at(e, path, ERR_NO_OFFSET);
    return rc;
}

static int read_folder(struct builder *b, const char *folder, struct err *e)
{
    struct nsys_db db;
    struct trace *t = builder_trace(b);
    int rc = nsys_db_empty(&db, e);
    for (int i = 0; rc == 0 && i < N_OTHERS; i++)
        rc = add_table(&db, folder, others[i], &t->source_bytes, e);
    for (int i = 0; rc == 0 && nsys_tables[i].name; i++)
        rc = add_table(&db, folder, nsys_tables[i].name, &t->source_bytes, e);
    if (rc == 0) rc = nsys_read(&db, b, e);
    nsys_db_close(&db);
    return rc;
}

int nsys_parquet_open(const char *folder, const struct import_options *o, struct trace **ret,
                      struct err *e)
{
    struct builder *b = builder_new(e);
    if (!b) return ERR_NOMEM;
    struct trace *t = builder_trace(b);
    t->format = "nsys parquet";
    t->path = mem_strdup(folder);
    int rc = t->path ? read_folder(b, folder, e) : err_nomem(e);
    if (rc < 0) {
        builder_free(b);
        return rc;
    }
    return builder_freeze(b, o && o->n_threads > 0 ? o->n_threads : 1, ret, e);
}
