/* test_demangle.c: C++ names made readable; everything else is left alone. */
#include "base/demangle.h"
#include "test.h"

TEST(mangled_names_become_readable)
{
    struct demangler d;
    struct buf b;
    demangler_init(&d);
    buf_init(&b);
    CHECK(demangle(&d, str_c("_Z3addPfi"), &b));
    CHECK_EQ_STR(buf_c(&b), "add(float*, int)");
    buf_done(&b);
    demangler_done(&d);
}

TEST(other_names_stay)
{
    static const char *const names[] = {"", "Pi", "aten::mm", "_Z", "_Zq", "_ZN", "triton_0"};
    struct demangler d;
    struct buf b;
    demangler_init(&d);
    buf_init(&b);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CHECK(!demangle(&d, str_c(names[i]), &b));
    CHECK_EQ_UINT(b.n, 0);
    char longest[5000];
    memset(longest, 'a', sizeof longest);
    memcpy(longest, "_Z", 2);
    CHECK(!demangle(&d, str_from(longest, sizeof longest), &b));
    buf_done(&b);
    demangler_done(&d);
}

TEST_MAIN
