/* test_json.c: what JSON traces of all versions, sound and damaged, read as. */
#include <stdlib.h>
#include <time.h>
#include <zlib.h>

#include "import/import.h"
#include "test.h"
#include "trace/verify.h"

#define ARRAY(events) "{\"traceEvents\": [" events "]}"

static struct trace *read_text(const char *text)
{
    struct trace *t = NULL;
    struct err e;
    err_init(&e);
    if (import_bytes(str_c(text), "test", NULL, &t, &e) < 0) {
        test_fail(__FILE__, __LINE__, "cannot read: %s", e.msg);
        return NULL;
    }
    if (trace_verify(t, 1, &e) < 0) test_fail(__FILE__, __LINE__, "%s", e.msg);
    return t;
}

/* The error message reading `text` ends with, or "". */
static const char *error_of(struct str text)
{
    static struct err e;
    struct trace *t = NULL;
    err_init(&e);
    if (import_bytes(text, "test", NULL, &t, &e) == 0) trace_free(t);
    return e.msg;
}

static void print_id(struct buf *b, const struct trace *t, int64_t number, str_id text)
{
    if (number == ID_NONE) buf_printf(b, "'" STR_FMT "'", STR_ARG(trace_str(t, text)));
    else buf_printf(b, "%" PRId64, number);
}

/* Every row: kind, name, process/thread, start+duration, depth by dots, flags. */
static const char *rows_of(const struct trace *t)
{
    static struct buf b;
    buf_reset(&b);
    if (!t) return "(not read)";
    for (row_t r = 0; r < t->n_rows; r++) {
        const struct lane *l = &t->lanes[t->lane[r]];
        const struct process *p = &t->processes[l->process];
        for (int i = 0; i < t->depth[r]; i++) buf_addc(&b, '.');
        buf_printf(&b, "%s ", kind_name(t->kind[r]));
        buf_add_str(&b, trace_name(t, r));
        buf_addc(&b, ' ');
        print_id(&b, t, p->pid, p->pid_text);
        buf_addc(&b, '/');
        print_id(&b, t, l->tid, l->tid_text);
        buf_printf(&b, " %c%" PRId64 "+%" PRId64, t->phase[r], t->ts_ns[r], t->dur_ns[r]);
        if (t->flags[r] & ROW_CROSSES) buf_adds(&b, " crosses");
        if (t->flags[r] & ROW_UNFINISHED) buf_adds(&b, " unfinished");
        if (t->flags[r] & ROW_NO_TIME) buf_adds(&b, " timeless");
        buf_addc(&b, '\n');
    }
    return buf_c(&b);
}

/* Reasons and what stands there: "bare_word@N/A,1.0,[[], truncated@" (at most five bytes each). */
static const char *damage_of(const struct trace *t, const char *text)
{
    static struct buf b;
    buf_reset(&b);
    for (int r = 0; t && r < DAMAGE_REASONS; r++) {
        if (!t->damage.count[r]) continue;
        buf_printf(&b, "%s%s@", b.n ? " " : "", damage_name(r));
        for (uint64_t i = 0; i < t->damage.count[r] && i < 3; i++)
            buf_printf(&b, "%s%.5s", i ? "|" : "", text + t->damage.place[r][i]);
    }
    return buf_c(&b);
}

#define CHECK_ROWS(text, rows)                 \
    do {                                       \
        struct trace *t_ = read_text(text);    \
        CHECK_EQ_STR(rows_of(t_), rows);       \
        CHECK_EQ_STR(damage_of(t_, text), ""); \
        trace_free(t_);                        \
    } while (0)

#define CHECK_DAMAGED(text, rows, damage)          \
    do {                                           \
        struct trace *t_ = read_text(text);        \
        CHECK_EQ_STR(rows_of(t_), rows);           \
        CHECK_EQ_STR(damage_of(t_, text), damage); \
        trace_free(t_);                            \
    } while (0)

/* An event with the usual members; EV("a", 1, 2) is an op from 1 us that takes 2 us. */
#define EV(name, ts, dur)                                                       \
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"" name "\", \"pid\": 5, " \
    "\"tid\": 6, \"ts\": " #ts ", \"dur\": " #dur "}"

/* Some builds for AMD write no correlation: calls and their work share external ids, which are not
 * those of the operators. */
static struct trace *linked_by_external_id(int first_call)
{
    static struct buf b;
    buf_reset(&b);
    buf_adds(&b,
             "{\"traceEvents\": [{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,"
             "\"tid\":1,\"ts\":0,\"dur\":90,\"args\":{\"External id\":513}}");
    for (int i = 0; i < 3; i++)
        buf_printf(&b,
                   ",{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"hipExtModuleLaunchKernel\","
                   "\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":5,\"args\":{\"External id\":%d}}"
                   ",{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"Cijk\",\"pid\":2,\"tid\":0,"
                   "\"ts\":%d,\"dur\":80,\"args\":{\"External id\":%d}}",
                   10 + i * 20, first_call * (i + 1), 100 + i * 80, 25 * (i + 1));
    buf_adds(&b, "]}");
    return read_text(buf_str(&b).p);
}

TEST(work_without_correlation_is_launched_by_the_call_with_its_external_id)
{
    struct trace *t = linked_by_external_id(25);
    REQUIRE(t != NULL);
    CHECK_EQ_UINT(t->n_launched, 3);
    CHECK(!t->external_ids_usable); /* no operator's */
    trace_free(t);
    t = linked_by_external_id(7); /* the ids of calls are of another kind: nothing is known */
    REQUIRE(t != NULL);
    CHECK_EQ_UINT(t->n_launched, 0);
    trace_free(t);
}

