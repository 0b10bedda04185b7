/* exposure.c: see host_side.h. */
#include "analyze/findings/host_side.h"

int exposure_begin(struct span_set *s, uint32_t n, struct arena *mem)
{
    s->n = 0;
    s->list = arena_alloc(mem, (n + (size_t)1) * sizeof *s->list);
    s->before_ns = arena_alloc(mem, (n + (size_t)1) * sizeof *s->before_ns);
    return s->list && s->before_ns ? 0 : ERR_NOMEM;
}

static const struct device_line *exposure_busiest(const struct context *cx)
{
    return timeline_device(timeline_of(cx), wall_of(cx)->parts.device);
}

int64_t exposure_idle_in(const struct context *cx, struct span s)
{
    const struct device_line *d = exposure_busiest(cx);
    const struct wall *w = wall_of(cx);
    if (s.begin_ns < w->begin_ns) s.begin_ns = w->begin_ns;
    if (s.end_ns > w->begin_ns + w->wall_ns) s.end_ns = w->begin_ns + w->wall_ns;
    return d && s.begin_ns < s.end_ns ? timeline_idle_ns(d, s.begin_ns, s.end_ns) : 0;
}

int64_t exposure_idle(const struct context *cx, struct span_set *s)
{
    int64_t sum = 0;
    span_set_settle(s);
    for (uint32_t i = 0; i < s->n; i++) sum += exposure_idle_in(cx, s->list[i]);
    return sum;
}

int exposure_copies(const struct context *cx, struct span_set *s, int64_t *ret_ns, struct err *e)
{
    const struct device_line *d = exposure_busiest(cx);
    struct span_set others;
    *ret_ns = 0;
    if (!d) return 0;
    if (exposure_begin(&others, d->n_work, cx->mem) < 0) return err_nomem(e);
    for (uint32_t i = 0; i < d->n_work; i++)
        if (cx->t->kind[d->work[i]] != KIND_MEMCPY)
            others.list[others.n++] = trace_span(cx->t, d->work[i]);
    span_set_settle(s);
    span_set_settle(&others);
    for (uint32_t i = 0; i < s->n; i++)
        *ret_ns += span_ns(s->list[i]) - span_set_ns(&others, s->list[i]);
    return 0;
}
