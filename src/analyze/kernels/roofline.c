/* roofline.c: see roofline.h. Work is examined once for every kernel name with the same operator,
 * shapes and launch; rows only point at it. */
#include "analyze/kernels/roofline.h"

#include <math.h>

#include "analyze/deep/deep_match.h"
#include "analyze/kernels/kernels_constants.h"
#include "analyze/kernels/occupancy.h"
#include "analyze/names/calls.h"
#include "analyze/names/copy.h"
#include "analyze/names/graph_origin.h"
#include "analyze/names/torch_words.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "base/wrap.h"

struct builder {
    struct context *cx;
    const struct trace *t;
    struct roofline *out;
    struct map kinds; /* (name, operator, shapes or launch) -> kind */
    struct map peers; /* (name, launch) -> kind with shapes, or AMBIGUOUS */
    uint32_t *kind_of;
    struct roof_kind *all;
    size_t n, cap;
    struct op_links deep_links; /* of units in depth, */
    int64_t *deep_multiplying;  /* and by index into their ops: kernels but helpers */
    uint32_t *traits_at;        /* by str_id: 1 + index into `traits`, 0 when not looked at yet */
    struct kernel_traits *traits;
    size_t n_traits, cap_traits;
};

#define AMBIGUOUS (UINT32_MAX - 1)

const char *roof_from_name(enum roof_from f)
{
    static const char *const names[] = {"unknown", "shapes", "name", "same_launch"};
    return names[f];
}

double roofline_ns(const struct ceilings *c, enum precision p, double flops, double bytes)
{
    double rate = p < PRECISIONS ? c->compute[p].per_s : NAN;
    double arithmetic = flops > 0 ? flops / rate * 1e9 : 0;
    double memory = bytes > 0 ? bytes / c->memory.per_s * 1e9 : 0;
    if (isnan(arithmetic) || isnan(memory)) return NAN;
    double ns = arithmetic > memory ? arithmetic : memory;
    return ns > roofline_kernel_ns ? ns : roofline_kernel_ns;
}

double roofline_tiles(const struct op_work *w)
{
    return ceil(w->m / roofline_tile_rows) * ceil(w->n / roofline_tile_rows) * w->batch;
}

double roofline_attention_rate(const struct ceilings *c, enum precision p, double head, bool back)
{
    double wide = head > 128 ? 2 : head > 0 ? head / 64 : 1;
    double rate = c->attention.per_s * wide,
           most = c->compute[HALF].per_s * roofline_attention_share;
    if (rate > most) rate = most;
    if (p == FP32 || p == TF32) /* float32 goes through narrower units, or none */
        rate *= c->compute[TF32].per_s / c->compute[HALF].per_s / 2;
    return rate * (back ? roofline_attention_backward_share : 1) / 1e9;
}

/* What the name tells, looked at once; NULL when out of memory. */
static const struct kernel_traits *traits_of(struct builder *b, str_id name)
{
    if (b->traits_at[name]) return &b->traits[b->traits_at[name] - 1];
    if (VEC_RESERVE(b->traits, b->n_traits, b->cap_traits, 1)) return NULL;
    b->traits[b->n_traits] = kernel_traits_of(trace_str(b->t, name));
    b->traits_at[name] = (uint32_t)++b->n_traits;
    return &b->traits[b->n_traits - 1];
}

/* ---- one kind of kernel ---- */

static enum precision roofline_precision_of(const struct roof_kind *k)
{
    enum number_type type = k->work.type ? k->work.type : k->traits.type;
    if (k->traits.plain_float && type != NUMBER_F64) return FP32; /* whatever went in */
    switch (type) {
    case NUMBER_F64: return FP64;
    case NUMBER_F32: return TF32;
    case NUMBER_F16:
    case NUMBER_BF16: return HALF;
    case NUMBER_F8: return FP8;
    case NUMBER_I8: return INT8;
    default: return PRECISIONS;
    }
}

