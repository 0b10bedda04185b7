/* test_xla_name.c: names of XLA's ranges, sound and cut. */
#include "import/op_range.h"
#include "test.h"

static void check(const char *name, enum xla_range want, const char *called)
{
    struct str got = {NULL, 0};
    CHECK_EQ_INT(xla_name(str_c(name), &got), want);
    if (want != XLA_NONE) CHECK(str_is(got, called));
}

TEST(ranges_of_xla)
{
    check("TSL: XlaModule:#hlo_module=jit_step,program_id=5#", XLA_MODULE, "jit_step");
    check("XlaModule:#prefix=jit(f)/jit(main),hlo_module=jit_f,program_id=1#", XLA_MODULE, "jit_f");
    check("TSL: Thunk:#hlo_op=loop_add_fusion#", XLA_OP, "loop_add_fusion");
    check("TSL: Thunk:#name=jit(step)/dot_general,hlo_op=gemm.3#", XLA_OP, "jit(step)/dot_general");
    check("TSL: Thunk:#hlo_op=cut of", XLA_OP, "cut of");
}

TEST(ranges_of_others)
{
    check("", XLA_NONE, "");
    check("cub: DeviceScan", XLA_NONE, "");
    check("NCCL: ncclAllReduce", XLA_NONE, "");
    check("my hlo_module=x", XLA_NONE, "");
    check("#hlo_module=#", XLA_NONE, "");
    check("#hlo_op=", XLA_NONE, "");
}

TEST_MAIN
