/* hot_spots.c: see hot_spots.h. */
#include "analyze/answer/hot_spots.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/answer/answer_constants.h"
#include "analyze/kernels/roofline.h"
#include "analyze/names/fused_ops.h"
#include "analyze/names/graph_origin.h"
#include "analyze/names/source_place.h"
#include "analyze/names/torch_words.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/stats.h"
#include "base/vec.h"
#include "format/xxh64.h"

/* Kernels of one operator and line. */
struct spot_group {
    row_t first;
    uint32_t id, kernels;
    int64_t ns, known_ns; /* of it, of kernels with a known roof */
    double roof_ns;       /* of those */
    int64_t family_ns[FAMILY_COUNT];
};

struct spots {
    struct context *cx;
    struct map ids; /* (operator, line) -> group */
    struct spot_group *groups;
    size_t n, cap;
    uint32_t *group_of; /* by index into trace->gpu: + 1, 0 for none */
    int64_t work_ns;
};

static bool hot_spots_counts(const struct spots *s, row_t r)
{
    const struct trace *t = s->cx->t;
    if (t->kind[r] != KIND_KERNEL || t->aux[r] >= t->n_gpu || t->dur_ns[r] <= 0) return false;
    return roofline_kind(roofline_of(s->cx), t, r)->family != FAMILY_COMMUNICATION;
}

/* Where a kernel was launched; everything is none where the trace has no launch of it. */
static struct place hot_spots_place(const struct context *cx, row_t r)
{
    struct place p = {.by = SOURCE_BY_NOTHING, .frame = ROW_NONE, .op = ROW_NONE};
    row_t launch = trace_launch_of(cx->t, r);
    if (launch == ROW_NONE) return p;
    source_places_find(places_of(cx), launch, &p);
    if (!source_places_is_exact(places_of(cx), launch, &p)) p.source.line = 0;
    return p;
}

/* What a compiler says that a kernel was made from, where that is one line; or NULL. */
static const struct kernel_source *hot_spots_source(const struct context *cx, row_t r)
{
    const struct kernel_source *s = kernel_source_find(cx, r);
    return s && s->place.file.n ? s : NULL;
}

static uint64_t hot_spots_key(const struct context *cx, row_t r)
{
    const struct trace *t = cx->t;
    const struct kernel_source *s = hot_spots_source(cx, r);
    if (s)
        return map_mix((uint64_t)t->name[r] << 32 ^ (uint32_t)s->place.line) ^
               xxh64(s->place.file.p, s->place.file.n);
    const struct graph_origins *g = graph_origin_of(cx);
    const struct graph_origin_node *o = graph_origin_find(g, t, r);
    if (o && o->label.n) return map_mix(o->where ^ UINT64_C(1) << 63);
    bool replayed = graph_origin_is_replayed(calls_of(cx), t, r);
    struct place p =
        replayed ? (struct place){.frame = ROW_NONE, .op = ROW_NONE} : hot_spots_place(cx, r);
    uint64_t key = map_mix(p.op != ROW_NONE ? t->name[p.op] : (uint64_t)t->name[r] << 32);
    if (p.frame == ROW_NONE) return key;
    return map_mix(key ^ ((uint64_t)t->name[p.frame] << 32 | (uint32_t)p.source.line));
}

static void hot_spots_count(const struct spots *s, struct spot_group *g, row_t r)
{
    const struct trace *t = s->cx->t;
    double roof = roofline_row_ns(roofline_of(s->cx), t, r);
    g->ns += t->dur_ns[r];
    g->kernels++;
    g->family_ns[roofline_kind(roofline_of(s->cx), t, r)->family] += t->dur_ns[r];
    if (isnan(roof)) return;
    g->known_ns += t->dur_ns[r];
    g->roof_ns += roof;
}

/* True when out of memory. */
static bool hot_spots_add(struct spots *s, row_t r)
{
    const struct trace *t = s->cx->t;
    uint32_t *slot = map_at(&s->ids, hot_spots_key(s->cx, r));
    if (!slot) return true;
    if (*slot == MAP_NONE) {
        if (VEC_RESERVE(s->groups, s->n, s->cap, 1)) return true;
        *slot = (uint32_t)s->n;
        s->groups[s->n] = (struct spot_group){.first = r, .id = (uint32_t)s->n};
        s->n++;
    }
    hot_spots_count(s, &s->groups[*slot], r);
    s->group_of[t->aux[r]] = *slot + 1;
    return false;
}