static bool roofline_multiplies(const struct op_work *w)
{
    enum op_class c = w->kind.class;
    return c == OP_PRODUCT || c == OP_CONVOLUTION || c == OP_ATTENTION;
}

static bool family_multiplies(enum kernel_family f)
{
    return f == FAMILY_GEMM || f == FAMILY_CONV || f == FAMILY_ATTENTION;
}

static double attention_ns(const struct ceilings *c, const struct roof_kind *k)
{
    const struct op_work *w = &k->work;
    double ns = w->flops / roofline_attention_rate(c, k->precision, w->k, w->kind.backward);
    double memory = roofline_ns(c, PRECISIONS, 0, k->bytes);
    return ns > memory ? ns : memory;
}

/* Float32 on a GPU whose tensor cores do not take it. */
static enum precision known_precision(const struct ceilings *c, enum precision p)
{
    return p == TF32 && c->compute[TF32].from == CEILING_NONE ? FP32 : p;
}

static void set_roof(const struct ceilings *c, struct roof_kind *k)
{
    k->roof_ns = NAN;
    if (k->from == ROOF_UNKNOWN || k->family == FAMILY_COMMUNICATION) return;
    if (k->flops > 0 && k->work.kind.class == OP_ATTENTION) k->roof_ns = attention_ns(c, k);
    else if (k->flops > 0 || k->bytes > 0)
        k->roof_ns = roofline_ns(c, k->precision, k->flops, k->bytes);
}

/* From the shapes of the operator. */
static void use_shapes(struct roof_kind *k)
{
    const struct op_work *w = &k->work;
    double each = number_bytes(w->type ? w->type : k->traits.type);
    k->flops = w->flops;
    k->bytes = w->read + w->written + w->untyped * each;
    if (k->flops > 0 || k->bytes > 0) k->from = ROOF_SHAPES;
}

/* From the kernel's name and how often it was launched. */
static void use_name(const struct builder *b, row_t r, struct roof_kind *k)
{
    const struct gpu_info *g = &b->t->gpu[b->t->aux[r]];
    double n = kernel_elements(&k->traits, g->grid, g->block, b->out->per_thread);
    double each = number_bytes(k->traits.type);
    if (!(n > 0) || !(each > 0) || !k->traits.tensors) return;
    k->work.elements = n;
    k->work.type = k->traits.type;
    k->work.written = n * each;
    k->work.read = n * each * (k->traits.tensors - 1);
    k->bytes = k->work.read + k->work.written;
    k->from = ROOF_NAME;
}

/* More bytes than the memory moves in that time: the guess was wrong. */
static void drop_impossible(const struct builder *b, row_t r, struct roof_kind *k)
{
    double most = b->out->ceilings.memory.per_s / 1e9 * (double)b->t->dur_ns[r];
    if (!(k->bytes > roofline_impossible_times * most) || k->flops > 0) return;
    k->bytes = 0;
    k->from = ROOF_UNKNOWN;
}

static void use_size(const struct trace *t, row_t r, struct roof_kind *k)
{
    const struct gpu_info *g = &t->gpu[t->aux[r]];
    bool inside = t->kind[r] == KIND_MEMSET || copy_of(t, r).way == COPY_INSIDE;
    if (!inside || g->bytes <= 0) return;
    k->bytes = (double)g->bytes * (t->kind[r] == KIND_MEMSET ? 1 : 2);
    k->from = ROOF_SHAPES;
    k->alone = true;
}

/* ---- the operator of a row ---- */

/* Whether the row was started with many others by one call, which says nothing about it. */
static bool is_replayed(const struct builder *b, row_t r)
{
    row_t call = trace_launch_of(b->t, r);
    int64_t graph = b->t->gpu[b->t->aux[r]].graph_id;
    if (graph != ID_NONE && graph > 0) return true;
    return call != ROW_NONE && calls_kind(calls_of(b->cx), b->t, call) == CALL_GRAPH_LAUNCH;
}

/* An operator, in the trace or in what was cut out of it; `op` is ROW_NONE for none. `twin` is the
 * work in a unit in depth, or ROW_NONE. */
