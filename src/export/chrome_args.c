/* chrome_args.c: see export_private.h. What is made here reads back as the same side tables. */
#include "export/export_private.h"

#include <math.h>
#include <string.h>

#include "base/jout.h"
#include "base/json_valid.h"

static void chrome_args_put_id(struct jout *j, const char *key, int64_t id)
{
    if (id != ID_NONE) jout_int(j, key, id);
}

/* Shape texts are raw JSON already. */
static void put_raw(struct jout *j, const struct trace *t, const char *key, str_id id)
{
    if (id == STR_NONE) return;
    struct str s = trace_str(t, id);
    if (json_valid(s)) jout_raw(j, key, s);
    else jout_str(j, key, s);
}

static void chrome_args_put_op(struct jout *j, const struct trace *t, const struct op_info *op)
{
    chrome_args_put_id(j, "External id", op->external_id);
    chrome_args_put_id(j, "Sequence number", op->sequence);
    if (op->fwd_thread) jout_int(j, "Fwd thread id", op->fwd_thread);
    put_raw(j, t, "Input Dims", op->dims);
    put_raw(j, t, "Input type", op->types);
    put_raw(j, t, "Concrete Inputs", op->concrete);
}

static void chrome_args_put_call(struct jout *j, const struct call_info *c)
{
    chrome_args_put_id(j, "External id", c->external_id);
    chrome_args_put_id(j, "correlation", c->correlation);
}

static void chrome_args_put_dim3(struct jout *j, const char *key, const uint32_t dim[3])
{
    jout_arr(j, key);
    for (int i = 0; i < 3; i++) jout_uint(j, NULL, dim[i]);
    jout_end_arr(j);
}

static void chrome_args_put_kernel(struct jout *j, const struct gpu_info *g)
{
    jout_uint(j, "registers per thread", g->registers);
    jout_uint(j, "shared memory", g->shared_bytes);
    if (g->blocks_per_sm != 0) jout_num(j, "blocks per SM", g->blocks_per_sm, 6);
    if (g->warps_per_sm != 0) jout_num(j, "warps per SM", g->warps_per_sm, 6);
    if (g->grid[0]) chrome_args_put_dim3(j, "grid", g->grid);
    if (g->block[0]) chrome_args_put_dim3(j, "block", g->block);
    if (g->occupancy_pct >= 0) jout_int(j, "est. achieved occupancy %", g->occupancy_pct);
}

static void chrome_args_put_gpu(struct jout *j, const struct gpu_info *g, enum row_kind kind)
{
    chrome_args_put_id(j, "External id", g->external_id);
    if (g->device != -1) jout_int(j, "device", g->device);
    if (g->context != -1) jout_int(j, "context", g->context);
    jout_int(j, "stream", g->stream);
    chrome_args_put_id(j, "correlation", g->correlation);
    if (g->bytes >= 0) jout_int(j, "bytes", g->bytes);
    chrome_args_put_id(j, "graph id", g->graph_id);
    chrome_args_put_id(j, "graph node id", g->graph_node);
    if (kind == KIND_KERNEL) chrome_args_put_kernel(j, g);
}

/* Whether a neighbour has the same span, so that only their order says which one is outside. */
static bool chrome_args_is_tied(const struct trace *t, row_t r)
{
    const struct lane *l = &t->lanes[t->lane[r]];
    for (int side = -1; side <= 1; side += 2) {
        if (side < 0 ? r == l->begin : r + 1 >= l->end) continue;
        row_t n = side < 0 ? r - 1 : r + 1;
        if (t->kind[n] == KIND_PYTHON && t->ts_ns[n] == t->ts_ns[r] && t->dur_ns[n] == t->dur_ns[r])
            return true;
    }
    return false;
}

static void put_py(struct jout *j, const struct trace *t, row_t r, const struct py_info *py)
{
    if (py->id != -1) jout_int(j, "Python id", py->id);
    else if (chrome_args_is_tied(t, r)) jout_int(j, "Python id", (int32_t)(r & INT32_MAX));
    if (py->parent_id != -1) jout_int(j, "Python parent id", py->parent_id);
    if (py->module_id != -1) jout_int(j, "Python module id", py->module_id);
}

static void put_mem(struct jout *j, const struct mem_info *m)
{
    jout_uint(j, "Addr", m->addr);
    jout_int(j, "Bytes", m->bytes);
    if (m->total_allocated != -1) jout_int(j, "Total Allocated", m->total_allocated);
    if (m->total_reserved != -1) jout_int(j, "Total Reserved", m->total_reserved);
    if (m->device_type != -1) jout_int(j, "Device Type", m->device_type);
    if (m->device_id != -1) jout_int(j, "Device Id", m->device_id);
}