TEST(nests_by_containment)
{
    CHECK_ROWS(ARRAY(EV("a", 0, 100) "," EV("b", 10, 20) "," EV("c", 12, 3) "," EV("d", 50, 50)),
               "cpu_op a 5/6 X0+100000\n"
               ".cpu_op b 5/6 X10000+20000\n"
               "..cpu_op c 5/6 X12000+3000\n"
               ".cpu_op d 5/6 X50000+50000\n");
}

TEST(sorts_longest_first_then_by_place_in_the_file)
{
    CHECK_ROWS(ARRAY(EV("late", 9, 1) "," EV("in", 1, 2) "," EV("out", 1, 5) "," EV("twin", 1, 2)),
               "cpu_op out 5/6 X1000+5000\n"
               ".cpu_op in 5/6 X1000+2000\n"
               "..cpu_op twin 5/6 X1000+2000\n"
               "cpu_op late 5/6 X9000+1000\n");
}

TEST(crossing_rows_are_kept)
{
    /* b lies mostly inside a; c mostly outside b, inside a; d outlives everything */
    CHECK_ROWS(ARRAY(EV("a", 0, 100) "," EV("b", 10, 20) "," EV("c", 29, 10) "," EV("d", 98, 50)),
               "cpu_op a 5/6 X0+100000\n"
               ".cpu_op b 5/6 X10000+20000\n"
               ".cpu_op c 5/6 X29000+10000 crosses\n"
               "cpu_op d 5/6 X98000+50000 crosses\n");
    CHECK_ROWS(ARRAY(EV("a", 0, 100) "," EV("b", 1, 99.5) "," EV("c", 2, 3)),
               "cpu_op a 5/6 X0+100000\n"
               ".cpu_op b 5/6 X1000+99500 crosses\n"
               "..cpu_op c 5/6 X2000+3000\n");
}

