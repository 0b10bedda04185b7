/* test_pftrace.c: Perfetto traces made packet by packet, in the ways different writers make them,
 * and what they read as. */
#include "base/protobuf.h"
#include "export/proto_out.h"
#include "import/import.h"
#include "import/importer.h"
#include "same_trace.h"
#include "test.h"
#include "trace/verify.h"

/* A trace under construction; m is the message being filled. */
struct made {
    struct buf file, packet, m, n;
};

static void made_done(struct made *x)
{
    buf_done(&x->file);
    buf_done(&x->packet);
    buf_done(&x->m);
    buf_done(&x->n);
}

static void end_packet(struct made *x)
{
    proto_bytes(&x->file, 1, buf_str(&x->packet));
    buf_reset(&x->packet);
}

/* Wraps what is in m into field `field` of the packet. */
static void put(struct made *x, uint32_t field)
{
    proto_bytes(&x->packet, field, buf_str(&x->m));
    buf_reset(&x->m);
}

static void wrap(struct made *x, uint32_t field)
{
    proto_bytes(&x->m, field, buf_str(&x->n));
    buf_reset(&x->n);
}

static void sequence(struct made *x, uint64_t id, bool clear)
{
    proto_uint(&x->packet, 10, id);
    if (clear) proto_uint(&x->packet, 13, 1);
}

static void thread_track(struct made *x, uint64_t uuid, int pid, int tid)
{
    proto_uint(&x->m, 1, uuid);
    proto_int(&x->n, 1, pid);
    proto_int(&x->n, 2, tid);
    proto_bytes(&x->n, 5, str_c("worker"));
    wrap(x, 4);
    put(x, 60);
    end_packet(x);
}

static void named_track(struct made *x, uint64_t uuid, uint64_t parent, const char *name)
{
    proto_uint(&x->m, 1, uuid);
    if (parent) proto_uint(&x->m, 5, parent);
    proto_bytes(&x->m, 2, str_c(name));
    put(x, 60);
    end_packet(x);
}

static void interned(struct made *x, uint32_t table, uint64_t iid, const char *text)
{
    proto_uint(&x->n, 1, iid);
    proto_bytes(&x->n, 2, str_c(text));
    wrap(x, table);
}

static void note_int(struct made *x, const char *key, int64_t v)
{
    proto_bytes(&x->n, 10, str_c(key));
    proto_int(&x->n, 4, v);
    wrap(x, 4);
}

/* The begin (1), end (2) or instant (3) of something called `name`; what was in m comes along. */
static void event(struct made *x, int type, uint64_t ts, uint64_t track, const char *name)
{
    proto_uint(&x->packet, 8, ts);
    sequence(x, 1, false);
    proto_uint(&x->m, 9, (uint64_t)type);
    if (track) proto_uint(&x->m, 11, track);
    if (name) proto_bytes(&x->m, 23, str_c(name));
    put(x, 11);
    end_packet(x);
}

static struct trace *open_with(struct made *x, const struct import_options *o)
{
    struct trace *t = NULL;
    struct err e;
    err_init(&e);
    if (import_bytes(buf_str(&x->file), "made.pftrace", o, &t, &e) < 0)
        test_fail(__FILE__, __LINE__, "%s", e.msg);
    else if (trace_verify(t, 1, &e) < 0) test_fail(__FILE__, __LINE__, "%s", e.msg);
    return t;
}

static struct trace *open_made(struct made *x)
{
    return open_with(x, &(struct import_options){.n_threads = 1});
}

static row_t row_called(const struct trace *t, const char *name)
{
    for (row_t r = 0; r < t->n_rows; r++)
        if (str_is(trace_name(t, r), name)) return r;
    test_fail(__FILE__, __LINE__, "no row %s", name);
    return 0;
}

static void check_span(const struct trace *t, const char *name, int64_t ts_ns, int64_t dur_ns)
{
    row_t r = row_called(t, name);
    CHECK_EQ_INT(t->ts_ns[r], ts_ns);
    CHECK_EQ_INT(t->dur_ns[r], dur_ns);
}

