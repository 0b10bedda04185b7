/* kernel_stats.c: see kernel_stats.h. Two passes over device work: the first finds the groups and
 * how large they are, the second lays their durations side by side for the order statistics. */
#include "analyze/kernels/kernel_stats.h"

#include <math.h>

#include "analyze/kernels/kernel_where.h"
#include "analyze/kernels/occupancy.h"
#include "analyze/names/calls.h"
#include "analyze/names/source_place.h"
#include "base/demangle.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/stats.h"
#include "base/vec.h"
#include "base/wrap.h"

/* A group while it is being added up. */
struct group {
    str_id name;
    row_t first;
    row_t launched; /* one whose launch is in the trace, or `first` */
    uint64_t calls, graph_calls;
    int64_t total_ns;
    double bytes, flops;
    int64_t bytes_ns, flops_ns; /* time of those of which they are known */
    double roof_ns;
    int64_t known_ns_roof;
    int64_t top_ns; /* of the row that says how the work is known, and in what precision */
    enum precision precision;
    enum roof_from from;
    double occupancy_ns;            /* pct x ns */
    int64_t known_ns;               /* time for which occupancy is known */
    bool recorded;                  /* some of it only as the recorder estimated */
    uint32_t n_configs, top_config; /* top: the most frequent so far */
    uint64_t top_config_calls;
    uint32_t n_ops;
    str_id where;  /* of collector.places, where that is requested */
    str_id top_op; /* the most expensive so far */
    int64_t top_op_ns;
    uint64_t first_duration; /* where its durations start */
};

struct collector {
    const struct context *cx;
    const struct trace *t;
    enum kernel_by by;
    const struct roofline *roof;
    const struct calls *calls;
    const struct graph_origins *captured;
    struct group *groups;
    size_t n, cap;
    struct map names;      /* (name, kind) -> group */
    struct map splits;     /* (that group, config or op) -> group, when split further */
    struct map members;    /* (group, config or op) -> index into `tallies` */
    struct intern configs; /* launches, byte for byte */
    struct kernel_where where;
    struct intern places; /* what it says: by shape, module or line */
    struct tally {
        uint64_t calls;
        int64_t ns;
        double occupancy_pct; /* of a config; NaN when not known */
        bool recorded;
    } * tallies;
    size_t n_tallies, cap_tallies;
    uint32_t *group_of; /* by index into trace->gpu */
};

static void collector_init(struct collector *c, const struct context *cx, enum kernel_by by)
{
    *c = (struct collector){.cx = cx,
                            .t = cx->t,
                            .by = by,
                            .roof = roofline_of(cx),
                            .calls = calls_of(cx),
                            .captured = graph_origin_of(cx)};
    map_init(&c->names);
    map_init(&c->members);
    map_init(&c->splits);
}

static void collector_done(struct collector *c)
{
    map_done(&c->names);
    map_done(&c->members);
    map_done(&c->splits);
    intern_done(&c->configs);
    intern_done(&c->places);
    kernel_where_done(&c->where);
    mem_free(c->groups);
    mem_free(c->tallies);
}

static struct kernel_config kernel_stats_config_of(const struct gpu_info *g)
{
    struct kernel_config c;
    memset(&c, 0, sizeof c);
    memcpy(c.grid, g->grid, sizeof c.grid);
    memcpy(c.block, g->block, sizeof c.block);
    c.shared_bytes = g->shared_bytes;
    c.registers = g->registers;
    return c;
}

/* What captures say may be no string of the trace: such names have numbers behind those of the
 * trace.
 */
static struct str op_name(const struct collector *c, str_id op)
{
    uint32_t n = c->t->strings.n;
    return op < n ? trace_str(c->t, op) : c->captured->origins[op - n].label;
}

/* STR_NONE for what was not replayed, or when nothing is known of its capture. */
static str_id captured_by(const struct collector *c, row_t r)
{
    const struct graph_origin_node *o = graph_origin_find(c->captured, c->t, r);
    if (!o || !o->label.n) return STR_NONE;
    str_id known = intern_find(&c->t->strings, o->label);
    uint64_t id = (uint64_t)c->t->strings.n + o->same;
    return known != STR_NONE ? known : id < STR_NONE / 2 ? (str_id)id : STR_NONE;
}

