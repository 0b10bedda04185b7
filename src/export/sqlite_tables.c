/* sqlite_tables.c: one table an entry, documented in docs/format/sqlite.md: change them together,
 * and add columns at the end only. NULL stands for everything that was not recorded. */
#include "export/export_private.h"

#include "export/clean.h"

static void sqlite_tables_put_int(struct sqlite_fill *f, int column, int64_t v)
{
    sqlite3_bind_int64(f->insert, column, v);
}

static void sqlite_tables_put_int_unless(struct sqlite_fill *f, int column, int64_t v, int64_t none)
{
    if (v == none) sqlite3_bind_null(f->insert, column);
    else sqlite_tables_put_int(f, column, v);
}

static void sqlite_tables_put_id(struct sqlite_fill *f, int column, int64_t id)
{
    sqlite_tables_put_int_unless(f, column, id, ID_NONE);
}

static void sqlite_tables_put_text(struct sqlite_fill *f, int column, struct str s)
{
    s = clean_utf8(s, &f->scratch);
    if (!s.p) s.p = "";
    sqlite3_bind_text64(f->insert, column, s.p, s.n, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static void sqlite_tables_put_string(struct sqlite_fill *f, int column, str_id id)
{
    if (id == 0 || id == STR_NONE) sqlite3_bind_null(f->insert, column);
    else sqlite_tables_put_text(f, column, trace_str(f->t, id));
}

static uint64_t sqlite_tables_count_rows(const struct sqlite_fill *f)
{
    return f->t->n_rows;
}

static uint64_t count_strings(const struct sqlite_fill *f)
{
    return f->t->strings.n;
}

static int bind_string(struct sqlite_fill *f, uint64_t i)
{
    if (!f->strings[i]) return 0;
    sqlite_tables_put_int(f, 1, (int64_t)i);
    sqlite_tables_put_text(f, 2, trace_str(f->t, (str_id)i));
    return 1;
}

static uint64_t count_metas(const struct sqlite_fill *f)
{
    return f->t->n_metas;
}

static int bind_meta(struct sqlite_fill *f, uint64_t i)
{
    const struct meta *m = &f->t->metas[i];
    if (!strip_keeps(f->t, m, f->o)) return 0;
    sqlite_tables_put_text(f, 1, trace_str(f->t, m->key));
    sqlite_tables_put_text(f, 2, trace_str(f->t, m->value));
    return 1;
}

static uint64_t count_info(const struct sqlite_fill *f)
{
    (void)f;
    return 7;
}

static int bind_info(struct sqlite_fill *f, uint64_t i)
{
    const struct trace *t = f->t;
    const struct {
        const char *key;
        int64_t value;
    } info[] = {
        {"schema_version", 1},
        {"base_ns", t->base_ns},
        {"begin_ns", t->begin_ns},
        {"end_ns", t->end_ns},
        {"window_begin_ns", t->window_begin_ns},
        {"window_end_ns", t->window_end_ns},
        {"external_ids_usable", t->external_ids_usable},
    };
    sqlite_tables_put_text(f, 1, str_c(info[i].key));
    sqlite_tables_put_id(f, 2, info[i].value);
    return 1;
}

static uint64_t sqlite_tables_count_processes(const struct sqlite_fill *f)
{
    return f->t->n_processes;
}

static int bind_process(struct sqlite_fill *f, uint64_t i)
{
    const struct process *p = &f->t->processes[i];
    sqlite_tables_put_int(f, 1, (int64_t)i);
    sqlite_tables_put_id(f, 2, p->pid);
    sqlite_tables_put_string(f, 3, p->pid == ID_NONE ? p->pid_text : 0);
    sqlite_tables_put_string(f, 4, p->name);
    sqlite_tables_put_string(f, 5, p->labels);
    return 1;
}

static uint64_t sqlite_tables_count_lanes(const struct sqlite_fill *f)
{
    return f->t->n_lanes;
}

static int bind_lane(struct sqlite_fill *f, uint64_t i)
{
    static const char *const kinds[] = {
        [LANE_THREAD] = "thread",     [LANE_STREAM] = "stream",   [LANE_GPU_NOTE] = "gpu_note",
        [LANE_OVERHEAD] = "overhead", [LANE_COUNTER] = "counter", [LANE_OTHER] = "other"};
    const struct lane *l = &f->t->lanes[i];
    sqlite_tables_put_int(f, 1, (int64_t)i);
    sqlite_tables_put_text(f, 2, str_c(kinds[l->kind]));
    sqlite_tables_put_int(f, 3, l->process);
    sqlite_tables_put_id(f, 4, l->tid);
    sqlite_tables_put_string(f, 5, l->tid == ID_NONE ? l->tid_text : 0);
    sqlite_tables_put_string(f, 6, l->name);
    sqlite_tables_put_int_unless(f, 7, l->device, -1);
    sqlite_tables_put_int_unless(f, 8, l->stream, -1);
    return 1;
}

static uint64_t count_devices(const struct sqlite_fill *f)
{
    return f->t->n_devices;
}

static int bind_device(struct sqlite_fill *f, uint64_t i)
{
    const struct device *d = &f->t->devices[i];
    sqlite_tables_put_int(f, 1, d->id);
    sqlite_tables_put_string(f, 2, d->name);
    sqlite_tables_put_int_unless(f, 3, d->memory_bytes, 0);
    sqlite_tables_put_int(f, 4, d->major);
    sqlite_tables_put_int(f, 5, d->minor);
    sqlite_tables_put_int_unless(f, 6, d->n_sms, 0);
    return 1;
}

static uint64_t count_categories(const struct sqlite_fill *f)
{
    return f->t->n_cats;
}

static int bind_category(struct sqlite_fill *f, uint64_t i)
{
    sqlite_tables_put_int(f, 1, (int64_t)i);
    sqlite_tables_put_text(f, 2, trace_str(f->t, f->t->cats[i]));
    return 1;
}

static uint64_t count_kinds(const struct sqlite_fill *f)
{
    (void)f;
    return KIND_COUNT;
}

static int bind_kind(struct sqlite_fill *f, uint64_t i)
{
    sqlite_tables_put_int(f, 1, (int64_t)i);
    sqlite_tables_put_text(f, 2, str_c(kind_name((enum row_kind)i)));
    return 1;
}

static int bind_event(struct sqlite_fill *f, uint64_t i)
{
    const struct trace *t = f->t;
    row_t r = (row_t)i;
    sqlite_tables_put_int(f, 1, r);
    sqlite_tables_put_int(f, 2, t->ts_ns[r]);
    sqlite_tables_put_int(f, 3, t->dur_ns[r]);
    sqlite_tables_put_int(f, 4, t->name[r]);
    sqlite_tables_put_int(f, 5, t->lane[r]);
    sqlite_tables_put_int(f, 6, t->kind[r]);
    sqlite_tables_put_int(f, 7, t->cat[r]);
    sqlite_tables_put_text(f, 8, str_from(&t->phase[r], 1));
    sqlite_tables_put_int_unless(f, 9, t->parent[r], ROW_NONE);
    sqlite_tables_put_int(f, 10, t->depth[r]);
    sqlite_tables_put_int(f, 11, t->flags[r]);
    return 1;
}

static int bind_op(struct sqlite_fill *f, uint64_t i)
{
    const struct op_info *op = trace_op(f->t, (row_t)i);
    if (!op) return 0;
    sqlite_tables_put_int(f, 1, (int64_t)i);
    sqlite_tables_put_id(f, 2, op->external_id);
    sqlite_tables_put_id(f, 3, op->sequence);
    sqlite_tables_put_int(f, 4, op->fwd_thread);
    sqlite_tables_put_int_unless(f, 5, op->dims, STR_NONE);
    sqlite_tables_put_int_unless(f, 6, op->types, STR_NONE);
    sqlite_tables_put_int_unless(f, 7, op->concrete, STR_NONE);
    return 1;
}

static int bind_call(struct sqlite_fill *f, uint64_t i)
{
    const struct call_info *c = trace_call(f->t, (row_t)i);
    if (!c) return 0;
    sqlite_tables_put_int(f, 1, (int64_t)i);
    sqlite_tables_put_id(f, 2, c->correlation);
    sqlite_tables_put_id(f, 3, c->external_id);
    return 1;
}

static void sqlite_tables_put_kernel(struct sqlite_fill *f, const struct gpu_info *g)
{
    for (int k = 0; k < 3; k++) {
        sqlite_tables_put_int_unless(f, 11 + k, g->grid[k], 0);
        sqlite_tables_put_int_unless(f, 14 + k, g->block[k], 0);
    }
    sqlite_tables_put_int(f, 17, g->registers);
    sqlite_tables_put_int(f, 18, g->shared_bytes);
    sqlite_tables_put_int_unless(f, 19, g->occupancy_pct, -1);
    sqlite3_bind_double(f->insert, 20, (double)g->blocks_per_sm);
    sqlite3_bind_double(f->insert, 21, (double)g->warps_per_sm);
}

static int bind_gpu(struct sqlite_fill *f, uint64_t i)
{
    const struct gpu_info *g = trace_gpu(f->t, (row_t)i);
    if (!g) return 0;
    sqlite3_clear_bindings(f->insert);
    sqlite_tables_put_int(f, 1, (int64_t)i);
    sqlite_tables_put_id(f, 2, g->correlation);
    sqlite_tables_put_id(f, 3, g->external_id);
    sqlite_tables_put_int_unless(f, 4, g->launch, ROW_NONE);
    sqlite_tables_put_int_unless(f, 5, g->device, -1);
    sqlite_tables_put_int_unless(f, 6, g->stream, -1);
    sqlite_tables_put_int_unless(f, 7, g->context, -1);
    sqlite_tables_put_int_unless(f, 8, g->bytes, -1);
    sqlite_tables_put_id(f, 9, g->graph_id);
    sqlite_tables_put_id(f, 10, g->graph_node);
    if (f->t->kind[i] == KIND_KERNEL) sqlite_tables_put_kernel(f, g);
    return 1;
}

static int bind_python(struct sqlite_fill *f, uint64_t i)
{
    const struct py_info *py = trace_py(f->t, (row_t)i);
    if (!py) return 0;
    sqlite_tables_put_int(f, 1, (int64_t)i);
    sqlite_tables_put_int_unless(f, 2, py->id, -1);
    sqlite_tables_put_int_unless(f, 3, py->parent_id, -1);
    sqlite_tables_put_int_unless(f, 4, py->module_id, -1);
    return 1;
}

static int bind_memory(struct sqlite_fill *f, uint64_t i)
{
    const struct mem_info *m = trace_mem(f->t, (row_t)i);
    if (!m) return 0;
    sqlite_tables_put_int(f, 1, (int64_t)i);
    sqlite_tables_put_int(f, 2, (int64_t)m->addr);
    sqlite_tables_put_int(f, 3, m->bytes);
    sqlite_tables_put_int_unless(f, 4, m->total_allocated, -1);
    sqlite_tables_put_int_unless(f, 5, m->total_reserved, -1);
    sqlite_tables_put_int_unless(f, 6, m->device_type, -1);
    sqlite_tables_put_int_unless(f, 7, m->device_id, -1);
    return 1;
}

static int bind_link(struct sqlite_fill *f, uint64_t i)
{
    row_t launch = trace_is_work(f->t, (row_t)i) ? trace_launch_of(f->t, (row_t)i) : ROW_NONE;
    if (launch == ROW_NONE) return 0;
    sqlite_tables_put_int(f, 1, launch);
    sqlite_tables_put_int(f, 2, (int64_t)i);
    return 1;
}

static uint64_t count_flows(const struct sqlite_fill *f)
{
    return f->t->n_flows;
}

static int bind_flow(struct sqlite_fill *f, uint64_t i)
{
    const struct flow *w = &f->t->flows[i];
    sqlite_tables_put_int(f, 1, w->ts_ns);
    sqlite_tables_put_id(f, 2, w->id);
    sqlite_tables_put_int_unless(f, 3, w->lane, LANE_NONE);
    sqlite_tables_put_int(f, 4, w->name);
    sqlite_tables_put_int(f, 5, w->cat);
    sqlite_tables_put_text(f, 6, str_from(&w->phase, 1));
    return 1;
}

static uint64_t count_damage(const struct sqlite_fill *f)
{
    (void)f;
    return DAMAGE_REASONS;
}

static int bind_damage(struct sqlite_fill *f, uint64_t i)
{
    if (!f->t->damage.count[i]) return 0;
    sqlite_tables_put_text(f, 1, str_c(damage_name((enum damage_reason)i)));
    sqlite_tables_put_int(f, 2, (int64_t)f->t->damage.count[i]);
    return 1;
}

static uint64_t count_args(const struct sqlite_fill *f)
{
    return f->o->with_args ? f->t->n_rows : 0;
}

static int bind_args(struct sqlite_fill *f, uint64_t i)
{
    bool any;
    buf_reset(&f->args);
    TRY(chrome_args_add(f->t, (row_t)i, &f->scratch, &f->args, &any, f->e));
    if (!any) return 0;
    sqlite_tables_put_int(f, 1, (int64_t)i);
    sqlite_tables_put_text(f, 2, buf_str(&f->args));
    return 1;
}

const struct sqlite_table sqlite_tables[] = {
    {"CREATE TABLE info(key TEXT PRIMARY KEY, value INTEGER) WITHOUT ROWID",
     "INSERT INTO info VALUES(?,?)", count_info, bind_info},
    {"CREATE TABLE meta(key TEXT, value TEXT)", "INSERT INTO meta VALUES(?,?)", count_metas,
     bind_meta},
    {"CREATE TABLE strings(id INTEGER PRIMARY KEY, text TEXT NOT NULL)",
     "INSERT INTO strings VALUES(?,?)", count_strings, bind_string},
    {"CREATE TABLE kinds(id INTEGER PRIMARY KEY, name TEXT NOT NULL)",
     "INSERT INTO kinds VALUES(?,?)", count_kinds, bind_kind},
    {"CREATE TABLE categories(id INTEGER PRIMARY KEY, name TEXT NOT NULL)",
     "INSERT INTO categories VALUES(?,?)", count_categories, bind_category},
    {"CREATE TABLE processes(id INTEGER PRIMARY KEY, pid INTEGER, pid_text TEXT, name TEXT,"
     " labels TEXT)",
     "INSERT INTO processes VALUES(?,?,?,?,?)", sqlite_tables_count_processes, bind_process},
    {"CREATE TABLE lanes(id INTEGER PRIMARY KEY, kind TEXT NOT NULL, process_id INTEGER NOT NULL,"
     " tid INTEGER, tid_text TEXT, name TEXT, device INTEGER, stream INTEGER)",
     "INSERT INTO lanes VALUES(?,?,?,?,?,?,?,?)", sqlite_tables_count_lanes, bind_lane},
    {"CREATE TABLE devices(id INTEGER, name TEXT, memory_bytes INTEGER, major INTEGER,"
     " minor INTEGER, n_sms INTEGER)",
     "INSERT INTO devices VALUES(?,?,?,?,?,?)", count_devices, bind_device},
    {"CREATE TABLE events(row INTEGER PRIMARY KEY, ts_ns INTEGER NOT NULL, dur_ns INTEGER NOT NULL,"
     " name_id INTEGER NOT NULL, lane_id INTEGER NOT NULL, kind_id INTEGER NOT NULL,"
     " category_id INTEGER NOT NULL, phase TEXT NOT NULL, parent INTEGER, depth INTEGER NOT NULL,"
     " flags INTEGER NOT NULL)",
     "INSERT INTO events VALUES(?,?,?,?,?,?,?,?,?,?,?)", sqlite_tables_count_rows, bind_event},
    {"CREATE TABLE ops(row INTEGER PRIMARY KEY, external_id INTEGER, sequence INTEGER,"
     " fwd_thread INTEGER, dims_id INTEGER, types_id INTEGER, concrete_id INTEGER)",
     "INSERT INTO ops VALUES(?,?,?,?,?,?,?)", sqlite_tables_count_rows, bind_op},
    {"CREATE TABLE calls(row INTEGER PRIMARY KEY, correlation INTEGER, external_id INTEGER)",
     "INSERT INTO calls VALUES(?,?,?)", sqlite_tables_count_rows, bind_call},
    {"CREATE TABLE gpu(row INTEGER PRIMARY KEY, correlation INTEGER, external_id INTEGER,"
     " launch_row INTEGER, device INTEGER, stream INTEGER, context INTEGER, bytes INTEGER,"
     " graph_id INTEGER, graph_node INTEGER, grid_x INTEGER, grid_y INTEGER, grid_z INTEGER,"
     " block_x INTEGER, block_y INTEGER, block_z INTEGER, registers INTEGER, shared_bytes INTEGER,"
     " occupancy_pct INTEGER, blocks_per_sm REAL, warps_per_sm REAL)",
     "INSERT INTO gpu VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", sqlite_tables_count_rows,
     bind_gpu},
    {"CREATE TABLE python(row INTEGER PRIMARY KEY, python_id INTEGER, parent_id INTEGER,"
     " module_id INTEGER)",
     "INSERT INTO python VALUES(?,?,?,?)", sqlite_tables_count_rows, bind_python},
    {"CREATE TABLE memory(row INTEGER PRIMARY KEY, addr INTEGER, bytes INTEGER,"
     " total_allocated INTEGER, total_reserved INTEGER, device_type INTEGER, device_id INTEGER)",
     "INSERT INTO memory VALUES(?,?,?,?,?,?,?)", sqlite_tables_count_rows, bind_memory},
    {"CREATE TABLE links(call_row INTEGER NOT NULL, gpu_row INTEGER NOT NULL)",
     "INSERT INTO links VALUES(?,?)", sqlite_tables_count_rows, bind_link},
    {"CREATE TABLE flows(ts_ns INTEGER, id INTEGER, lane_id INTEGER, name_id INTEGER,"
     " category_id INTEGER, phase TEXT)",
     "INSERT INTO flows VALUES(?,?,?,?,?,?)", count_flows, bind_flow},
    {"CREATE TABLE damage(reason TEXT, count INTEGER)", "INSERT INTO damage VALUES(?,?)",
     count_damage, bind_damage},
    {"CREATE TABLE args(row INTEGER PRIMARY KEY, json TEXT NOT NULL)",
     "INSERT INTO args VALUES(?,?)", count_args, bind_args},
};

const int sqlite_n_tables = sizeof sqlite_tables / sizeof *sqlite_tables;

const char sqlite_tables_indexes[] =
    "CREATE INDEX events_lane ON events(lane_id, ts_ns);"
    "CREATE INDEX events_name ON events(name_id);"
    "CREATE INDEX events_parent ON events(parent);"
    "CREATE INDEX gpu_launch ON gpu(launch_row);"
    "CREATE INDEX links_call ON links(call_row);"
    "CREATE INDEX links_gpu ON links(gpu_row);"
    "CREATE VIEW timeline AS SELECT e.row, e.ts_ns, e.dur_ns, s.text AS name, k.name AS kind,"
    " c.name AS category, e.phase, e.lane_id, l.kind AS lane_kind, l.name AS lane_name, p.pid,"
    " l.tid, l.device, l.stream, e.parent, e.depth FROM events e"
    " JOIN strings s ON s.id = e.name_id JOIN kinds k ON k.id = e.kind_id"
    " JOIN categories c ON c.id = e.category_id JOIN lanes l ON l.id = e.lane_id"
    " JOIN processes p ON p.id = l.process_id;"
    "CREATE VIEW kernels AS SELECT e.row, e.ts_ns, e.dur_ns, s.text AS name, g.device, g.stream,"
    " g.correlation, g.launch_row, g.grid_x, g.grid_y, g.grid_z, g.block_x, g.block_y, g.block_z,"
    " g.registers, g.shared_bytes, g.occupancy_pct FROM gpu g JOIN events e ON e.row = g.row"
    " JOIN strings s ON s.id = e.name_id WHERE e.kind_id = 6;";
