/* test_captured.c: work of CUDA graphs and what ran when it was captured. */
#include "analyze/names/graph_origin.h"
#include "analyze/recorded/recorded.h"
#include "kit.h"

struct fixture {
    struct trace *t;
    struct arena mem;
    struct context cx;
};

static const struct graph_origins *run(struct fixture *f)
{
    arena_init(&f->mem);
    context_init(&f->cx, f->t, &f->mem);
    CHECK_EQ_INT(context_need(&f->cx, &graph_origin_pass, NULL), 0);
    return graph_origin_of(&f->cx);
}

static void done(struct fixture *f)
{
    context_done(&f->cx);
    arena_done(&f->mem);
    trace_free(f->t);
}

static void node(struct kit *k, const char *name, double us, int64_t graph, int64_t node)
{
    struct gpu_info g = {.correlation = k->correlation,
                         .external_id = ID_NONE,
                         .bytes = -1,
                         .graph_id = graph,
                         .graph_node = node,
                         .stream = k->stream,
                         .occupancy_pct = -1,
                         .launch = ROW_NONE};
    kit_row(k, KIND_KERNEL, name, us, 10, &g);
}

/* Captures a forward pass: `n` operators, each under its module, one launch each. */
static void capture(struct kit *k, double us, int n, const char *const *ops)
{
    kit_python(k, "model.py(12): forward", us, 20 * n + 20);
    kit_call(k, "cudaStreamBeginCapture", us + 1, 1);
    for (int i = 0; i < n; i++) {
        kit_python(k, "nn.Module: Linear_0", us + 10 + i * 20, 15);
        kit_op(k, ops[i], us + 11 + i * 20, 12);
        kit_call(k, "cudaLaunchKernel", us + 12 + i * 20, 5);
    }
    kit_call(k, "cudaStreamEndCapture", us + 12 + n * 20, 2);
}

static row_t row_of(const struct trace *t, const char *name, int which)
{
    for (row_t r = 0; r < t->n_rows; r++)
        if (str_is(trace_name(t, r), name) && which-- == 0) return r;
    return ROW_NONE;
}

static void check_op(const struct graph_origins *c, const struct trace *t, row_t r, const char *op)
{
    const struct graph_origin_node *o = graph_origin_find(c, t, r);
    CHECK(o != NULL);
    if (o) CHECK_EQ_BYTES(o->op, op);
}

TEST(launches_of_a_capture_are_the_nodes_of_its_graph)
{
    static const char *const ops[] = {"aten::addmm", "aten::relu", "aten::add"};
    struct kit k = kit_begin();
    struct fixture f;
    capture(&k, 0, 3, ops);
    for (int i = 0; i < 2; i++) {
        kit_call(&k, "cudaGraphLaunch", 200 + i * 100, 10);
        node(&k, "gemm", 215 + i * 100, 5, 70); /* they may run in another order */
        node(&k, "sum", 226 + i * 100, 5, 72);
        node(&k, "relu", 237 + i * 100, 5, 71);
    }
    f.t = kit_end(&k);
    const struct graph_origins *c = run(&f);
    CHECK_EQ_INT(c->replayed_ns, 60000);
    CHECK_EQ_INT(c->known_ns, 60000);
    for (int i = 0; i < 2; i++) {
        check_op(c, f.t, row_of(f.t, "gemm", i), "aten::addmm");
        check_op(c, f.t, row_of(f.t, "relu", i), "aten::relu");
        check_op(c, f.t, row_of(f.t, "sum", i), "aten::add");
    }
    const struct graph_origin_node *o = graph_origin_find(c, f.t, row_of(f.t, "gemm", 0));
    CHECK_EQ_BYTES(o->module, "nn.Module: Linear_0");
    CHECK_EQ_BYTES(o->place, "model.py(12): forward");
    CHECK_EQ_UINT(o->n, 2);
    done(&f);
}

