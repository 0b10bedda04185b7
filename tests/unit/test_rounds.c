/* test_rounds.c: the outermost repetition of a sequence, and what tells calls from layers. */
#include "analyze/structure/levels.h"

#include "test.h"

enum { MOST = 4096 };

struct found {
    struct arena mem, scratch;
    struct rounds r;
};

/* Items are letters; spaces are pauses before the next one. */
static struct found find(const char *text)
{
    static uint32_t items[MOST];
    static int64_t weights[MOST], pauses[MOST];
    struct found f = {0};
    uint32_t n = 0;
    arena_init(&f.mem);
    arena_init(&f.scratch);
    for (int64_t pause = 0; *text && n < MOST; text++) {
        if (*text == ' ') {
            pause += 1000;
            continue;
        }
        items[n] = (uint32_t)*text;
        weights[n] = 1;
        pauses[n++] = pause;
        pause = 0;
    }
    struct rounds_seq seq = {items, weights, pauses, n};
    CHECK_EQ_INT(rounds_find(&seq, &f.mem, &f.scratch, &f.r, NULL), 0);
    return f;
}

static void done(struct found *f)
{
    arena_done(&f->mem);
    arena_done(&f->scratch);
}

/* Rounds, items per round, where the first begins and the last ends. */
static void check(const char *text, uint32_t n, uint32_t period, uint32_t begin, uint32_t end)
{
    struct found f = find(text);
    CHECK_EQ_UINT(f.r.n, n);
    if (n && f.r.n == n) {
        CHECK_EQ_UINT(f.r.period, period);
        CHECK_EQ_UINT(f.r.list[0].begin, begin);
        CHECK_EQ_UINT(f.r.list[n - 1].end, end);
    }
    done(&f);
}

TEST(nothing_repeats)
{
    check("", 0, 0, 0, 0);
    check("a", 0, 0, 0, 0);
    check("abcdefgh", 0, 0, 0, 0);
    check("abcaxyz", 0, 0, 0, 0);
}

TEST(a_repetition_of_one_thing_is_taken_apart)
{
    check("aaaaaa", 6, 1, 0, 6);
    check("abababab", 4, 2, 0, 8);
}

TEST(the_outermost_repetition_not_the_layers)
{
    check("ibbbbbhibbbbbhibbbbbh", 3, 7, 0, 21);
    check("wwxyzibcbcbcbchibcbcbcbchd", 2, 10, 5, 25);
    /* a head so small that the layers look like one run */
    check("bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbh"
          "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbh"
          "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbh",
          3, 51, 0, 153);
}

TEST(rounds_of_different_lengths)
{
    /* the third round has a layer less */
    check("ibcbcbcbchibcbcbcbchibcbcbchibcbcbcbchibcbcbcbch", 5, 10, 0, 48);
}

TEST(what_stands_between_rounds_is_left_out)
{
    /* calls of a generator: as many tokens as there are, something else between two calls */
    check("xyzabcdefghijabcdefghijabcdefghijxyzabcdefghijabcdefghij", 5, 10, 3, 56);
}

TEST(what_stands_before_the_loop_looks_like_its_end)
{
    /* "gh" comes before the first round too, but the pause is where rounds begin */
    check("xgh abcdefgh abcdefgh abcdefgh abcdefgh abcdefgh abcdef", 6, 8, 3, 49);
}

TEST(a_little_may_differ)
{
    check("abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"
          "abcdefghijklm?opqrstuvwxyzabcdefghijklmnopqrstuvwxyz",
          4, 26, 0, 104);
}

/* Calls of `inside` rounds; `noise` of the pauses inside are long, too. */
static uint32_t calls_found(uint32_t calls, uint32_t inside, int64_t between, uint32_t noise)
{
    static int64_t pauses[MOST];
    struct arena scratch;
    uint32_t found = 0, n = calls * inside;
    arena_init(&scratch);
    for (uint32_t i = 0; i < n; i++) pauses[i] = 20000 + (i * 7919) % 3000;
    for (uint32_t i = inside; i < n; i += inside) pauses[i] = between;
    for (uint32_t i = 0; i < noise; i++) pauses[(i * 37 + 5) % n] = 90000;
    CHECK_EQ_INT(rounds_by_pauses(pauses, n, &scratch, &found, NULL), 0);
    arena_done(&scratch);
    return found;
}

TEST(equal_rounds_told_apart_by_pauses)
{
    CHECK_EQ_UINT(calls_found(10, 16, 60000, 0), 16);
    CHECK_EQ_UINT(calls_found(6, 12, 45000, 0), 12);
    CHECK_EQ_UINT(calls_found(3, 4, 60000, 0), 4);
    CHECK_EQ_UINT(calls_found(10, 16, 60000, 6), 16);
    CHECK_EQ_UINT(calls_found(2, 8, 200000, 0), 8);
}

/* One pause in each call is long; the usual one is that of most. */
TEST(a_long_pause_inside_every_call_is_not_the_usual_one)
{
    enum { CALLS = 5, INSIDE = 4 };
    int64_t pauses[CALLS * INSIDE];
    struct arena scratch;
    uint32_t found = 0;
    arena_init(&scratch);
    for (uint32_t i = 0; i < CALLS * INSIDE; i++)
        pauses[i] = (const int64_t[]){60000, 10000, 50000, 10000}[i % INSIDE];
    CHECK_EQ_INT(rounds_by_pauses(pauses, CALLS * INSIDE, &scratch, &found, NULL), 0);
    CHECK_EQ_UINT(found, INSIDE);
    arena_done(&scratch);
}

TEST(pauses_that_do_not_stand_out)
{
    CHECK_EQ_UINT(calls_found(10, 16, 22000, 0), 0);
    CHECK_EQ_UINT(calls_found(2, 8, 40000, 0), 0); /* a single one is easily chance */
}

static int find_once(void *ctx)
{
    static const uint32_t items[] = {1, 2, 3, 2, 3, 2, 3, 1, 2, 3, 2, 3, 2, 3};
    static const int64_t weights[14] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, pauses[14];
    struct rounds_seq seq = {items, weights, pauses, 14};
    struct arena mem, scratch;
    struct rounds r;
    (void)ctx;
    arena_init(&mem);
    arena_init(&scratch);
    int rc = rounds_find(&seq, &mem, &scratch, &r, NULL);
    arena_done(&mem);
    arena_done(&scratch);
    return rc;
}

TEST(out_of_memory_is_reported)
{
    CHECK_EVERY_ALLOC(find_once, NULL);
}

TEST_MAIN
