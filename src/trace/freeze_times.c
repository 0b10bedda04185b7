/* freeze_times.c: when the trace begins and ends, and which rows have no time at all. */
#include "trace/freeze.h"

#define NS_PER_SECOND 1000000000ll
#define NS_PER_DAY    (86400 * NS_PER_SECOND)

static bool has_time(const struct trace *t, row_t r)
{
    return !(t->flags[r] & ROW_NO_TIME);
}

/* Some recorders write device work at time zero when they lost its time stamp. Zero is an honest
 * time only where the trace itself begins near it. */
static void mark_zero_times(struct trace *t)
{
    int64_t first = INT64_MAX;
    for (row_t r = 0; r < t->n_rows; r++)
        if (t->ts_ns[r] > 0 && t->ts_ns[r] < first) first = t->ts_ns[r];
    if (first == INT64_MAX || first < NS_PER_SECOND) return;
    for (row_t r = 0; r < t->n_rows; r++) {
        enum lane_kind kind = t->lanes[t->lane[r]].kind;
        if (t->ts_ns[r] != 0 || (kind != LANE_STREAM && kind != LANE_GPU_NOTE)) continue;
        if (!has_time(t, r)) continue;
        t->flags[r] |= ROW_NO_TIME;
        damage_note(&t->damage, DAMAGE_ZERO_TIME, t->src[r]);
    }
}

static void widen(int64_t *begin, int64_t *end, int64_t from, int64_t to)
{
    if (*begin == ID_NONE || from < *begin) *begin = from;
    if (*end == ID_NONE || to > *end) *end = to;
}

static void find_bounds(struct trace *t)
{
    for (row_t r = 0; r < t->n_rows; r++) {
        if (t->phase[r] != 'X' || !has_time(t, r)) continue;
        if (t->kind[r] == KIND_WINDOW)
            widen(&t->window_begin_ns, &t->window_end_ns, t->ts_ns[r], trace_end_ns(t, r));
        else widen(&t->begin_ns, &t->end_ns, t->ts_ns[r], trace_end_ns(t, r));
    }
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
