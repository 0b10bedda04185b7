/* ask_events.c: see tables_private.h. A virtual table: a cursor is a row number. Looking up one
 * row, or the children of none, goes straight there; everything else is a scan. */
#include "tables/tables_private.h"

#include "base/mem.h"

enum column {
    COL_ROW,
    COL_NAME,
    COL_KIND,
    COL_START,
    COL_DUR,
    COL_LANE,
    COL_LANE_NAME,
    COL_DEVICE,
    COL_STREAM,
    COL_PARENT,
    COL_DEPTH,
    COL_LAUNCH,
    COL_CORRELATION,
    COL_BYTES
};

static const char create[] =
    "CREATE TABLE events(row INTEGER PRIMARY KEY, name TEXT, kind TEXT, start_ns INTEGER, "
    "dur_ns INTEGER, lane INTEGER, lane_name TEXT, device INTEGER, stream INTEGER, "
    "parent INTEGER, depth INTEGER, launch INTEGER, correlation INTEGER, bytes INTEGER)";

struct events {
    sqlite3_vtab base;
    const struct trace *t;
};

struct cursor {
    sqlite3_vtab_cursor base;
    uint64_t row, end;
};

static int events_connect(sqlite3 *db, void *t, int argc, const char *const *argv,
                          sqlite3_vtab **ret, char **why)
{
    (void)argc, (void)argv, (void)why;
    int rc = sqlite3_declare_vtab(db, create);
    struct events *v = rc == SQLITE_OK ? mem_zalloc(1, sizeof *v) : NULL;
    if (rc == SQLITE_OK && !v) rc = SQLITE_NOMEM;
    if (rc != SQLITE_OK) return rc;
    v->t = t;
    *ret = &v->base;
    return SQLITE_OK;
}

static int events_disconnect(sqlite3_vtab *v)
{
    mem_free(v);
    return SQLITE_OK;
}

static int events_best_index(sqlite3_vtab *v, sqlite3_index_info *info)
{
    double rows = ((struct events *)v)->t->n_rows;
    info->estimatedCost = rows + 1;
    info->estimatedRows = (sqlite3_int64)rows;
    for (int i = 0; i < info->nConstraint; i++) {
        bool by_row = info->aConstraint[i].iColumn == COL_ROW || info->aConstraint[i].iColumn < 0;
        if (!info->aConstraint[i].usable || !by_row ||
            info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
            continue;
        info->aConstraintUsage[i].argvIndex = 1;
        info->idxNum = 1;
        info->estimatedCost = 1;
        info->estimatedRows = 1;
        break;
    }
    return SQLITE_OK;
}

static int events_open(sqlite3_vtab *v, sqlite3_vtab_cursor **ret)
{
    (void)v;
    struct cursor *c = mem_zalloc(1, sizeof *c);
    if (!c) return SQLITE_NOMEM;
    *ret = &c->base;
    return SQLITE_OK;
}

static int events_close(sqlite3_vtab_cursor *c)
{
    mem_free(c);
    return SQLITE_OK;
}

static int events_filter(sqlite3_vtab_cursor *base, int by_row, const char *text, int argc,
                         sqlite3_value **argv)
{
    struct cursor *c = (struct cursor *)base;
    uint64_t n = ((struct events *)base->pVtab)->t->n_rows;
    (void)text;
    c->row = 0;
    c->end = n;
    if (!by_row || argc < 1) return SQLITE_OK;
    sqlite3_int64 wanted = sqlite3_value_int64(argv[0]);
    bool there = sqlite3_value_numeric_type(argv[0]) == SQLITE_INTEGER && wanted >= 0 &&
                 (uint64_t)wanted < n;
    c->row = there ? (uint64_t)wanted : n;
    c->end = there ? c->row + 1 : n;
    return SQLITE_OK;
}

static int events_next(sqlite3_vtab_cursor *c)
{
    ((struct cursor *)c)->row++;
    return SQLITE_OK;
}

static int events_eof(sqlite3_vtab_cursor *c)
{
    return ((struct cursor *)c)->row >= ((struct cursor *)c)->end;
}

/* What it hands over lives as long as the trace. */
static void ask_events_put_text(sqlite3_context *out, struct str s)
{
    if (!s.p) sqlite3_result_null(out);
    else sqlite3_result_text64(out, s.p, s.n, SQLITE_STATIC, SQLITE_UTF8);
}

static void put_unless(sqlite3_context *out, int64_t v, int64_t none)
{
    if (v == none) sqlite3_result_null(out);
    else sqlite3_result_int64(out, v);
}

static void ask_events_put_gpu(sqlite3_context *out, const struct trace *t, row_t r, int column)
{
    const struct gpu_info *g = trace_gpu(t, r);
    const struct call_info *call = g ? NULL : trace_call(t, r);
    if (column == COL_CORRELATION && call) put_unless(out, call->correlation, ID_NONE);
    else if (!g) sqlite3_result_null(out);
    else if (column == COL_LAUNCH) put_unless(out, g->launch, ROW_NONE);
    else if (column == COL_CORRELATION) put_unless(out, g->correlation, ID_NONE);
    else put_unless(out, g->bytes, -1);
}

static int events_column(sqlite3_vtab_cursor *base, sqlite3_context *out, int column)
{
    const struct trace *t = ((struct events *)base->pVtab)->t;
    row_t r = (row_t)((struct cursor *)base)->row;
    const struct lane *lane = &t->lanes[t->lane[r]];
    switch ((enum column)column) {
    case COL_ROW: sqlite3_result_int64(out, r); break;
    case COL_NAME: ask_events_put_text(out, trace_name(t, r)); break;
    case COL_KIND: ask_events_put_text(out, str_c(kind_name(t->kind[r]))); break;
    case COL_START: sqlite3_result_int64(out, trace_since_ns(t, t->ts_ns[r])); break;
    case COL_DUR: sqlite3_result_int64(out, t->dur_ns[r]); break;
    case COL_LANE: sqlite3_result_int64(out, t->lane[r]); break;
    case COL_LANE_NAME:
        ask_events_put_text(out, lane->name ? trace_str(t, lane->name) : str_from(NULL, 0));
        break;
    case COL_DEVICE: put_unless(out, lane->device, -1); break;
    case COL_STREAM: put_unless(out, lane->stream, -1); break;
    case COL_PARENT: put_unless(out, t->parent[r], ROW_NONE); break;
    case COL_DEPTH: sqlite3_result_int64(out, t->depth[r]); break;
    case COL_LAUNCH:
    case COL_CORRELATION:
    case COL_BYTES: ask_events_put_gpu(out, t, r, column); break;
    }
    return SQLITE_OK;
}

static int events_rowid(sqlite3_vtab_cursor *c, sqlite3_int64 *ret)
{
    *ret = (sqlite3_int64)((struct cursor *)c)->row;
    return SQLITE_OK;
}

static const sqlite3_module module = {
    .iVersion = 1,
    .xConnect = events_connect, /* without xCreate: it is there by itself, under its name */
    .xBestIndex = events_best_index,
    .xDisconnect = events_disconnect,
    .xOpen = events_open,
    .xClose = events_close,
    .xFilter = events_filter,
    .xNext = events_next,
    .xEof = events_eof,
    .xColumn = events_column,
    .xRowid = events_rowid,
};

int ask_events_register(sqlite3 *db, const struct trace *t)
{
    return sqlite3_create_module(db, "events", &module, (void *)(uintptr_t)t);
}
