/* test_view_op.c: operators that only make views or metadata. */
#include "analyze/names/view_op.h"

#include "test.h"

TEST(views_and_their_gradients)
{
    CHECK(view_op_is(str_c("aten::t")));
    CHECK(view_op_is(str_c("aten::empty_strided")));
    CHECK(view_op_is(str_c("TBackward0")));
    CHECK(view_op_is(str_c("autograd::engine::evaluate_function: TransposeBackward0")));
}

TEST(what_computes_is_none)
{
    CHECK(!view_op_is(str_c("aten::addmm")));
    CHECK(!view_op_is(str_c("aten::to")));
    CHECK(!view_op_is(str_c("AddmmBackward0")));
    CHECK(!view_op_is(str_c("t")));
    CHECK(!view_op_is(str_c("")));
}

TEST_MAIN
