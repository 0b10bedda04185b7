/* test_to_chrome.c: what is written, to the byte, and that it reads back as the same trace. */
#include "base/json_valid.h"
#include "export/export.h"
#include "import/import.h"
#include "kit.h"
#include "scratch.h"

static const struct export_options plain = {.n_threads = 2};
static const struct export_options perfetto = {.n_threads = 2, .for_perfetto = true};

static struct trace *open_trace(const char *path)
{
    struct trace *t = NULL;
    struct err e;
    err_init(&e);
    if (import_open(path, NULL, &t, &e) < 0) test_fail(__FILE__, __LINE__, "%s: %s", path, e.msg);
    return t;
}

/* The trace written as `format`, read back as text; the caller frees. */
static struct buf written(const struct trace *t, const char *format, const struct export_options *o)
{
    struct buf text = {0};
    struct file_map f;
    struct err e;
    err_init(&e);
    if (export_find(format)->write(t, scratch("out"), o, &e) < 0)
        test_fail(__FILE__, __LINE__, "%s: %s", format, e.msg);
    else if (file_map(&f, scratch("out"), NULL) == 0) {
        buf_add(&text, f.p, f.n);
        file_unmap(&f);
    }
    return text;
}

static void check_text(struct trace *t, const struct export_options *o, const char *want)
{
    struct buf text = written(t, "chrome", o);
    CHECK_EQ_STR(buf_c(&text), want);
    CHECK(json_valid(buf_str(&text)));
    buf_done(&text);
}

static struct trace *trace_of(const char *json)
{
    CHECK_EQ_INT(file_write_whole(scratch("in.json"), json, strlen(json), NULL), 0);
    return open_trace(scratch("in.json"));
}

TEST(to_the_byte)
{
    struct trace *t = trace_of(
        "{\"schemaVersion\":1,\"note\":\"a\\\"b\",\"baseTimeNanoseconds\":1000,\"traceEvents\":["
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::\\u00e9 \\\"q\\\"\",\"pid\":5,\"tid\":6,"
        "\"ts\":1.5,\"dur\":2,\"args\":{ \"External id\": 3 }},"
        "{\"ph\":\"i\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":5,\"tid\":6,\"ts\":2,"
        "\"args\":{\"Bytes\":-4,\"Addr\":7}},"
        "{\"ph\":\"X\",\"cat\":\"Trace\",\"name\":\"window\",\"pid\":\"Spans\",\"tid\":\"PyTorch\","
        "\"ts\":0,\"dur\":9.001},"
        "{\"ph\":\"s\",\"cat\":\"fwdbwd\",\"name\":\"fwdbwd\",\"id\":1,\"pid\":5,\"tid\":6,\"ts\":"
        "1.5},"
        "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":5,\"tid\":6,\"args\":{\"name\":\"main\"}},"
        "{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":5,\"tid\":0,\"args\":{\"sort_"
        "index\":5}}"
        "]}");
    REQUIRE(t != NULL);
    check_text(
        t, &plain,
        "{\n\"schemaVersion\":1,\n\"note\":\"a\\\"b\",\n\"displayTimeUnit\":\"ms\",\n"
        "\"baseTimeNanoseconds\":1000,\n\"traceEvents\":[\n"
        "{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":5,\"tid\":0,\"args\":{\"sort_"
        "index\":"
        "5}},\n"
        "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":5,\"tid\":6,\"args\":{\"name\":\"main\"}},"
        "\n"
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::\xc3\xa9 "
        "\\\"q\\\"\",\"pid\":5,\"tid\":6,"
        "\"ts\":1.500,\"dur\":2.000,\"args\":{ \"External id\": 3 }},\n"
        "{\"ph\":\"i\",\"name\":\"[memory]\",\"pid\":5,\"tid\":6,\"ts\":2.000,\"s\":\"t\","
        "\"args\":{\"Bytes\":-4,\"Addr\":7}},\n"
        "{\"ph\":\"X\",\"cat\":\"Trace\",\"name\":\"window\",\"pid\":\"Spans\",\"tid\":\"PyTorch\","
        "\"ts\":0.000,\"dur\":9.001},\n"
        "{\"ph\":\"s\",\"cat\":\"fwdbwd\",\"name\":\"fwdbwd\",\"pid\":5,\"tid\":6,\"ts\":1.500,"
        "\"id\":1}\n]}\n");
    trace_free(t);
}

/* CSV with args says nearly everything of a trace, so equal CSV is an equal trace. */
static void check_same_csv(struct trace *a, struct trace *b)
{
    struct export_options all = {.n_threads = 1, .with_args = true};
    struct buf x = written(a, "csv", &all), y = written(b, "csv", &all);
    CHECK(x.n > 100);
    CHECK_EQ_STR(buf_c(&y), buf_c(&x));
    CHECK_EQ_UINT(a->n_flows, b->n_flows);
    CHECK_EQ_INT(a->base_ns, b->base_ns);
    CHECK_EQ_UINT(a->n_metas, b->n_metas);
    buf_done(&x);
    buf_done(&y);
}

