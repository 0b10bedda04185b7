/* test_trace.c: the questions asked of a trace, on one made by hand:
 *
 *     row     0      1    2       |  3       4
 *     lane    thread              |  stream
 *     kind    op     op   launch  |  kernel  kernel
 *     parent  -      0    1       |  -       -              the launch caused both kernels */
#include "trace/trace.h"

#include "test.h"

enum { ROWS = 5 };

#define COLUMN(t, name, ...)                                   \
    do {                                                       \
        static const __typeof__(*(t)->name) v[] = __VA_ARGS__; \
        (t)->name = mem_alloc(sizeof v);                       \
        if (!(t)->name) abort();                               \
        memcpy((t)->name, v, sizeof v);                        \
    } while (0)

static struct trace *make(void)
{
    struct trace *t = trace_new();
    if (!t) abort();
    t->n_rows = ROWS;
    COLUMN(t, ts_ns, {10, 12, 15, 20, 40});
    COLUMN(t, dur_ns, {50, 30, 5, 10, 3});
    COLUMN(t, lane, {0, 0, 0, 1, 1});
    COLUMN(t, kind, {KIND_OP, KIND_OP, KIND_RUNTIME, KIND_KERNEL, KIND_KERNEL});
    COLUMN(t, aux, {0, UINT32_MAX, 0, 0, 1});
    COLUMN(t, parent, {ROW_NONE, 0, 1, ROW_NONE, ROW_NONE});
    COLUMN(t, src, {100, 200, 300, 400, 500});
    COLUMN(t, ops, {{.external_id = 7}});
    COLUMN(t, calls, {{.correlation = 9, .first_gpu = 0, .n_gpu = 2}});
    COLUMN(t, gpu, {{.launch = 2}, {.launch = ROW_NONE}});
    COLUMN(t, launched, {3, 4});
    COLUMN(
        t, lanes,
        {{.kind = LANE_THREAD, .begin = 0, .end = 3}, {.kind = LANE_STREAM, .begin = 3, .end = 5}});
    t->n_ops = 1;
    t->n_calls = 1;
    t->n_gpu = 2;
    t->n_launched = 2;
    t->n_lanes = 2;
    t->name = mem_zalloc(ROWS, sizeof *t->name);
    if (!t->name) abort();
    t->name[3] = intern_add(&t->strings, str_c("gemm"));
    return t;
}

TEST(side_tables)
{
    struct trace *t = make();
    REQUIRE(trace_op(t, 0) != NULL);
    CHECK_EQ_INT(trace_op(t, 0)->external_id, 7);
    CHECK(trace_op(t, 1) == NULL); /* no entry */
    CHECK(trace_op(t, 2) == NULL); /* another table */
    CHECK(trace_op(t, ROW_NONE) == NULL);
    CHECK_EQ_INT(trace_call(t, 2)->correlation, 9);
    CHECK(trace_gpu(t, 4) == &t->gpu[1]);
    CHECK(trace_py(t, 0) == NULL && trace_mem(t, 0) == NULL);
    trace_free(t);
}

TEST(launches_both_ways)
{
    struct trace *t = make();
    uint32_t n = 99;
    const row_t *rows = trace_launched(t, 2, &n);
    REQUIRE(CHECK_EQ_UINT(n, 2));
    CHECK_EQ_UINT(rows[1], 4);
    CHECK(trace_launched(t, 0, &n) == NULL);
    CHECK_EQ_UINT(n, 0);
    CHECK_EQ_UINT(trace_launch_of(t, 3), 2);
    CHECK_EQ_UINT(trace_launch_of(t, 4), ROW_NONE);
    CHECK_EQ_UINT(trace_launch_of(t, 0), ROW_NONE);
    t->n_launched = 1; /* a damaged file must not lead outside the table */
    CHECK(trace_launched(t, 2, &n) == NULL);
    CHECK_EQ_UINT(n, 0);
    trace_free(t);
}

TEST(ancestors)
{
    struct trace *t = make();
    CHECK_EQ_UINT(trace_up(t, 2, KIND_OP), 1);
    CHECK_EQ_UINT(trace_up(t, 2, KIND_RUNTIME), 2);
    CHECK_EQ_UINT(trace_up(t, 2, KIND_PYTHON), ROW_NONE);
    CHECK_EQ_UINT(trace_up(t, ROW_NONE, KIND_OP), ROW_NONE);
    trace_free(t);
}

