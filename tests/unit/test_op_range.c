/* test_op_range.c: ranges that torch writes around its operators for other profilers. */
#include "import/op_range.h"

#include "test.h"

static struct batch_row row;
static struct op_info op;

static struct str fill(struct batch *p, const char *text)
{
    row = (struct batch_row){0};
    CHECK_EQ_INT(op_range_fill(p, str_c(text), &row, &op), 0);
    return intern_get(batch_strings(p), row.name);
}

TEST(operators_with_shapes)
{
    struct batch *p = batch_new();
    CHECK(str_is(fill(p, "aten::mm, seq = 5, op_id = 31, sizes = [[8, 16], [16, 4]]"), "aten::mm"));
    CHECK_EQ_INT(row.kind, KIND_OP);
    CHECK_EQ_INT(op.sequence, 5);
    CHECK(str_is(intern_get(batch_strings(p), op.dims), "[[8, 16], [16, 4]]"));
    CHECK(str_is(fill(p, "MmBackward0, op_id = 7"), "MmBackward0"));
    CHECK_EQ_INT(row.kind, KIND_OP);
    CHECK(str_is(fill(p, "aten::add"), "aten::add"));
    CHECK_EQ_INT(row.kind, KIND_OP);
    CHECK_EQ_UINT(op.dims, STR_NONE);
    batch_free(p);
}

TEST(labels_stay_labels)
{
    struct batch *p = batch_new();
    CHECK(str_is(fill(p, "FSDP::pre_forward (block.1), op_id = 9"), "FSDP::pre_forward (block.1)"));
    CHECK_EQ_INT(row.kind, KIND_ANNOTATION);
    CHECK(str_is(fill(p, "raft::solve, sizes = 3"), "raft::solve, sizes = 3"));
    CHECK_EQ_INT(row.kind, KIND_ANNOTATION);
    CHECK(str_is(fill(p, "forward"), "forward"));
    CHECK_EQ_INT(row.kind, KIND_ANNOTATION);
    batch_free(p);
}

TEST_MAIN
