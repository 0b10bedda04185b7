/* test_overhead.c: what overhead records mean, in the words of every recorder; readbacks. */
#include "analyze/names/overhead.h"

#include "analyze/names/readback.h"
#include "kit.h"

static const struct {
    const char *name;
    enum overhead_kind kind;
} names[] = {
    {"Activity Buffer Request", OVERHEAD_PROFILER},
    {"Buffer Flush", OVERHEAD_PROFILER},
    {"Instrumentation", OVERHEAD_PROFILER},
    {"Resource", OVERHEAD_PROFILER},
    {"UVM Activity Init", OVERHEAD_PROFILER},
    {"Lazy Function Loading", OVERHEAD_LOADING},
    {"Runtime Triggered Module Loading", OVERHEAD_LOADING},
    {"Driver Compiler", OVERHEAD_LOADING},
    {"Command Buffer Full", OVERHEAD_QUEUE_FULL},
    {"COMMAND_BUFFER_FULL", OVERHEAD_QUEUE_FULL},
    {"LAZY_FUNCTION_LOADING", OVERHEAD_LOADING},
    {"BUFFER_FLUSH", OVERHEAD_PROFILER},
    {"BUFFER_TIME", OVERHEAD_PROFILER},
    {"CUDA profiling data flush overhead", OVERHEAD_PROFILER},
    {"Unknown", OVERHEAD_OTHER},
    {"Buffer", OVERHEAD_OTHER},
    {"", OVERHEAD_OTHER},
};

TEST(every_recorders_words_are_known)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!CHECK_EQ_INT(overhead_kind(str_c(names[i].name)), names[i].kind))
            printf("  %s\n", names[i].name);
}

static const struct overheads *overheads_in(struct context *cx, const struct trace *t,
                                            struct arena *mem)
{
    arena_init(mem);
    context_init(cx, t, mem);
    CHECK_EQ_INT(context_need(cx, &overheads_pass, NULL), 0);
    return overheads_of(cx);
}

TEST(overlapping_records_count_once)
{
    struct kit k = kit_begin();
    struct context cx;
    struct arena mem;
    kit_row(&k, KIND_OVERHEAD, "Buffer Flush", 10, 20, NULL);
    kit_row(&k, KIND_OVERHEAD, "Resource", 20, 20, NULL);
    kit_row(&k, KIND_OVERHEAD, "Command Buffer Full", 50, 20, NULL);
    struct trace *t = kit_end(&k);
    const struct overheads *o = overheads_in(&cx, t, &mem);
    CHECK_EQ_INT(overhead_ns(o, OVERHEAD_PROFILER, 0, 100000), 30000);
    CHECK_EQ_INT(overhead_ns(o, OVERHEAD_PROFILER, 15000, 35000), 20000);
    CHECK_EQ_INT(overhead_ns(o, OVERHEAD_QUEUE_FULL, 0, 60000), 10000);
    CHECK_EQ_INT(overhead_ns(o, OVERHEAD_LOADING, 0, 100000), 0);
    context_done(&cx);
    arena_done(&mem);
    trace_free(t);
}

/* The second lane begins before the first one ends: spans are joined by time, not by lane. */
TEST(records_of_several_lanes_count_once)
{
    struct kit k = kit_begin();
    struct context cx;
    struct arena mem;
    kit_row(&k, KIND_OVERHEAD, "Command Buffer Full", 10, 20, NULL);
    kit_row(&k, KIND_OVERHEAD, "Command Buffer Full", 90, 10, NULL);
    k.tid = 2;
    kit_row(&k, KIND_OVERHEAD, "Command Buffer Full", 20, 20, NULL);
    kit_row(&k, KIND_OVERHEAD, "Command Buffer Full", 60, 10, NULL);
    struct trace *t = kit_end(&k);
    const struct overheads *o = overheads_in(&cx, t, &mem);
    CHECK_EQ_INT(overhead_ns(o, OVERHEAD_QUEUE_FULL, 0, 100000), 50000);
    CHECK_EQ_INT(overhead_ns(o, OVERHEAD_QUEUE_FULL, 40000, 60000), 0);
    CHECK_EQ_INT(overhead_ns(o, OVERHEAD_QUEUE_FULL, 65000, 95000), 10000);
    context_done(&cx);
    arena_done(&mem);
    trace_free(t);
}

TEST(operators_that_read_back)
{
    CHECK_EQ_INT(readback_of(str_c("aten::item")), READBACK_ONLY);
    CHECK_EQ_INT(readback_of(str_c("aten::_local_scalar_dense")), READBACK_ONLY);
    CHECK_EQ_INT(readback_of(str_c("aten::is_nonzero")), READBACK_ONLY);
    CHECK_EQ_INT(readback_of(str_c("aten::nonzero")), READBACK_PART);
    CHECK_EQ_INT(readback_of(str_c("aten::unique_dim")), READBACK_PART);
    CHECK_EQ_INT(readback_of(str_c("aten::nonzero_static")), READBACK_NONE);
    CHECK_EQ_INT(readback_of(str_c("aten::mm")), READBACK_NONE);
}

TEST_MAIN