TEST(times_are_exact)
{
    static const struct {
        const char *us;
        int64_t ns;
    } cases[] = {
        {"0", 0},
        {"3846726383651.519", 3846726383651519},
        {"1790857026000000.123", 1790857026000000123},
        {"1.5", 1500},
        {"1.0004", 1000},
        {"1.0005", 1001},
        {"1.00049999", 1000},
        {"1e3", 1000000},
        {"1.5E+2", 150000},
        {"12345e-3", 12345},
        {"9007199254740.993", 9007199254740993},
        {"-2.5", -2500},
        {"\"7.25\"", 7250},
        {"\"0x10\"", 16000},
        {"0.000000000000000000000000000001", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        snprintf(text, sizeof text, "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":%s,\"dur\":1}]",
                 cases[i].us);
        struct trace *t = read_text(text);
        REQUIRE(t && t->n_rows == 1);
        if (!CHECK_EQ_INT(t->ts_ns[0], cases[i].ns)) printf("  for %s\n", cases[i].us);
        trace_free(t);
    }
}

TEST(links_launches)
{
    struct trace *t = read_text(
        "{\"traceEvents\":["
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k2\",\"pid\":0,\"tid\":7,\"ts\":30,\"dur\":5,"
        "\"args\":{\"device\":0,\"stream\":7,\"correlation\":11}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k1\",\"pid\":0,\"tid\":7,\"ts\":20,\"dur\":5,"
        "\"args\":{\"device\":0,\"stream\":7,\"correlation\":11,\"External id\":3,"
        "\"grid\":[1, 2,3],\"block\":[32,1,1],\"registers per thread\":40,\"shared memory\":1024,"
        "\"est. achieved occupancy %\":13,\"blocks per SM\":0.5,\"warps per SM\":4}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"early\",\"pid\":0,\"tid\":7,\"ts\":1,\"dur\":"
        "5,"
        "\"args\":{\"device\":0,\"stream\":7,\"correlation\":4}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"zero\",\"pid\":0,\"tid\":7,\"ts\":50,\"dur\":"
        "5,"
        "\"args\":{\"device\":0,\"stream\":7,\"correlation\":0}},"
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaGraphLaunch\",\"pid\":9,\"tid\":9,"
        "\"ts\":10,\"dur\":5,\"args\":{\"correlation\":11,\"cbid\":1}},"
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"other\",\"pid\":9,\"tid\":9,"
        "\"ts\":40,\"dur\":5,\"args\":{\"correlation\":0}}]}");
    REQUIRE(t);
    CHECK_EQ_STR(rows_of(t), "cuda_runtime cudaGraphLaunch 9/9 X10000+5000\n"
                             "cuda_runtime other 9/9 X40000+5000\n"
                             "kernel early 0/7 X1000+5000\n"
                             "kernel k1 0/7 X20000+5000\n"
                             "kernel k2 0/7 X30000+5000\n"
                             "kernel zero 0/7 X50000+5000\n");
    uint32_t n;
    const row_t *launched = trace_launched(t, 0, &n);
    REQUIRE(n == 2);
    CHECK_EQ_UINT(launched[0], 3);
    CHECK_EQ_UINT(launched[1], 4);
    CHECK_EQ_UINT(trace_launch_of(t, 4), 0);
    CHECK_EQ_UINT(trace_launch_of(t, 2), ROW_NONE);
    CHECK_EQ_UINT(trace_launch_of(t, 5), ROW_NONE);
    const struct gpu_info *g = trace_gpu(t, 3);
    CHECK_EQ_UINT(g->grid[1], 2);
    CHECK_EQ_UINT(g->block[0], 32);
    CHECK_EQ_UINT(g->registers, 40);
    CHECK_EQ_UINT(g->shared_bytes, 1024);
    CHECK_EQ_INT(g->occupancy_pct, 13);
    CHECK_EQ_INT(g->external_id, 3);
    CHECK_NEAR(g->blocks_per_sm, 0.5, 0);
    CHECK_EQ_INT(trace_gpu(t, 4)->occupancy_pct, -1);
    CHECK_EQ_INT(trace_gpu(t, 4)->external_id, ID_NONE);
    trace_free(t);
}

#define CALL(pid, ts, corr)                                                            \
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"l\",\"pid\":" pid ",\"tid\":1," \
    "\"ts\":" #ts ",\"dur\":1,\"args\":{\"correlation\":" #corr "}}"
#define KERNEL(pid, ts, corr, ext)                                               \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":" pid ",\"tid\":7," \
    "\"ts\":" #ts ",\"dur\":1,\"args\":{\"stream\":7,\"correlation\":" #corr     \
    ",\"External id\":" #ext "}}"

TEST(processes_that_reuse_ids_are_kept_apart)
{
    struct trace *t =
        read_text("[" CALL("\"[TP00] 99\"", 10, 5) "," CALL("\"[TP01] 98\"", 12, 5) "," KERNEL(
            "\"[TP00] 0\"", 20, 5, 1) "," KERNEL("\"[TP01] 0\"", 20, 5, 1) "]");
    REQUIRE(t && t->n_rows == 4);
    CHECK_EQ_UINT(trace_launch_of(t, 2), 0);
    CHECK_EQ_UINT(trace_launch_of(t, 3), 1);
    trace_free(t);
    /* the call of the first was made before recording began: that of the other is not meant */
    t = read_text("[" CALL("\"[TP00] 99\"", 10, 6) "," CALL("\"[TP01] 98\"", 12, 5) "," KERNEL(
        "\"[TP00] 0\"", 20, 5, 1) "," KERNEL("\"GPU 0\"", 21, 5, 1) "]");
    REQUIRE(t && t->n_rows == 4);
    CHECK_EQ_UINT(trace_launch_of(t, 2), 1); /* what is called "GPU 0" has no calls of its own */
    CHECK_EQ_UINT(trace_launch_of(t, 3), ROW_NONE);
    trace_free(t);
    /* nothing tells them apart but time: the latest call not after the kernel, give or take skew */
    t = read_text("[" CALL("99", 10, 5) "," CALL("98", 50, 5) "," KERNEL("0", 45, 5, 1) "," KERNEL(
        "1", 200, 5, 1) "]");
    REQUIRE(t && t->n_rows == 4);
    CHECK_EQ_UINT(trace_launch_of(t, 2), 0); /* 98 comes before 99 */
    CHECK_EQ_UINT(trace_launch_of(t, 3), 0);
    trace_free(t);
    t = read_text("[" CALL("99", 10, 5) "," CALL("98", 90, 5) "," KERNEL("0", 45, 5, 1) "]");
    REQUIRE(t && t->n_rows == 3);
    CHECK_EQ_UINT(trace_launch_of(t, 2), 1);
    trace_free(t);
}

TEST(external_ids_that_copy_the_correlation_are_not_usable)
{
    struct trace *t = read_text("[" KERNEL("0", 1, 5, 5) "," KERNEL("0", 2, 6, 6) "]");
    CHECK(t && !t->external_ids_usable);
    trace_free(t);
    t = read_text("[" KERNEL("0", 1, 5, 1) "," KERNEL("0", 2, 6, 6) "]");
    CHECK(t && t->external_ids_usable);
    trace_free(t);
}

#define WAIT(ts)                                                                 \
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaDeviceSynchronize\"," \
    "\"pid\":5,\"tid\":6,\"ts\":" #ts ",\"dur\":1,\"args\":{\"correlation\":0}}"
#define FRAME(name, ts, dur)                                                     \
    "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"" name "\",\"pid\":5," \
    "\"tid\":6,\"ts\":" #ts ",\"dur\":" #dur "}"

/* Starts, in us, of the rows marked as the profiler's own. */
static const char *profilers_own(const char *text)
{
    static struct buf b;
    struct trace *t = read_text(text);
    buf_reset(&b);
    for (row_t r = 0; t && r < t->n_rows; r++)
        if (t->flags[r] & ROW_PROFILER) buf_printf(&b, "%" PRId64 " ", t->ts_ns[r] / 1000);
    trace_free(t);
    return buf_c(&b);
}

TEST(the_profilers_own_wait)
{
    CHECK_EQ_STR(profilers_own("[" EV("a", 1, 2) "," WAIT(10) "," WAIT(20) "]"), "20 ");
    CHECK_EQ_STR(profilers_own("[" EV("a", 1, 99) "," WAIT(10) "," WAIT(20) "]"), "");
    CHECK_EQ_STR(
        profilers_own("[" WAIT(10) "," WAIT(20) "," CALL("5", 30, 7) "," KERNEL("0", 40, 7, 1) "]"),
        "");
    CHECK_EQ_STR(
        profilers_own("[" FRAME("torch/cuda/__init__.py(1): synchronize", 5, 9) "," WAIT(10) "]"),
        "");
    CHECK_EQ_STR(profilers_own("[" FRAME("torch/profiler/profiler.py(879): stop", 5, 9) "," FRAME(
                     "torch/cuda/__init__.py(1): synchronize", 6, 8) "," WAIT(10) "]"),
                 "10 ");
    CHECK_EQ_STR(profilers_own("[{\"ph\":\"X\",\"cat\":\"overhead\",\"name\":\"Buffer Flush\","
                               "\"pid\":-1,\"tid\":0,\"ts\":3,\"dur\":1}]"),
                 "3 ");
}

TEST(device_and_process_pids_may_collide)
{
    CHECK_ROWS(
        "[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op\",\"pid\":1,\"tid\":7,\"ts\":1,\"dur\":9},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":1,\"tid\":7,\"ts\":2,\"dur\":3}]",
        "cpu_op op 1/7 X1000+9000\n"
        "kernel k 1/7 X2000+3000\n");
}

TEST(ids_of_every_kind)
{
    struct trace *t =
        read_text("[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":\"stream "
                  "7\",\"ts\":1,\"dur\":1},"
                  "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":\"12\",\"tid\":-1878,"
                  "\"ts\":1,\"dur\":1},"
                  "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"b\",\"pid\":12,\"tid\":"
                  "18446744073709551615,\"ts\":1,\"dur\":1},"
                  "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"c\",\"pid\":\"CPU "
                  "functions\",\"tid\":0,\"ts\":1,\"dur\":1},"
                  "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"d\",\"ts\":1,\"dur\":1}]");
    CHECK_EQ_STR(rows_of(t), "cpu_op a 12/-1878 X1000+1000\n"
                             "cpu_op b 12/-1 X1000+1000\n"
                             "cpu_op d ''/'' X1000+1000\n"
                             "cpu_op c 'CPU functions'/0 X1000+1000\n"
                             "kernel k 0/'stream 7' X1000+1000\n");
    CHECK_EQ_STR(damage_of(t, ""), "");
    REQUIRE(t && t->n_rows == 5);
    CHECK_EQ_INT(t->lanes[t->lane[4]].stream, 7);
    CHECK_EQ_INT(t->lanes[t->lane[4]].device, 0);
    trace_free(t);
}

TEST(unsigned_64_bit_args)
{
    struct trace *t = read_text(
        "[{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,"
        "\"ts\":5,"
        "\"args\":{\"Addr\":18446603336221196288,\"Bytes\":-512,\"Device Type\":1,\"Device Id\":0,"
        "\"Total Allocated\":1125899906842623,\"Total Reserved\":1,\"finished\":false}},"
        "{\"ph\":\"i\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":6,\"args\":{\"Bytes\":4}},"
        "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"name\":\"[OutOfMemory]\",\"pid\":1,\"tid\":"
        "1,\"ts\":7}]");
    CHECK_EQ_STR(rows_of(t), "memory [memory] 1/1 i5000+0\n"
                             "memory [memory] 1/1 i6000+0\n"
                             "instant [OutOfMemory] 1/1 i7000+0\n");
    REQUIRE(t && t->n_rows == 3);
    CHECK_EQ_UINT(trace_mem(t, 0)->addr, 18446603336221196288u);
    CHECK_EQ_INT(trace_mem(t, 0)->bytes, -512);
    CHECK_EQ_INT(trace_mem(t, 0)->total_allocated, 1125899906842623);
    CHECK_EQ_INT(trace_mem(t, 1)->total_allocated, -1);
    CHECK_EQ_INT(trace_mem(t, 1)->device_type, -1);
    trace_free(t);
}

/* What no recording can hold is as good as not written: adding it up would overflow. */
TEST(numbers_beyond_all_bounds)
{
    struct trace *t = read_text(
        "{\"deviceProperties\":[{\"id\":0,\"name\":\"x\",\"computeMajor\":-2147483648,\"numSms\":-"
        "1,"
        "\"totalGlobalMem\":9223372036854775807}],\"traceEvents\":["
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":5,\"dur\":1},"
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"b\",\"pid\":1,\"tid\":1,\"ts\":6,\"dur\":1e15}"
        ","
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"c\",\"pid\":1,\"tid\":1,\"ts\":3e15,\"dur\":1}"
        ","
        "{\"ph\":\"B\",\"name\":\"d\",\"pid\":1,\"tid\":2,\"ts\":-3e15},"
        "{\"ph\":\"E\",\"name\":\"d\",\"pid\":1,\"tid\":2,\"ts\":3e15},"
        "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"m\",\"pid\":0,\"tid\":7,\"ts\":7,\"dur\":"
        "1,"
        "\"args\":{\"bytes\":4611686018427387904}},"
        "{\"ph\":\"i\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":8,\"args\":{"
        "\"Bytes\":-4611686018427387904,\"Total Allocated\":4611686018427387904}}]}");
    REQUIRE(t != NULL);
    CHECK_EQ_STR(rows_of(t), "cpu_op c 1/1 i0+0 timeless\n"
                             "cpu_op a 1/1 X5000+1000\n"
                             ".cpu_op b 1/1 i6000+0\n"
                             "memory [memory] 1/1 i8000+0\n"
                             "other d 1/2 i0+0 timeless\n"
                             "gpu_memcpy m 0/7 X7000+1000\n");
    CHECK_EQ_UINT(t->damage.count[DAMAGE_NO_TIME], 3);
    CHECK_EQ_INT(t->end_ns - t->begin_ns, 3000);
    CHECK_EQ_INT(trace_mem(t, 3)->bytes, 0);
    CHECK_EQ_INT(trace_mem(t, 3)->total_allocated, -1);
    CHECK_EQ_INT(trace_gpu(t, 5)->bytes, -1);
    CHECK_EQ_INT(t->devices[0].major, 0);
    CHECK_EQ_INT(t->devices[0].n_sms, 0);
    CHECK_EQ_INT(t->devices[0].memory_bytes, 0);
    trace_free(t);
}

/* Each span could be, and all of them together could not. */
TEST(sums_beyond_all_bounds)
{
    struct buf b;
    buf_init(&b);
    buf_printf(&b, "[");
    for (int i = 0; i < 300; i++)
        buf_printf(&b,
                   "%s{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":%d,\"ts\":1,\"dur\":1.1e12}",
                   i ? "," : "", i);
    buf_printf(&b, "]");
    struct trace *t = NULL;
    struct err e;
    err_init(&e);
    CHECK_EQ_INT(import_bytes(buf_str(&b), "x", NULL, &t, &e), ERR_LIMIT);
    CHECK_EQ_STR(e.msg, "its times or sizes add up to more than any recording can");
    buf_done(&b);
}

TEST(shapes_are_kept_as_written)
{
    struct trace *t = read_text(
        "[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":5,"
        "\"dur\":1,"
        "\"args\":{\"External id\":7,\"Sequence number\":3,\"Fwd thread id\":2,"
        "\"Input Dims\":[[2, 3], [], [[1],[2]]],\"Input type\":[\"float\", \"\", \"a\\\"]\"],"
        "\"Concrete Inputs\":[\"\", \"[1, 2]\"]}}]");
    REQUIRE(t && t->n_rows == 1);
    const struct op_info *op = trace_op(t, 0);
    CHECK_EQ_INT(op->external_id, 7);
    CHECK_EQ_INT(op->sequence, 3);
    CHECK_EQ_INT(op->fwd_thread, 2);
    CHECK_EQ_BYTES(trace_str(t, op->dims), "[[2, 3], [], [[1],[2]]]");
    CHECK_EQ_BYTES(trace_str(t, op->types), "[\"float\", \"\", \"a\\\"]\"]");
    CHECK_EQ_BYTES(trace_str(t, op->concrete), "[\"\", \"[1, 2]\"]");
    trace_free(t);
}

TEST(python_ids)
{
    struct trace *t =
        read_text("[{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"f\",\"pid\":1,\"tid\":1,"
                  "\"ts\":5,\"dur\":1,"
                  "\"args\":{\"Python id\":3,\"Python parent id\":null,\"Ev Idx\":4}},"
                  "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"g\",\"pid\":1,\"tid\":1,"
                  "\"ts\":6,\"dur\":0,"
                  "\"args\":{\"Python id\":4,\"Python parent id\":3,\"Python module id\":9}}]");
    REQUIRE(t && t->n_rows == 2);
    CHECK_EQ_INT(trace_py(t, 0)->parent_id, -1);
    CHECK_EQ_INT(trace_py(t, 0)->module_id, -1);
    CHECK_EQ_INT(trace_py(t, 1)->parent_id, 3);
    CHECK_EQ_INT(trace_py(t, 1)->module_id, 9);
    trace_free(t);
}

TEST(names_are_decoded)
{
    CHECK_ROWS(
        "[{\"ph\":\"X\",\"name\":\"a\\\"b\\\\c\\/\\n\\u00e9\\ud83d\\ude00\",\"ts\":1,\"dur\":1}]",
        "other a\"b\\c/\n\xc3\xa9\xf0\x9f\x98\x80 ''/'' X1000+1000\n");
    CHECK_ROWS("[{\"ph\":\"X\",\"name\":\"half \\ud83d\",\"ts\":1,\"dur\":1}]",
               "other half \xef\xbf\xbd ''/'' X1000+1000\n");
}

TEST(begin_and_end_events_become_spans)
{
    CHECK_ROWS("[{\"ph\":\"B\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1},"
               "{\"ph\":\"B\",\"name\":\"b\",\"pid\":1,\"tid\":1,\"ts\":2},"
               "{\"ph\":\"B\",\"name\":\"c\",\"pid\":1,\"tid\":2,\"ts\":2},"
               "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":5},"
               "{\"ph\":\"E\",\"pid\":1,\"tid\":2,\"ts\":7},"
               "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":9}]",
               "other a 1/1 X1000+8000\n"
               ".other b 1/1 X2000+3000\n"
               "other c 1/2 X2000+5000\n");
    CHECK_DAMAGED("[{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":5},"
                  "{\"ph\":\"B\",\"name\":\"b\",\"pid\":1,\"tid\":1,\"ts\":6},"
                  "{\"ph\":\"B\",\"name\":\"c\",\"pid\":1,\"tid\":1,\"ts\":7}]",
                  "other b 1/1 X6000+1000 unfinished\n"
                  ".other c 1/1 X7000+0 unfinished\n",
                  "unmatched_end@{\"ph\"|{\"ph\"|{\"ph\"");
}

