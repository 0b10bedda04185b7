/* test_op_table.c: the table's rules one by one, each on a trace of a few lines. The oracle
 * (tests/oracle) covers how they work together. */
#include "analyze/ops/op_table.h"
#include "import/import.h"
#include "kit.h"

struct table {
    struct trace *t;
    struct arena mem;
    struct op_table op;
};

/* Reads the events (a JSON array without its brackets) and makes the table. */
static struct table make(const char *events, struct op_table_opts opts)
{
    struct table x = {0};
    char *json = malloc(strlen(events) + 64);
    snprintf(json, strlen(events) + 64, "{\"traceEvents\": [%s]}", events);
    arena_init(&x.mem);
    CHECK_EQ_INT(import_bytes(str_c(json), "inline", NULL, &x.t, NULL), 0);
    free(json);
    if (!opts.stack_depth) opts.stack_depth = 5;
    if (x.t) CHECK_EQ_INT(op_table_run(x.t, &opts, &x.mem, &x.op, NULL), 0);
    return x;
}

static struct table plain(const char *events)
{
    return make(events, (struct op_table_opts){.by = OP_BY_NAME});
}

static void done(struct table *x)
{
    arena_done(&x->mem);
    trace_free(x->t);
}

/* The row of this name on "cpu" or a device; an empty one, and a failure, when there is none. */
static const struct op_row *row(const struct table *x, const char *device, const char *name)
{
    static const struct op_row none = {.device = "none"};
    for (uint32_t i = 0; i < x->op.n_rows; i++)
        if (str_is(x->op.rows[i].name, name) && strcmp(x->op.rows[i].device, device) == 0)
            return &x->op.rows[i];
    test_fail(__FILE__, __LINE__, "no row %s on %s", name, device);
    return &none;
}

static bool has(const struct table *x, const char *name)
{
    for (uint32_t i = 0; i < x->op.n_rows; i++)
        if (str_is(x->op.rows[i].name, name)) return true;
    return false;
}

#define SPAN(cat, name, tid, ts, dur, args)                                           \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":9,\"tid\":" #tid \
    ",\"ts\":" #ts ",\"dur\":" #dur ",\"args\":{" args "}}"
