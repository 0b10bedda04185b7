/* overhead.c: the names that recorders give their overhead records. */
#include "analyze/names/overhead.h"

#include <ctype.h>

/* Names begin with these, in any case, with '_' for a blank or not: XLA writes
 * "COMMAND_BUFFER_FULL". */
static const struct {
    const char *prefix;
    enum overhead_kind kind;
} names[] = {
    /* CUPTI, as Kineto and our recorder write it */
    {"activity buffer request", OVERHEAD_PROFILER},
    {"buffer flush", OVERHEAD_PROFILER},
    {"instrumentation", OVERHEAD_PROFILER},
    {"resource", OVERHEAD_PROFILER},
    {"uvm activity init", OVERHEAD_PROFILER},
    {"lazy function loading", OVERHEAD_LOADING},
    {"runtime triggered module loading", OVERHEAD_LOADING},
    {"driver compiler", OVERHEAD_LOADING},
    {"command buffer full", OVERHEAD_QUEUE_FULL},
    /* Intel's PTI */
    {"buffer driver", OVERHEAD_PROFILER},
    {"buffer time", OVERHEAD_PROFILER},
    /* Nsight Systems: "CUDA profiling data flush overhead" */
    {"cuda profiling", OVERHEAD_PROFILER},
};

static bool begins(struct str name, const char *prefix)
{
    size_t n = strlen(prefix);
    if (name.n < n) return false;
    for (size_t i = 0; i < n; i++) {
        int c = tolower((unsigned char)name.p[i]);
        if (c != prefix[i] && !(c == '_' && prefix[i] == ' ')) return false;
    }
    return true;
}

enum overhead_kind overhead_kind(struct str name)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (begins(name, names[i].prefix)) return names[i].kind;
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