struct owner {
    const struct trace *t;
    row_t op, twin;
};

static bool roofline_has_shapes(struct owner by)
{
    const struct op_info *o = by.op == ROW_NONE ? NULL : trace_op(by.t, by.op);
    return o && o->dims != STR_NONE;
}

/* Of what launched it, where that was recorded; else of what launched its like in a unit in depth.
 */
static struct owner roofline_launcher(const struct builder *b, row_t r)
{
    const struct deep_match *d = deep_match_of(b->cx);
    struct owner own = {b->t, b->out->links.owner[b->t->aux[r]], ROW_NONE};
    row_t twin = roofline_has_shapes(own) ? ROW_NONE : deep_match_alike(d, b->t, r);
    if (twin == ROW_NONE) return own;
    row_t op = trace_up(d->deep, trace_launch_of(d->deep, twin), KIND_OP);
    struct owner like = {d->deep, op, twin};
    return roofline_has_shapes(like) ? like : own;
}

static bool launches_once(const struct graph_origins *g, row_t op)
{
    const struct trace *t = g->made;
    uint32_t n = 0;
    for (row_t i = op + 1; i < t->lanes[t->lane[op]].end && t->depth[i] > t->depth[op]; i++)
        n += calls_kind(&g->calls, t, i) == CALL_LAUNCH;
    return n == 1;
}

/* Of replayed work: what our recorder says of the operator that was captured. */
static const struct graph_origin_node *roofline_captured(const struct builder *b, row_t r)
{
    const struct graph_origin_node *o = graph_origin_find(graph_origin_of(b->cx), b->t, r);
    bool says = o && o->dims.n && b->t->kind[r] == KIND_KERNEL;
    return says && !torch_is_region(o->op) && !torch_is_inductor(trace_name(b->t, r)) ? o : NULL;
}

static void use_captured(const struct graph_origin_node *o, struct roof_kind *k)
{
    const struct str inputs[3] = {o->dims, o->types, o->concrete};
    op_work_named(o->op, inputs, &k->work);
    k->alone = true;
    k->shapes = o->dims;
    use_shapes(k);
}

/* Of replayed work: the operator that was captured, where the trace has it. One with several
 * kernels says nothing of each: they share its work in a ratio that only replays show. */
static struct owner roofline_owner_of(const struct builder *b, row_t r)
{
    const struct graph_origins *g = graph_origin_of(b->cx);
    if (!is_replayed(b, r)) return roofline_launcher(b, r);
    const struct graph_origin_node *o = graph_origin_find(g, b->t, r);
    row_t op = o && o->call != ROW_NONE ? trace_up(g->made, o->call, KIND_OP) : ROW_NONE;
    return (struct owner){g->made, op != ROW_NONE && launches_once(g, op) ? op : ROW_NONE,
                          ROW_NONE};
}

/* A kernel that multiplies under an operator that does not say so: one around it may. */
static row_t multiplying_op(const struct trace *t, row_t op, struct op_work *ret)
{
    for (int up = 0; op != ROW_NONE && up < roofline_levels_up; op = t->parent[op], up++) {
        if (t->kind[op] != KIND_OP) continue;
        op_work_of(t, op, ret);
        if (roofline_multiplies(ret) && ret->flops > 0) return op;
    }
    return ROW_NONE;
}

/* Splitting k leaves a reduction behind, and cuDNN turns layouts around: neither multiplies. */
static bool is_helper(const struct kernel_traits *k, struct str name)
{
    return k->converts_layout || k->library || str_has(name, "reduce") || str_has(name, "Reduce");
}

static bool roofline_helps(const struct roof_kind *k, const struct kernel_traits *traits,
                           struct str name)
{
    return (roofline_multiplies(&k->work) || k->family == FAMILY_GEMM) && is_helper(traits, name);
}