/* The name of what asked for the work: its operator, or the call when it was launched outside any.
 * For replayed work, what was captured. Compilers wrap a kernel in an operator of the same name;
 * then what stands around that. */
static str_id asked_by(const struct collector *c, row_t r)
{
    const struct trace *t = c->t;
    str_id captured = captured_by(c, r);
    if (captured != STR_NONE) return captured;
    row_t op = c->roof->links.owner[t->aux[r]];
    if (op == ROW_NONE) {
        row_t call = trace_launch_of(t, r);
        return call == ROW_NONE ? 0 : t->name[call];
    }
    row_t up = op;
    while (up != ROW_NONE && (t->name[up] == t->name[r] ||
                              (t->kind[up] != KIND_OP && t->kind[up] != KIND_ANNOTATION)))
        up = t->parent[up];
    return t->name[up != ROW_NONE ? up : op];
}

static uint32_t new_group(struct collector *c, row_t r)
{
    const struct trace *t = c->t;
    if (VEC_RESERVE(c->groups, c->n, c->cap, 1)) return UINT32_MAX;
    c->groups[c->n] = (struct group){.name = t->name[r],
                                     .first = r,
                                     .launched = r,
                                     .precision = PRECISIONS,
                                     .top_config = STR_NONE};
    return (uint32_t)c->n++;
}

static uint32_t kernel_stats_find_in(struct collector *c, struct map *m, uint64_t key, row_t r)
{
    uint32_t *slot = map_at(m, key);
    if (!slot) return UINT32_MAX;
    if (*slot == MAP_NONE) *slot = new_group(c, r);
    return *slot;
}

/* STR_NONE when out of memory. */
static str_id kernel_stats_where(struct collector *c, row_t r)
{
    struct str s = c->by == KERNEL_BY_SHAPE    ? kernel_where_shapes(&c->where, r)
                   : c->by == KERNEL_BY_MODULE ? kernel_where_module(&c->where, r)
                                               : kernel_where_line(&c->where, r);
    return intern_add(&c->places, s);
}

/* What splits kernels of one name: how they were launched, by what, on what, or where. */
static bool kernel_stats_split(struct collector *c, row_t r, uint32_t config, str_id op,
                               uint64_t *ret_key, str_id *ret_where)
{
    *ret_where = 0;
    *ret_key = c->by == KERNEL_BY_CONFIG ? config : op;
    if (c->by < KERNEL_BY_SHAPE) return true;
    *ret_where = kernel_stats_where(c, r);
    *ret_key = c->by == KERNEL_BY_SHAPE ? map_mix((uint64_t)op << 32 | *ret_where) : *ret_where;
    return *ret_where != STR_NONE;
}

static uint32_t find_group(struct collector *c, row_t r, uint32_t config, str_id op)
{
    uint64_t key;
    str_id where;
    uint32_t base =
        kernel_stats_find_in(c, &c->names, (uint64_t)c->t->name[r] << 8 | c->t->kind[r], r);
    if (base == UINT32_MAX || c->by == KERNEL_BY_NAME) return base;
    if (!kernel_stats_split(c, r, config, op, &key, &where)) return UINT32_MAX;
    uint32_t i = kernel_stats_find_in(c, &c->splits, map_mix(key) ^ (uint64_t)base << 32, r);
    if (i != UINT32_MAX) c->groups[i].where = where;
    return i;
}

/* The tally of a member of the group, made when new; NULL when out of memory. */
static struct tally *tally_of(struct collector *c, uint32_t group, uint32_t member, bool *ret_new)
{
    uint32_t *slot = map_at(&c->members, (uint64_t)group << 32 | member);
    if (!slot || VEC_RESERVE(c->tallies, c->n_tallies, c->cap_tallies, 1)) return NULL;
    *ret_new = *slot == MAP_NONE;
    if (*ret_new) {
        *slot = (uint32_t)c->n_tallies;
        c->tallies[c->n_tallies++] = (struct tally){0};
    }
    return &c->tallies[*slot];
}