TEST(unknown_work_stays_on_its_device)
{
    struct trace *t = read_text(
        "[{\"ph\":\"X\",\"cat\":\"npu_task\",\"name\":\"n\",\"pid\":2,\"tid\":3,\"ts\":5,\"dur\":1,"
        "\"args\":{\"stream\":3,\"correlation\":9}},"
        "{\"ph\":\"X\",\"cat\":\"whatever\",\"name\":\"w\",\"pid\":777777,\"tid\":3,\"ts\":5,"
        "\"dur\":1}]");
    CHECK_EQ_STR(rows_of(t), "other w 777777/3 X5000+1000\n"
                             "other n 2/3 X5000+1000\n");
    REQUIRE(t && t->n_rows == 2);
    CHECK_EQ_INT(t->lanes[t->lane[1]].kind, LANE_STREAM);
    CHECK_EQ_INT(t->lanes[t->lane[1]].device, 2);
    CHECK_EQ_BYTES(trace_str(t, t->cats[t->cat[1]]), "npu_task");
    trace_free(t);
}

TEST(labels_and_flows)
{
    struct trace *t = read_text(
        "[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":5,\"tid\":0,\"args\":{\"name\":"
        "\"python\"}},"
        "{\"ph\":\"M\",\"name\":\"process_labels\",\"pid\":5,\"tid\":0,\"args\":{\"labels\":"
        "\"CPU\"}},"
        "{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":5,\"args\":{\"sort_index\":-3}},"
        "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":5,\"tid\":6,\"args\":{\"name\":\"main\"}},"
        "{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":5,\"tid\":6,\"args\":{\"sort_index\":"
        "4}},"
        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":12,\"args\":{\"name\":\"unused\"}}," EV(
            "a", 1, 2) ",{\"ph\":\"s\",\"id\":3,\"pid\":5,\"tid\":6,\"ts\":1,\"cat\":\"ac2g\","
                       "\"name\":\"ac2g\"},"
                       "{\"ph\":\"f\",\"id\":3,\"pid\":0,\"tid\":7,\"ts\":2,\"cat\":\"ac2g\","
                       "\"name\":\"ac2g\",\"bp\":\"e\"}]");
    CHECK_EQ_STR(rows_of(t), "cpu_op a 5/6 X1000+2000\n");
    REQUIRE(t && t->n_processes == 2 && t->n_flows == 2);
    CHECK_EQ_BYTES(trace_str(t, t->processes[1].name), "python");
    CHECK_EQ_BYTES(trace_str(t, t->processes[1].labels), "CPU");
    CHECK_EQ_INT(t->processes[1].sort_index, -3);
    CHECK_EQ_BYTES(trace_str(t, t->lanes[0].name), "main");
    CHECK_EQ_INT(t->lanes[0].sort_index, 4);
    CHECK_EQ_UINT(t->flows[0].lane, 0);
    CHECK_EQ_UINT(t->flows[1].lane, 1); /* empty, made for it */
    CHECK_EQ_UINT(t->lanes[1].begin, t->lanes[1].end);
    CHECK_EQ_INT(t->processes[t->lanes[1].process].pid, 0);
    CHECK_EQ_INT(t->flows[1].id, 3);
    CHECK_EQ_INT(t->flows[1].phase, 'f');
    trace_free(t);
}