/* Kernels of an operator share its work by their time in the unit in depth. */
static void use_part(const struct builder *b, struct owner by, struct roof_kind *k)
{
    const struct trace *t = by.t;
    uint32_t op = t->aux[by.op];
    double ns = (double)t->dur_ns[by.twin];
    struct kernel_traits traits = kernel_traits_of(trace_name(t, by.twin));
    double all = (double)b->deep_links.device_ns[op], multiplying = (double)b->deep_multiplying[op];
    k->alone = true;
    k->bytes *= all > ns ? ns / all : 1;
    if (roofline_helps(k, &traits, trace_name(t, by.twin))) k->flops = 0;
    else k->flops *= multiplying > ns ? ns / multiplying : 1;
}

/* Lists of tensors may have been recorded without what is in them. */
static void set_shapes(struct owner by, struct roof_kind *k)
{
    struct str dims = trace_str(by.t, trace_op(by.t, by.op)->dims);
    bool any = !k->work.kind.lists;
    for (size_t i = 0; !any && i < dims.n; i++) any = dims.p[i] >= '0' && dims.p[i] <= '9';
    if (any) k->shapes = dims;
}

/* What a compiled graph is called with says nothing of one of its kernels, which Inductor names
 * alike: only an operator of the kernel's own has what it reads and writes. */
static bool roofline_op_says(const struct owner *by, struct str kernel, struct op_work *ret)
{
    if (by->op == ROW_NONE || !op_work_of(by->t, by->op, ret)) return false;
    bool own = ret->kind.class == OP_COMPILED;
    bool graph = torch_is_region(trace_name(by->t, by->op)) || torch_is_inductor(kernel);
    if (own || !graph) return true;
    *ret = (struct op_work){.kind = ret->kind};
    return false;
}

static void roofline_look_at(struct builder *b, row_t r, struct owner by, struct roof_kind *k)
{
    const struct trace *t = b->t;
    struct str name = trace_name(t, r);
    *k = (struct roof_kind){.traits = kernel_traits_of(name),
                            .family = kernel_family((enum row_kind)t->kind[r], name),
                            .precision = PRECISIONS};
    if (t->kind[r] != KIND_KERNEL) {
        use_size(t, r, k);
        return;
    }
    struct op_work around;
    const struct graph_origin_node *said = roofline_captured(b, r);
    if (roofline_op_says(&by, name, &k->work)) use_shapes(k);
    else if (by.op == ROW_NONE && said) use_captured(said, k);
    if (by.twin != ROW_NONE) use_part(b, by, k);
    if (roofline_has_shapes(by)) set_shapes(by, k);
    if (by.op != ROW_NONE && k->flops == 0 && family_multiplies(k->family) &&
        multiplying_op(by.t, by.t->parent[by.op], &around) != ROW_NONE) {
        k->work = around;
        k->alone = true;
        use_shapes(k);
    }
    if (k->from == ROOF_UNKNOWN) use_name(b, r, k);
    if (k->from == ROOF_NAME || k->work.loose) drop_impossible(b, r, k);
    if (roofline_multiplies(&k->work) || family_multiplies(k->family))
        k->precision = roofline_precision_of(k);
    k->helper = roofline_helps(k, &k->traits, name);
}

/* ---- all rows ---- */

static uint64_t launch_key(const struct trace *t, row_t r)
{
    const struct gpu_info *g = &t->gpu[t->aux[r]];
    uint64_t key = map_mix((uint64_t)t->name[r] << 8 | t->kind[r]);
    for (int i = 0; i < 3; i++) key = map_mix(key ^ ((uint64_t)g->grid[i] << 32 | g->block[i]));
    if (t->kind[r] != KIND_KERNEL) key = map_mix(key ^ (uint64_t)g->bytes);
    return key;
}

/* Ids of names are those of one trace. */
static uint64_t op_key(const struct trace *t, row_t r, struct owner by)
{
    const struct op_info *o = trace_op(by.t, by.op);
    uint64_t key = map_mix((uint64_t)t->name[r] << 32 | by.t->name[by.op]);
    if (by.t != t) key = map_mix(key ^ UINT64_MAX);
    if (!o) return key;
    key = map_mix(key ^ ((uint64_t)o->dims << 32 | o->types));
    return map_mix(key ^ o->concrete);
}

