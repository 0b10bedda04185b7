/* to_csv.c: one table of all events for spreadsheets and data frames, after RFC 4180.
 *
 * Readers guess types and quoting from the first rows. So every text is quoted, from the first row
 * on, and a column holds numbers or texts, not both.
 *
 * Names come from other people's programs: a cell that a spreadsheet would run as a formula gets an
 * apostrophe in front. Cells that do not apply to an event are empty. */
#include "base/mem.h"
#include "export/clean.h"
#include "export/export.h"
#include "export/export_private.h"
#include "export/sink.h"

enum { PROGRESS_EVERY = 65536 };

struct csv {
    const struct trace *t;
    const struct export_options *o;
    struct sink sink;
    struct buf scratch, args;
};

static const char head[] =
    "row,ts_ns,dur_ns,name,category,kind,phase,pid,tid,lane,lane_name,device,stream,parent,depth,"
    "correlation,external_id,launch_row,bytes,grid,block,registers,shared_bytes,occupancy_pct,"
    "input_dims,pid_text,tid_text";

static struct buf *to_csv_text(struct csv *c)
{
    return &c->sink.text;
}

static bool is_formula(struct str s)
{
    return s.n && memchr("=+-@\t\r", s.p[0], 6);
}

static void to_csv_put_quoted(struct buf *b, struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '"') buf_addc(b, '"');
        buf_addc(b, s.p[i]);
    }
}

/* A cell with the comma before it; nothing at all when it is empty. */
static void to_csv_put_text(struct csv *c, struct str s)
{
    struct buf *b = to_csv_text(c);
    s = clean_shown(s, &c->scratch);
    buf_addc(b, ',');
    if (!s.n) return;
    buf_addc(b, '"');
    if (is_formula(s)) buf_addc(b, '\'');
    to_csv_put_quoted(b, s);
    buf_addc(b, '"');
}

static void to_csv_put_int(struct csv *c, int64_t v)
{
    buf_addc(to_csv_text(c), ',');
    fmt_i64(to_csv_text(c), v);
}

/* Empty when the value is `none`. */
static void to_csv_put_int_unless(struct csv *c, int64_t v, int64_t none)
{
    if (v == none) buf_addc(to_csv_text(c), ',');
    else to_csv_put_int(c, v);
}

static void put_empty(struct csv *c, int n)
{
    buf_pad(to_csv_text(c), ',', n);
}

static void put_place(struct csv *c, row_t r)
{
    const struct trace *t = c->t;
    const struct lane *l = &t->lanes[t->lane[r]];
    const struct process *p = &t->processes[l->process];
    to_csv_put_int_unless(c, p->pid, ID_NONE);
    to_csv_put_int_unless(c, l->tid, ID_NONE);
    to_csv_put_int(c, t->lane[r]);
    to_csv_put_text(c, trace_str(t, l->name));
    to_csv_put_int_unless(c, l->device, -1);
    to_csv_put_int_unless(c, l->stream, -1);
}

/* Ids that are words: trace viewers allow them. */
static void to_csv_put_word(struct csv *c, int64_t id, str_id words)
{
    to_csv_put_text(c, id == ID_NONE ? trace_str(c->t, words) : str_c(""));
}

static void to_csv_put_words(struct csv *c, row_t r)
{
    const struct lane *l = &c->t->lanes[c->t->lane[r]];
    const struct process *p = &c->t->processes[l->process];
    to_csv_put_word(c, p->pid, p->pid_text);
    to_csv_put_word(c, l->tid, l->tid_text);
}

static void to_csv_put_dim3(struct csv *c, const uint32_t dim[3])
{
    struct buf *b = to_csv_text(c);
    buf_addc(b, ',');
    if (!dim[0]) return;
    buf_addc(b, '"');
    fmt_u64(b, dim[0]);
    for (int i = 1; i < 3; i++) {
        buf_addc(b, 'x');
        fmt_u64(b, dim[i]);
    }
    buf_addc(b, '"');
}