/* A judged part has no captures any more, and still says what its graphs are made of. */
TEST(a_capture_that_is_left_out_still_names_its_kernels)
{
    static const char *const ops[] = {"aten::addmm", "aten::relu"};
    struct kit k = kit_begin();
    struct fixture f;
    kit_launch(&k, 0, "other", 5, 10);
    capture(&k, 100, 2, ops);
    kit_call(&k, "cudaGraphLaunch", 300, 10);
    node(&k, "gemm", 315, 5, 70);
    node(&k, "relu", 326, 5, 71);
    f.t = kit_end(&k);
    arena_init(&f.mem);
    context_init(&f.cx, f.t, &f.mem);
    CHECK_EQ_INT(recorded_cut(&f.t, &f.cx, NULL), 0);
    context_done(&f.cx);
    arena_done(&f.mem);
    CHECK(f.t->part.left_out_ns[LEFT_OUT_CAPTURE] > 0);
    CHECK_EQ_UINT(row_of(f.t, "aten::addmm", 0), ROW_NONE);
    const struct graph_origins *c = run(&f);
    CHECK_EQ_INT(c->known_ns, 20000);
    check_op(c, f.t, row_of(f.t, "gemm", 0), "aten::addmm");
    check_op(c, f.t, row_of(f.t, "relu", 0), "aten::relu");
    done(&f);
}

/* Two captures of one size: in order where there are two graphs of it, not at all where not. */
TEST(captures_of_one_size_are_told_apart_by_their_order)
{
    static const char *const first[] = {"a", "b"}, *const second[] = {"c", "d"};
    for (int graphs = 1; graphs <= 2; graphs++) {
        struct kit k = kit_begin();
        struct fixture f;
        capture(&k, 0, 2, first);
        capture(&k, 100, 2, second);
        for (int g = graphs; g-- > 0;) {
            kit_call(&k, "cudaGraphLaunch", 300 + g * 100, 10);
            node(&k, g ? "late" : "early", 315 + g * 100, 5 + g, 70);
            node(&k, "other", 326 + g * 100, 5 + g, 71);
        }
        f.t = kit_end(&k);
        const struct graph_origins *c = run(&f);
        CHECK_EQ_INT(c->known_ns, graphs == 2 ? c->replayed_ns : 0);
        if (graphs == 2) {
            check_op(c, f.t, row_of(f.t, "early", 0), "a");
            check_op(c, f.t, row_of(f.t, "late", 0), "c");
        }
        done(&f);
    }
}

/* As torch.profiler writes them: only the launch says that they are of a graph. */
static void replay(struct kit *k, double us, int n, const char *const *names, bool two_streams)
{
    kit_call(k, "cudaGraphLaunch", us, 10);
    for (int i = 0; i < n; i++) {
        k->stream = two_streams && i == 1 ? 8 : 7;
        node(k, names[i], us + 15 + i * 11, ID_NONE, ID_NONE);
    }
}

TEST(kernels_without_nodes_are_joined_by_their_order)
{
    static const char *const ops[] = {"a", "b", "c"}, *const more[] = {"d", "e"};
    static const char *const names[] = {"x", "y", "x"}, *const others[] = {"v", "w"};
    for (int two = 0; two < 2; two++) {
        struct kit k = kit_begin();
        struct fixture f;
        capture(&k, 0, 3, ops);
        capture(&k, 100, 2, more);
        for (int i = 0; i < 3; i++) {
            replay(&k, 300 + i * 100, 3, names, two);
            replay(&k, 350 + i * 100, 2, others, false);
        }
        f.t = kit_end(&k);
        const struct graph_origins *c = run(&f);
        CHECK_EQ_INT(c->replayed_ns, 150000);
        CHECK_EQ_INT(c->known_ns, two ? 60000 : 150000);
        for (int i = 0; i < 3 && !two; i++) {
            check_op(c, f.t, row_of(f.t, "x", 2 * i), "a");
            check_op(c, f.t, row_of(f.t, "y", i), "b");
            check_op(c, f.t, row_of(f.t, "x", 2 * i + 1), "c");
        }
        check_op(c, f.t, row_of(f.t, "w", 1), "e");
        if (two) CHECK(graph_origin_find(c, f.t, row_of(f.t, "y", 0)) == NULL);
        done(&f);
    }
}