/* The kind of the row, made when new; UINT32_MAX when out of memory. */
static uint32_t roofline_find_kind(struct builder *b, row_t r)
{
    const struct trace *t = b->t;
    struct owner by = roofline_owner_of(b, r);
    const struct graph_origin_node *said = roofline_captured(b, r);
    uint64_t key = launch_key(t, r);
    if (by.twin != ROW_NONE) key = map_mix(map_mix((uint64_t)by.twin << 1 | 1) ^ t->name[r]);
    else if (roofline_has_shapes(by) && t->kind[r] == KIND_KERNEL) key = op_key(t, r, by);
    else if (by.op != ROW_NONE) key = map_mix(key ^ map_mix(op_key(t, r, by)));
    else if (said) key = map_mix(key ^ map_mix((uint64_t)(said - graph_origin_of(b->cx)->origins)));
    uint32_t *slot = map_at(&b->kinds, key);
    if (!slot) return UINT32_MAX;
    if (*slot != MAP_NONE) return *slot;
    if (VEC_RESERVE(b->all, b->n, b->cap, 1)) return UINT32_MAX;
    *slot = (uint32_t)b->n;
    roofline_look_at(b, r, by, &b->all[b->n]);
    return (uint32_t)b->n++;
}

static bool same_work(const struct roof_kind *a, const struct roof_kind *b)
{
    return a->flops == b->flops && a->bytes == b->bytes;
}

/* Remembers what a launch with shapes did, for those like it that have none. */
static bool add_peer(struct builder *b, row_t r, uint32_t kind)
{
    if (b->all[kind].from != ROOF_SHAPES || b->t->kind[r] != KIND_KERNEL) return false;
    uint32_t *slot = map_at(&b->peers, launch_key(b->t, r));
    if (!slot) return true;
    if (*slot == MAP_NONE) *slot = kind;
    else if (*slot != AMBIGUOUS && !same_work(&b->all[*slot], &b->all[kind])) *slot = AMBIGUOUS;
    return false;
}

static bool roofline_is_work(const struct trace *t, row_t r)
{
    return trace_is_work(t, r) && t->aux[r] < t->n_gpu;
}

static bool roofline_assign(struct builder *b)
{
    for (row_t r = 0; r < b->t->n_rows; r++) {
        if (!roofline_is_work(b->t, r)) continue;
        uint32_t kind = roofline_find_kind(b, r);
        if (kind == UINT32_MAX || add_peer(b, r, kind)) return true;
        b->kind_of[b->t->aux[r]] = kind;
    }
    return false;
}

static bool is_vague(const struct roof_kind *k)
{
    return k->from == ROOF_UNKNOWN || (k->from == ROOF_NAME && k->traits.library);
}

/* Launches without shapes take those of their like. */
static void ask_peers(struct builder *b)
{
    for (row_t r = 0; r < b->t->n_rows; r++) {
        if (!roofline_is_work(b->t, r) || b->t->kind[r] != KIND_KERNEL) continue;
        struct roof_kind *k = &b->all[b->kind_of[b->t->aux[r]]];
        uint32_t peer = is_vague(k) ? map_find(&b->peers, launch_key(b->t, r)) : MAP_NONE;
        if (peer == MAP_NONE || peer == AMBIGUOUS) continue;
        enum op_class class = k->work.kind.class;
        struct str shapes = k->shapes; /* as much work may be done on others */
        *k = b->all[peer];
        k->shapes = shapes;
        if (class != OP_OTHER) k->work.kind.class = class;
        k->from = ROOF_PEERS;
        k->alone = true;
    }
}

/* Newer versions of torch give each thread of an elementwise kernel eight elements instead of four.
 * Kernels for eight, or ones that would be at half of the memory's rate with four, tell. */