TEST(header_before_and_after)
{
    struct trace *t = read_text(
        "\xef\xbb\xbf \n{\"metadata\": {\"a\": [1, {\"traceEvents\": 3}]}, \"deviceProperties\": ["
        "{\"id\": 1, \"name\": \"GPU \\\"X\\\"\", \"totalGlobalMem\": 150109880320, "
        "\"computeMajor\": 9,"
        "\"numSms\": 132}, {\"id\": 2, \"name\": \"Y\"}], \"traceEvents\": [" EV(
            "a", 1, 2) "],"
                       "\"baseTimeNanoseconds\": 1790857026000000000, \"traceEvents\": [" EV(
                           "b", 4, 2) "], \"traceName\": \"x\"}\n");
    CHECK_EQ_STR(rows_of(t), "cpu_op a 5/6 X1000+2000\ncpu_op b 5/6 X4000+2000\n");
    CHECK_EQ_STR(damage_of(t, ""), "");
    REQUIRE(t && t->n_devices == 2);
    CHECK_EQ_INT(t->base_ns, 1790857026000000000);
    CHECK_EQ_BYTES(trace_str(t, t->devices[0].name), "GPU \"X\"");
    CHECK_EQ_INT(t->devices[0].n_sms, 132);
    CHECK_EQ_INT(t->devices[0].memory_bytes, 150109880320);
    CHECK_EQ_BYTES(trace_meta(t, "metadata"), "{\"a\": [1, {\"traceEvents\": 3}]}");
    CHECK_EQ_BYTES(trace_meta(t, "traceName"), "\"x\"");
    CHECK(trace_meta(t, "nothing").p == NULL);
    trace_free(t);
}