static void to_csv_put_gpu(struct csv *c, const struct gpu_info *g, bool is_kernel)
{
    to_csv_put_int_unless(c, g->correlation, ID_NONE);
    to_csv_put_int_unless(c, g->external_id, ID_NONE);
    to_csv_put_int_unless(c, g->launch, ROW_NONE);
    to_csv_put_int_unless(c, g->bytes, -1);
    if (!is_kernel) {
        put_empty(c, 6);
        return;
    }
    to_csv_put_dim3(c, g->grid);
    to_csv_put_dim3(c, g->block);
    to_csv_put_int(c, g->registers);
    to_csv_put_int(c, g->shared_bytes);
    to_csv_put_int_unless(c, g->occupancy_pct, -1);
    put_empty(c, 1);
}

/* The cells from `correlation` to `input_dims`, which depend on the kind of event. */
static void put_details(struct csv *c, row_t r)
{
    const struct op_info *op = trace_op(c->t, r);
    const struct call_info *call = trace_call(c->t, r);
    const struct gpu_info *gpu = trace_gpu(c->t, r);
    const struct mem_info *mem = trace_mem(c->t, r);
    if (gpu) {
        to_csv_put_gpu(c, gpu, c->t->kind[r] == KIND_KERNEL);
    } else if (call) {
        to_csv_put_int_unless(c, call->correlation, ID_NONE);
        to_csv_put_int_unless(c, call->external_id, ID_NONE);
        put_empty(c, 8);
    } else if (op) {
        put_empty(c, 1);
        to_csv_put_int_unless(c, op->external_id, ID_NONE);
        put_empty(c, 7);
        to_csv_put_text(c, op->dims == STR_NONE ? str_c("") : trace_str(c->t, op->dims));
    } else {
        put_empty(c, 3);
        if (mem) to_csv_put_int(c, mem->bytes);
        else put_empty(c, 1);
        put_empty(c, 6);
    }
}

static int to_csv_put_args(struct csv *c, row_t r, struct err *e)
{
    bool any;
    buf_reset(&c->args);
    TRY(chrome_args_add(c->t, r, &c->scratch, &c->args, &any, e));
    to_csv_put_text(c, buf_str(&c->args));
    return buf_ok(&c->args) ? 0 : err_nomem(e);
}

static int to_csv_put_row(struct csv *c, row_t r, struct err *e)
{
    const struct trace *t = c->t;
    char phase[2] = {t->phase[r], 0};
    fmt_u64(to_csv_text(c), r);
    to_csv_put_int(c, t->ts_ns[r]);
    to_csv_put_int(c, t->dur_ns[r]);
    to_csv_put_text(c, trace_name(t, r));
    to_csv_put_text(c, trace_str(t, t->cats[t->cat[r]]));
    to_csv_put_text(c, str_c(kind_name(t->kind[r])));
    to_csv_put_text(c, str_c(phase));
    put_place(c, r);
    to_csv_put_int_unless(c, t->parent[r], ROW_NONE);
    to_csv_put_int(c, t->depth[r]);
    put_details(c, r);
    to_csv_put_words(c, r);
    if (c->o->with_args) TRY(to_csv_put_args(c, r, e));
    FMT_LIT(to_csv_text(c), "\r\n");
    return sink_pump(&c->sink, e);
}

static int to_csv_put_all(struct csv *c, struct err *e)
{
    buf_adds(to_csv_text(c), head);
    buf_adds(to_csv_text(c), c->o->with_args ? ",args\r\n" : "\r\n");
    for (row_t r = 0; r < c->t->n_rows; r++) {
        TRY(to_csv_put_row(c, r, e));
        if (c->o->progress && r % PROGRESS_EVERY == 0)
            c->o->progress(c->o->progress_ctx, r, c->t->n_rows);
    }
    return 0;
}

static int write_csv(const struct trace *t, const char *path, const struct export_options *o,
                     struct err *e)
{
    struct csv c = {.t = t, .o = o};
    TRY(sink_begin(&c.sink, t, path, o->n_threads, e));
    int rc = to_csv_put_all(&c, e);
    if (rc == 0) rc = sink_commit(&c.sink, e);
    else sink_abort(&c.sink);
    buf_done(&c.scratch);
    buf_done(&c.args);
    return rc;
}

const struct exporter to_csv = {
    .name = "csv",
    .summary = "one table of all events, for spreadsheets and data frames",
    .extensions = ".csv .csv.gz .csv.zst",
    .uses = EXPORT_ARGS,
    .next = {"python3 -c \"import pandas; print(pandas.read_csv('", "').describe())\""},
    .write = write_csv,
};