static bool guess_per_thread(struct builder *b)
{
    double best = 0;
    b->out->per_thread = 8;
    for (row_t r = 0; r < b->t->n_rows; r++) {
        if (b->t->kind[r] != KIND_KERNEL || b->t->aux[r] >= b->t->n_gpu) continue;
        const struct kernel_traits *k = traits_of(b, b->t->name[r]);
        if (!k) return true;
        if (!k->library || k->exact) continue;
        if (k->per_thread >= 8) return false;
        const struct gpu_info *g = &b->t->gpu[b->t->aux[r]];
        double bytes =
            kernel_elements(k, g->grid, g->block, 4) * number_bytes(k->type) * k->tensors;
        double rate = b->t->dur_ns[r] < roofline_long_ns ? 0 : bytes / (double)b->t->dur_ns[r];
        if (rate > best) best = rate;
    }
    bool slow = best > 0 && best * 1e9 < roofline_half_rate_share * b->out->ceilings.memory.per_s;
    b->out->per_thread = slow ? 8 : 4;
    return false;
}

static void fill_ceilings(struct context *cx, struct ceilings *c)
{
    const struct device *d = cx->t->n_devices ? &cx->t->devices[0] : NULL;
    ceilings_init(c, d ? trace_str(cx->t, d->name) : str_c(""));
    if (cx->ceilings) *c = *cx->ceilings;
    ceilings_from_table(c);
    if (d) ceilings_from_device(c, d->major, d->n_sms);
    if (d && d->n_sms > 0) c->n_sms = d->n_sms;
}

static bool add_multiplying(struct roofline *f, const struct trace *t, struct arena *mem)
{
    int64_t *ns = arena_zalloc(mem, t->n_ops + (size_t)1, sizeof *ns);
    for (row_t r = 0; ns && r < t->n_rows; r++) {
        row_t op = roofline_is_work(t, r) ? f->links.owner[t->aux[r]] : ROW_NONE;
        if (op == ROW_NONE || t->aux[op] >= t->n_ops || roofline_kind(f, t, r)->helper) continue;
        ns[t->aux[op]] = wrap_add(ns[t->aux[op]], t->dur_ns[r]);
    }
    f->multiplying_ns = ns;
    return !ns;
}

static void roofline_sum_up(const struct trace *t, struct roofline *f)
{
    for (row_t r = 0; r < t->n_rows; r++) {
        if (!roofline_is_work(t, r) || t->kind[r] != KIND_KERNEL || t->dur_ns[r] <= 0) continue;
        const struct roof_kind *k = roofline_kind(f, t, r);
        bool talks = k->family == FAMILY_COMMUNICATION;
        *(talks ? &f->talking_ns : &f->kernel_ns) += t->dur_ns[r];
        double roof = roofline_row_ns(f, t, r);
        if (talks || isnan(roof)) continue;
        f->known_ns += t->dur_ns[r];
        f->roof_ns += roof;
    }
}

static int roofline_read_deep(struct builder *b, struct err *e)
{
    const struct trace *deep = deep_match_of(b->cx)->deep;
    if (!deep) return 0;
    TRY(op_links_run(deep, b->cx->mem, &b->deep_links, e));
    b->deep_multiplying =
        arena_zalloc(b->cx->mem, deep->n_ops + (size_t)1, sizeof *b->deep_multiplying);
    if (!b->deep_multiplying) return err_nomem(e);
    for (row_t r = 0; r < deep->n_rows; r++) {
        row_t op = roofline_is_work(deep, r) ? b->deep_links.owner[deep->aux[r]] : ROW_NONE;
        if (op == ROW_NONE || deep->aux[op] >= deep->n_ops) continue;
        struct kernel_traits traits = kernel_traits_of(trace_name(deep, r));
        if (is_helper(&traits, trace_name(deep, r))) continue;
        int64_t *ns = &b->deep_multiplying[deep->aux[op]];
        *ns = wrap_add(*ns, deep->dur_ns[r]);
    }
    return 0;
}

