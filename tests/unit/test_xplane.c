/* test_xplane.c: profiles of XLA made message by message, and what they read as. */
#include "export/proto_out.h"
#include "import/import.h"
#include "import/importer.h"
#include "test.h"
#include "trace/verify.h"

/* A space under construction, from the inside out. */
struct made {
    struct buf space, plane, line, event, m, n;
};

static void made_done(struct made *x)
{
    struct buf *all[] = {&x->space, &x->plane, &x->line, &x->event, &x->m, &x->n};
    for (int i = 0; i < 6; i++) buf_done(all[i]);
}

static void close_into(struct buf *outer, uint32_t field, struct buf *inner)
{
    proto_bytes(outer, field, buf_str(inner));
    buf_reset(inner);
}

/* An entry of a plane's table of names: 4 for events, 5 for stats. */
static void name(struct made *x, uint32_t table, uint64_t id, const char *text)
{
    proto_uint(&x->n, 1, id);
    proto_bytes(&x->n, 2, str_c(text));
    proto_uint(&x->m, 1, id);
    close_into(&x->m, 2, &x->n);
    close_into(&x->plane, table, &x->m);
}

static void stat_int(struct made *x, uint64_t id, int64_t v)
{
    proto_uint(&x->m, 1, id);
    proto_int(&x->m, 4, v);
    close_into(&x->event, 4, &x->m);
}

static void stat_text(struct made *x, uint64_t id, const char *text)
{
    proto_uint(&x->m, 1, id);
    proto_bytes(&x->m, 5, str_c(text));
    close_into(&x->event, 4, &x->m);
}

static void event(struct made *x, uint64_t id, uint64_t ns, uint64_t dur_ns)
{
    proto_uint(&x->event, 1, id);
    proto_uint(&x->event, 2, ns * 1000);
    if (dur_ns) proto_uint(&x->event, 3, dur_ns * 1000);
    close_into(&x->line, 4, &x->event);
}

static void end_line(struct made *x, uint64_t id, const char *text)
{
    proto_uint(&x->line, 1, id);
    proto_bytes(&x->line, 2, str_c(text));
    proto_uint(&x->line, 3, 500);
    close_into(&x->plane, 3, &x->line);
}

static void begin_plane(struct made *x, const char *text)
{
    proto_bytes(&x->plane, 2, str_c(text));
}

static void end_plane(struct made *x)
{
    close_into(&x->space, 1, &x->plane);
}

static void make(struct made *x)
{
    begin_plane(x, "/device:GPU:3");
    name(x, 5, 1, "correlation_id");
    name(x, 5, 2, "kernel_details");
    name(x, 5, 3, "memcpy_details");
    name(x, 4, 1, "gemm");
    name(x, 4, 2, "MemcpyH2D");
    name(x, 4, 3, "7");
    stat_int(x, 1, 40);
    stat_text(x, 2,
              "regs:32 static_shared:16 dynamic_shared:8 grid:132,2,1 block:128,1,1 occ_pct:50");
    event(x, 1, 1000, 200);
    stat_text(x, 3, "kind_src:pageable kind_dst:device size:4096 dest:0 async:1");
    event(x, 2, 2000, 10);
    end_line(x, 77, "Stream #13(Compute,MemcpyH2D)");
    event(x, 3, 900, 500);
    end_line(x, 1, "Steps");
    event(x, 1, 1000, 200);
    end_line(x, 2, "XLA Ops");
    end_plane(x);
    begin_plane(x, "/host:CPU");
    name(x, 5, 1, "correlation_id");
    name(x, 5, 2, "hlo_op");
    name(x, 5, 3, "hlo_module");
    name(x, 5, 4, "step_num");
    name(x, 5, 5, "allocation_bytes");
    name(x, 5, 6, "allocator_name");
    name(x, 4, 1, "cuLaunchKernel");
    name(x, 4, 2, "$train.py:31 step");
    name(x, 4, 3, "train");
    name(x, 4, 4, "PjitFunction(f)");
    name(x, 4, 5, "MemoryDeallocation");
    stat_int(x, 1, 40);
    stat_text(x, 2, "dot.3");
    stat_text(x, 3, "jit_f");
    event(x, 1, 950, 20);
    event(x, 2, 800, 900);
    stat_int(x, 4, 12);
    event(x, 3, 700, 2000);
    event(x, 4, 900, 100);
    stat_int(x, 5, 256);
    stat_text(x, 6, "GPU_3_bfc");
    event(x, 5, 960, 0);
    end_line(x, 99, "python");
    end_plane(x);
}

static struct trace *open_made(struct made *x)
{
    struct trace *t = NULL;
    struct err e;
    err_init(&e);
    if (import_bytes(buf_str(&x->space), "made.xplane.pb", NULL, &t, &e) < 0)
        test_fail(__FILE__, __LINE__, "%s", e.msg);
    else if (trace_verify(t, 1, &e) < 0) test_fail(__FILE__, __LINE__, "%s", e.msg);
    return t;
}

static row_t row_called(const struct trace *t, const char *text)
{
    for (row_t r = 0; r < t->n_rows; r++)
        if (str_is(trace_name(t, r), text)) return r;
    test_fail(__FILE__, __LINE__, "no row %s", text);
    return 0;
}