static void kernel_stats_fill_occupancy(const struct trace *t, row_t r, struct tally *y)
{
    const struct gpu_info *g = &t->gpu[t->aux[r]];
    struct occupancy o;
    y->occupancy_pct = NAN;
    if (t->kind[r] != KIND_KERNEL) return;
    if (occupancy_of(occupancy_device(t, g->device), g, &o)) {
        y->occupancy_pct = o.pct;
    } else if (g->occupancy_pct > 0) {
        y->occupancy_pct = g->occupancy_pct;
        y->recorded = true;
    }
}

static bool count_config(struct collector *c, uint32_t group, uint32_t config, row_t r)
{
    bool is_new;
    struct tally *y = tally_of(c, group, config << 1, &is_new);
    if (!y) return true;
    if (is_new) kernel_stats_fill_occupancy(c->t, r, y);
    struct group *g = &c->groups[group];
    g->n_configs += is_new;
    if (++y->calls > g->top_config_calls) g->top_config_calls = y->calls, g->top_config = config;
    if (isnan(y->occupancy_pct)) return false;
    g->recorded |= y->recorded;
    g->occupancy_ns += y->occupancy_pct * (double)c->t->dur_ns[r];
    g->known_ns = wrap_add(g->known_ns, c->t->dur_ns[r]);
    return false;
}

static bool count_op(struct collector *c, uint32_t group, str_id op, int64_t ns)
{
    bool is_new;
    struct tally *y = tally_of(c, group, op << 1 | 1, &is_new);
    if (!y) return true;
    struct group *g = &c->groups[group];
    g->n_ops += is_new;
    y->ns = wrap_add(y->ns, ns);
    if (y->ns > g->top_op_ns || g->n_ops == 1) g->top_op_ns = y->ns, g->top_op = op;
    return false;
}

static void add_roof(const struct collector *c, struct group *g, row_t r)
{
    const struct roof_kind *k = roofline_kind(c->roof, c->t, r);
    double roof = roofline_row_ns(c->roof, c->t, r);
    int64_t ns = c->t->dur_ns[r];
    if (k->roof_ns > 0 && !isnan(roof)) {
        g->roof_ns += roof;
        g->known_ns_roof = wrap_add(g->known_ns_roof, ns);
    }
    if (ns <= g->top_ns) return;
    g->top_ns = ns;
    g->precision = k->precision;
    g->from = k->from;
}

/* Copies and fills bring their size; of kernels it is what their operator needs. */
static void add_work_done(const struct collector *c, struct group *g, row_t r)
{
    const struct trace *t = c->t;
    bool is_kernel = t->kind[r] == KIND_KERNEL;
    double flops = is_kernel ? roofline_row_flops(c->roof, t, r) : 0;
    double bytes = is_kernel ? roofline_row_bytes(c->roof, t, r) : (double)t->gpu[t->aux[r]].bytes;
    if (t->dur_ns[r] <= 0) return;
    if (flops > 0) g->flops += flops, g->flops_ns = wrap_add(g->flops_ns, t->dur_ns[r]);
    if (bytes > 0 || (!is_kernel && bytes == 0))
        g->bytes += bytes, g->bytes_ns = wrap_add(g->bytes_ns, t->dur_ns[r]);
}

static bool kernel_stats_add_work(struct collector *c, row_t r)
{
    const struct trace *t = c->t;
    const struct gpu_info *gpu = &t->gpu[t->aux[r]];
    struct kernel_config launch = kernel_stats_config_of(gpu);
    str_id config = intern_add(&c->configs, str_from((const char *)&launch, sizeof launch));
    str_id op = asked_by(c, r);
    uint32_t i = config == STR_NONE ? UINT32_MAX : find_group(c, r, config, op);
    if (i == UINT32_MAX) return true;
    c->group_of[t->aux[r]] = i;
    struct group *g = &c->groups[i];
    if (t->ts_ns[r] < t->ts_ns[g->first]) g->first = r;
    if (trace_launch_of(t, g->launched) == ROW_NONE) g->launched = r;
    g->calls++;
    g->graph_calls += graph_origin_is_replayed(c->calls, c->t, r);
    g->total_ns = wrap_add(g->total_ns, t->dur_ns[r]);
    add_work_done(c, g, r);
    add_roof(c, g, r);
    return count_config(c, i, config, r) || count_op(c, i, op, t->dur_ns[r]);
}