static bool roofline_build(struct builder *b)
{
    struct arena *mem = b->cx->mem;
    b->kind_of = arena_zalloc(mem, b->t->n_gpu + (size_t)1, sizeof *b->kind_of);
    b->traits_at = arena_zalloc(mem, b->t->strings.n + (size_t)1, sizeof *b->traits_at);
    if (!b->kind_of || !b->traits_at || guess_per_thread(b) || roofline_assign(b)) return true;
    ask_peers(b);
    struct roof_kind *kinds = arena_alloc(mem, (b->n + 1) * sizeof *kinds);
    if (!kinds) return true;
    for (size_t i = 0; i < b->n; i++) {
        b->all[i].precision = known_precision(&b->out->ceilings, b->all[i].precision);
        set_roof(&b->out->ceilings, &b->all[i]);
        kinds[i] = b->all[i];
    }
    kinds[b->n] = (struct roof_kind){.precision = PRECISIONS, .roof_ns = NAN};
    b->kind_of[b->t->n_gpu] = (uint32_t)b->n;
    b->out->kinds = kinds;
    b->out->n_kinds = (uint32_t)b->n;
    b->out->kind_of = b->kind_of;
    return add_multiplying(b->out, b->t, mem);
}

static int roofline_run_pass(struct context *cx, void *ret, struct err *e)
{
    struct builder b = {.cx = cx, .t = cx->t, .out = ret};
    fill_ceilings(cx, &b.out->ceilings);
    TRY(op_links_run(cx->t, cx->mem, &b.out->links, e));
    TRY(roofline_read_deep(&b, e));
    map_init(&b.kinds);
    map_init(&b.peers);
    bool failed = roofline_build(&b);
    map_done(&b.kinds);
    map_done(&b.peers);
    mem_free(b.all);
    mem_free(b.traits);
    if (failed) return err_nomem(e);
    roofline_sum_up(cx->t, b.out);
    return 0;
}

static const struct pass *const needs[] = {&calls_pass, &deep_match_pass, &graph_origin_pass, NULL};

const struct pass roofline_pass = {
    .id = PASS_ROOFLINE,
    .size = sizeof(struct roofline),
    .needs = needs,
    .run = roofline_run_pass,
};

/* ---- of a row ---- */

/* Its part of a time of its operator's kernels. */
static double share_of(const struct roofline *f, const struct trace *t, row_t r,
                       const int64_t *op_ns)
{
    const struct roof_kind *k = roofline_kind(f, t, r);
    row_t op = roofline_owner(f, t, r);
    if (k->alone || k->from != ROOF_SHAPES || op == ROW_NONE || t->aux[op] >= t->n_ops) return 1;
    double all = (double)op_ns[t->aux[op]];
    double part = all > 0 ? (double)t->dur_ns[r] / all : 1;
    return part > 1 ? 1 : part;
}

double roofline_row_ns(const struct roofline *f, const struct trace *t, row_t r)
{
    double ns = roofline_kind(f, t, r)->roof_ns * share_of(f, t, r, f->links.device_ns);
    double dur = (double)t->dur_ns[r];
    return isnan(ns) || ns < dur ? ns : dur;
}

double roofline_row_flops(const struct roofline *f, const struct trace *t, row_t r)
{
    const struct roof_kind *k = roofline_kind(f, t, r);
    return k->helper ? 0 : k->flops * share_of(f, t, r, f->multiplying_ns);
}

double roofline_row_bytes(const struct roofline *f, const struct trace *t, row_t r)
{
    return roofline_kind(f, t, r)->bytes * share_of(f, t, r, f->links.device_ns);
}

double roofline_pct(const struct roofline *f)
{
    if (f->known_ns <= 0 || (double)f->known_ns < roofline_known_share * (double)f->kernel_ns)
        return NAN;
    return 100 * f->roof_ns / (double)f->known_ns;
}

bool roofline_uses(const struct roofline *f, enum precision p)
{
    for (uint32_t i = 0; i < f->n_kinds; i++)
        if (f->kinds[i].precision == p && f->kinds[i].flops > 0) return true;
    return false;
}
