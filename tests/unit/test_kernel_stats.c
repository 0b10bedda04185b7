/* test_kernel_stats.c: kernels added up: order statistics, rates, operators, launches. */
#include "analyze/kernels/kernel_stats.h"
#include "kit.h"

struct stats {
    struct trace *t;
    struct arena mem;
    struct context cx;
    struct kernel_stats k;
};

static struct stats collect(struct kit *kit, enum kernel_by by)
{
    struct stats s = {.t = kit_end(kit)};
    arena_init(&s.mem);
    if (!s.t) return s;
    context_init(&s.cx, s.t, &s.mem);
    CHECK_EQ_INT(kernel_stats_run(&s.cx, by, &s.mem, &s.k, NULL), 0);
    context_done(&s.cx);
    return s;
}

static void done(struct stats *s)
{
    arena_done(&s->mem);
    trace_free(s->t);
}

static struct kit three_kernels(void)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 20; i++) {
        kit_op(&k, i < 15 ? "aten::mul" : "aten::add", i * 100, 50);
        kit_launch(&k, i * 100 + 5, "elementwise", i * 100 + 20, i + 1);
    }
    kit_op(&k, "aten::copy_", 3000, 50);
    kit_call(&k, "cudaMemcpyAsync", 3005, 5);
    k.bytes = 50000;
    kit_work(&k, KIND_MEMCPY, "Memcpy HtoD (Pinned -> Device)", 3020, 2);
    return k;
}

TEST(order_statistics_and_shares)
{
    struct kit k = three_kernels();
    struct stats s = collect(&k, KERNEL_BY_NAME);
    REQUIRE(CHECK_EQ_UINT(s.k.n_rows, 2));
    const struct kernel_row *r = &s.k.rows[0];
    CHECK_EQ_BYTES(r->name, "elementwise");
    CHECK_EQ_UINT(r->calls, 20);
    CHECK_EQ_INT(r->total_ns, 210000);
    CHECK_EQ_INT(r->min_ns, 1000);
    CHECK_EQ_INT(r->median_ns, 10500);
    CHECK_EQ_INT(r->p95_ns, 19000);
    CHECK_EQ_INT(r->max_ns, 20000);
    CHECK_NEAR(r->mean_ns, 10500, 1e-6);
    CHECK_NEAR(r->share_pct, 210.0 / 212 * 100, 1e-9);
    CHECK_EQ_INT(s.k.work_ns, 212000);
    CHECK_EQ_UINT(s.k.n_kernels, 20);
    CHECK_EQ_UINT(s.k.n_copies, 1);
    done(&s);
}

/* Kernels of a module and of none, of a line and of none, on shapes and without. */
TEST(parts_add_up_to_the_whole)
{
    for (int by = KERNEL_BY_NAME; by <= KERNEL_BY_LINE; by++) {
        struct kit k = three_kernels();
        kit_python(&k, "nn.Module: Linear_0", 4000, 90);
        kit_python(&k, "train.py(8): loss", 4001, 88);
        kit_op(&k, "aten::mul", 4002, 80);
        kit_launch(&k, 4005, "elementwise", 4020, 30);
        struct stats s = collect(&k, (enum kernel_by)by);
        int64_t sum_ns = 0, unknown_ns = 0;
        for (uint32_t i = 0; i < s.k.n_rows; i++) {
            sum_ns += s.k.rows[i].total_ns;
            if (!s.k.rows[i].where.n) unknown_ns += s.k.rows[i].total_ns;
        }
        CHECK_EQ_INT(sum_ns, 242000);
        CHECK_EQ_INT(s.k.work_ns, 242000);
        if (by >= KERNEL_BY_MODULE) CHECK_EQ_INT(unknown_ns, 212000);
        done(&s);
    }
}

TEST(the_operator_with_the_most_time_is_named)
{
    struct kit k = three_kernels();
    struct stats s = collect(&k, KERNEL_BY_NAME);
    CHECK_EQ_BYTES(s.k.rows[0].op, "aten::mul"); /* 120 us, against 90 us under aten::add */
    CHECK_EQ_UINT(s.k.rows[0].n_ops, 2);
    done(&s);
    k = three_kernels();
    s = collect(&k, KERNEL_BY_OP);
    REQUIRE(CHECK_EQ_UINT(s.k.n_rows, 3));
    CHECK_EQ_UINT(s.k.rows[0].calls, 15);
    CHECK_EQ_UINT(s.k.rows[1].calls, 5);
    CHECK_EQ_BYTES(s.k.rows[1].op, "aten::add");
    done(&s);
}

