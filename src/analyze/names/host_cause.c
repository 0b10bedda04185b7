/* host_cause.c: the names, in tables. */
#include "analyze/names/host_cause.h"

static const struct {
    const char *start;
    enum host_cause cause;
} starts[] = {
    {"enumerate(DataLoader)#_SingleProcess", HOST_DATA_HERE},
    {"enumerate(DataLoader)#_MultiProcessing", HOST_DATA_WORKERS},
    {"enumerate(DataLoader)#", HOST_DATA},
    {"Python GC (gc.collect)", HOST_GC_ASKED},
    {"<built-in function collect>", HOST_GC_ASKED},
    {"Python GC", HOST_GC},
    {"TorchDynamo compile: ", HOST_COMPILE},
};

/* What torch.compile's own timers are called, the outermost ones. */
static const char *const compiling[] = {"dynamo", "entire_frame_compile",
                                        "_compile.compile_inner (dynamo_timed)"};

/* Python functions, by file and name. */
static const struct {
    const char *file, *function;
    enum host_cause cause;
} functions[] = {
    {"torch/utils/data/dataloader.py(", "): __next__", HOST_DATA_CALL},
    {"torch/_dynamo/convert_frame.py(", "): _compile", HOST_COMPILE},
};

enum host_cause host_cause_of(struct str name)
{
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (str_starts(name, starts[i].start)) return starts[i].cause;
    for (size_t i = 0; i < sizeof compiling / sizeof *compiling; i++)
        if (str_is(name, compiling[i])) return HOST_COMPILE;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (str_ends(name, functions[i].function) && str_has(name, functions[i].file))
            return functions[i].cause;
    return HOST_OTHER;
}

bool host_cause_is_profiler(struct str name)
{
    static const struct {
        const char *file, *function;
    } of[] = {
        {"torch/profiler/profiler.py(", "): start"},
        {"torch/profiler/profiler.py(", "): stop"},
        {"torch/autograd/profiler.py(", "): _start_trace"},
        {"profiler.py(", "): start_trace"}, /* torch's and JAX's */
        {"profiler.py(", "): stop_trace"},
    };
    /* what rocmProfileData writes of itself */
    if (str_is(name, "rpdflush") || str_is(name, "hcc_activity_callback")) return true;
    if (str_ends(name, "Table::writeRows")) return true;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (str_ends(name, of[i].function) && str_has(name, of[i].file)) return true;
    return false;
}

bool host_cause_is_autotuning(struct str name)
{
    static const struct {
        const char *file, *function;
    } of[] = {
        {"triton/runtime/autotuner.py(", "): _bench"},
        {"triton/testing.py(", "): do_bench"},
        {"/runtime/", "): autotune_to_one_config"},
        {"/runtime/", "): benchmark_all_configs"},
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (str_ends(name, of[i].function) && str_has(name, of[i].file)) return true;
    return false;
}

/* What encloses a row comes before it. */
static void find_around(struct host_causes *h, row_t r)
{
    row_t up = h->t->parent[r];
    h->around[r] = up == ROW_NONE ? ROW_NONE : h->around[up];
    if (h->around[r] == ROW_NONE && host_causes_row(h, r) != HOST_OTHER) h->around[r] = r;
}

static int host_cause_run_pass(struct context *cx, void *ret, struct err *e)
{
    struct host_causes *h = ret;
    uint32_t n = cx->t->strings.n;
    *h = (struct host_causes){.t = cx->t, .by_name = arena_zalloc(cx->mem, n + (size_t)1, 1)};
    h->around = arena_alloc(cx->mem, (cx->t->n_rows + (size_t)1) * sizeof *h->around);
    if (!h->by_name || !h->around) return err_nomem(e);
    for (str_id id = 0; id < n; id++) h->by_name[id] = (uint8_t)host_cause_of(trace_str(cx->t, id));
    for (row_t r = 0; r < cx->t->n_rows; r++) find_around(h, r);
    return 0;
}

const struct pass host_causes_pass = {
    .id = PASS_HOST_CAUSES,
    .size = sizeof(struct host_causes),
    .run = host_cause_run_pass,
};

bool host_cause_is_worker(const struct trace *t, row_t r)
{
    return trace_is_derived(t, r) && str_is(trace_name(t, r), "DataLoader worker");
}