static bool hot_spots_collect(struct spots *s)
{
    const struct trace *t = s->cx->t;
    s->group_of = mem_zalloc(t->n_gpu + (size_t)1, sizeof *s->group_of);
    if (!s->group_of) return true;
    for (row_t r = 0; r < t->n_rows; r++) {
        if (trace_is_work(t, r) && t->dur_ns[r] > 0) s->work_ns += t->dur_ns[r];
        if (hot_spots_counts(s, r) && hot_spots_add(s, r)) return true;
    }
    return false;
}

static int hot_spots_order(const void *a, const void *b)
{
    const struct spot_group *x = a, *y = b;
    if (x->ns != y->ns) return x->ns > y->ns ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* ---- words ---- */

static const char *hot_spots_where(const struct context *cx, const struct place *p)
{
    if (p->frame == ROW_NONE || !p->source.file.n) return NULL;
    if (p->source.line <= 0)
        return arena_printf(cx->mem, STR_FMT " in " STR_FMT, STR_ARG(p->source.file),
                            STR_ARG(p->source.function));
    return arena_printf(cx->mem, STR_FMT ":%d in " STR_FMT, STR_ARG(p->source.file),
                        (int)p->source.line, STR_ARG(p->source.function));
}

static bool hot_spots_kernel_name(const struct context *cx, row_t r, struct str *ret)
{
    struct demangler d;
    struct str name = trace_name(cx->t, r);
    demangler_init(&d);
    bool failed = kernel_name_read(&d, &name, ret, cx->mem);
    demangler_done(&d);
    return failed;
}

/* A compiler's name of an operator or a kernel in words. True when out of memory. */
static bool hot_spots_say(const struct context *cx, struct str *what)
{
    struct buf text;
    buf_init(&text);
    bool failed = false;
    if (fused_ops_short(*what, &text)) {
        what->p = arena_strdup(cx->mem, buf_str(&text));
        what->n = text.n;
        failed = !what->p || text.failed;
    }
    buf_done(&text);
    return failed;
}

/* Of a kernel that no compiler wrote, where its launch says it; else empty. */
static struct str hot_spots_operator(const struct context *cx, row_t r)
{
    struct str none = str_c("");
    if (torch_is_triton(trace_name(cx->t, r))) return none;
    if (graph_origin_is_replayed(calls_of(cx), cx->t, r)) return none;
    row_t op = hot_spots_place(cx, r).op;
    return op != ROW_NONE ? trace_name(cx->t, op) : none;
}

static int hot_spots_name(const struct context *cx, row_t r, struct hot_spot *ret, struct err *e)
{
    const struct graph_origin_node *o = graph_origin_find(graph_origin_of(cx), cx->t, r);
    const struct kernel_source *s = hot_spots_source(cx, r);
    struct str what = {0};
    if (s) {
        struct place p = {.frame = 0, .source = s->place};
        what = s->op.n ? s->op : hot_spots_operator(cx, r);
        ret->where = hot_spots_where(cx, &p);
    } else if (o && o->label.n) {
        what = o->op.n ? o->op : o->label;
        struct frame f;
        if (o->place.n && frame_parse(o->place, &f)) {
            struct place p = {.frame = 0, .source = f};
            p.source.file = frame_path(f.file);
            ret->where = hot_spots_where(cx, &p);
        }
    } else if (!graph_origin_is_replayed(calls_of(cx), cx->t, r)) {
        struct place p = hot_spots_place(cx, r);
        if (p.op != ROW_NONE) what = trace_name(cx->t, p.op);
        ret->where = hot_spots_where(cx, &p);
    }
    if (!what.n && hot_spots_kernel_name(cx, r, &what)) return err_nomem(e);
    if (hot_spots_say(cx, &what)) return err_nomem(e);
    ret->what = arena_printf(cx->mem, STR_FMT, STR_ARG(what));
    return ret->what ? 0 : err_nomem(e);
}

/* ---- what it could gain ---- */

/* The kernels of a spot, and the operators that launch them: without their time on the CPU the gain
 * would be too small where the CPU comes next. */
struct spot_rows {
    row_t *kernels, *ops;
    uint32_t n_kernels, n_ops;
};

static void hot_spots_take(const struct context *cx, row_t r, struct spot_rows *ret)
{
    ret->kernels[ret->n_kernels++] = r;
    if (graph_origin_is_replayed(calls_of(cx), cx->t, r)) return;
    row_t op = hot_spots_place(cx, r).op;
    bool again = ret->n_ops && ret->ops[ret->n_ops - 1] == op;
    if (op != ROW_NONE && !again) ret->ops[ret->n_ops++] = op;
}

static int hot_spots_replay(const struct spots *s, const struct spot_group *g, int64_t *ret,
                            struct err *e)
{
    const struct context *cx = s->cx;
    const struct trace *t = cx->t;
    size_t bytes = (g->kernels + (size_t)1) * sizeof(row_t);
    struct spot_rows rows = {arena_alloc(cx->mem, bytes), arena_alloc(cx->mem, bytes), 0, 0};
    if (!rows.kernels || !rows.ops) return err_nomem(e);
    for (row_t r = 0; r < t->n_rows && rows.n_kernels < g->kernels; r++)
        if (hot_spots_counts(s, r) && s->group_of[t->aux[r]] == g->id + 1)
            hot_spots_take(cx, r, &rows);
    struct sim_edit edits[] = {
        {.kind = EDIT_DROP_KERNEL, .rows = rows.kernels, .n_rows = rows.n_kernels},
        {.kind = EDIT_DROP_ROWS, .rows = rows.ops, .n_rows = rows.n_ops},
    };
    struct sim_plan plan, base = undistort_base(undistort_of(cx));
    struct sim_edits all = {edits, rows.n_ops ? 2 : 1, &base};
    TRY(sim_plan_build(model_of(cx), all, cx->mem, &plan, e));
    return sim_wall(model_of(cx), &plan, cx->mem, ret, e);
}

static int hot_spots_price(const struct spots *s, const struct spot_group *g, struct hot_spot *ret,
                           struct err *e)
{
    int64_t before = undistort_of(s->cx)->plain_ns, after = 0;
    struct arena_mark mark = arena_mark(s->cx->mem);
    int rc = hot_spots_replay(s, g, &after, e);
    arena_reset_to(s->cx->mem, mark);
    if (rc < 0) return rc;
    ret->gain_ns = before > after ? before - after : 0;
    ret->gain_pct = stats_pct((double)ret->gain_ns, (double)before);
    return 0;
}

/* Of an operator with kernels of several families the one that takes the most time. */
static enum kernel_family hot_spots_family(const struct spot_group *g)
{
    int most = 0;
    for (int i = 1; i < FAMILY_COUNT; i++)
        if (g->family_ns[i] > g->family_ns[most]) most = i;
    return (enum kernel_family)most;
}

static int hot_spots_list(const struct spots *s, struct hot_spots *ret, struct err *e)
{
    for (size_t i = 0; i < s->n && ret->n < HOT_SPOTS_MOST; i++) {
        const struct spot_group *g = &s->groups[i];
        struct hot_spot spot = {.kind = kernel_family_name(hot_spots_family(g)),
                                .kernels = g->kernels,
                                .gpu_ns = g->ns,
                                .roof_pct = NAN};
        if ((double)g->known_ns >= hot_spots_known_share * (double)g->ns)
            spot.roof_pct = stats_pct(g->roof_ns, (double)g->known_ns);
        spot.share_pct = stats_pct((double)g->ns, (double)s->work_ns);
        if (spot.share_pct < hot_spots_least_pct) break;
        TRY(hot_spots_name(s->cx, g->first, &spot, e));
        TRY(hot_spots_price(s, g, &spot, e));
        if (spot.gain_pct >= answer_worth_pct) ret->list[ret->n++] = spot;
    }
    return 0;
}

static int hot_spots_run_pass(struct context *cx, void *ret, struct err *e)
{
    struct spots s = {.cx = cx};
    if (wall_of(cx)->abstains || wall_of(cx)->bound != BOUND_GPU) return 0;
    map_init(&s.ids);
    int rc = hot_spots_collect(&s) ? err_nomem(e) : 0;
    if (rc == 0 && s.n) {
        qsort(s.groups, s.n, sizeof *s.groups, hot_spots_order);
        rc = hot_spots_list(&s, ret, e);
    }
    map_done(&s.ids);
    mem_free(s.groups);
    mem_free(s.group_of);
    return rc;
}

static const struct pass *const needs[] = {&wall_pass,         &places_pass,         &calls_pass,
                                           &graph_origin_pass, &kernel_sources_pass, &roofline_pass,
                                           &model_pass,        &undistort_pass,      NULL};

const struct pass hot_spots_pass = {
    .id = PASS_HOT_SPOTS,
    .size = sizeof(struct hot_spots),
    .needs = needs,
    .run = hot_spots_run_pass,
};
