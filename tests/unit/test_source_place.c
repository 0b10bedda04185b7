/* test_source_place.c: from a call to the line of the user's program. */
#include "analyze/names/source_place.h"

#include "kit.h"

static row_t find(const struct trace *t, const char *name)
{
    for (row_t r = 0; r < t->n_rows; r++)
        if (str_is(trace_name(t, r), name)) return r;
    test_fail(__FILE__, __LINE__, "no row called %s", name);
    return ROW_NONE;
}

static void printed(struct buf *b, void (*print)(const struct trace *, row_t, struct buf *),
                    const struct trace *t, row_t r)
{
    buf_reset(b);
    print(t, r, b);
}

static bool frame_is_line(const struct trace *t, row_t r)
{
    return t->parent[r] != ROW_NONE && t->kind[t->parent[r]] == KIND_PYTHON;
}

/* step() in the user's file calls torch.tensor through a context manager of torch. */
static struct trace *stacked(void)
{
    struct kit k = kit_begin();
    kit_python(&k, "run.py(9): <module>", 0, 20000);
    kit_label(&k, "pipeline_call", 5900, 12000);
    kit_python(&k, "diffusers/schedulers/unipc.py(1153): step", 6000, 10000);
    kit_label(&k, "scheduler_step", 6100, 9000);
    kit_python(&k, "torch/utils/_contextlib.py(120): decorate_context", 6200, 500);
    kit_python(&k, "nn.Module: Linear_0", 6205, 450);
    kit_python(&k, "<built-in method tensor of type object at 0x7f3f>", 6210, 400);
    kit_op(&k, "aten::to", 6220, 300);
    kit_op(&k, "aten::_to_copy", 6225, 290);
    kit_op(&k, "aten::copy_", 6230, 280);
    kit_call(&k, "cudaMemcpyAsync", 6240, 10);
    return kit_end(&k);
}

TEST(the_innermost_line_of_the_user)
{
    struct trace *t = stacked();
    struct source_places w;
    struct place p;
    REQUIRE(source_places_init(&w, t, NULL) == 0);
    source_places_find(&w, find(t, "cudaMemcpyAsync"), &p);
    CHECK_EQ_INT(p.by, SOURCE_BY_FRAME);
    CHECK_EQ_BYTES(p.source.file, "diffusers/schedulers/unipc.py");
    CHECK_EQ_BYTES(p.source.function, "step");
    CHECK_EQ_INT(p.source.line, 1153);
    CHECK(p.line_is_start);
    CHECK_EQ_BYTES(trace_name(t, p.op), "aten::to");
    CHECK_EQ_BYTES(trace_name(t, p.inner_op), "aten::copy_");
    CHECK_EQ_BYTES(trace_name(t, p.annotation), "scheduler_step");
    CHECK_EQ_BYTES(trace_name(t, p.called), "torch/utils/_contextlib.py(120): decorate_context");
    source_places_done(&w);
    trace_free(t);
}

/* train.py:12 was read at one launch, train.py:20 at a wait behind two launches of functions that
 * are not seen. */
TEST(a_line_that_was_seen_is_not_that_of_the_calls_around_it)
{
    struct kit k = kit_begin();
    struct source_places w;
    struct place p;
    row_t rows[8] = {0};
    uint32_t n = 0;
    kit_meta(&k, TRACE_META_SAMPLED, "1000");
    kit_python(&k, "train.py(3): main", 0, 9000);
    kit_row(&k, KIND_PYTHON, "train.py(12): main", 1000, 100, NULL);
    kit_launch(&k, 1010, "one", 1100, 10);
    kit_row(&k, KIND_PYTHON, "train.py(20): main", 2000, 1000, NULL);
    kit_launch(&k, 2100, "two", 2200, 10);
    kit_launch(&k, 2300, "three", 2400, 10);
    kit_call(&k, "cudaStreamSynchronize", 2500, 400);
    kit_launch(&k, 4000, "four", 4100, 10);
    struct trace *t = kit_end(&k);
    for (row_t r = 0; r < t->n_rows; r++) {
        if (t->kind[r] == KIND_PYTHON && frame_is_line(t, r)) t->flags[r] |= ROW_LINE;
        if (trace_call(t, r)) rows[n++] = r;
    }
    REQUIRE(n == 5);
    REQUIRE(source_places_init(&w, t, NULL) == 0);
    for (uint32_t i = 0; i < n; i++) {
        source_places_find(&w, rows[i], &p);
        CHECK_EQ_INT(source_places_is_exact(&w, rows[i], &p), i == 0);
    }
    source_places_done(&w);
    trace_free(t);
}

