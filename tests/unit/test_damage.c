/* test_damage.c: counts are complete, places are the first few in file order. */
#include "trace/damage.h"

#include "test.h"

static struct damage a, b;

TEST(every_reason_has_words)
{
    for (int r = 0; r < DAMAGE_REASONS; r++) {
        CHECK(damage_name(r) && damage_name(r)[0]);
        CHECK(damage_text(r) && damage_text(r)[0]);
        for (int other = 0; other < r; other++)
            CHECK(strcmp(damage_name(r), damage_name(other)) != 0);
    }
    CHECK(damage_loses(DAMAGE_TRUNCATED));
    CHECK(!damage_loses(DAMAGE_TRAILING_COMMA));
}

TEST(counts_all_and_keeps_the_first_places)
{
    memset(&a, 0, sizeof a);
    for (uint64_t i = 0; i < DAMAGE_PLACES + 10; i++) damage_note(&a, DAMAGE_BAD_EVENT, 1000 + i);
    damage_note(&a, DAMAGE_TRUNCATED, 5);
    CHECK_EQ_UINT(a.count[DAMAGE_BAD_EVENT], DAMAGE_PLACES + 10);
    CHECK_EQ_UINT(a.place[DAMAGE_BAD_EVENT][0], 1000);
    CHECK_EQ_UINT(a.place[DAMAGE_BAD_EVENT][DAMAGE_PLACES - 1], 1000 + DAMAGE_PLACES - 1);
    CHECK_EQ_UINT(damage_total(&a), DAMAGE_PLACES + 11);
}

TEST(merging_appends)
{
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    damage_note(&a, DAMAGE_BARE_WORD, 10);
    damage_note(&b, DAMAGE_BARE_WORD, 20);
    damage_note(&b, DAMAGE_BAD_UTF8, 30);
    damage_merge(&a, &b);
    CHECK_EQ_UINT(a.count[DAMAGE_BARE_WORD], 2);
    CHECK_EQ_UINT(a.place[DAMAGE_BARE_WORD][1], 20);
    CHECK_EQ_UINT(a.place[DAMAGE_BAD_UTF8][0], 30);
    CHECK_EQ_UINT(damage_total(&a), 3);
}

TEST(merging_full_lists)
{
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    for (uint64_t i = 0; i < DAMAGE_PLACES - 1; i++) damage_note(&a, DAMAGE_NO_TIME, i);
    for (uint64_t i = 0; i < 3 * DAMAGE_PLACES; i++) damage_note(&b, DAMAGE_NO_TIME, 7000 + i);
    damage_merge(&a, &b);
    CHECK_EQ_UINT(a.count[DAMAGE_NO_TIME], 4 * DAMAGE_PLACES - 1);
    CHECK_EQ_UINT(a.place[DAMAGE_NO_TIME][DAMAGE_PLACES - 1], 7000);
    damage_merge(&a, &b);
    CHECK_EQ_UINT(a.place[DAMAGE_NO_TIME][DAMAGE_PLACES - 1], 7000);
}

TEST_MAIN