TEST(fields_end_where_their_message_ends)
{
    struct pb_field f;
    struct pb m = pb_open(str_from("\x08\x96\x01\x12\x02hi\x19\1\0\0\0\0\0\0\0", 16));
    REQUIRE(pb_next(&m, &f));
    CHECK_EQ_INT(f.number, 1);
    CHECK_EQ_INT((int64_t)f.value, 150);
    REQUIRE(pb_next(&m, &f));
    CHECK(str_is(f.bytes, "hi"));
    REQUIRE(pb_next(&m, &f));
    CHECK_EQ_INT((int64_t)f.value, 1);
    CHECK(!pb_next(&m, &f) && !m.bad);
    static const struct str bad[] = {{"\x12\x03hi", 4},
                                     {"\x08", 1},
                                     {"\x08\x80", 2},
                                     {"\x19\1\0", 3},
                                     {"\x0b", 1},
                                     {"\x00\x01", 2},
                                     {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        m = pb_open(bad[i]);
        CHECK(!pb_next(&m, &f) && m.bad);
    }
}

/* As the SDK writes: a clock that counts from packet to packet, a default track, texts by number.
 */
static void make_sdk(struct made *x)
{
    sequence(x, 1, true);
    proto_uint(&x->n, 1, 6);
    proto_uint(&x->n, 2, 1000000);
    wrap(x, 1);
    proto_uint(&x->n, 1, 1);
    proto_uint(&x->n, 2, 1700000001000000);
    wrap(x, 1);
    proto_uint(&x->n, 1, 64);
    proto_uint(&x->n, 2, 1000);
    proto_uint(&x->n, 3, 1);
    proto_uint(&x->n, 4, 1000);
    wrap(x, 1);
    put(x, 6);
    proto_uint(&x->m, 58, 64);
    proto_uint(&x->n, 11, 77);
    wrap(x, 11);
    put(x, 59);
    end_packet(x);
    thread_track(x, 77, 40, 41);
    sequence(x, 1, false);
    proto_uint(&x->packet, 8, 5);
    interned(x, 2, 1, "outer");
    interned(x, 1, 1, "user_annotation");
    put(x, 12);
    proto_uint(&x->m, 9, 1);
    proto_uint(&x->m, 10, 1);
    proto_uint(&x->m, 3, 1);
    put(x, 11);
    end_packet(x);
    event(x, 1, 2, 0, "inner");
    event(x, 2, 3, 0, NULL);
    event(x, 2, 10, 0, NULL);
}

TEST(an_incremental_clock_and_defaults)
{
    struct made x = {0};
    make_sdk(&x);
    struct trace *t = open_made(&x);
    REQUIRE(t != NULL);
    CHECK_EQ_INT(t->n_rows, 2);
    check_span(t, "outer", 1005000, 15000);
    check_span(t, "inner", 1007000, 3000);
    CHECK_EQ_INT(t->base_ns, 1700000000000000);
    CHECK_EQ_INT(t->kind[row_called(t, "outer")], KIND_ANNOTATION);
    CHECK_EQ_INT(t->parent[row_called(t, "inner")], row_called(t, "outer"));
    CHECK_EQ_INT(t->lanes[0].tid, 41);
    CHECK(str_is(trace_str(t, t->lanes[0].name), "worker"));
    trace_free(t);
    made_done(&x);
}

/* After a reset of the sequence its numbers mean other texts. */
TEST(texts_hold_until_the_sequence_is_reset)
{
    struct made x = {0};
    thread_track(&x, 5, 1, 2);
    for (int i = 0; i < 2; i++) {
        sequence(&x, 1, true);
        interned(&x, 2, 9, i ? "second" : "first");
        interned(&x, 3, 9, i ? "b" : "a");
        put(&x, 12);
        end_packet(&x);
        proto_uint(&x.n, 1, 9);
        proto_int(&x.n, 4, 3);
        wrap(&x, 4);
        proto_uint(&x.m, 10, 9);
        event(&x, 3, 100 + (uint64_t)i, 5, NULL);
    }
    struct trace *t = open_made(&x);
    REQUIRE(t != NULL);
    struct buf args = {0};
    CHECK_EQ_INT(trace_args(t, row_called(t, "first"), &args, NULL), 0);
    CHECK_EQ_INT(trace_args(t, row_called(t, "second"), &args, NULL), 0);
    CHECK_EQ_STR(buf_c(&args), "{\"a\":3}{\"b\":3}");
    buf_done(&args);
    trace_free(t);
    made_done(&x);
}

/* As PyTorch writes: all begins, then all ends; the device's work as render stages; no categories.
 */
static void make_torch(struct made *x)
{
    thread_track(x, 5, 30, 31);
    sequence(x, 1, true);
    interned(x, 24, 1, "Kernel");
    interned(x, 24, 100, "stream 07");
    interned(x, 2, 3, "sgemm");
    interned(x, 1001, 1, "registers_per_thread");
    put(x, 12);
    end_packet(x);
    note_int(x, "External id", 8);
    event(x, 1, 100, 5, "aten::mm");
    note_int(x, "correlation", 17);
    event(x, 1, 110, 5, "cudaLaunchKernel");
    event(x, 2, 200, 5, NULL);
    event(x, 2, 120, 5, NULL);
    proto_uint(&x->packet, 8, 150);
    sequence(x, 1, false);
    proto_uint(&x->m, 1, 17);
    proto_uint(&x->m, 2, 40);
    proto_int(&x->m, 11, 2);
    proto_uint(&x->m, 13, 100);
    proto_uint(&x->m, 14, 1);
    proto_uint(&x->m, 20, 3);
    struct buf launch = {0}, dim = {0};
    for (uint32_t i = 1; i <= 3; i++) proto_uint(&dim, i, i * 4);
    proto_bytes(&launch, 1, buf_str(&dim));
    buf_reset(&dim);
    proto_uint(&dim, 1, 1);
    proto_uint(&dim, 4, 96);
    proto_bytes(&launch, 3, buf_str(&dim));
    proto_bytes(&x->m, 21, buf_str(&launch));
    buf_done(&launch);
    buf_done(&dim);
    proto_bytes(&x->n, 1, str_c("bytes"));
    proto_bytes(&x->n, 2, str_c("12"));
    wrap(x, 6);
    put(x, 53);
    end_packet(x);
}

TEST(render_stages_are_kernels_and_ends_may_come_late)
{
    struct made x = {0};
    make_torch(&x);
    struct trace *t = open_made(&x);
    REQUIRE(t != NULL);
    check_span(t, "aten::mm", 100, 100);
    check_span(t, "cudaLaunchKernel", 110, 10);
    check_span(t, "sgemm", 150, 40);
    CHECK_EQ_INT(t->kind[row_called(t, "aten::mm")], KIND_OP);
    const struct gpu_info *g = trace_gpu(t, row_called(t, "sgemm"));
    REQUIRE(g != NULL);
    CHECK_EQ_INT(g->device, 2);
    CHECK_EQ_INT(g->stream, 7);
    CHECK_EQ_INT(g->grid[2], 12);
    CHECK_EQ_INT(g->registers, 96);
    CHECK_EQ_INT(g->launch, row_called(t, "cudaLaunchKernel"));
    CHECK_EQ_INT((int64_t)damage_total(&t->damage), 0);
    trace_free(t);
    made_done(&x);
}

TEST(a_track_may_be_described_after_its_events)
{
    struct made x = {0};
    sequence(&x, 1, true);
    end_packet(&x);
    event(&x, 1, 10, 9, "early");
    event(&x, 2, 30, 9, NULL);
    thread_track(&x, 9, 70, 71);
    struct trace *t = open_made(&x);
    REQUIRE(t != NULL);
    check_span(t, "early", 10, 20);
    CHECK_EQ_INT(t->lanes[t->lane[0]].tid, 71);
    trace_free(t);
    made_done(&x);
}

/* rocprofv3: categories of its own, streams by the names of their tracks. */
TEST(device_tracks_by_name)
{
    struct made x = {0};
    named_track(&x, 4, 0, "COMPUTE AGENT [2] STREAM [3] (GPU)");
    thread_track(&x, 5, 30, 31);
    proto_bytes(&x.m, 22, str_c("hip_api"));
    note_int(&x, "corr_id", 6);
    event(&x, 1, 10, 5, "hipLaunchKernel");
    event(&x, 2, 20, 5, NULL);
    proto_bytes(&x.m, 22, str_c("kernel_dispatch"));
    note_int(&x, "corr_id", 6);
    event(&x, 1, 40, 4, "vec_add");
    event(&x, 2, 60, 4, NULL);
    struct trace *t = open_made(&x);
    REQUIRE(t != NULL);
    const struct gpu_info *g = trace_gpu(t, row_called(t, "vec_add"));
    REQUIRE(g != NULL);
    CHECK_EQ_INT(g->device, 2);
    CHECK_EQ_INT(g->stream, 3);
    CHECK_EQ_INT(g->launch, row_called(t, "hipLaunchKernel"));
    trace_free(t);
    made_done(&x);
}

TEST(ends_are_joined_by_track)
{
    struct made x = {0};
    thread_track(&x, 1, 30, 31);
    named_track(&x, 2, 1, "worker (overlap)");
    event(&x, 1, 10, 1, "a");
    event(&x, 1, 20, 2, "crosses");
    event(&x, 2, 30, 1, NULL);
    event(&x, 2, 40, 2, NULL);
    event(&x, 2, 50, 2, NULL);
    event(&x, 1, 60, 2, "open");
    event(&x, 3, 90, 1, "mark");
    struct trace *t = open_made(&x);
    REQUIRE(t != NULL);
    check_span(t, "a", 10, 20);
    check_span(t, "crosses", 20, 20);
    CHECK_EQ_INT(t->lane[row_called(t, "a")], t->lane[row_called(t, "crosses")]);
    CHECK_EQ_INT((int64_t)t->damage.count[DAMAGE_UNMATCHED_END], 2);
    CHECK(t->flags[row_called(t, "open")] & ROW_UNFINISHED);
    trace_free(t);
    made_done(&x);
}

/* One thread, and several with many small blocks, come to the same trace. */
static void check_blocks(struct made *x)
{
    struct trace *a = open_with(x, &(struct import_options){.n_threads = 1});
    struct trace *b = open_with(x, &(struct import_options){.n_threads = 4, .block_bytes = 64});
    REQUIRE(a != NULL && b != NULL);
    const char *differs = same_trace(a, b);
    CHECK_EQ_STR(differs ? differs : "same", "same");
    trace_free(a);
    trace_free(b);
}

TEST(blocks_and_threads_make_no_difference)
{
    struct made x = {0};
    make_sdk(&x);
    make_torch(&x);
    for (uint64_t i = 0; i < 200; i++) {
        event(&x, 1, 1000 + i * 10, 5, i % 2 ? "x" : "y");
        event(&x, 2, 1005 + i * 10, 5, NULL);
    }
    check_blocks(&x);
    made_done(&x);
}

/* Names come and are forgotten, spans last over many blocks, and some tracks are described last. */
TEST(threads_share_what_changes_on_the_way)
{
    struct made x = {0};
    for (uint64_t i = 0; i < 600; i++) {
        char name[32];
        snprintf(name, sizeof name, "name %d", (int)i);
        sequence(&x, 1, i % 50 == 0);
        interned(&x, 2, i % 50 + 1, name);
        put(&x, 12);
        end_packet(&x);
        if (i < 300) thread_track(&x, 100 + i, 1, (int)i);
        proto_uint(&x.m, 10, i % 50 + 1);
        note_int(&x, "correlation", (int64_t)i);
        event(&x, 1, 1000 + i * 10, 100 + i, NULL);
    }
    for (uint64_t i = 0; i < 600; i++) event(&x, 2, 9000 + i * 10, 100 + i, NULL);
    for (uint64_t i = 300; i < 600; i++) thread_track(&x, 100 + i, 2, (int)i);
    check_blocks(&x);
    struct trace *t = open_made(&x);
    check_span(t, "name 599", 1000 + 5990, 8000);
    CHECK_EQ_INT(t->n_rows, 600);
    trace_free(t);
    made_done(&x);
}

TEST(a_cut_file_gives_what_it_has)
{
    struct made x = {0};
    make_sdk(&x);
    x.file.n -= 3;
    struct trace *t = open_made(&x);
    REQUIRE(t != NULL);
    CHECK_EQ_INT((int64_t)t->damage.count[DAMAGE_TRUNCATED], 1);
    check_span(t, "inner", 1007000, 3000);
    trace_free(t);
    made_done(&x);
}

TEST(compressed_packets_are_named)
{
    struct made x = {0};
    proto_bytes(&x.packet, 50, str_c("xyz"));
    end_packet(&x);
    struct trace *t = NULL;
    struct err e;
    err_init(&e);
    CHECK_EQ_INT(import_bytes(buf_str(&x.file), "c.pftrace", NULL, &t, &e), ERR_UNSUPPORTED);
    CHECK(strstr(e.msg, "traceconv decompress_packets") != NULL);
    made_done(&x);
}

/* All begins, then all ends: the order joins what ends where the next begins. */
TEST(columns_of_begins_and_ends)
{
    struct made x = {0};
    thread_track(&x, 5, 30, 31);
    event(&x, 1, 100, 5, "whole");
    event(&x, 1, 100, 5, "first");
    event(&x, 1, 200, 5, "second");
    event(&x, 1, 300, 5, "third");
    event(&x, 2, 400, 5, NULL);
    event(&x, 2, 200, 5, NULL);
    event(&x, 2, 300, 5, NULL);
    event(&x, 2, 400, 5, NULL);
    struct trace *t = open_made(&x);
    REQUIRE(t != NULL);
    check_span(t, "whole", 100, 300);
    check_span(t, "first", 100, 100);
    check_span(t, "second", 200, 100);
    check_span(t, "third", 300, 100);
    CHECK_EQ_INT((int64_t)damage_total(&t->damage), 0);
    trace_free(t);
    made_done(&x);
}

/* Time goes back between tracks only: ends close the latest begin of theirs. */
TEST(ends_out_of_order_without_columns)
{
    struct made x = {0};
    thread_track(&x, 5, 30, 31);
    event(&x, 1, 100, 5, "outer");
    event(&x, 1, 150, 5, "inner");
    event(&x, 2, 180, 5, NULL);
    event(&x, 1, 110, 5, "early");
    event(&x, 2, 120, 5, NULL);
    event(&x, 2, 300, 5, NULL);
    struct trace *t = open_made(&x);
    REQUIRE(t != NULL);
    check_span(t, "outer", 100, 200);
    check_span(t, "inner", 150, 30);
    check_span(t, "early", 110, 10);
    trace_free(t);
    made_done(&x);
}

TEST(json_after_an_empty_line_is_json)
{
    static const char *const texts[] = {"\n{\"traceEvents\":[]}", "\n{\n\"traceEvents\":[]}",
                                        "\n[{\"ph\":\"X\"}]"};
    for (int i = 0; i < 3; i++) CHECK(!import_pftrace.sniff(str_c(texts[i])));
    struct made x = {0};
    make_sdk(&x);
    CHECK(import_pftrace.sniff(buf_str(&x.file)));
    made_done(&x);
}

TEST_MAIN
