/* test_flame.c: time by stack, from a few rows. */
#include "analyze/flame/flame.h"

#include "kit.h"
#include "profiles/profiles.h"

static struct arena mem;
static struct trace *t;
static struct flame f;

static const char *folded(enum flame_of of)
{
    static struct buf out; /* of the last call */
    struct context cx;
    struct err e;
    buf_done(&out);
    buf_init(&out);
    err_init(&e);
    arena_done(&mem);
    context_init(&cx, t, &mem);
    CHECK_EQ_INT(flame_run(&cx, of, &mem, &f, &e), 0);
    CHECK_EQ_INT(profile_find("folded")->put(&f, "x", &out, &e), 0);
    context_done(&cx);
    return buf_c(&out);
}

static void done(void)
{
    arena_done(&mem);
    trace_free(t);
}

/* Two steps of a label with an operator that launches; the second launch comes late. */
static void make(void)
{
    struct kit k = kit_begin();
    kit_python(&k, "a.py(3): main", 0, 300);
    kit_label(&k, "ProfilerStep#1", 0, 100);
    kit_op(&k, "aten::mm", 10, 40);
    kit_launch(&k, 20, "gemm; x", 30, 50);
    kit_label(&k, "ProfilerStep#2", 100, 200);
    kit_op(&k, "aten::mm", 110, 100);
    kit_launch(&k, 200, "gemm; x", 230, 50);
    t = kit_end(&k);
}

TEST(device_time_by_stack)
{
    make();
    CHECK_EQ_STR(folded(FLAME_GPU), "main (a.py:3);ProfilerStep;aten::mm;gemm: x 100000\n");
    CHECK_EQ_INT(f.nodes[0].total_ns, 100000);
    done();
}

TEST(idle_time_by_what_the_cpu_did)
{
    make();
    /* from 80 to 230: the rest of the first step, the second up to its launch, the way to the GPU
     */
    CHECK_EQ_STR(folded(FLAME_IDLE),
                 "main (a.py:3);ProfilerStep 30000\n"
                 "main (a.py:3);ProfilerStep;aten::mm 90000\n"
                 "main (a.py:3);ProfilerStep;aten::mm;(from the launch to the GPU) 30000\n");
    done();
}

TEST(a_thread_is_covered_once)
{
    make();
    const char *text = folded(FLAME_CPU);
    CHECK_EQ_INT(f.nodes[0].total_ns, 300000);
    CHECK(strstr(text, ";main (a.py:3);ProfilerStep;aten::mm;cudaLaunchKernel 10000\n") != NULL);
    CHECK(strstr(text, ";main (a.py:3);ProfilerStep 160000\n") != NULL);
    done();
}

TEST(no_time_no_stack)
{
    struct kit k = kit_begin();
    kit_op(&k, "aten::mm", 10, 40);
    t = kit_end(&k);
    CHECK_EQ_STR(folded(FLAME_GPU), "");
    CHECK_EQ_STR(folded(FLAME_WAIT), "");
    CHECK_EQ_INT(f.nodes[0].total_ns, 0);
    done();
}

TEST_MAIN
