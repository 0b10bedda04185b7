/* freeze_times.c: when the trace begins and ends, and which rows have no time at all. */
#include "trace/freeze.h"

#define NS_PER_SECOND 1000000000ll
#define NS_PER_DAY    (86400 * NS_PER_SECOND)

/* The first time above zero of any row; rows are in time order on their lanes. */
static int64_t freeze_times_first_time(const struct trace *t)
{
    int64_t first = INT64_MAX;
    for (lane_id l = 0; l < t->n_lanes; l++) {
        row_t r = trace_lower_bound(t, l, 1);
        if (r < t->lanes[l].end && t->ts_ns[r] < first) first = t->ts_ns[r];
    }
    return first;
}

/* Some recorders write device work at time zero when they lost its time stamp. Zero is an honest
 * time only where the trace itself begins near it. */
static void mark_zero_times(struct trace *t)
{
    int64_t first = freeze_times_first_time(t);
    if (first == INT64_MAX || first < NS_PER_SECOND) return;
    for (lane_id l = 0; l < t->n_lanes; l++) {
        if (t->lanes[l].kind != LANE_STREAM && t->lanes[l].kind != LANE_GPU_NOTE) continue;
        for (row_t r = trace_lower_bound(t, l, 0); r < t->lanes[l].end && t->ts_ns[r] == 0; r++) {
            if (t->flags[r] & ROW_NO_TIME) continue;
            t->flags[r] |= ROW_NO_TIME;
            damage_note(&t->damage, DAMAGE_ZERO_TIME, t->src[r]);
        }
    }
}

static void freeze_times_widen(int64_t *begin, int64_t *end, int64_t from, int64_t to)
{
    if (*begin == ID_NONE || from < *begin) *begin = from;
    if (*end == ID_NONE || to > *end) *end = to;
}

static void find_bounds(struct trace *t)
{
    int64_t begin = ID_NONE, end = ID_NONE;
    for (row_t r = 0; r < t->n_rows; r++) {
        if (t->phase[r] != 'X' || t->flags[r] & ROW_NO_TIME) continue;
        if (t->kind[r] == KIND_WINDOW)
            freeze_times_widen(&t->window_begin_ns, &t->window_end_ns, t->ts_ns[r],
                               trace_end_ns(t, r));
        else freeze_times_widen(&begin, &end, t->ts_ns[r], trace_end_ns(t, r));
    }
    t->begin_ns = begin;
    t->end_ns = end;
}

/* Old recorders wrote no span of their own, only this mark; its time has been seen to be junk. */
static void find_window_end(struct trace *t)
{
    str_id mark = intern_find(&t->strings, str_c("Record Window End"));
    if (mark == STR_NONE || t->begin_ns == ID_NONE || t->window_end_ns != ID_NONE) return;
    for (row_t r = 0; r < t->n_rows; r++) {
        if (t->name[r] != mark || t->kind[r] != KIND_INSTANT) continue;
        if (t->ts_ns[r] < t->begin_ns || t->ts_ns[r] - t->begin_ns > NS_PER_DAY) continue;
        t->window_begin_ns = t->begin_ns;
        t->window_end_ns = t->ts_ns[r];
    }
}

void freeze_times(struct trace *t)
{
    mark_zero_times(t);
    find_bounds(t);
    find_window_end(t);
}