TEST(window_and_bounds)
{
    struct trace *t = read_text("[" EV(
        "a", 100,
        20) ",{\"ph\":\"X\",\"cat\":\"Trace\",\"name\":\"PyTorch Profiler (0)\",\"pid\":\"Spans\","
            "\"tid\":\"PyTorch Profiler\",\"ts\":90,\"dur\":50},{\"ph\":\"i\",\"name\":\"Record "
            "Window End\","
            "\"pid\":\"\",\"tid\":\"\",\"ts\":500}]");
    REQUIRE(t);
    CHECK_EQ_INT(t->begin_ns, 100000);
    CHECK_EQ_INT(t->end_ns, 120000);
    CHECK_EQ_INT(t->window_begin_ns, 90000);
    CHECK_EQ_INT(t->window_end_ns, 140000);
    trace_free(t);
    t = read_text(
        "[" EV("a", 100, 20) ",{\"ph\":\"i\",\"name\":\"Record Window End\",\"ts\":500}]");
    REQUIRE(t);
    CHECK_EQ_INT(t->window_end_ns, 500000);
    trace_free(t);
    t = read_text(
        "[" EV("a", 100, 20) ",{\"ph\":\"i\",\"name\":\"Record Window End\",\"ts\":86400000121}]");
    REQUIRE(t);
    CHECK_EQ_INT(t->window_end_ns, ID_NONE);
    trace_free(t);
}