/* Other kernels of the same number: two graphs, and one capture. */
TEST(kernels_without_nodes_of_two_graphs_are_left_open)
{
    static const char *const ops[] = {"a", "b"};
    static const char *const one[] = {"x", "y"}, *const other[] = {"x", "z"};
    struct kit k = kit_begin();
    struct fixture f;
    capture(&k, 0, 2, ops);
    replay(&k, 200, 2, one, false);
    replay(&k, 300, 2, other, false);
    f.t = kit_end(&k);
    const struct graph_origins *c = run(&f);
    CHECK_EQ_INT(c->replayed_ns, 40000);
    CHECK_EQ_INT(c->known_ns, 0);
    done(&f);
}

TEST(a_graph_with_other_kernels_is_left_open)
{
    static const char *const ops[] = {"a", "b"};
    struct kit k = kit_begin();
    struct fixture f;
    capture(&k, 0, 2, ops);
    kit_call(&k, "cudaStreamBeginCapture", 90, 1); /* never ends */
    kit_call(&k, "cudaGraphLaunch", 200, 10);
    for (int i = 0; i < 3; i++) node(&k, "k", 215 + i * 11, 5, 70 + i);
    f.t = kit_end(&k);
    const struct graph_origins *c = run(&f);
    CHECK_EQ_INT(c->known_ns, 0);
    CHECK(graph_origin_find(c, f.t, row_of(f.t, "k", 0)) == NULL);
    done(&f);
}

static struct trace *told(const char *json)
{
    struct kit k = kit_begin();
    kit_call(&k, "cudaGraphLaunch", 0, 10);
    node(&k, "gemm", 15, 7, (int64_t)7 << 32 | 1);
    node(&k, "relu", 26, 7, (int64_t)7 << 32 | 2);
    CHECK_EQ_INT(builder_add_meta(k.b, str_c(TRACE_META_CAPTURED), str_c(json)), 0);
    return kit_end(&k);
}

TEST(what_a_recording_says_of_its_captures)
{
    struct fixture f = {
        .t = told("{\"names\":[\"pmodel.py(3): forward\",\"mnn.Module: Linear_3\","
                  "\"p/x/site-packages/torch/nn/linear.py(9): forward\",\"oaten::addmm\"],"
                  "\"origins\":[[0,1,2,3],[0]],\"nodes\":[7,1,0,7,2,1]}")};
    const struct graph_origins *c = run(&f);
    CHECK_EQ_INT(c->known_ns, 20000);
    const struct graph_origin_node *o = graph_origin_find(c, f.t, row_of(f.t, "gemm", 0));
    CHECK_EQ_BYTES(o->op, "aten::addmm");
    CHECK_EQ_BYTES(o->module, "nn.Module: Linear_3");
    CHECK_EQ_BYTES(o->place, "model.py(3): forward");
    CHECK_EQ_BYTES(o->label, "aten::addmm");
    o = graph_origin_find(c, f.t, row_of(f.t, "relu", 0));
    CHECK_EQ_BYTES(o->label, "model.py(3): forward");
    done(&f);
}

static void node_of(struct kit *k, const char *process, const char *name, double us)
{
    struct gpu_info g = {.correlation = ID_NONE,
                         .external_id = ID_NONE,
                         .bytes = -1,
                         .graph_id = 7,
                         .graph_node = (int64_t)7 << 32 | 1,
                         .stream = 7,
                         .occupancy_pct = -1,
                         .launch = ROW_NONE};
    struct batch_row row = {.ts_ns = kit_ns(us),
                            .dur_ns = 10000,
                            .name = intern_add(batch_strings(k->p), str_c(name)),
                            .kind = KIND_KERNEL,
                            .cat = batch_cat(k->p, str_c("kernel")),
                            .phase = 'X',
                            .pid = {ID_NONE, intern_add(batch_strings(k->p), str_c(process))},
                            .tid = {7, 0},
                            .aux = &g};
    CHECK_EQ_INT(batch_add(k->p, &row), 0);
}

