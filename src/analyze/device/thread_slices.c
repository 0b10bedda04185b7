/* thread_slices.c: walks rows in start order; a row that ends hands over to its nearest open
 * parent. */
#include "analyze/device/thread_slices.h"

static bool thread_slices_is_span(const struct trace *t, row_t r)
{
    return t->dur_ns[r] > 0 && kind_nests(t->kind[r]);
}

/* The nearest of `r` and the rows around it that is still open at `at_ns`. */
static row_t open_at(const struct trace *t, row_t r, int64_t at_ns)
{
    while (r != ROW_NONE && (!thread_slices_is_span(t, r) || trace_end_ns(t, r) <= at_ns))
        r = t->parent[r];
    return r;
}

static row_t next_span(const struct thread_slices *d, row_t r)
{
    while (r < d->lane_end && !thread_slices_is_span(d->t, r)) r++;
    return r;
}

void thread_slices_init(struct thread_slices *d, const struct trace *t, lane_id thread,
                        int64_t begin_ns, int64_t end_ns)
{
    const struct lane *l = &t->lanes[thread];
    row_t later = trace_lower_bound(t, thread, begin_ns + 1);
    *d = (struct thread_slices){.t = t, .lane_end = l->end, .at_ns = begin_ns, .end_ns = end_ns};
    d->now = later > l->begin ? open_at(t, later - 1, begin_ns) : ROW_NONE;
    d->next = next_span(d, later);
}

bool thread_slices_next(struct thread_slices *d, struct thread_slice *ret)
{
    const struct trace *t = d->t;
    if (d->at_ns >= d->end_ns) return false;
    bool entered = d->next < d->lane_end;
    int64_t until = entered ? t->ts_ns[d->next] : d->end_ns;
    if (d->now != ROW_NONE && trace_end_ns(t, d->now) < until) {
        until = trace_end_ns(t, d->now);
        entered = false;
    }
    if (until >= d->end_ns) {
        until = d->end_ns;
        entered = false;
    }
    *ret = (struct thread_slice){d->at_ns, until, d->now};
    d->at_ns = until;
    if (entered) {
        d->now = d->next;
        d->next = next_span(d, d->next + 1);
    } else {
        d->now = open_at(t, d->now, until);
    }
    return true;
}