static bool kernel_stats_is_work(const struct trace *t, row_t r)
{
    return trace_is_work(t, r) && t->aux[r] < t->n_gpu;
}

static bool kernel_stats_collect(struct collector *c, struct arena *mem, struct kernel_stats *ret)
{
    const struct trace *t = c->t;
    c->group_of = arena_zalloc(mem, t->n_gpu + 1u, sizeof *c->group_of);
    if (!c->group_of || intern_init(&c->configs) || intern_init(&c->places)) return true;
    for (row_t r = 0; r < t->n_rows; r++) {
        if (!kernel_stats_is_work(t, r)) continue;
        if (kernel_stats_add_work(c, r)) return true;
        ret->work_ns = wrap_add(ret->work_ns, t->dur_ns[r]);
        ret->n_kernels += t->kind[r] == KIND_KERNEL;
        ret->n_copies += t->kind[r] == KIND_MEMCPY;
        ret->n_sets += t->kind[r] == KIND_MEMSET;
    }
    return false;
}

/* Durations of all work, group after group, each in ascending order; NULL when out of memory. */
static int64_t *gather_durations(struct collector *c, struct arena *mem)
{
    const struct trace *t = c->t;
    int64_t *all = arena_alloc(mem, (t->n_gpu + 1u) * sizeof *all);
    if (!all) return NULL;
    uint64_t at = 0;
    for (size_t i = 0; i < c->n; i++) {
        c->groups[i].first_duration = at;
        at += c->groups[i].calls;
        c->groups[i].calls = 0; /* counted again while filling */
    }
    for (row_t r = 0; r < t->n_rows; r++) {
        if (!kernel_stats_is_work(t, r)) continue;
        struct group *g = &c->groups[c->group_of[t->aux[r]]];
        all[g->first_duration + g->calls++] = t->dur_ns[r];
    }
    for (size_t i = 0; i < c->n; i++)
        stats_sort(all + c->groups[i].first_duration, (uint32_t)c->groups[i].calls);
    return all;
}

static double kernel_stats_ratio(double part, double kernel_stats_whole)
{
    return kernel_stats_whole > 0 ? part / kernel_stats_whole : NAN;
}

static void fill_times(struct kernel_row *row, const struct group *g, const int64_t *durations)
{
    const int64_t *own = durations + g->first_duration;
    uint32_t n = (uint32_t)g->calls;
    row->calls = g->calls;
    row->graph_calls = g->graph_calls;
    row->total_ns = g->total_ns;
    row->mean_ns = (double)g->total_ns / (double)n;
    row->min_ns = own[0];
    row->max_ns = own[n - 1];
    row->median_ns = stats_median(own, n);
    row->p95_ns = stats_percentile(own, n, 95);
}

static void fill_launch(struct kernel_row *row, const struct group *g, const struct collector *c)
{
    const struct trace *t = c->t;
    struct str bytes = intern_get(&c->configs, g->top_config);
    memcpy(&row->config, bytes.p, sizeof row->config);
    row->n_configs = g->n_configs;
    row->occupancy_pct = kernel_stats_ratio(g->occupancy_ns, (double)g->known_ns);
    row->occupancy_recorded = g->recorded;
    struct gpu_info launch = t->gpu[t->aux[g->first]];
    memcpy(launch.grid, row->config.grid, sizeof launch.grid);
    memcpy(launch.block, row->config.block, sizeof launch.block);
    launch.shared_bytes = row->config.shared_bytes;
    launch.registers = (uint16_t)row->config.registers;
    struct occupancy o;
    if (row->kind == KIND_KERNEL && occupancy_of(occupancy_device(t, launch.device), &launch, &o))
        row->limiter = o.pct < 99.5 ? occupancy_limit_name(o.limit) : NULL;
}