TEST(args_are_read_again)
{
    struct trace *t = read_text(
        "[" EV("a", 1, 2) ",{\"name\":\"b\",\"args\":{\"x\": [1, \"}\"]},\"ph\":\"X\",\"ts\":5,"
                          "\"dur\":1}]");
    REQUIRE(t && t->n_rows == 2);
    struct buf b;
    struct err e;
    buf_init(&b);
    CHECK_EQ_INT(trace_args(t, 0, &b, &e), 0);
    CHECK_EQ_INT(trace_args(t, 1, &b, &e), 0);
    CHECK_EQ_STR(buf_c(&b), "{}{\"x\": [1, \"}\"]}");
    buf_done(&b);
    trace_free(t);
}

static void gzip(struct str text, struct buf *out)
{
    z_stream z = {0};
    deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    size_t room = deflateBound(&z, (uLong)text.n);
    z.next_in = (Bytef *)(uintptr_t)text.p;
    z.avail_in = (uInt)text.n;
    z.next_out = (Bytef *)buf_room(out, room);
    z.avail_out = (uInt)room;
    CHECK_EQ_INT(deflate(&z, Z_FINISH), Z_STREAM_END);
    out->n += z.total_out;
    deflateEnd(&z);
}

/* One thread after the other, as recorders write them; `i` in the args says which is which. */
static void write_threads(struct buf *text, int n_threads, int n)
{
    buf_addc(text, '[');
    for (int i = 0; i < n_threads * n; i++)
        buf_printf(text,
                   "%s{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":%d,\"ts\":%d,\"dur\":1,"
                   "\"args\":{\"pad\":\"%01500d\",\"i\":%d}}",
                   i ? ",\n" : "", i / n, i % n * 2, i, i);
    buf_addc(text, ']');
}

/* Whoever goes by time jumps from thread to thread, which must not inflate the text each time: that
 * took half a millisecond for every event even of this small text. */
TEST(args_of_compressed_text_are_read_by_time)
{
    enum { THREADS = 6, N = 4000 };
    struct buf text = {0}, packed = {0}, args = {0};
    struct trace *t = NULL;
    int wrong = 0;
    write_threads(&text, THREADS, N);
    gzip(buf_str(&text), &packed);
    CHECK_EQ_INT(import_bytes(buf_str(&packed), "x", NULL, &t, NULL), 0);
    REQUIRE(t && t->n_rows == THREADS * N);
    clock_t begin = clock();
    for (int i = 0; i < THREADS * N; i++) {
        row_t r = (row_t)(i % THREADS * N + i / THREADS);
        buf_reset(&args);
        CHECK_EQ_INT(trace_args(t, r, &args, NULL), 0);
        const char *number = strstr(buf_c(&args), "\"i\":");
        wrong += !number || strtol(number + 4, NULL, 10) != (long)r;
    }
    CHECK_EQ_INT(wrong, 0);
    CHECK((clock() - begin) / CLOCKS_PER_SEC < 5);
    trace_free(t);
    buf_done(&text);
    buf_done(&packed);
    buf_done(&args);
}

/* ---- damage ---- */

TEST(unescaped_quotes_are_repaired)
{
    CHECK_DAMAGED("[{\"ph\":\"X\",\"name\":\"{\"a\": 1, \"b\": 2}(3): f\",\"ts\":1,\"dur\":2}," EV(
                      "z", 5, 1) "]",
                  "cpu_op z 5/6 X5000+1000\n"
                  "other {\"a\": 1, \"b\": 2}(3): f ''/'' X1000+2000\n",
                  "bad_string@{\"a\":");
    CHECK_DAMAGED(
        "[{\"ph\":\"X\",\"name\":\"q\",\"ts\":1,\"dur\":2,\"args\":{\"k\":[\"a\"b\", 1]}}]",
        "other q ''/'' X1000+2000\n", "bad_string@a\"b\",");
}

TEST(raw_backslashes_are_repaired)
{
    CHECK_DAMAGED("[{\"ph\":\"X\",\"name\":\"C:\\dir\\\",\"ts\":1,\"dur\":2}," EV("z", 5, 1) "]",
                  "cpu_op z 5/6 X5000+1000\n"
                  "other C:\\dir\\ ''/'' X1000+2000\n",
                  "bad_string@C:\\di");
    CHECK_DAMAGED("[{\"ph\":\"X\",\"name\":\"C:\\dir\",\"ts\":1,\"dur\":2}]",
                  "other C:\\dir ''/'' X1000+2000\n", "bad_string@C:\\di");
}