/* A wrapper of strata stands between the user's line and what it calls. */
TEST(the_recorder_is_never_the_place)
{
    struct kit k = kit_begin();
    kit_python(&k, "run.py(9): <module>", 0, 20000);
    kit_python(&k, "strata_tools/_util.py(3): mine", 6000, 9000);
    kit_python(&k, "build/python/strata/_stage.py(48): wrapper", 6100, 8000);
    kit_python(&k, "torch/cuda/__init__.py(5): synchronize", 6200, 500);
    kit_python(&k, "build/python/strata/_hooks.py(3): hook", 6250, 400);
    kit_call(&k, "cudaDeviceSynchronize", 6300, 100);
    struct trace *t = kit_end(&k);
    struct source_places w;
    struct place p;
    row_t frames[8], r = find(t, "cudaDeviceSynchronize");
    REQUIRE(source_places_init(&w, t, NULL) == 0);
    source_places_find(&w, r, &p);
    CHECK_EQ_BYTES(p.source.function, "mine");
    CHECK_EQ_BYTES(trace_name(t, p.called), "torch/cuda/__init__.py(5): synchronize");
    CHECK_EQ_UINT(source_places_stack(&w, r, frames, 8), 3);
    source_places_done(&w);
    trace_free(t);
}

TEST(a_frame_open_at_the_start_carries_the_line_it_was_at)
{
    struct trace *t = stacked();
    struct source_places w;
    struct place p;
    REQUIRE(source_places_init(&w, t, NULL) == 0);
    source_places_find(&w, find(t, "pipeline_call"), &p);
    CHECK_EQ_BYTES(p.source.file, "run.py");
    CHECK(!p.line_is_start);
    source_places_done(&w);
    trace_free(t);
}

TEST(stack_innermost_first)
{
    struct trace *t = stacked();
    struct source_places w;
    row_t frames[2];
    REQUIRE(source_places_init(&w, t, NULL) == 0);
    CHECK_EQ_UINT(source_places_stack(&w, find(t, "cudaMemcpyAsync"), frames, 2), 3);
    CHECK_EQ_BYTES(trace_name(t, frames[0]), "torch/utils/_contextlib.py(120): decorate_context");
    CHECK_EQ_BYTES(trace_name(t, frames[1]), "diffusers/schedulers/unipc.py(1153): step");
    source_places_done(&w);
    trace_free(t);
}

TEST(texts)
{
    struct trace *t = stacked();
    struct buf b;
    buf_init(&b);
    printed(&b, source_places_path, t, find(t, "cudaMemcpyAsync"));
    CHECK_EQ_STR(buf_c(&b), "pipeline_call > scheduler_step");
    printed(&b, source_places_print_frame, t, find(t, "diffusers/schedulers/unipc.py(1153): step"));
    CHECK_EQ_STR(buf_c(&b), "diffusers/schedulers/unipc.py:1153 step");
    printed(&b, source_places_print_call, t,
            find(t, "<built-in method tensor of type object at 0x7f3f>"));
    CHECK_EQ_STR(buf_c(&b), "torch.tensor");
    printed(&b, source_places_print_call, t,
            find(t, "torch/utils/_contextlib.py(120): decorate_context"));
    CHECK_EQ_STR(buf_c(&b), "torch.utils._contextlib.decorate_context");
    printed(&b, source_places_print_call, t, find(t, "nn.Module: Linear_0"));
    CHECK_EQ_STR(buf_c(&b), "nn.Module: Linear_0");
    buf_done(&b);
    trace_free(t);
}

static enum source_by found_by(struct trace *t, const char *row)
{
    struct source_places w;
    struct place p = {0};
    if (CHECK_EQ_INT(source_places_init(&w, t, NULL), 0)) source_places_find(&w, find(t, row), &p);
    source_places_done(&w);
    trace_free(t);
    return p.by;
}

TEST(falls_back_and_says_so)
{
    struct kit k = kit_begin();
    kit_python(&k, "torch/cuda/__init__.py(1152): synchronize", 0, 100);
    kit_call(&k, "cudaDeviceSynchronize", 10, 10);
    CHECK_EQ_INT(found_by(kit_end(&k), "cudaDeviceSynchronize"), SOURCE_BY_LIBRARY);
    k = kit_begin();
    kit_label(&k, "sampler_step", 0, 100);
    kit_op(&k, "aten::item", 5, 50);
    kit_call(&k, "cudaDeviceSynchronize", 10, 10);
    CHECK_EQ_INT(found_by(kit_end(&k), "cudaDeviceSynchronize"), SOURCE_BY_OP);
    k = kit_begin();
    kit_label(&k, "sampler_step", 0, 100);
    kit_call(&k, "cudaDeviceSynchronize", 10, 10);
    CHECK_EQ_INT(found_by(kit_end(&k), "cudaDeviceSynchronize"), SOURCE_BY_ANNOTATION);
    k = kit_begin();
    kit_call(&k, "cudaDeviceSynchronize", 10, 10);
    CHECK_EQ_INT(found_by(kit_end(&k), "cudaDeviceSynchronize"), SOURCE_BY_NOTHING);
}

TEST(compiled_regions_and_autograd_are_not_what_the_user_called)
{
    struct kit k = kit_begin();
    kit_op(&k, "Torch-Compiled Region: 0/0", 0, 100);
    kit_op(&k, "aten::nonzero", 5, 50);
    kit_call(&k, "cudaStreamSynchronize", 10, 10);
    struct trace *t = kit_end(&k);
    struct source_places w;
    struct place p;
    REQUIRE(source_places_init(&w, t, NULL) == 0);
    source_places_find(&w, find(t, "cudaStreamSynchronize"), &p);
    CHECK_EQ_BYTES(trace_name(t, p.op), "aten::nonzero");
    source_places_done(&w);
    trace_free(t);
}

TEST_MAIN