TEST(the_line_that_a_compiler_made_it_of)
{
    struct kit k = kit_begin();
    kit_label(&k, "jit_step", 0, 100);
    kit_launch(&k, 10, "loop_fusion", 20, 5);
    kit_launch(&k, 30, "unknown", 40, 4);
    kit_op(&k, "jit_step/custom-call.1", 50, 20);
    kit_launch(&k, 55, "Cijk_Ailk.kd", 60, 3);
    const char *sources = "[[\"jit_other\", \"loop_fusion\", \"a\", \"other.py(1): f\"],"
                          "[\"jit_step\", \"loop_fusion\", \"b\", \"/me/train.py(8): loss\"],"
                          "[\"jit_step\", \"custom_call_1\", \"c\", \"/me/train.py(9): loss\"],"
                          "[\"odd\"], 7, [\"m\", \"unknown\", \"d\", \"no place\"]]";
    CHECK_EQ_INT(builder_add_meta(k.b, str_c(TRACE_META_SOURCES), str_c(sources)), 0);
    struct stats s = collect(&k, KERNEL_BY_NAME);
    REQUIRE(CHECK_EQ_UINT(s.k.n_rows, 3));
    REQUIRE(s.k.rows[0].source && s.k.rows[2].source);
    CHECK_EQ_INT(s.k.rows[0].source->place.line, 8);
    CHECK_EQ_BYTES(s.k.rows[0].op, "b");
    CHECK(s.k.rows[1].source == NULL);
    CHECK_EQ_INT(s.k.rows[2].source->place.line, 9);
    done(&s);
}

#define CODE "/tmp/torchinductor_me/ab/cabc.py"

/* Two graphs have a kernel of one name: inside their code its line is known, for both together it
 * is not. A kernel that all calls agree on has its line. */
TEST(kernels_of_inductor_have_lines_where_all_agree)
{
    struct kit k = kit_begin();
    kit_python(&k, CODE "(12): call", 0, 30);
    kit_launch(&k, 10, "triton_red_fused_add_native_layer_norm_0", 40, 5);
    kit_launch(&k, 20, "triton_poi_fused_mul_1", 50, 4);
    const char *sources =
        "[[\"cabc.py\", \"triton_red_fused_add_native_layer_norm_0\", \"aten.native_layer_norm, "
        "aten.add, aten._to_copy\", \"/me/model.py(84): forward\"],"
        "[\"cxyz.py\", \"triton_red_fused_add_native_layer_norm_0\", \"aten.native_layer_norm, "
        "aten.add, aten._to_copy\", \"/me/model.py(99): forward\"],"
        "[\"cabc.py\", \"triton_poi_fused_mul_1\", \"aten.mul\", \"/me/model.py(7): f\"],"
        "[\"cxyz.py\", \"triton_poi_fused_mul_1\", \"aten.mul\", \"/me/model.py(7): f\"]]";
    CHECK_EQ_INT(builder_add_meta(k.b, str_c(TRACE_META_SOURCES), str_c(sources)), 0);
    struct stats s = collect(&k, KERNEL_BY_NAME);
    REQUIRE(CHECK_EQ_UINT(s.k.n_rows, 2));
    REQUIRE(s.k.rows[0].source && s.k.rows[1].source);
    CHECK_EQ_BYTES(s.k.rows[0].op, "layer_norm + add + cast");
    CHECK_EQ_BYTES(s.k.rows[0].short_name, "layer_norm + add (triton_red_0)");
    CHECK_EQ_UINT(s.k.rows[0].source->place.file.n, 0);
    CHECK_EQ_INT(s.k.rows[1].source->place.line, 7);
    struct context cx;
    context_init(&cx, s.t, &s.mem);
    CHECK_EQ_INT(context_need(&cx, &kernel_sources_pass, NULL), 0);
    const struct kernel_source *here = kernel_source_find(&cx, s.k.rows[0].first);
    if (CHECK(here != NULL)) CHECK_EQ_INT(here->place.line, 84);
    context_done(&cx);
    done(&s);
}

