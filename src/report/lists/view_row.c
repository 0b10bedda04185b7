/* view_row.c: see views_file.h. */
#include "report/lists/views_file.h"

#include "analyze/names/source_place.h"
#include "base/jout.h"
#include "report/report_private.h"

enum { MOST_AROUND = 24, MOST_INSIDE = 12, MOST_LAUNCHED = 12, MOST_ARGS = 4096 };

static void put_brief(struct jout *j, const struct trace *t, const char *key, row_t r)
{
    if (r == ROW_NONE) {
        jout_null(j, key);
        return;
    }
    jout_obj(j, key);
    jout_uint(j, "row", r);
    jout_str(j, "name", trace_name(t, r));
    jout_cstr(j, "kind", kind_name(t->kind[r]));
    jout_us(j, "start_us", trace_since_ns(t, t->ts_ns[r]));
    jout_us(j, "dur_us", t->dur_ns[r]);
    jout_end_obj(j);
}

static void put_lane(struct jout *j, const struct trace *t, row_t r)
{
    static const char *const kinds[] = {
        [LANE_THREAD] = "thread",     [LANE_STREAM] = "stream",   [LANE_GPU_NOTE] = "gpu_note",
        [LANE_OVERHEAD] = "overhead", [LANE_COUNTER] = "counter", [LANE_OTHER] = "other"};
    const struct lane *l = &t->lanes[t->lane[r]];
    jout_obj(j, "lane");
    jout_uint(j, "lane", t->lane[r]);
    jout_cstr(j, "kind", kinds[l->kind]);
    if (l->name) jout_str(j, "name", trace_str(t, l->name));
    if (l->tid != ID_NONE) jout_int(j, "tid", l->tid);
    if (l->device >= 0) jout_int(j, "device", l->device);
    if (l->stream >= 0) jout_int(j, "stream", l->stream);
    jout_end_obj(j);
}

static void put_around(struct jout *j, const struct trace *t, row_t r)
{
    int n = 0;
    jout_arr(j, "around");
    for (row_t up = t->parent[r]; up != ROW_NONE && n < MOST_AROUND; up = t->parent[up], n++)
        put_brief(j, t, NULL, up);
    jout_end_arr(j);
}

/* Keeps the longest in order of the trace: the shortest of them makes room. */
static void view_row_keep_longest(const struct trace *t, row_t *kept, uint32_t *n, row_t r)
{
    uint32_t least = 0;
    if (*n < MOST_INSIDE) {
        kept[(*n)++] = r;
        return;
    }
    for (uint32_t i = 1; i < *n; i++)
        if (t->dur_ns[kept[i]] < t->dur_ns[kept[least]]) least = i;
    if (t->dur_ns[kept[least]] >= t->dur_ns[r]) return;
    for (uint32_t i = least; i + 1 < *n; i++) kept[i] = kept[i + 1];
    kept[*n - 1] = r;
}

static void put_inside(struct jout *j, const struct trace *t, row_t r)
{
    row_t kept[MOST_INSIDE], end = t->lanes[t->lane[r]].end;
    uint32_t n = 0, all = 0;
    for (row_t i = r + 1; i < end && t->depth[i] > t->depth[r]; i++) {
        if (t->parent[i] != r) continue;
        all++;
        view_row_keep_longest(t, kept, &n, i);
    }
    jout_uint(j, "n_inside", all);
    jout_arr(j, "inside");
    for (uint32_t i = 0; i < n; i++) put_brief(j, t, NULL, kept[i]);
    jout_end_arr(j);
}

static void view_row_put_launches(struct jout *j, const struct trace *t, row_t r)
{
    uint32_t n = 0;
    const row_t *launched = trace_call(t, r) ? trace_launched(t, r, &n) : NULL;
    if (trace_gpu(t, r)) put_brief(j, t, "launched_by", trace_launch_of(t, r));
    if (!launched || !n) return;
    jout_uint(j, "n_launched", n);
    jout_arr(j, "launched");
    for (uint32_t i = 0; i < n && i < MOST_LAUNCHED; i++) put_brief(j, t, NULL, launched[i]);
    jout_end_arr(j);
}

/* Where the program asked for it: for device work, at its launch. */
static void view_row_put_source(struct jout *j, const struct context *cx, row_t r)
{
    struct place p;
    row_t at = trace_gpu(cx->t, r) ? trace_launch_of(cx->t, r) : r;
    if (at == ROW_NONE || cx->t->lanes[cx->t->lane[at]].kind != LANE_THREAD) return;
    source_places_find(places_of(cx), at, &p);
    source_json(j, cx->t, &p);
    source_json_stack(j, places_of(cx), at);
}

static int view_row_put_args(struct jout *j, const struct trace *t, row_t r, struct err *e)
{
    struct buf args = {0};
    int rc = trace_args(t, r, &args, e);
    /* as a text: what is written in a trace need not be JSON */
    if (rc == 0) jout_str(j, "args", str_from(args.p, args.n < MOST_ARGS ? args.n : MOST_ARGS));
    buf_done(&args);
    return rc;
}

int view_row_json(struct buf *out, const struct context *cx, row_t r, struct err *e)
{
    const struct trace *t = cx->t;
    struct jout j;
    jout_init(&j, out, false);
    jout_obj(&j, NULL);
    jout_uint(&j, "row", r);
    jout_str(&j, "name", trace_name(t, r));
    jout_cstr(&j, "kind", kind_name(t->kind[r]));
    jout_us(&j, "start_us", trace_since_ns(t, t->ts_ns[r]));
    jout_us(&j, "dur_us", t->dur_ns[r]);
    jout_uint(&j, "byte_offset", t->src[r]);
    put_lane(&j, t, r);
    view_row_put_source(&j, cx, r);
    const struct graph_origin_node *o = graph_origin_find(graph_origin_of(cx), t, r);
    if (o) source_json_captured(&j, o);
    view_row_put_launches(&j, t, r);
    put_around(&j, t, r);
    put_inside(&j, t, r);
    TRY(view_row_put_args(&j, t, r, e));
    jout_end_obj(&j);
    return 0;
}
