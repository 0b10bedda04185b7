/* test_ring_inputs.c: what operators were called with, read back from whatever stands in the file.
 */
#include "import/ring/ring_inputs.h"

#include "base/err.h"
#include "test.h"

static void texts_of(const char *text, struct str ret[3])
{
    struct defs_entry entries[2] = {{0}, {DEF_SHAPES, str_c(text)}};
    struct defs_file defs = {.entries = entries, .n = 2};
    struct ring_inputs in = {.shapes = 1, .sequence = ID_NONE};
    ring_inputs_texts(&in, &defs, ret);
}

TEST(what_the_recorder_writes_is_kept)
{
    struct str t[3];
    texts_of(
        "[[2, 3], [], [[1], [0, 7]]]\t[\"float\", \"\", \"TensorList\"]\t[\"\", \"-1\", \"[1, 1]\"]",
        t);
    CHECK_EQ_BYTES(t[0], "[[2, 3], [], [[1], [0, 7]]]");
    CHECK_EQ_BYTES(t[1], "[\"float\", \"\", \"TensorList\"]");
    CHECK_EQ_BYTES(t[2], "[\"\", \"-1\", \"[1, 1]\"]");
    texts_of("[]\t[]\t", t);
    CHECK_EQ_BYTES(t[0], "[]");
    CHECK_EQ_INT((int)t[2].n, 0);
}

/* They go into JSON as they are: nothing else may stand there. */
TEST(what_is_no_array_is_left_out)
{
    static const char *const bad[] = {"",          "[",
                                      "]",         "[1",
                                      "[1]]",      "[1] ",
                                      "[1,2]",     "[1, ]",
                                      "[, 1]",     "[01]",
                                      "[-]",       "1",
                                      "[\"a]",     "[\"\\\"]",
                                      "[\"\n\"]",  "[\"\xc3\xa9\"]",
                                      "[nan]",     "[1 2]",
                                      "[1][2]",    "\"a\"",
                                      "[[[[1]]]]", "[123456789012345678901]"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct str t[3];
        texts_of(bad[i], t);
        CHECK_EQ_BYTES(t[0], "");
    }
}

TEST(numbers_of_autograd)
{
    struct ring_entry e = {
        .r = ring_with_id((struct ring_record){.kind = RING_SHAPES, .type = 1}, 70000), .value = 8};
    struct ring_inputs in = ring_inputs_of(&e);
    CHECK_EQ_UINT(in.shapes, 70000);
    CHECK_EQ_INT(in.sequence, 7);
    CHECK(in.backward && ring_inputs_known(&in));
    e.value = 0;
    e.r = ring_with_id(e.r, 0);
    in = ring_inputs_of(&e);
    CHECK(in.sequence == ID_NONE && !ring_inputs_known(&in));
}

static int fill(void *unused)
{
    (void)unused;
    struct defs_entry entries[2] = {{0}, {DEF_SHAPES, str_c("[[2]]\t[\"float\"]\t")}};
    struct defs_file defs = {.entries = entries, .n = 2};
    struct ring_inputs in = {.shapes = 1, .numbered = true, .sequence = 3};
    struct intern strings;
    struct op_info op;
    intern_init(&strings);
    int rc = ring_inputs_fill(&in, &defs, &strings, &op);
    if (rc == 0) {
        CHECK_EQ_BYTES(intern_get(&strings, op.dims), "[[2]]");
        CHECK_EQ_BYTES(intern_get(&strings, op.types), "[\"float\"]");
        CHECK(op.concrete == STR_NONE && op.sequence == 3 && op.fwd_thread == 0);
    }
    intern_done(&strings);
    return rc;
}

TEST(an_operator_is_filled)
{
    CHECK_EQ_INT(fill(NULL), 0);
}

TEST_MAIN