TEST(copies_show_bytes_over_their_own_time)
{
    struct kit k = three_kernels();
    struct stats s = collect(&k, KERNEL_BY_NAME);
    CHECK_EQ_INT(s.k.rows[1].bytes, 50000);
    CHECK_NEAR(s.k.rows[1].gb_per_s, 25, 1e-9);
    CHECK(isnan(s.k.rows[0].gb_per_s));
    CHECK(isnan(s.k.rows[0].occupancy_pct));
    done(&s);
}

TEST(an_operator_named_like_its_kernel_is_seen_through)
{
    struct kit k = kit_begin();
    kit_label(&k, "## Call CompiledFxGraph ##", 0, 100);
    kit_op(&k, "triton_poi_0", 10, 50);
    kit_launch(&k, 15, "triton_poi_0", 30, 5);
    struct stats s = collect(&k, KERNEL_BY_NAME);
    CHECK_EQ_BYTES(s.k.rows[0].op, "## Call CompiledFxGraph ##");
    done(&s);
}

TEST(graph_replays_count_and_are_told)
{
    struct kit k = kit_begin();
    kit_call(&k, "cudaGraphLaunch", 0, 5);
    kit_work(&k, KIND_KERNEL, "a", 10, 5);
    kit_work(&k, KIND_KERNEL, "a", 20, 5);
    struct stats s = collect(&k, KERNEL_BY_NAME);
    CHECK_EQ_UINT(s.k.rows[0].graph_calls, 2);
    CHECK_EQ_BYTES(s.k.rows[0].op, "cudaGraphLaunch");
    done(&s);
}

/* A matrix multiplication of 1000 x 1000 x 1000 in 1 ms is 2 TFLOP/s. */
TEST(matrix_multiplications_show_their_rate)
{
    struct kit k = kit_begin();
    struct intern *strings = batch_strings(k.p);
    struct op_info op = {ID_NONE,
                         ID_NONE,
                         0,
                         intern_add(strings, str_c("[[1000, 1000], [1000, 1000]]")),
                         intern_add(strings, str_c("[\"float\", \"float\"]")),
                         STR_NONE};
    kit_row(&k, KIND_OP, "aten::mm", 0, 100, &op);
    kit_launch(&k, 10, "sgemm_64x64", 50, 1000);
    kit_launch(&k, 20, "splitKreduce_kernel", 1060, 10);
    struct stats s = collect(&k, KERNEL_BY_NAME);
    REQUIRE(CHECK_EQ_UINT(s.k.n_rows, 2));
    CHECK_EQ_UINT(s.k.rows[0].flops, 2000000000);
    CHECK_NEAR(s.k.rows[0].tflop_per_s, 2, 1e-9);
    CHECK_EQ_UINT(s.k.rows[1].flops, 0);
    done(&s);
}

TEST(filter_looks_at_names_and_families)
{
    struct kit k = three_kernels();
    struct stats s = collect(&k, KERNEL_BY_NAME);
    CHECK_EQ_INT(kernel_stats_filter(&s.k, "^copy$", NULL), 0);
    REQUIRE(CHECK_EQ_UINT(s.k.n_rows, 1));
    CHECK_EQ_INT(s.k.rows[0].kind, KIND_MEMCPY);
    struct err e;
    err_init(&e);
    CHECK_EQ_INT(kernel_stats_filter(&s.k, "(", &e), ERR_USAGE);
    CHECK(strstr(e.msg, "not a regular expression") != NULL);
    done(&s);
}

TEST(sorting_puts_what_is_not_known_last)
{
    struct kit k = three_kernels();
    struct stats s = collect(&k, KERNEL_BY_NAME);
    CHECK_EQ_INT(kernel_stats_sort(&s.k, "gb_per_s", NULL), 0);
    CHECK_EQ_INT(s.k.rows[0].kind, KIND_MEMCPY);
    CHECK_EQ_INT(kernel_stats_sort(&s.k, "calls", NULL), 0);
    CHECK_EQ_UINT(s.k.rows[0].calls, 20);
    CHECK_EQ_INT(kernel_stats_sort(&s.k, "cals", NULL), ERR_USAGE);
    done(&s);
}

TEST_MAIN