/* `-o -` may be a terminal. What a name holds is kept all the same. */
TEST(names_command_no_terminal)
{
    struct trace *t = trace_of("[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\xc2\x9b"
                               "31m\xe2\x80\xae\x7f\",\"pid\":5,\"tid\":6,\"ts\":1,\"dur\":2}]");
    REQUIRE(t != NULL);
    struct buf text = written(t, "chrome", &plain);
    CHECK(strstr(buf_c(&text), "\"a\\u009b31m\\u202e\\u007f\"") != NULL);
    struct trace *again = trace_of(buf_c(&text));
    REQUIRE(again != NULL);
    CHECK(str_eq(trace_name(again, 0), trace_name(t, 0)));
    buf_done(&text);
    trace_free(again);
    trace_free(t);
}

TEST(json_to_strata_to_json)
{
    struct trace *a = open_trace(TEST_DATA "/tiny.json");
    REQUIRE(a != NULL);
    const char *steps[] = {"a.strata", "b.json", "c.json.gz", "d.strata", "e.json.zst", "f.json"};
    for (int i = 0; i < 6; i++) {
        struct trace *from = open_trace(i ? scratch(steps[i - 1]) : TEST_DATA "/tiny.json");
        REQUIRE(from != NULL);
        CHECK_EQ_INT(export_for_path(steps[i])->write(from, scratch(steps[i]), &plain, NULL), 0);
        trace_free(from);
        struct trace *b = open_trace(scratch(steps[i]));
        REQUIRE(b != NULL);
        check_same_csv(a, b);
        trace_free(b);
    }
    trace_free(a);
}

static void check_same_gpu(const struct gpu_info *got, const struct gpu_info *want)
{
    CHECK_EQ_INT(got->external_id, want->external_id);
    CHECK_EQ_INT(got->graph_id, want->graph_id);
    CHECK_EQ_INT(got->graph_node, want->graph_node);
    CHECK_EQ_INT(got->context, want->context);
    CHECK_EQ_UINT(got->shared_bytes, want->shared_bytes);
    CHECK_EQ_UINT(got->registers, want->registers);
    CHECK_EQ_INT(got->occupancy_pct, want->occupancy_pct);
    CHECK_NEAR(got->blocks_per_sm, want->blocks_per_sm, 0);
    CHECK_NEAR(got->warps_per_sm, want->warps_per_sm, 0);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ_UINT(got->grid[i], want->grid[i]);
        CHECK_EQ_UINT(got->block[i], want->block[i]);
    }
}

/* Without a source of args, they are made from the side tables and read back as those. */
TEST(args_are_made_where_there_are_none)
{
    struct kit k = kit_begin();
    kit_launch(&k, 10, "gemm", 20, 50);
    kit_call(&k, "cudaMemcpyAsync", 30, 5);
    kit_work(&k, KIND_MEMCPY, "Memcpy DtoH (Device -> Pinned)", 80, 5);
    kit_memory(&k, 5, 1024, 2048, 4096);
    kit_python(&k, "f.py(1): f", 0, 100);
    kit_autograd_op(&k, "aten::mm", 1, 4, 17, 2);
    struct gpu_info g = {.correlation = 99,
                         .external_id = 3,
                         .bytes = -1,
                         .graph_id = 4,
                         .graph_node = 5,
                         .device = 0,
                         .stream = 7,
                         .context = 1,
                         .grid = {1, 2, 3},
                         .block = {4, 5, 6},
                         .shared_bytes = 100,
                         .registers = 8,
                         .occupancy_pct = 50,
                         .blocks_per_sm = 0.5f,
                         .warps_per_sm = 4,
                         .launch = ROW_NONE};
    kit_row(&k, KIND_KERNEL, "full", 200, 5, &g);
    struct trace *a = kit_end(&k);
    CHECK_EQ_INT(export_find("chrome")->write(a, scratch("made.json"), &plain, NULL), 0);
    struct trace *b = open_trace(scratch("made.json"));
    REQUIRE(b != NULL);
    struct buf x = written(a, "csv", &plain), y = written(b, "csv", &plain);
    CHECK_EQ_STR(buf_c(&y), buf_c(&x));
    CHECK_EQ_UINT(b->n_gpu, 3);
    for (uint32_t i = 0; i < b->n_gpu; i++)
        if (b->gpu[i].correlation == 99) check_same_gpu(&b->gpu[i], &g);
    CHECK_EQ_UINT(b->n_flows, 4); /* drawn from the links */
    buf_done(&x);
    buf_done(&y);
    trace_free(a);
    trace_free(b);
}

