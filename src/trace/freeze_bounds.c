/* freeze_bounds.c: rows whose times cannot be lose them (bounds.h). A start far from all others,
 * from another clock or from nowhere, would stretch the trace over years. */
#include "base/stats.h"
#include "trace/bounds.h"
#include "trace/freeze.h"

enum { SAMPLES = 1023 };

/* Rows with a time of their own that counts: zero stands for none, see freeze_times.c. */
static bool is_placed(const struct rows *r, size_t i)
{
    if (r->ts_ns[i] == 0 || r->flags[i] & ROW_NO_TIME) return false;
    return r->phase[i] == 'X' || r->kind[i] == KIND_MEMORY;
}

/* A time in the middle of the trace, from a sample; false when no row has one. */
static bool find_middle(const struct rows *r, int64_t *ret)
{
    int64_t sample[SAMPLES];
    size_t n = 0, step = r->n / SAMPLES + 1;
    for (size_t i = 0; i < r->n && n < SAMPLES; i += step)
        if (is_placed(r, i)) sample[n++] = r->ts_ns[i];
    for (size_t i = 0; n == 0 && i < r->n; i++)
        if (is_placed(r, i)) sample[n++] = r->ts_ns[i];
    stats_sort(sample, (uint32_t)n);
    if (n) *ret = sample[n / 2];
    return n > 0;
}

static void lose_time(struct rows *r, struct trace *t, size_t i)
{
    if (!(r->flags[i] & ROW_NO_TIME)) damage_note(&t->damage, DAMAGE_NO_TIME, r->src[i]);
    r->flags[i] |= ROW_NO_TIME;
    r->ts_ns[i] = r->dur_ns[i] = 0;
    if (r->phase[i] == 'X') r->phase[i] = 'i';
}

static void lose_duration(struct rows *r, struct trace *t, size_t i)
{
    damage_note(&t->damage, DAMAGE_NO_TIME, r->src[i]);
    r->dur_ns[i] = 0;
    if (r->phase[i] == 'X') r->phase[i] = 'i';
}

/* Whether it lies outside of [least, most]. That device work lies at zero is a mark of its own. */
static bool is_far(const struct rows *r, size_t i, int64_t least, int64_t most)
{
    bool zero = r->ts_ns[i] == 0 && r->phase[i] == 'X' && !kind_is_device(r->kind[i]) &&
                !(r->flags[i] & ROW_NO_TIME);
    return (zero || is_placed(r, i)) && (r->ts_ns[i] < least || r->ts_ns[i] > most);
}

void freeze_bounds(struct rows *r, struct trace *t)
{
    int64_t middle = 0, least = -BOUNDS_TS_NS, most = BOUNDS_TS_NS;
    if (find_middle(r, &middle)) {
        least = middle - BOUNDS_SPREAD_NS;
        most = middle + BOUNDS_SPREAD_NS;
    }
    for (size_t i = 0; i < r->n; i++) {
        if (is_far(r, i, least, most) || !bounds_ts(r->ts_ns[i])) lose_time(r, t, i);
        if (!bounds_dur(r->dur_ns[i])) lose_duration(r, t, i);
    }
    for (size_t i = 0; i < r->n_gpu; i++) bounds_gpu(&r->gpu[i]);
    for (size_t i = 0; i < r->n_mem; i++) bounds_mem(&r->mem[i]);
    for (uint32_t i = 0; i < t->n_devices; i++) bounds_device(&t->devices[i]);
    for (uint32_t i = 0; i < t->n_flows; i++)
        if (!bounds_ts(t->flows[i].ts_ns)) t->flows[i].ts_ns = 0;
}