TEST(times_and_names)
{
    struct trace *t = make();
    CHECK_EQ_INT(trace_end_ns(t, 1), 42);
    CHECK_EQ_UINT(trace_lower_bound(t, 0, 0), 0);
    CHECK_EQ_UINT(trace_lower_bound(t, 0, 12), 1);
    CHECK_EQ_UINT(trace_lower_bound(t, 0, 13), 2);
    CHECK_EQ_UINT(trace_lower_bound(t, 0, 16), 3);
    CHECK_EQ_UINT(trace_lower_bound(t, 1, 0), 3);
    CHECK_EQ_UINT(trace_lower_bound(t, 1, 41), 5);
    CHECK_EQ_BYTES(trace_name(t, 3), "gemm");
    CHECK_EQ_BYTES(trace_name(t, 4), "");
    CHECK(trace_is_work(t, 3) && !trace_is_work(t, 2));
    trace_free(t);
}

TEST(top_level_keys)
{
    struct trace *t = make();
    CHECK(trace_meta(t, "schemaVersion").p == NULL);
    t->metas = mem_zalloc(1, sizeof *t->metas);
    REQUIRE(t->metas != NULL);
    t->metas[0].key = intern_add(&t->strings, str_c("schemaVersion"));
    t->metas[0].value = intern_add(&t->strings, str_c("1"));
    t->n_metas = 1;
    CHECK_EQ_BYTES(trace_meta(t, "schemaVersion"), "1");
    trace_free(t);
}

static int read_args(struct args_source *self, uint64_t src, struct buf *out, struct err *e)
{
    buf_printf(out, "{\"at\": %llu}", (unsigned long long)src);
    return 0;
}

static void free_args(struct args_source *self)
{
    mem_free(self);
}

enum { LONG_ARGS = 20 << 20 };

/* One text that the args of every event hold. */
static int read_long_args(struct args_source *self, uint64_t src, struct buf *out, struct err *e)
{
    buf_pad(out, 'x', LONG_ARGS);
    return buf_status(out, e);
}

TEST(args_are_read_within_the_budget_of_a_trace)
{
    struct trace *t = make();
    struct buf b = {0};
    struct err e;
    int n = 0, rc = 0;
    err_init(&e);
    t->args = mem_zalloc(1, sizeof *t->args);
    REQUIRE(t->args != NULL);
    *t->args = (struct args_source){.read = read_long_args, .free = free_args};
    while (n < 100 && (rc = trace_args(t, 1, &b, &e)) == 0) {
        buf_reset(&b);
        n++;
    }
    CHECK_EQ_INT(rc, ERR_LIMIT);
    CHECK_EQ_INT(n, (int)(trace_text_budget(t) / LONG_ARGS));
    CHECK(strstr(e.msg, "out of proportion to the trace") != NULL);
    CHECK(buf_ok(&b) && b.n == 0 && b.most == 0); /* as it was before */
    buf_done(&b);
    trace_free(t);
}

TEST(args_come_from_their_source)
{
    struct trace *t = make();
    struct buf b;
    buf_init(&b);
    CHECK_EQ_INT(trace_args(t, 1, &b, NULL), 0);
    CHECK_EQ_STR(buf_c(&b), "{}");
    buf_reset(&b);
    t->args = mem_zalloc(1, sizeof *t->args);
    REQUIRE(t->args != NULL);
    *t->args = (struct args_source){.read = read_args, .free = free_args};
    CHECK_EQ_INT(trace_args(t, 1, &b, NULL), 0);
    CHECK_EQ_STR(buf_c(&b), "{\"at\": 200}");
    buf_done(&b);
    trace_free(t);
    trace_free(NULL);
}

static int make_empty(void *ctx)
{
    struct trace *t = trace_new();
    trace_free(t);
    return t ? 0 : -1;
}

TEST(out_of_memory)
{
    CHECK_EVERY_ALLOC(make_empty, NULL);
}

TEST_MAIN