/* Sums of numbers from a file may be anything. */
static double kernel_stats_whole(double v)
{
    return v < 9e18 ? v : 9e18;
}

static void fill_work(struct kernel_row *row, const struct group *g)
{
    row->bytes =
        g->bytes_ns > 0 || row->kind != KIND_KERNEL ? (int64_t)kernel_stats_whole(g->bytes) : -1;
    row->gb_per_s = g->bytes_ns > 0 ? g->bytes / (double)g->bytes_ns : NAN;
    row->flops = (uint64_t)kernel_stats_whole(g->flops);
    row->tflop_per_s = g->flops > 0 ? kernel_stats_ratio(g->flops / 1e3, (double)g->flops_ns) : NAN;
    row->known_ns = g->known_ns_roof;
    row->roof_ns = g->roof_ns;
    row->roof_pct = kernel_stats_ratio(100 * g->roof_ns, (double)g->known_ns_roof);
    row->headroom_ns = g->known_ns_roof - (int64_t)kernel_stats_whole(g->roof_ns);
    row->wall_ns = -1;
    row->precision = g->precision;
    row->from = g->from;
}

static void fill_row(const struct collector *c, const struct group *g, int64_t work_ns,
                     struct kernel_row *row)
{
    const struct trace *t = c->t;
    row->name = trace_str(t, g->name);
    row->first = g->first;
    row->kind = (enum row_kind)t->kind[g->first];
    row->share_pct = kernel_stats_ratio((double)g->total_ns * 100, (double)work_ns);
    row->group = (uint32_t)(g - c->groups);
    fill_work(row, g);
    row->op = op_name(c, g->top_op);
    row->by = c->by;
    row->captured = graph_origin_find(c->captured, t, g->first);
    row->n_ops = g->n_ops;
    row->source = row->kind == KIND_KERNEL ? kernel_source_of_all(c->cx, g->launched) : NULL;
    if (row->source && row->source->op.n) row->op = row->source->op;
}

static bool kernel_stats_finish(struct collector *c, struct arena *mem, struct kernel_stats *ret)
{
    int64_t *durations = gather_durations(c, mem);
    ret->rows = arena_zalloc(mem, c->n + 1, sizeof *ret->rows);
    if (!durations || !ret->rows) return true;
    struct demangler demangler;
    demangler_init(&demangler);
    bool failed = false;
    for (size_t i = 0; i < c->n && !failed; i++) {
        struct kernel_row *row = &ret->rows[ret->n_rows];
        if (!c->groups[i].calls) continue; /* a name all of whose calls were split further */
        ret->n_rows++;
        fill_row(c, &c->groups[i], ret->work_ns, row);
        row->where.p = arena_strdup(mem, intern_get(&c->places, c->groups[i].where));
        row->where.n = intern_get(&c->places, c->groups[i].where).n;
        if (!row->where.p) failed = true;
        fill_times(row, &c->groups[i], durations);
        fill_launch(row, &c->groups[i], c);
        failed = kernel_name_read(&demangler, &row->name, &row->short_name, mem);
        row->family = kernel_family(row->kind, row->name);
    }
    demangler_done(&demangler);
    return failed;
}

int kernel_stats_run(struct context *cx, enum kernel_by by, struct arena *mem,
                     struct kernel_stats *ret, struct err *e)
{
    struct collector c;
    *ret = (struct kernel_stats){0};
    TRY(context_need(cx, &calls_pass, e));
    TRY(context_need(cx, &roofline_pass, e));
    TRY(context_need(cx, &kernel_sources_pass, e));
    TRY(context_need(cx, &graph_origin_pass, e));
    TRY(context_need(cx, &places_pass, e));
    collector_init(&c, cx, by);
    bool failed = kernel_where_init(&c.where, cx, e) < 0 || kernel_stats_collect(&c, mem, ret) ||
                  kernel_stats_finish(&c, mem, ret);
    collector_done(&c);
    if (failed) return err_nomem(e);
    ret->by = by;
    ret->group_of = c.group_of;
    ret->replayed_ns = c.captured->replayed_ns;
    ret->captured_ns = c.captured->known_ns;
    return kernel_stats_sort(ret, "total", e);
}
