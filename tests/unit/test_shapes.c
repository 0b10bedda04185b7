/* test_shapes.c: shape texts, whole and broken. */
#include "analyze/names/shapes.h"
#include "test.h"

static void check_flat(const char *dims, const char *want)
{
    struct buf b;
    buf_init(&b);
    shape_flatten(str_c(dims), &b);
    CHECK_EQ_STR(buf_c(&b), want);
    buf_done(&b);
}

TEST(flatten_keeps_tensors_only)
{
    check_flat("[[8,16],[],[[1, 2],[3]]]", "[[8, 16], [], []]");
    check_flat("[ [ 8 , 16 ] ]", "[[8, 16]]");
    check_flat("[]", "[]");
    check_flat("", "[]");
    check_flat("[[8", "[]"); /* cut short: who knows how it went on */
}

TEST(read_takes_one_input)
{
    struct str dims = str_c("[[8, 16], [], [[1]], [4]]");
    struct shape s;
    REQUIRE(CHECK(shape_read(dims, 0, &s)));
    CHECK_EQ_INT(s.rank, 2);
    CHECK_EQ_INT(s.dim[1], 16);
    CHECK_EQ_UINT(shape_size(&s), 128);
    REQUIRE(CHECK(shape_read(dims, 1, &s)));
    CHECK_EQ_INT(s.rank, 0);
    CHECK_EQ_UINT(shape_size(&s), 1);
    CHECK(!shape_read(dims, 2, &s));
    CHECK(shape_read(dims, 3, &s));
    CHECK(!shape_read(dims, 4, &s));
    CHECK(!shape_read(str_c("[[a]]"), 0, &s));
    CHECK(!shape_read(str_c("[[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]]"), 0, &s));
    CHECK(!shape_read(str_c("nonsense"), 0, &s));
}

TEST(texts_lose_their_quotes)
{
    struct str list = str_c("[\"float\", \"\", \"[1, 2]\", 7]");
    CHECK_EQ_BYTES(shape_text(list, 0), "float");
    CHECK_EQ_UINT(shape_text(list, 1).n, 0);
    CHECK_EQ_BYTES(shape_text(list, 2), "[1, 2]");
    CHECK(!shape_text(list, 3).p);
    CHECK(!shape_text(list, 4).p);
}

TEST(tensors_are_told_by_type_or_by_having_a_shape)
{
    struct str types = str_c("[\"float\", \"Scalar\", \"TensorList\", \"\"]");
    struct str dims = str_c("[[], [], [[1]], []]");
    CHECK(shape_is_tensor(types, dims, 0));
    CHECK(!shape_is_tensor(types, dims, 1));
    CHECK(!shape_is_tensor(types, dims, 2));
    CHECK(!shape_is_tensor(types, dims, 3));
    CHECK(shape_is_tensor(str_c(""), str_c("[[3]]"), 0));
    CHECK(!shape_is_tensor(str_c(""), str_c("[[]]"), 0));
}

TEST_MAIN
