/* test_span.c: what spans share, and how much they cover together. */
#include "base/span.h"

#include "test.h"

static int64_t shared(struct span a, struct span b)
{
    CHECK_EQ_INT(span_ns(span_both(a, b)), span_ns(span_both(b, a)));
    return span_ns(span_both(a, b));
}

TEST(what_two_spans_share)
{
    struct span a = {10, 20};
    CHECK_EQ_INT(shared(a, (struct span){15, 30}), 5);
    CHECK_EQ_INT(shared(a, (struct span){12, 14}), 2);
    CHECK_EQ_INT(shared(a, (struct span){20, 30}), 0);
    CHECK_EQ_INT(shared(a, (struct span){40, 50}), 0);
    CHECK_EQ_INT(shared(a, (struct span){INT64_MIN, INT64_MAX}), 10);
}

TEST(each_moment_counts_once)
{
    int64_t covered = INT64_MIN;
    CHECK_EQ_INT(span_uncovered(&covered, (struct span){10, 20}), 10);
    CHECK_EQ_INT(span_uncovered(&covered, (struct span){12, 18}), 0);
    CHECK_EQ_INT(span_uncovered(&covered, (struct span){18, 25}), 5);
    CHECK_EQ_INT(span_uncovered(&covered, (struct span){25, 25}), 0);
    CHECK_EQ_INT(span_uncovered(&covered, (struct span){30, 31}), 1);
    CHECK_EQ_INT(covered, 31);
}

TEST(touching_spans_become_one)
{
    struct span list[4];
    uint32_t n = span_join(list, 0, (struct span){0, 10});
    n = span_join(list, n, (struct span){5, 8});
    n = span_join(list, n, (struct span){10, 12});
    CHECK_EQ_UINT(n, 1);
    CHECK_EQ_INT(list[0].end_ns, 12);
    n = span_join(list, n, (struct span){13, 20});
    CHECK_EQ_UINT(n, 2);
    CHECK_EQ_INT(list[0].end_ns, 12);
    CHECK_EQ_INT(list[1].begin_ns, 13);
}

TEST_MAIN