TEST(a_kernel_with_its_launch)
{
    struct made x = {0};
    make(&x);
    struct trace *t = open_made(&x);
    REQUIRE(t != NULL);
    row_t r = row_called(t, "gemm");
    const struct gpu_info *g = trace_gpu(t, r);
    CHECK_EQ_INT(t->ts_ns[r], 1500);
    CHECK_EQ_INT(t->dur_ns[r], 200);
    CHECK_EQ_INT(g->device, 3);
    CHECK_EQ_INT(g->stream, 13);
    CHECK_EQ_INT(g->grid[1], 2);
    CHECK_EQ_INT(g->block[0], 128);
    CHECK_EQ_INT(g->registers, 32);
    CHECK_EQ_INT(g->shared_bytes, 24);
    CHECK_EQ_INT(g->occupancy_pct, 50);
    CHECK_EQ_INT(g->launch, row_called(t, "cuLaunchKernel"));
    CHECK_EQ_INT(t->parent[g->launch], row_called(t, "jit_f/dot.3"));
    struct buf args = {0};
    CHECK_EQ_INT(trace_args(t, g->launch, &args, NULL), 0);
    CHECK_EQ_STR(buf_c(&args),
                 "{\"correlation_id\":40,\"hlo_op\":\"dot.3\",\"hlo_module\":\"jit_f\"}");
    buf_done(&args);
    trace_free(t);
    made_done(&x);
}

TEST(kinds_by_name_and_stats)
{
    struct made x = {0};
    make(&x);
    struct trace *t = open_made(&x);
    REQUIRE(t != NULL);
    row_t copy = row_called(t, "MemcpyH2D (pageable -> device)");
    CHECK_EQ_INT(t->kind[copy], KIND_MEMCPY);
    CHECK_EQ_INT(trace_gpu(t, copy)->bytes, 4096);
    CHECK_EQ_INT(t->kind[row_called(t, "ProfilerStep#12")], KIND_ANNOTATION);
    CHECK_EQ_INT(t->kind[row_called(t, "train.py(31): step")], KIND_PYTHON);
    CHECK_EQ_INT(t->kind[row_called(t, "PjitFunction(f)")], KIND_OP);
    CHECK_EQ_INT(t->kind[row_called(t, "7")], KIND_GPU_ANNOTATION);
    const struct mem_info *m = trace_mem(t, row_called(t, "[memory]"));
    CHECK_EQ_INT(m->bytes, -256);
    CHECK_EQ_INT(m->device_id, 3);
    struct trace_counts c;
    trace_count(t, &c);
    CHECK_EQ_INT(c.by_kind[KIND_KERNEL], 1); /* XLA Ops are the same work again */
    trace_free(t);
    made_done(&x);
}

/* ROCm: the calls on a line of their own, the parts of the program on that of the thread. */
static struct trace *two_lines(const char *part)
{
    struct made x = {0};
    begin_plane(&x, "/host:CPU");
    name(&x, 5, 1, "correlation_id");
    name(&x, 5, 2, "hlo_op");
    name(&x, 4, 1, "hipLaunchKernel");
    name(&x, 4, 2, part);
    for (uint64_t i = 0; i < 10; i++) {
        stat_int(&x, 1, (int64_t)i);
        stat_text(&x, 2, "dot.3");
        event(&x, 1, 1000 * i + 100, 50);
    }
    end_line(&x, 70, "Host Threads/70");
    for (uint64_t i = 0; i < 10; i++) event(&x, 2, 1000 * i, 500);
    end_line(&x, 99, "python");
    end_plane(&x);
    struct trace *t = open_made(&x);
    made_done(&x);
    return t;
}

TEST(calls_join_the_thread_that_makes_them)
{
    struct trace *t = two_lines("dot.3");
    REQUIRE(t != NULL);
    CHECK_EQ_INT(t->n_lanes, 1);
    CHECK_EQ_INT(t->lanes[0].tid, 99);
    CHECK(str_is(trace_str(t, t->lanes[0].name), "python"));
    trace_free(t);
}

/* It waits in C++, so the function is the call. */
TEST(a_function_of_jax_that_waits_is_a_call)
{
    struct made x = {0};
    begin_plane(&x, "/host:CPU");
    name(&x, 4, 1, "$train.py:31 step");
    name(&x, 4, 2, "$api.py:3105 block_until_ready");
    name(&x, 4, 3, "$api.py:40 jit");
    event(&x, 1, 100, 900);
    event(&x, 2, 200, 500);
    event(&x, 3, 800, 100);
    end_line(&x, 99, "python");
    end_plane(&x);
    struct trace *t = open_made(&x);
    REQUIRE(t != NULL);
    row_t r = row_called(t, "jax.block_until_ready");
    REQUIRE(r != ROW_NONE);
    CHECK_EQ_INT(t->kind[r], KIND_RUNTIME);
    CHECK_EQ_INT(t->dur_ns[r], 500);
    CHECK(str_is(trace_name(t, t->parent[r]), "train.py(31): step"));
    CHECK(row_called(t, "api.py(40): jit") != ROW_NONE);
    trace_free(t);
    made_done(&x);
}

TEST(calls_inside_other_parts_stay_apart)
{
    struct trace *t = two_lines("dot.4");
    REQUIRE(t != NULL);
    CHECK_EQ_INT(t->n_lanes, 2);
    trace_free(t);
}

TEST_MAIN