TEST(broken_args_are_repaired)
{
    struct trace *t = trace_of(
        "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,"
        "\"ts\":1,\"dur\":1,\"args\":{\"correlation\":5,\"occupancy\":N/A,\"p\":\"C:\\dir\"}}]}");
    REQUIRE(t != NULL);
    struct buf text = written(t, "chrome", &plain);
    CHECK(strstr(buf_c(&text), "\"args\":{\"correlation\":5,\"occupancy\":\"N/A\"") != NULL);
    CHECK(json_valid(buf_str(&text)));
    buf_done(&text);
    trace_free(t);
}

TEST(for_perfetto_moves_what_overlaps)
{
    struct trace *t = trace_of(
        "[{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"launch\",\"pid\":9,\"tid\":9,\"ts\":1,"
        "\"dur\":2,\"args\":{\"correlation\":5}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"first\",\"pid\":0,\"tid\":7,\"ts\":10,\"dur\":"
        "10,"
        "\"args\":{\"correlation\":4}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"second\",\"pid\":0,\"tid\":7,\"ts\":19,"
        "\"dur\":"
        "10,\"args\":{\"correlation\":5}},"
        "{\"ph\":\"f\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":77,\"pid\":9,\"tid\":9,\"ts\":1},"
        "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":0,\"tid\":7,\"args\":{\"name\":\"stream 7 "
        "\"}}]");
    REQUIRE(t != NULL);
    struct buf text = written(t, "chrome", &perfetto);
    const char *s = buf_c(&text);
    CHECK(strstr(s, "\"pid\":0,\"tid\":1000000000,\"args\":{\"name\":\"stream 7 (overlap)\"}"));
    CHECK(strstr(s, "\"name\":\"first\",\"pid\":0,\"tid\":7,"));
    CHECK(strstr(s, "\"name\":\"second\",\"pid\":0,\"tid\":1000000000,"));
    CHECK(strstr(
        s, "{\"ph\":\"s\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"pid\":9,\"tid\":9,\"ts\":1.000,"
           "\"id\":1}"));
    CHECK(strstr(s, "{\"ph\":\"f\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"pid\":0,\"tid\":1000000000,"
                    "\"ts\":19.000,\"id\":1,\"bp\":\"e\"}"));
    CHECK(!strstr(s, "\"id\":77")); /* an arrow that started nowhere */
    CHECK(json_valid(buf_str(&text)));
    buf_done(&text);
    trace_free(t);
}

/* Ids of asynchronous events join a begin and an end; as texts they survive as numbers. */
TEST(asynchronous_events_keep_their_ids)
{
    struct trace *t = trace_of(
        "[{\"ph\":\"b\",\"cat\":\"io\",\"name\":\"read\",\"id\":\"0x5a\",\"pid\":1,\"tid\":1,"
        "\"ts\":1},"
        "{\"ph\":\"b\",\"cat\":\"io\",\"name\":\"read\",\"id\":7,\"pid\":1,\"tid\":1,\"ts\":2},"
        "{\"ph\":\"e\",\"cat\":\"io\",\"name\":\"read\",\"id\":\"0x5a\",\"pid\":1,\"tid\":1,\"ts\":"
        "3}]");
    REQUIRE(t != NULL);
    CHECK_EQ_UINT(t->n_asyncs, 3);
    CHECK_EQ_INT(export_find("strata")->write(t, scratch("async.strata"), &plain, NULL), 0);
    trace_free(t);
    t = open_trace(scratch("async.strata"));
    REQUIRE(t != NULL);
    struct buf text = written(t, "chrome", &plain);
    const char *s = buf_c(&text);
    CHECK(strstr(s,
                 "{\"ph\":\"b\",\"cat\":\"io\",\"name\":\"read\",\"pid\":1,\"tid\":1,\"ts\":1.000,"
                 "\"id\":90}"));
    CHECK(strstr(s, "\"ts\":2.000,\"id\":7}"));
    CHECK(strstr(s, "\"ts\":3.000,\"id\":90}"));
    buf_done(&text);
    trace_free(t);
}

TEST(strip)
{
    struct trace *t =
        trace_of("{\"schemaVersion\":1,\"env\":{\"TOKEN\":\"hunter2\"},\"traceEvents\":"
                 "[{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1}]}");
    REQUIRE(t != NULL);
    struct export_options strip = {.n_threads = 1, .strip = true};
    struct buf text = written(t, "chrome", &strip);
    CHECK(!strstr(buf_c(&text), "hunter2") && !strstr(buf_c(&text), "env"));
    CHECK(strstr(buf_c(&text), "\"schemaVersion\":1"));
    buf_done(&text);
    trace_free(t);
}

static int write_oom(void *ctx)
{
    return export_find("chrome")->write(ctx, scratch("oom.json"), &perfetto, NULL);
}

TEST(out_of_memory)
{
    struct trace *t = open_trace(TEST_DATA "/tiny.json");
    REQUIRE(t != NULL);
    scratch_clear();
    CHECK_EVERY_ALLOC(write_oom, t);
    CHECK_EQ_INT(scratch_count(), 1);
    trace_free(t);
}

TEST_MAIN
