/* test_period.c: which stretch of a sequence repeats, with noise before, after and inside. */
#include "analyze/structure/period.h"

#include "base/arena.h"
#include "test.h"

enum { MOST = 4096 };

static struct repeat find_weighted(const char *text, const int64_t *weights, uint32_t slack_pct)
{
    static uint32_t items[MOST];
    static int64_t ones[MOST];
    struct arena mem;
    arena_init(&mem);
    uint32_t n = (uint32_t)strlen(text);
    for (uint32_t i = 0; i < n; i++) items[i] = (uint32_t)text[i], ones[i] = 1;
    struct period_seq seq = {items, weights ? weights : ones, n, slack_pct};
    struct repeat r = {0};
    CHECK_EQ_INT(period_find(&seq, &mem, &r, NULL), 0);
    arena_done(&mem);
    return r;
}

static struct repeat find(const char *text)
{
    return find_weighted(text, NULL, 0);
}

static void check(struct repeat r, uint32_t begin, uint32_t period, uint32_t count)
{
    CHECK_EQ_UINT(r.count, count);
    if (!count) return;
    CHECK_EQ_UINT(r.begin, begin);
    CHECK_EQ_UINT(r.period, period);
}

TEST(two_forwards_and_a_step_are_one_period)
{
    check(find("ffsffs"), 0, 3, 2);
    check(find("eeffsffsffsd"), 2, 3, 3);
    check(find("cfcfscfcfs"), 0, 5, 2);
}

TEST(nothing_repeats)
{
    check(find(""), 0, 0, 0);
    check(find("a"), 0, 0, 0);
    check(find("abcdef"), 0, 0, 0);
    check(find("abcaxyz"), 0, 0, 0);
}

TEST(the_shortest_of_equals)
{
    check(find("aaaa"), 0, 1, 4);
    check(find("abababab"), 0, 2, 4);
    struct repeat r = find("abcabcab");
    check(r, 0, 3, 2);
    CHECK_EQ_UINT(r.spare, 2);
}

TEST(layers_inside_do_not_hide_the_loop)
{
    check(find("ibbbbbfs"
               "ibbbbbfs"
               "ibbbbbfs"),
          0, 8, 3);
    /* the same with every layer of several kernels, and a warm-up in front */
    check(find("wwxyzi"
               "nqkvanqkvanqkvanqkvapuh"
               "nqkvanqkvanqkvanqkvapuh"),
          6, 23, 2);
}

TEST(weight_decides_between_two_loops)
{
    static const int64_t w[] = {1, 1, 1, 1, 1, 1, 100, 100};
    check(find_weighted("eeeeeeff", w, 0), 6, 1, 2);
    check(find("eeeeeeff"), 0, 1, 6);
}

TEST(one_kernel_chosen_differently_is_no_break)
{
    static const char round[] = "abcdefghijklmnopqrstuvwxyz0123456789ABCD";
    char text[10 * (sizeof round - 1) + 1];
    for (int i = 0; i < 10; i++) memcpy(text + 40 * i, round, sizeof round);
    text[165] = '?';
    check(find_weighted(text, NULL, 3), 0, 40, 10);
    CHECK(find(text).count < 10);
}

TEST(the_last_round_may_miss_its_end)
{
    /* the scheduler's last step differs: x instead of the tail "uv" */
    static const char text[] = "abcdefghijklmnopqrstuvabcdefghijklmnopqrstx";
    struct repeat r = find_weighted(text, NULL, 3);
    check(r, 0, 22, 2);
    CHECK_EQ_UINT(r.end, 43);
    CHECK_EQ_UINT(find(text).count, 0);
}

TEST(no_item_is_unique_to_the_period)
{
    /* every letter comes twice a round; only runs of them tell rounds apart */
    check(find("aabbccaabbcc"), 0, 6, 2);
    check(find("abcabcacbacbabcabcacbacb"), 0, 12, 2);
}

static int find_once(void *ctx)
{
    struct arena *mem = ctx;
    static const uint32_t items[] = {1, 2, 1, 2, 1, 2};
    static const int64_t weights[] = {1, 1, 1, 1, 1, 1};
    struct period_seq seq = {items, weights, 6, 0};
    struct repeat r;
    arena_init(mem);
    int rc = period_find(&seq, mem, &r, NULL);
    arena_done(mem);
    return rc;
}

TEST(out_of_memory_is_reported)
{
    struct arena mem;
    CHECK_EVERY_ALLOC(find_once, &mem);
}

TEST_MAIN