static void chrome_args_make(const struct trace *t, row_t r, struct buf *out)
{
    struct jout j;
    jout_init(&j, out, false);
    jout_obj(&j, NULL);
    const struct op_info *op = trace_op(t, r);
    const struct call_info *call = trace_call(t, r);
    const struct gpu_info *gpu = trace_gpu(t, r);
    const struct py_info *py = trace_py(t, r);
    const struct mem_info *mem = trace_mem(t, r);
    if (op) chrome_args_put_op(&j, t, op);
    if (call) chrome_args_put_call(&j, call);
    if (gpu) chrome_args_put_gpu(&j, gpu, t->kind[r]);
    if (py) put_py(&j, t, r, py);
    if (mem) put_mem(&j, mem);
    if (t->flags[r] & ROW_UNFINISHED) jout_bool(&j, "finished", false);
    jout_end_obj(&j);
}

static bool chrome_args_is_empty(struct str args)
{
    return args.n == 0 || str_is(args, "{}");
}

/* Whether the row knows ids that its args do not have under Kineto's names: those of other formats,
 * which keep their own. */
static bool says_less(const struct trace *t, row_t r, struct str args)
{
    const struct op_info *op = trace_op(t, r);
    const struct call_info *call = trace_call(t, r);
    const struct gpu_info *gpu = trace_gpu(t, r);
    int64_t correlation = call ? call->correlation : gpu ? gpu->correlation : ID_NONE;
    if (correlation != ID_NONE && !str_has(args, "\"correlation\"")) return true;
    if (trace_mem(t, r) && !str_has(args, "\"Bytes\"")) return true;
    if (gpu && gpu->grid[0] && !str_has(args, "\"grid\"")) return true;
    return op && op->external_id != ID_NONE && !str_has(args, "xternal id\"");
}

/* The length of the text at `s`, inside an object, up to the comma or bracket behind it, or up to
 * the end of the string it begins with. */
static size_t chrome_args_piece(struct str s, bool only_string)
{
    bool inside = false;
    int depth = 0;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (inside && c == '\\') i++;
        else if (c == '"') {
            inside = !inside;
            if (!inside && only_string) return i + 1;
        } else if (!inside && (c == '{' || c == '[')) depth++;
        else if (!inside && depth > 0 && (c == '}' || c == ']')) depth--;
        else if (!inside && depth == 0 && (c == ',' || c == '}')) return i;
    }
    return s.n;
}

/* The members of the object `own`, which is valid JSON, whose keys `known` does not have. */
static void add_others(struct str own, struct str known, struct buf *out)
{
    struct str rest = str_from(own.p + 1, own.n - 1);
    while (rest.n > 1) {
        size_t n = chrome_args_piece(rest, false);
        struct str member = str_trim(str_from(rest.p, n));
        size_t key_n = chrome_args_piece(member, true);
        if (member.n && !memmem(known.p, known.n, member.p, key_n)) {
            buf_addc(out, ',');
            buf_add_str(out, member);
        }
        n = n < rest.n ? n + 1 : n;
        rest = str_from(rest.p + n, rest.n - n);
    }
}

/* What the row knows, then what its args say besides. */
static void add_known(const struct trace *t, row_t r, struct buf *args)
{
    struct buf known = {0}, both = {0};
    struct str own = str_trim(buf_str(args));
    chrome_args_make(t, r, &known);
    if (known.n > 2 && own.n > 2 && *own.p == '{' && json_valid(own)) {
        buf_add(&both, known.p, known.n - 1);
        add_others(own, buf_str(&known), &both);
        buf_addc(&both, '}');
        buf_reset(args);
        buf_add_str(args, buf_str(&both));
    }
    args->failed |= known.failed || both.failed;
    buf_done(&known);
    buf_done(&both);
}

int chrome_args_add(const struct trace *t, row_t r, struct buf *scratch, struct buf *out,
                    bool *ret_any, struct err *e)
{
    buf_reset(scratch);
    if (t->args) TRY(trace_args(t, r, scratch, e));
    if (chrome_args_is_empty(str_trim(buf_str(scratch)))) {
        buf_reset(scratch);
        chrome_args_make(t, r, scratch);
    } else if (says_less(t, r, buf_str(scratch))) {
        add_known(t, r, scratch);
    }
    if (!buf_ok(scratch)) return err_nomem(e);
    struct str args = str_trim(buf_str(scratch));
    *ret_any = !chrome_args_is_empty(args);
    if (!*ret_any) return 0;
    if (json_valid(args)) buf_add_str(out, args);
    else json_repair(args, out);
    return 0;
}
