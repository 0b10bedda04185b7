/* test_hlo.c: lines of XLA's kernels, from modules made message by message. */
#include "import/xplane/xplane_private.h"

#include "export/proto_out.h"
#include "test.h"

static void put(struct buf *outer, uint32_t field, struct buf *inner)
{
    proto_bytes(outer, field, buf_str(inner));
    buf_reset(inner);
}

/* A module of two files, a function in each and a stack frame for each line. */
static void frames(struct buf *module)
{
    struct buf all, one;
    buf_init(&all);
    buf_init(&one);
    proto_bytes(&all, 1, str_c("/home/me/train.py"));
    proto_bytes(&all, 1, str_c("/home/me/model.py"));
    proto_bytes(&all, 2, str_c("<module>"));
    proto_bytes(&all, 2, str_c("Model.step"));
    for (uint64_t i = 1; i <= 2; i++) {
        proto_uint(&one, 1, i);
        proto_uint(&one, 2, i);
        proto_uint(&one, 3, 10 * i);
        put(&all, 3, &one);
        proto_uint(&one, 1, i);
        put(&all, 4, &one);
    }
    put(module, 17, &all);
    buf_done(&all);
    buf_done(&one);
}

static void instruction(struct buf *computation, const char *name, const char *opcode,
                        uint64_t frame, char calls)
{
    struct buf i, meta;
    buf_init(&i);
    buf_init(&meta);
    proto_bytes(&i, 1, str_c(name));
    proto_bytes(&i, 2, str_c(opcode));
    proto_bytes(&meta, 2, str_c("jit(step)/op"));
    if (frame) proto_uint(&meta, 15, frame);
    put(&i, 7, &meta);
    if (calls) proto_bytes(&i, 38, str_from(&calls, 1));
    put(computation, 2, &i);
    buf_done(&i);
    buf_done(&meta);
}

static void end_computation(struct buf *module, struct buf *computation, uint64_t id)
{
    proto_uint(computation, 5, id);
    put(module, 3, computation);
}

static void make_module(struct buf *module)
{
    struct buf c;
    buf_init(&c);
    proto_bytes(module, 1, str_c("jit_step"));
    instruction(&c, "add.1", "add", 1, 0);
    instruction(&c, "mul.1", "multiply", 2, 0);
    instruction(&c, "root.1", "bitcast", 1, 0);
    end_computation(module, &c, 7);
    instruction(&c, "x.1", "parameter", 1, 0);
    instruction(&c, "loop_fusion.3", "fusion", 0, 7);
    instruction(&c, "gemm-fusion.2", "custom-call", 1, 0);
    instruction(&c, "copy.1", "copy", 0, 0);
    instruction(&c, "beyond.1", "copy", 99, 0);
    end_computation(module, &c, 8);
    frames(module);
    buf_done(&c);
}

static void check(struct str proto, const char *want)
{
    struct source_list l;
    source_list_init(&l);
    CHECK_EQ_INT(hlo_sources(proto, &l), 0);
    jout_end_arr(&l.j);
    CHECK_EQ_STR(buf_c(&l.text), want);
    buf_done(&l.text);
}

TEST(lines_of_kernels)
{
    struct buf module;
    buf_init(&module);
    make_module(&module);
    check(buf_str(&module),
          "[[\"jit_step\",\"loop_fusion_3\",\"jit(step)/op\",\"/home/me/model.py(20): step\"],"
          "[\"jit_step\",\"gemm_fusion_2\",\"jit(step)/op\",\"/home/me/train.py(10): <module>\"]]");
    buf_done(&module);
}

TEST(what_is_cut_or_no_module_has_no_lines)
{
    struct buf module;
    buf_init(&module);
    make_module(&module);
    for (size_t n = 0; n < module.n; n++) {
        struct source_list l;
        source_list_init(&l);
        CHECK_EQ_INT(hlo_sources(str_from(module.p, n), &l), 0);
        CHECK(l.n <= 2);
        buf_done(&l.text);
    }
    buf_done(&module);
    check(str_c(""), "[]");
    check(str_c("\377\377\377\377"), "[]");
}

TEST_MAIN