TEST(control_characters_are_kept)
{
    CHECK_DAMAGED("[{\"ph\":\"X\",\"name\":\"a\nb\",\"ts\":1,\"dur\":2}]",
                  "other a\nb ''/'' X1000+2000\n", "control_char@a\nb\",");
}

TEST(bare_words_are_ignored)
{
    CHECK_DAMAGED("[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":1,\"dur\":2,\"args\":{"
                  "\"blocks per SM\": N/A,"
                  "\"warps per SM\": inf,\"x\":nan,\"device\":-inf,\"stream\":3}}]",
                  "kernel k ''/'' X1000+2000\n", "bare_word@N/A,\"|inf,\"|nan,\"");
}

TEST(commas)
{
    CHECK_DAMAGED("[" EV("a", 1, 1) ",]", "cpu_op a 5/6 X1000+1000\n", "trailing_comma@,]");
    CHECK_DAMAGED("[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1,}]",
                  "other a ''/'' X1000+1000\n", "trailing_comma@,}]");
    CHECK_ROWS("[]", "");
    CHECK_ROWS("{\"traceEvents\":[]}", "");
}

TEST(broken_events_are_skipped)
{
    CHECK_DAMAGED("[" EV("a", 1, 1) ",{\"ph\":\"X\",\"name\": ,," EV("b", 2, 1) ", 17, \"x\"," EV(
                      "c", 4, 1) "]",
                  "cpu_op a 5/6 X1000+1000\n"
                  "cpu_op b 5/6 X2000+1000\n"
                  "cpu_op c 5/6 X4000+1000\n",
                  "bad_event@{\"ph\"|17, \"|\"x\",{");
    CHECK_DAMAGED("[{\"name\":\"no phase\"}," EV("a", 1, 1) "]", "cpu_op a 5/6 X1000+1000\n",
                  "bad_event@{\"nam");
}

TEST(times_that_are_not_there)
{
    CHECK_DAMAGED("[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1},{\"ph\":\"X\",\"name\":\"b\",\"dur\":1},"
                  "{\"ph\":\"X\",\"name\":\"c\",\"ts\":3,\"dur\":-1}]",
                  "other b ''/'' i0+0 timeless\n"
                  "other a ''/'' i1000+0\n"
                  "other c ''/'' X3000+0\n",
                  "no_time@{\"ph\"|{\"ph\" negative_duration@{\"ph\"");
    CHECK_DAMAGED("[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1e30,\"dur\":1}]",
                  "other a ''/'' i0+0 timeless\n", "bad_number@1e30, no_time@{\"ph\"");
}

TEST(device_work_at_time_zero)
{
    CHECK_DAMAGED(
        "[" EV("a", 5000000, 1) "," KERNEL("0", 0, 3, 1) "," KERNEL("0", 5000001, 4, 1) "]",
        "cpu_op a 5/6 X5000000000+1000\n"
        "kernel k 0/7 X0+1000 timeless\n"
        "kernel k 0/7 X5000001000+1000\n",
        "zero_time@{\"ph\"");
    CHECK_ROWS("[" EV("a", 5, 1) "," KERNEL("0", 0, 3, 1) "]", "cpu_op a 5/6 X5000+1000\n"
                                                               "kernel k 0/7 X0+1000\n");
}

TEST(duplicate_keys_use_the_first)
{
    CHECK_DAMAGED("[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1,\"name\":\"b\",\"args\":"
                  "{\"correlation\":1,\"x\":2,\"correlation\":3}}]",
                  "other a ''/'' X1000+1000\n", "duplicate_key@name\"|corre");
}

TEST(what_follows_is_ignored)
{
    CHECK_DAMAGED("[" EV("a", 1, 1) "] {}", "cpu_op a 5/6 X1000+1000\n", "extra_data@{}");
    CHECK_DAMAGED("{\"traceEvents\":[],\"INFO\":[oops \"a\"b\"]", "", "extra_data@\"a\"b\"");
}

TEST(a_broken_header_does_not_hide_the_events)
{
    CHECK_DAMAGED("{\"env\": \"a\"b\", \"traceEvents\": [" EV("a", 1, 1) "]}",
                  "cpu_op a 5/6 X1000+1000\n", "bad_event@b\", \"");
}

TEST(not_utf8)
{
    CHECK_DAMAGED("[{\"ph\":\"X\",\"name\":\"a\xff\",\"ts\":1,\"dur\":1}]",
                  "other a\xff ''/'' X1000+1000\n", "bad_utf8@a\xff\",\"");
}

TEST(not_a_trace)
{
    CHECK_EQ_STR(error_of(str_c("")), "the file is empty, expected a trace");
    CHECK_EQ_STR(error_of(str_c(" \n ")), "the file is empty, expected a trace");
    CHECK_EQ_STR(error_of(str_c("<!DOCTYPE html><html>")),
                 "not a trace: expected '{' or '[' at byte 0, found \"<!DOCTYPE html><html>\" (a "
                 "saved web page?)");
    CHECK_EQ_STR(error_of(str_c("{}")), "not a trace: it has no \"traceEvents\"");
    CHECK_EQ_STR(error_of(str_c("{\"a\": 1}")), "not a trace: it has no \"traceEvents\"");
    CHECK_EQ_STR(error_of(str_c("{\"a\": ")), "not a trace: it has no \"traceEvents\"");
}

TEST_MAIN
