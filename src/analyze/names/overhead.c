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

static bool overhead_begins(struct str name, const char *prefix)
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
        if (overhead_begins(name, names[i].prefix)) return names[i].kind;
    return OVERHEAD_OTHER;
}

/* Counts the rows by kind, or adds them to the sets. */
static void walk_lanes(const struct trace *t, struct overheads *o, bool add)
{
    for (uint32_t l = 0; l < t->n_lanes; l++) {
        if (t->lanes[l].kind != LANE_OVERHEAD) continue;
        for (row_t r = t->lanes[l].begin; r < t->lanes[l].end; r++) {
            if (t->kind[r] != KIND_OVERHEAD) continue;
            struct span_set *s = &o->of[overhead_kind(trace_name(t, r))];
            if (add) s->list[s->n] = trace_span(t, r);
            s->n++;
        }
    }
}

static int overhead_run_pass(struct context *cx, void *ret, struct err *e)
{
    struct overheads *o = ret;
    walk_lanes(cx->t, o, false);
    for (int k = 0; k < OVERHEAD_KINDS; k++) {
        struct span_set *s = &o->of[k];
        s->list = arena_alloc(cx->mem, ((size_t)s->n + 1) * sizeof *s->list);
        s->before_ns = arena_alloc(cx->mem, ((size_t)s->n + 1) * sizeof *s->before_ns);
        if (!s->list || !s->before_ns) return err_nomem(e);
        s->n = 0;
    }
    walk_lanes(cx->t, o, true);
    for (int k = 0; k < OVERHEAD_KINDS; k++) span_set_settle(&o->of[k]);
    return 0;
}

const struct pass overheads_pass = {
    .id = PASS_OVERHEADS,
    .size = sizeof(struct overheads),
    .run = overhead_run_pass,
};