/* Numbers of nodes mean nothing across processes. */
TEST(each_process_has_its_own_nodes)
{
    struct kit k = kit_begin();
    struct fixture f;
    static const char *const said[] = {
        "{\"names\":[\"oaten::mm\"],\"origins\":[[0]],\"nodes\":[7,1,0]}",
        "{\"names\":[\"oaten::add\"],\"origins\":[[0]],\"nodes\":[7,1,0]}"};
    node_of(&k, "[9] 0", "a", 10);
    node_of(&k, "[99] 0", "b", 30);
    node_of(&k, "[8] 0", "c", 50);
    CHECK_EQ_INT(builder_add_meta(k.b, str_c(TRACE_META_CAPTURED "[9]"), str_c(said[0])), 0);
    CHECK_EQ_INT(builder_add_meta(k.b, str_c(TRACE_META_CAPTURED "[8]"), str_c(said[1])), 0);
    f.t = kit_end(&k);
    const struct graph_origins *c = run(&f);
    check_op(c, f.t, row_of(f.t, "a", 0), "aten::mm");
    check_op(c, f.t, row_of(f.t, "c", 0), "aten::add");
    CHECK(graph_origin_find(c, f.t, row_of(f.t, "b", 0)) == NULL);
    CHECK_EQ_INT(c->known_ns, 20000);
    done(&f);
}

TEST(a_meta_that_is_not_ours_says_nothing)
{
    static const char *const junk[] = {
        "3",
        "{}",
        "{\"names\":[],\"origins\":[[0,-1,1e300]],\"nodes\":[7,1,0]}",
        "{\"names\":[1,\"\",\"p\"],\"origins\":[[0,1,2],7],\"nodes\":[7,1,5,7,\"a\",0,7,2]}",
        "{\"names\":{},\"origins\":[],\"nodes\":[7,1,0]}",
    };
    for (size_t i = 0; i < sizeof junk / sizeof *junk; i++) {
        struct fixture f = {.t = told(junk[i])};
        const struct graph_origins *c = run(&f);
        const struct graph_origin_node *o = graph_origin_find(c, f.t, row_of(f.t, "gemm", 0));
        CHECK(!o || !o->label.n);
        done(&f);
    }
}

static int all_known(void *ctx)
{
    struct trace *t = ctx;
    struct arena mem;
    struct context cx;
    struct err e;
    err_init(&e);
    arena_init(&mem);
    context_init(&cx, t, &mem);
    int rc = context_need(&cx, &graph_origin_pass, &e);
    if (rc == 0) CHECK_EQ_INT(graph_origin_of(&cx)->known_ns, 20000);
    context_done(&cx);
    arena_done(&mem);
    return rc;
}

TEST(out_of_memory_is_reported)
{
    static const char *const ops[] = {"a", "b"};
    struct kit k = kit_begin();
    capture(&k, 0, 2, ops);
    kit_call(&k, "cudaGraphLaunch", 200, 10);
    for (int i = 0; i < 2; i++) node(&k, "k", 215 + i * 11, 5, 70 + i);
    struct kit without = kit_begin();
    static const char *const names[] = {"x", "y"};
    capture(&without, 0, 2, ops);
    replay(&without, 200, 2, names, false);
    struct trace *t[] = {kit_end(&k), kit_end(&without),
                         told("{\"names\":[\"pm.py(3): f\",\"oaten::addmm\"],"
                              "\"origins\":[[0,1],[0]],\"nodes\":[7,1,0,7,2,1]}")};
    for (int i = 0; i < 3; i++) {
        CHECK_EVERY_ALLOC(all_known, t[i]);
        trace_free(t[i]);
    }
}

TEST_MAIN
