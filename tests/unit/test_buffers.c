/* test_buffers.c: lending, taking back, looking into what is lent, and the ceiling. */
#include <pthread.h>
#include <string.h>

#include "backend/buffers.h"
#include "test.h"

static void begin(uint64_t most_bytes)
{
    buffers_forget();
    buffers_init(most_bytes);
}

TEST(a_buffer_goes_round)
{
    begin(BUFFERS_BYTES * 8);
    char *bytes = buffers_take();
    REQUIRE(bytes != NULL);
    memset(bytes, 1, 100);
    CHECK(buffers_lent(0) != NULL && buffers_lent(0)->bytes == bytes);
    CHECK(buffers_filled() == NULL);
    CHECK(buffers_give_back(bytes, 100));
    CHECK(!buffers_give_back(bytes, 100)); /* twice */
    CHECK(buffers_lent(0) == NULL);
    struct buffer *b = buffers_filled();
    REQUIRE(b != NULL);
    CHECK_EQ_UINT(b->n_valid, 100);
    buffers_recycle(b);
    char *again = buffers_take();
    CHECK(again == bytes);
    for (int i = 0; i < 100; i++) CHECK_EQ_INT(again[i], 0);
}

TEST(as_many_are_ready_as_were_needed)
{
    begin(BUFFERS_BYTES * 64);
    buffers_replenish();
    CHECK_EQ_UINT(buffers_count(), BUFFERS_READY);
    for (int i = 0; i < 20; i++) CHECK(buffers_take() != NULL);
    buffers_replenish();
    CHECK_EQ_UINT(buffers_count(), 40);
    for (int i = 0; i < 20; i++) CHECK(buffers_take() != NULL);
    CHECK_EQ_UINT(buffers_count(), 40);
}

TEST(strangers_are_refused)
{
    char other[64];
    begin(BUFFERS_BYTES * 8);
    CHECK(!buffers_give_back(other, 8));
    CHECK(!buffers_give_back(NULL, 8));
}

TEST(there_is_a_ceiling)
{
    begin(BUFFERS_BYTES * 6);
    for (int i = 0; i < 6; i++) CHECK(buffers_take() != NULL);
    CHECK(buffers_take() == NULL);
    CHECK_EQ_UINT(buffers_count(), 6);
}

TEST(they_come_in_the_order_they_were_given_back)
{
    begin(BUFFERS_BYTES * 8);
    void *taken[4];
    for (int i = 0; i < 4; i++) taken[i] = buffers_take();
    for (int i = 3; i >= 0; i--) CHECK(buffers_give_back(taken[i], (size_t)i + 1));
    struct buffer *b = buffers_filled();
    for (int i = 3; i >= 0 && b; i--, b = b->next) CHECK_EQ_UINT(b->n_valid, (size_t)i + 1);
    CHECK(b == NULL);
}

TEST(another_start_keeps_what_is_lent)
{
    begin(BUFFERS_BYTES * 8);
    void *bytes = buffers_take();
    buffers_init(BUFFERS_BYTES * 16);
    CHECK_EQ_UINT(buffers_count(), 1);
    CHECK(buffers_give_back(bytes, 8));
    CHECK(buffers_filled() != NULL);
}

TEST(what_was_given_up_is_not_looked_into)
{
    begin(BUFFERS_BYTES * 8);
    void *bytes = buffers_take();
    buffers_lent(0)->given_up = true;
    CHECK(buffers_lent(0) == NULL);
    CHECK(buffers_give_back(bytes, 8)); /* it comes back all the same */
    struct buffer *b = buffers_filled();
    REQUIRE(b != NULL);
    buffers_recycle(b);
    CHECK(buffers_take() == bytes && buffers_lent(0) != NULL);
}

enum { ROUNDS = 3000 };
static int stop;

static void *borrow(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        char *bytes = buffers_take();
        if (!bytes) continue;
        CHECK_EQ_INT(bytes[0], 0);
        CHECK_EQ_INT(bytes[63], 0);
        memset(bytes, 5, 64);
        CHECK(buffers_give_back(bytes, 64));
    }
    return unused;
}

static void *consume(void *unused)
{
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        for (struct buffer *next, *b = buffers_filled(); b; b = next) {
            next = b->next;
            CHECK_EQ_INT(b->bytes[63], 5);
            buffers_recycle(b);
        }
        buffers_replenish();
    }
    return unused;
}

TEST(several_threads)
{
    pthread_t lenders[3], consumer;
    begin(BUFFERS_BYTES * 8);
    __atomic_store_n(&stop, 0, __ATOMIC_RELEASE);
    pthread_create(&consumer, NULL, consume, NULL);
    for (int i = 0; i < 3; i++) pthread_create(&lenders[i], NULL, borrow, NULL);
    for (int i = 0; i < 3; i++) pthread_join(lenders[i], NULL);
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    pthread_join(consumer, NULL);
    CHECK(buffers_count() <= 8);
}

TEST_MAIN