#define OP(name, tid, ts, dur, id) SPAN("cpu_op", name, tid, ts, dur, "\"External id\":" #id)
#define CALL(name, tid, ts, dur, id, corr) \
    SPAN("cuda_runtime", name, tid, ts, dur, "\"External id\":" #id ",\"correlation\":" #corr)
#define LOOSE_CALL(name, tid, ts, dur, corr) \
    SPAN("cuda_runtime", name, tid, ts, dur, "\"correlation\":" #corr)
#define WORK(cat, name, ts, dur, args)                                                        \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":0,\"tid\":7,\"ts\":" #ts \
    ",\"dur\":" #dur ",\"args\":{\"device\":0,\"stream\":7," args "}}"
#define KERNEL(name, ts, dur, id, corr) \
    WORK("kernel", name, ts, dur, "\"External id\":" #id ",\"correlation\":" #corr)
#define MEMORY(tid, ts, type, bytes)                                                            \
    "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\",\"pid\":9,\"tid\":" #tid \
    ",\"ts\":" #ts ",\"s\":\"t\",\"args\":{\"Device Type\":" #type ",\"Bytes\":" #bytes "}}"
#define FRAME(name, ts, dur) SPAN("python_function", name, 9, ts, dur, "\"Python id\":1")

TEST(self_time_is_own_time_less_direct_children)
{
    struct table x =
        plain(OP("a", 9, 0, 100, 1) "," OP("b", 9, 10, 50, 2) "," OP("c", 9, 20, 30, 3));
    CHECK_EQ_INT(row(&x, "cpu", "a")->self_cpu_ns, 50000);
    CHECK_EQ_INT(row(&x, "cpu", "b")->self_cpu_ns, 20000);
    CHECK_EQ_INT(row(&x, "cpu", "c")->self_cpu_ns, 30000);
    CHECK_EQ_INT(row(&x, "cpu", "a")->cpu_total_ns, 100000);
    CHECK_EQ_INT(x.op.self_cpu_ns, 100000);
    CHECK_NEAR(row(&x, "cpu", "b")->cpu_total_pct, 50, 1e-9);
    done(&x);
}

TEST(a_span_that_outlives_its_neighbour_is_no_child_of_it)
{
    struct table x = plain(OP("a", 9, 0, 100, 1) "," OP("b", 9, 10, 50, 2) "," OP(
        "crosses b", 9, 20, 60, 3) "," OP("late", 9, 55, 1, 4));
    CHECK_EQ_INT(row(&x, "cpu", "b")->self_cpu_ns, 50000);
    CHECK_EQ_INT(row(&x, "cpu", "a")->self_cpu_ns, -10000);
    CHECK_EQ_INT(row(&x, "cpu", "crosses b")->self_cpu_ns, 59000);
    done(&x);
}

TEST(device_time_goes_to_the_operator_by_id_and_adds_up_to_its_parents)
{
    struct table x = plain(OP("outer", 9, 0, 100, 1) "," OP("inner", 9, 10, 50, 2) "," CALL(
        "cudaLaunchKernel", 9, 15, 5, 2, 77) "," KERNEL("k", 200, 30, 2, 77) "," KERNEL("k", 240,
                                                                                        10, 1, 78));
    CHECK_EQ_INT(row(&x, "cpu", "inner")->self_device_ns, 30000);
    CHECK_EQ_INT(row(&x, "cpu", "inner")->device_total_ns, 30000);
    CHECK_EQ_INT(row(&x, "cpu", "outer")->self_device_ns, 10000);
    CHECK_EQ_INT(row(&x, "cpu", "outer")->device_total_ns, 40000);
    CHECK_EQ_INT(row(&x, "cpu", "cudaLaunchKernel")->device_total_ns, 0);
    CHECK_EQ_UINT(row(&x, "cuda", "k")->calls, 2);
    CHECK_EQ_INT(x.op.self_device_ns, 40000);
    done(&x);
}

TEST(ids_that_copy_the_correlation_are_not_believed)
{
    struct table x = plain(OP("other", 9, 0, 5, 77) "," OP("real", 9, 10, 50, 2) "," CALL(
        "cudaLaunchKernel", 9, 15, 5, 77, 77) "," KERNEL("k", 200, 30, 77, 77));
    CHECK(!x.t->external_ids_usable);
    CHECK_EQ_INT(row(&x, "cpu", "real")->self_device_ns, 30000);
    CHECK_EQ_INT(row(&x, "cpu", "other")->self_device_ns, 0);
    done(&x);
}

TEST(without_any_id_the_launching_call_tells_the_operator)
{
    struct table x = plain(OP("real", 9, 10, 50, 2) "," LOOSE_CALL(
        "cudaLaunchKernel", 9, 15, 5, 77) "," WORK("kernel", "k", 200, 30, "\"correlation\":77"));
    CHECK_EQ_INT(row(&x, "cpu", "real")->self_device_ns, 30000);
    done(&x);
}

TEST(calls_outside_operators_nest_where_the_profiler_was_stopped)
{
    /* thread 5 polls; thread 9 stops the profiler with a device sync */
    struct table x =
        plain(OP("op", 9, 0, 100, 1) "," LOOSE_CALL("cudaEventQuery", 5, 10, 20, 3) "," OP(
            "busy", 5, 0, 1,
            2) "," OP("busy", 5, 2, 1,
                      4) "," OP("busy", 5, 4, 1,
                                5) "," LOOSE_CALL("cudaDeviceSynchronize", 9, 200, 5,
                                                  4) "," CALL("cudaLaunchKernel", 9, 50, 1, 1,
                                                              6) "," KERNEL("k", 300, 1, 1, 6));
    CHECK_EQ_INT(row(&x, "cpu", "op")->self_cpu_ns, 79000);
    done(&x);
}

TEST(a_call_nests_on_its_operators_thread)
{
    /* the runtime knows thread 5 by another number */
    struct table x = plain(OP("op", 9, 0, 100, 1) "," CALL("cudaLaunchKernel", 12345, 10, 20, 1,
                                                           3) "," KERNEL("k", 300, 1, 1, 3));
    CHECK_EQ_INT(row(&x, "cpu", "op")->self_cpu_ns, 80000);
    done(&x);
}

TEST(overhead_nests_on_the_main_thread_and_never_has_device_time)
{
    struct table x = plain(OP("op", 9, 0, 100, 1) "," CALL(
        "cudaLaunchKernel", 9, 10, 50, 1,
        3) ","
           "{\"ph\":\"X\",\"cat\":\"overhead\",\"name\":\"Command Buffer Full\",\"pid\":-1,"
           "\"tid\":0,\"ts\":20,\"dur\":30}," KERNEL("k", 300, 7, 1, 3));
    CHECK_EQ_INT(row(&x, "cpu", "cudaLaunchKernel")->self_cpu_ns, 20000);
    CHECK_EQ_INT(row(&x, "cpu", "Command Buffer Full")->self_cpu_ns, 30000);
    CHECK_EQ_INT(row(&x, "cpu", "Command Buffer Full")->device_total_ns, 0);
    CHECK_EQ_INT(row(&x, "cpu", "op")->device_total_ns, 7000); /* torch 2.11 says 14 us */
    done(&x);
}

TEST(an_only_child_of_the_same_name_is_the_same_call)
{
    struct table x =
        plain(OP("a", 9, 0, 100, 1) "," OP("a", 9, 10, 50, 2) "," OP("b", 9, 20, 30, 3) "," CALL(
            "cudaLaunchKernel", 9, 25, 1, 1,
            4) "," KERNEL("k", 300, 9, 1, 4) "," CALL("cudaLaunchKernel", 9, 26, 1, 2,
                                                      5) "," KERNEL("k", 320, 4, 2, 5));
    CHECK_EQ_UINT(row(&x, "cpu", "a")->calls, 1);
    CHECK_EQ_INT(row(&x, "cpu", "a")->cpu_total_ns, 100000);
    CHECK_EQ_INT(row(&x, "cpu", "a")->self_cpu_ns, 70000);
    CHECK_EQ_INT(row(&x, "cpu", "a")->self_device_ns, 4000); /* the child's replaces its own */
    done(&x);
}

TEST(one_of_two_children_of_the_same_name_stays)
{
    struct table x =
        plain(OP("a", 9, 0, 100, 1) "," OP("a", 9, 10, 50, 2) "," OP("b", 9, 70, 10, 3));
    CHECK_EQ_UINT(row(&x, "cpu", "a")->calls, 2);
    CHECK_EQ_INT(row(&x, "cpu", "a")->self_cpu_ns, 90000);
    CHECK_EQ_INT(row(&x, "cpu", "a")->cpu_total_ns, 150000);
    done(&x);
}

TEST(bookkeeping_of_torch_is_not_there)
{
    struct table x = plain(
        OP("a", 9, 0, 100, 1) "," OP("aten::is_leaf", 9, 10, 50, 2) "," OP("b", 9, 20, 30, 3));
    CHECK(!has(&x, "aten::is_leaf"));
    CHECK_EQ_INT(row(&x, "cpu", "a")->self_cpu_ns, 70000);
    done(&x);
}

TEST(steps_are_one_row)
{
    struct table x = plain(SPAN("user_annotation", "ProfilerStep#1", 9, 0, 10,
                                "") "," SPAN("user_annotation", "ProfilerStep#2", 9, 10, 10, ""));
    CHECK_EQ_UINT(x.op.n_rows, 1);
    CHECK_EQ_UINT(row(&x, "cpu", "ProfilerStep*")->calls, 2);
    CHECK(row(&x, "cpu", "ProfilerStep*")->is_annotation);
    done(&x);
}

TEST(operators_and_annotations_of_one_name_are_two_rows)
{
    struct table x = plain(SPAN("user_annotation", "a", 9, 0, 10, "") "," OP("a", 9, 20, 10, 1));
    CHECK_EQ_UINT(x.op.n_rows, 2);
    done(&x);
}

TEST(spans_still_open_are_left_out)
{
    struct table x =
        plain(OP("a", 9, 0, 100, 1) "," SPAN("cpu_op", "open", 9, 10, 80, "\"finished\":false"));
    CHECK_EQ_UINT(x.op.n_rows, 1);
    CHECK_EQ_UINT(x.op.n_unfinished, 1);
    CHECK_EQ_INT(x.op.self_cpu_ns, 100000);
    done(&x);
}

TEST(device_side_annotations_are_narrowed_and_do_not_count_as_work)
{
    struct table x = plain(KERNEL("k", 10.001, 5, 1, 2) "," WORK("gpu_user_annotation", "stage", 10,
                                                                 5.002, "\"External id\":1"));
    CHECK_EQ_INT(row(&x, "cuda", "stage")->self_device_ns, 5000);
    CHECK_EQ_INT(x.op.self_device_ns, 5000);
    done(&x);
}

TEST(device_side_annotations_of_whole_microseconds_are_narrowed_by_one)
{
    struct table x = plain(KERNEL("k", 11, 5, 1, 2) "," WORK("gpu_user_annotation", "stage", 10, 6,
                                                             "\"External id\":1"));
    CHECK_EQ_INT(row(&x, "cuda", "stage")->self_device_ns, 5000);
    done(&x);
}

TEST(memory_of_any_thread_counts_both_ends_included)
{
    struct table x =
        plain(OP("a", 9, 10, 10, 1) "," OP("b", 9, 12, 2, 2) "," MEMORY(9, 10, 1, 100) "," MEMORY(
            5, 13, 1, 20) "," MEMORY(9, 20, 0, 3) "," MEMORY(9, 20.001, 1, 7000));
    const struct op_row *a = row(&x, "cpu", "a");
    CHECK_EQ_INT(a->device_mem_bytes, 120);
    CHECK_EQ_INT(a->self_device_mem_bytes, 100);
    CHECK_EQ_INT(a->cpu_mem_bytes, 3);
    CHECK_EQ_INT(row(&x, "cpu", "b")->device_mem_bytes, 20);
    CHECK_EQ_INT(row(&x, "cpu", "[memory]")->device_mem_bytes, 7000); /* outside every span */
    CHECK_EQ_UINT(row(&x, "cpu", "[memory]")->calls, 1);
    done(&x);
}

TEST(grouping_by_shape_takes_lists_of_tensors_for_nothing)
{
    struct table x =
        make(SPAN("cpu_op", "aten::cat", 9, 0, 5, "\"Input Dims\":[[[2,3],[4]],[]]") "," SPAN(
                 "cpu_op", "aten::cat", 9, 10, 5,
                 "\"Input Dims\":[[[9]],[]]") "," SPAN("cpu_op", "aten::cat", 9, 20, 5,
                                                       "\"Input Dims\":[[7, 7],[]]"),
             (struct op_table_opts){.by = OP_BY_SHAPE});
    REQUIRE(CHECK_EQ_UINT(x.op.n_rows, 2));
    CHECK_EQ_BYTES(x.op.rows[0].group, "[[], []]");
    CHECK_EQ_UINT(x.op.rows[0].calls, 2);
    CHECK_EQ_BYTES(x.op.rows[1].group, "[[7, 7], []]");
    done(&x);
}

TEST(grouping_by_stack_and_module_follows_frames_to_the_kernel)
{
    static const char events[] =
        FRAME("a.py(1): main", 0, 100) "," FRAME("nn.Module: Linear_3", 5, 40) "," OP(
            "op", 9, 10, 20, 1) "," CALL("cudaLaunchKernel", 9, 12, 2, 1,
                                         3) "," KERNEL("k", 300, 1, 1, 3) "," OP("op", 9, 60, 20,
                                                                                 2);
    struct table x = make(events, (struct op_table_opts){.by = OP_BY_STACK, .stack_depth = 2});
    CHECK_EQ_BYTES(row(&x, "cuda", "k")->group, "nn.Module: Linear_3\na.py(1): main");
    CHECK_EQ_UINT(x.op.n_rows, 4);
    done(&x);
    x = make(events, (struct op_table_opts){.by = OP_BY_MODULE});
    CHECK_EQ_BYTES(row(&x, "cuda", "k")->group, "Linear_3");
    CHECK_EQ_UINT(x.op.n_rows, 4);
    done(&x);
}

TEST(the_backward_pass_has_the_frames_of_the_forward_operator)
{
    struct table x =
        make(FRAME("a.py(1): layer", 0, 40) "," SPAN(
                 "cpu_op", "aten::mm", 9, 10, 20,
                 "\"Sequence number\":4,\"Fwd thread id\":0") "," SPAN("cpu_op", "MmBackward0", 5,
                                                                       60, 30,
                                                                       "\"Sequence "
                                                                       "number\":4,\"Fwd thread "
                                                                       "id\":1") "," SPAN("cpu_op",
                                                                                          "aten::t",
                                                                                          5, 65, 5,
                                                                                          "\"Sequen"
                                                                                          "ce "
                                                                                          "number\""
                                                                                          ":9,"
                                                                                          "\"Fwd "
                                                                                          "thread "
                                                                                          "id\":0"),
             (struct op_table_opts){.by = OP_BY_STACK});
    CHECK_EQ_BYTES(row(&x, "cpu", "MmBackward0")->group, "a.py(1): layer");
    CHECK_EQ_BYTES(row(&x, "cpu", "aten::t")->group, "a.py(1): layer");
    done(&x);
}

TEST(python_frames_are_rows_only_when_asked_for)
{
    static const char events[] = FRAME("a.py(1): main", 0, 100) "," OP("op", 9, 10, 20, 1);
    struct table x = plain(events);
    CHECK_EQ_UINT(x.op.n_rows, 1);
    done(&x);
    x = make(events, (struct op_table_opts){.python = true});
    CHECK_EQ_INT(row(&x, "cpu", "a.py(1): main")->self_cpu_ns, 80000);
    done(&x);
}

TEST(the_vendor_names_the_device)
{
    struct table x = plain(SPAN("xpu_runtime", "urEnqueueKernelLaunch", 9, 0, 5,
                                "\"correlation\":3") "," KERNEL("k", 10, 5, 1, 3));
    CHECK_EQ_INT(row(&x, "xpu", "k")->self_device_ns, 5000);
    done(&x);
}

TEST(mangled_and_readable_names_of_a_kernel_are_one_row)
{
    struct table x =
        plain(KERNEL("_Z3addPfi", 10, 5, 1, 3) "," KERNEL("add(float*, int)", 20, 5, 1, 4));
    CHECK_EQ_UINT(row(&x, "cuda", "add(float*, int)")->calls, 2);
    done(&x);
}

TEST(sorting_knows_torchs_words_and_keeps_ties_in_order)
{
    struct table x = plain(OP("a", 9, 0, 10, 1) "," OP("b", 9, 20, 30, 2) "," OP(
        "c", 9, 60, 10, 3) "," CALL("l", 9, 61, 1, 3, 4) "," KERNEL("k", 300, 5, 3, 4));
    const struct op_sort_key *key = op_sort_find("self_cpu_time_total");
    CHECK(key && key == op_sort_find("self_cpu"));
    CHECK(op_sort_find("self_cuda_time_total") == op_sort_find("self_gpu"));
    CHECK(op_sort_find("self_xpu_memory_usage") == op_sort_find("self_device_mem"));
    CHECK(!op_sort_find("nonsense"));
    CHECK_EQ_INT(op_table_sort(&x.op, key, &x.mem, NULL), 0);
    CHECK_EQ_BYTES(x.op.rows[0].name, "b");
    CHECK_EQ_BYTES(x.op.rows[1].name, "a");
    CHECK_EQ_INT(op_table_sort(&x.op, NULL, &x.mem, NULL), 0);
    CHECK_EQ_BYTES(x.op.rows[0].name, "c"); /* device time first, then CPU time */
    CHECK_EQ_BYTES(x.op.rows[1].name, "k");
    CHECK_EQ_BYTES(x.op.rows[2].name, "b");
    done(&x);
}

/* Large enough for the work to be shared out. */
static struct trace *many_threads(void)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 30000; i++) {
        for (k.tid = 1; k.tid <= 4; k.tid++) {
            kit_op(&k, i % 3 ? "aten::add" : "aten::mul", i * 10 + k.tid, 8);
            if (i % 7 == 0) kit_memory(&k, i * 10 + k.tid + 4, 64, 0, 0);
        }
    }
    return kit_end(&k);
}

TEST(threads_do_not_change_the_table)
{
    struct table one = {.t = many_threads()}, four = {0};
    struct op_table_opts opts = {.stack_depth = 5, .n_threads = 1};
    arena_init(&one.mem);
    arena_init(&four.mem);
    CHECK_EQ_INT(op_table_run(one.t, &opts, &one.mem, &one.op, NULL), 0);
    opts.n_threads = 4;
    CHECK_EQ_INT(op_table_run(one.t, &opts, &four.mem, &four.op, NULL), 0);
    REQUIRE(CHECK_EQ_UINT(one.op.n_rows, four.op.n_rows));
    CHECK_EQ_INT(one.op.self_cpu_ns, four.op.self_cpu_ns);
    for (uint32_t i = 0; i < one.op.n_rows; i++) {
        const struct op_row *a = &one.op.rows[i], *b = &four.op.rows[i];
        CHECK(str_eq(a->name, b->name));
        CHECK_EQ_UINT(a->calls, b->calls);
        CHECK_EQ_UINT(a->first, b->first);
        CHECK_EQ_INT(a->self_cpu_ns, b->self_cpu_ns);
        CHECK_EQ_INT(a->device_mem_bytes, b->device_mem_bytes);
    }
    arena_done(&four.mem);
    done(&one);
}

TEST(an_empty_trace_has_an_empty_table)
{
    struct table x = plain("");
    CHECK_EQ_UINT(x.op.n_rows, 0);
    CHECK_EQ_INT(x.op.self_cpu_ns, 0);
    done(&x);
}

/* A file may hold calls of which nothing but the time is known. */
TEST(a_call_with_no_record_of_its_own_nests_where_it_lies)
{
    struct kit k = kit_begin();
    kit_op(&k, "op", 0, 100);
    kit_row(&k, KIND_RUNTIME, "cudaGetDevice", 10, 30, NULL);
    struct op_table_opts opts = {.stack_depth = 5, .by = OP_BY_NAME};
    struct table x = {.t = kit_end(&k)};
    REQUIRE(x.t != NULL);
    arena_init(&x.mem);
    CHECK_EQ_INT(op_table_run(x.t, &opts, &x.mem, &x.op, NULL), 0);
    CHECK_EQ_INT(row(&x, "cpu", "op")->self_cpu_ns, 70000);
    CHECK_EQ_INT(row(&x, "cpu", "cudaGetDevice")->self_cpu_ns, 30000);
    done(&x);
}

/* Out of memory is an error, never another table. */
static int same_table(void *ctx)
{
    const struct table *want = ctx;
    struct op_table_opts opts = {.stack_depth = 5, .by = OP_BY_NAME};
    struct table x = {.t = want->t};
    arena_init(&x.mem);
    int rc = op_table_run(x.t, &opts, &x.mem, &x.op, NULL);
    if (rc == 0 && CHECK_EQ_UINT(x.op.n_rows, want->op.n_rows))
        for (uint32_t i = 0; i < x.op.n_rows; i++) {
            CHECK_EQ_INT(x.op.rows[i].self_cpu_ns, want->op.rows[i].self_cpu_ns);
            CHECK_EQ_INT(x.op.rows[i].device_mem_bytes, want->op.rows[i].device_mem_bytes);
        }
    arena_done(&x.mem);
    return rc;
}

TEST(out_of_memory_is_reported)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 40; i++) {
        char name[32];
        snprintf(name, sizeof name, "op %d", i);
        k.tid = 1;
        kit_op(&k, name, i * 100, 90);
        kit_memory(&k, i * 100 + 50, 64, 64, 64);
        k.tid = 2; /* known to the runtime by another number */
        kit_launch(&k, i * 100 + 10, name, i * 100 + 30, 40);
    }
    struct op_table_opts opts = {.stack_depth = 5, .by = OP_BY_NAME};
    struct table x = {.t = kit_end(&k)};
    REQUIRE(x.t != NULL);
    arena_init(&x.mem);
    REQUIRE(CHECK_EQ_INT(op_table_run(x.t, &opts, &x.mem, &x.op, NULL), 0));
    CHECK_EQ_INT(row(&x, "cpu", "op 3")->self_cpu_ns, 85000);
    CHECK_EQ_INT(row(&x, "cpu", "op 3")->device_mem_bytes, 64);
    CHECK_EVERY_ALLOC(same_table, &x);
    done(&x);
}

TEST_MAIN
