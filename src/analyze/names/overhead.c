/* overhead.c: the names CUPTI gives its overhead records. */
#include "analyze/names/overhead.h"

static const struct {
    const char *prefix;
    enum overhead_kind kind;
} names[] = {
    {"Activity Buffer Request", OVERHEAD_PROFILER},
    {"Buffer Flush", OVERHEAD_PROFILER},
    {"Instrumentation", OVERHEAD_PROFILER},
    {"Resource", OVERHEAD_PROFILER},
    {"Lazy Function Loading", OVERHEAD_LOADING},
    {"Runtime Triggered Module Loading", OVERHEAD_LOADING},
    {"Driver Compiler", OVERHEAD_LOADING},
    {"Command Buffer Full", OVERHEAD_QUEUE_FULL},
};

enum overhead_kind overhead_kind(struct str name)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_starts(name, names[i].prefix)) return names[i].kind;
    return OVERHEAD_OTHER;
}

int64_t overhead_ns(const struct trace *t, enum overhead_kind kind, int64_t begin_ns,
                    int64_t end_ns)
{
    struct span window = {begin_ns, end_ns};
    int64_t sum = 0;
    for (uint32_t l = 0; l < t->n_lanes; l++) {
        if (t->lanes[l].kind != LANE_OVERHEAD) continue;
        int64_t covered = begin_ns; /* records may overlap: each moment counts once a lane */
        for (row_t r = t->lanes[l].begin; r < t->lanes[l].end && t->ts_ns[r] < end_ns; r++) {
            if (t->kind[r] != KIND_OVERHEAD || overhead_kind(trace_name(t, r)) != kind) continue;
            sum += span_uncovered(&covered, span_both(trace_span(t, r), window));
        }
    }
    return sum;
}
