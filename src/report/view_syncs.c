/* view_syncs.c: see view_syncs.h. */
#include "report/view_syncs.h"

#include "base/human.h"
#include "base/text.h"
#include "report/source_out.h"

static void json_place(struct jout *j, const struct view_syncs *v, const struct sync_site *s)
{
    const struct trace *t = v->t;
    const struct place *p = &s->place;
    struct buf text;
    buf_init(&text);
    if (p->called != ROW_NONE) {
        where_print_call(t, p->called, &text);
        jout_str(j, "called", buf_str(&text));
    }
    source_json(j, t, p);
    jout_bool(j, "line_is_function_start", p->frame != ROW_NONE && p->line_is_start);
    buf_reset(&text);
    where_path(t, p->annotation, &text);
    jout_str(j, "annotation", buf_str(&text));
    source_json_stack(j, v->where, v->syncs->waits.all[s->longest].call);
    if (!buf_ok(&text)) j->out->failed = true;
    buf_done(&text);
}

static void json_costs(struct jout *j, const struct view_syncs *v, const struct sync_site *s)
{
    const struct wait *longest = &v->syncs->waits.all[s->longest];
    double per_step = syncs_per_step(v->syncs, s);
    jout_uint(j, "count", s->n_rows);
    if (per_step < 0) jout_null(j, "per_step");
    else jout_num(j, "per_step", per_step, 3);
    jout_us(j, "blocked_us", s->blocked_ns);
    jout_us(j, "exposed_us", s->exposed_ns);
    jout_us(j, "longest_us", longest->blocked_ns);
    if (s->floor_ns < 0) jout_null(j, "floor_us");
    else jout_us(j, "floor_us", s->floor_ns);
    jout_bool(j, "drains", s->n_drains > 0);
    jout_uint(j, "queue_depth", longest->depth);
    jout_us(j, "behind_us", longest->waited_ns);
    if (s->bytes < 0) jout_null(j, "bytes");
    else jout_int(j, "bytes", s->bytes);
    jout_us(j, "first_us", s->first_ns - v->t->begin_ns);
    jout_us(j, "last_us", s->last_ns - v->t->begin_ns);
}

static void json_site(struct jout *j, const struct view_syncs *v, uint32_t i)
{
    const struct trace *t = v->t;
    const struct sync_site *s = &v->syncs->sites[i];
    jout_obj(j, NULL);
    jout_uint(j, "id", i + 1);
    jout_str(j, "call", trace_str(t, s->call));
    if (s->place.op == ROW_NONE) jout_null(j, "op");
    else jout_str(j, "op", trace_name(t, s->place.op));
    if (s->place.inner_op == ROW_NONE) jout_null(j, "inner_op");
    else jout_str(j, "inner_op", trace_name(t, s->place.inner_op));
    jout_cstr(j, "kind", wait_kind_name(s->kind));
    json_place(j, v, s);
    json_costs(j, v, s);
    jout_end_obj(j);
}

static void json_totals(struct jout *j, const struct syncs *s)
{
    int64_t blocked = 0, exposed = 0, profiler = 0;
    uint32_t n_profiler = 0, n = 0;
    for (size_t i = 0; i < s->waits.n; i++) {
        const struct wait *w = &s->waits.all[i];
        if (w->profiler) n_profiler++, profiler += w->blocked_ns;
        else n++, blocked += w->blocked_ns, exposed += w->exposed_ns;
    }
    jout_obj(j, "totals");
    jout_uint(j, "count", n);
    jout_us(j, "blocked_us", blocked);
    jout_us(j, "exposed_us", exposed);
    jout_end_obj(j);
    jout_obj(j, "profiler");
    jout_uint(j, "count", n_profiler);
    jout_us(j, "blocked_us", profiler);
    jout_end_obj(j);
    jout_obj(j, "backpressure");
    jout_uint(j, "count", s->waits.pressed);
    jout_us(j, "blocked_us", s->waits.pressed_ns);
    jout_end_obj(j);
}

void view_syncs_json(const struct view_syncs *v, struct buf *out)
{
    struct jout j;
    jout_init(&j, out, true);
    jout_obj(&j, NULL);
    if (v->syncs->n_steps) jout_uint(&j, "steps", v->syncs->n_steps);
    else jout_null(&j, "steps");
    jout_bool(&j, "has_stacks", v->syncs->has_stacks);
    json_totals(&j, v->syncs);
    jout_arr(&j, "sites");
    uint32_t n = v->limit && v->limit < v->syncs->n_sites ? v->limit : v->syncs->n_sites;
    for (uint32_t i = 0; i < n; i++) json_site(&j, v, i);
    jout_end_arr(&j);
    jout_end_obj(&j);
}

void view_syncs_text(const struct view_syncs *v, struct buf *out)
{
    view_syncs_json(v, out);
}
