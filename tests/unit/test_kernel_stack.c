/* test_kernel_stack.c: from stacks as Python prints them to the line of the user's program. */
#include "analyze/names/kernel_stack.h"

#include "kit.h"

static bool read_place(const char *stack, struct frame *ret)
{
    *ret = (struct frame){0};
    return kernel_stack_place(str_c(stack), ret);
}

TEST(the_innermost_line_of_the_user)
{
    struct frame f;
    CHECK(
        read_place("  File \"/app/train.py\", line 9, in <module>\n    model(x)\n"
                   "  File \"/app/model.py\", line 84, in forward\n    y = norm(x)\n"
                   "  File \"/lib/python3.12/site-packages/torch/nn/functional.py\", line 2900, in "
                   "layer_norm\n",
                   &f));
    CHECK_EQ_BYTES(f.file, "/app/model.py");
    CHECK_EQ_BYTES(f.function, "forward");
    CHECK_EQ_INT(f.line, 84);
}

TEST(a_library_alone_is_better_than_nothing)
{
    struct frame f;
    CHECK(read_place("File \"/lib/python3.12/site-packages/torch/a.py\", line 1, in one\n"
                     "File \"/lib/python3.12/site-packages/torch/b.py\", line 2, in two",
                     &f));
    CHECK_EQ_BYTES(f.function, "two");
}

TEST(other_texts_have_no_line)
{
    static const char *const texts[] = {
        "",
        "\n\n",
        "File \"",
        "File \"a.py\"",
        "File \"a.py\", line ",
        "File \"a.py\", line x, in f",
        "File \"a.py\", line 99999999999999999999, in f",
        "File \"a.py\", line 7",
        "File \"a.py\", line 7, in ",
        "File \"\", line 7, in f",
        "a.py:7",
        "see File \"a.py\", line 7, in f",
    };
    struct frame f;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) CHECK(!read_place(texts[i], &f));
}

TEST_MAIN
