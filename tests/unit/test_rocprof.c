/* test_rocprof.c: what AMD's tools record, in JSON, and going over JSON where it stands. */
#include "import/import.h"
#include "import/json/json_scan.h"
#include "test.h"
#include "trace/verify.h"

static struct trace *open_text(const char *text)
{
    struct trace *t = NULL;
    struct err e;
    err_init(&e);
    if (import_bytes(str_c(text), "r.json", NULL, &t, &e) < 0)
        test_fail(__FILE__, __LINE__, "%s", e.msg);
    else if (trace_verify(t, 1, &e) < 0) test_fail(__FILE__, __LINE__, "%s", e.msg);
    return t;
}

static row_t row_called(const struct trace *t, const char *name)
{
    for (row_t r = 0; r < t->n_rows; r++)
        if (str_is(trace_name(t, r), name)) return r;
    test_fail(__FILE__, __LINE__, "no row %s", name);
    return 0;
}

#define PADDING "                                                                "

TEST(members_and_items)
{
    static const char text[] = "{\"a\": [1, {\"x\": 2}, \"t\"], \"b\": -7, \"c\": {}}" PADDING;
    struct str doc = str_from(text, sizeof text - sizeof PADDING);
    CHECK_EQ_INT(walk_int(walk_find(doc, "b"), 0), -7);
    CHECK_EQ_INT(walk_int(walk_find(doc, "none"), 5), 5);
    struct walk w = walk_open(walk_find(doc, "a"));
    struct str key, value;
    REQUIRE(walk_next(&w, &key, &value));
    CHECK_EQ_INT(walk_int(value, 0), 1);
    REQUIRE(walk_next(&w, &key, &value));
    CHECK_EQ_INT(walk_int(walk_find(value, "x"), 0), 2);
    REQUIRE(walk_next(&w, &key, &value));
    CHECK(str_is(walk_text(value), "t"));
    CHECK(!walk_next(&w, &key, &value) && !walk_next(&w, &key, &value));
    w = walk_open(walk_find(doc, "c"));
    CHECK(!walk_next(&w, &key, &value));
    w = walk_open(walk_find(doc, "b"));
    CHECK(!walk_next(&w, &key, &value));
}

/* Two processes, numbers of kinds and operations, names as texts, a queue in place of a stream. */
TEST(records_of_two_processes)
{
    struct trace *t = open_text(
        "{\"rocprofiler-sdk-tool\":[{\"metadata\":{\"pid\":7},"
        "\"agents\":[{\"id\":{\"handle\":1},\"type\":1},{\"id\":{\"handle\":9},\"type\":2,"
        "\"logical_node_type_id\":3,\"name\":\"gfx942\"}],"
        "\"strings\":{\"buffer_records\":[{\"kind\":\"HIP_RUNTIME_API\",\"operations\":["
        "\"hipMalloc\","
        "\"hipLaunchKernel\"]}]},\"kernel_symbols\":[{\"kernel_id\":4,\"kernel_name\":\"k.kd\"}],"
        "\"buffer_records\":{\"hip_api\":[{\"kind\":0,\"operation\":1,\"thread_id\":70,"
        "\"correlation_id\":{\"internal\":5},\"start_timestamp\":1000,\"end_timestamp\":1500}],"
        "\"kernel_dispatch\":[{\"thread_id\":70,\"correlation_id\":{\"internal\":5},"
        "\"start_timestamp\":2000,\"end_timestamp\":2600,\"dispatch_info\":{\"agent_id\":{"
        "\"handle\":9"
        "},\"queue_id\":{\"handle\":2},\"kernel_id\":4,\"workgroup_size\":{\"x\":64,\"y\":1,\"z\":"
        "1},"
        "\"grid_size\":{\"x\":130,\"y\":1,\"z\":1}}}]}},"
        "{\"metadata\":{\"pid\":8},\"agents\":[],\"buffer_records\":{\"marker_api\":[{\"kind\":"
        "\"MARKER_CORE_API\",\"operation\":\"roctxMarkA\",\"thread_id\":80,\"correlation_id\":{"
        "\"internal\":1},\"start_timestamp\":10,\"end_timestamp\":20}]}}]}");
    REQUIRE(t != NULL);
    CHECK_EQ_INT(t->n_rows, 3);
    row_t r = row_called(t, "k.kd");
    const struct gpu_info *g = trace_gpu(t, r);
    CHECK_EQ_INT(t->dur_ns[r], 600);
    CHECK_EQ_INT(g->device, 3);
    CHECK_EQ_INT(g->stream, 2);
    CHECK_EQ_INT(g->grid[0], 3); /* blocks, of which the last is not full */
    CHECK_EQ_INT(g->launch, row_called(t, "hipLaunchKernel"));
    r = row_called(t, "roctxMarkA");
    CHECK_EQ_INT(t->processes[t->lanes[t->lane[r]].process].pid, 8);
    trace_free(t);
}

TEST_MAIN
