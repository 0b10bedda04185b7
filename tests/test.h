/* test.h: the whole test framework.
 *
 *     TEST(adds_up) { CHECK_EQ_INT(1 + 1, 2); }
 *     TEST_MAIN
 *
 * A failed check prints file:line and both values and the test goes on; REQUIRE leaves the test.
 * Tests run in the order they are written; arguments of the program select tests by substring.
 * The program ends with `N passed, N failed`, counting tests. */
#ifndef STRATA_TESTS_TEST_H
#define STRATA_TESTS_TEST_H

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

/* An allocation too large for the sanitizer's allocator fails as it would without it. */
__attribute__((visibility("default"), used)) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

struct test {
    const char *name;
    void (*fn)(void);
    struct test *next;
};

static struct test *test_first, **test_last = &test_first;
static int test_failed_checks;

#define TEST(name)                                                     \
    static void test_##name(void);                                     \
    static struct test test_entry_##name = {#name, test_##name, NULL}; \
    __attribute__((constructor)) static void test_list_##name(void)    \
    {                                                                  \
        *test_last = &test_entry_##name;                               \
        test_last = &test_entry_##name.next;                           \
    }                                                                  \
    static void test_##name(void)

#define TEST_MAIN                        \
    int main(int argc, char **argv)      \
    {                                    \
        return test_run_all(argc, argv); \
    }

__attribute__((format(printf, 3, 4))) static inline void test_fail(const char *file, int line,
                                                                   const char *fmt, ...)
{
    va_list ap;
    test_failed_checks++;
    printf("%s:%d: ", file, line);
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    putchar('\n');
}

static inline bool test_int(const char *file, int line, const char *what, int64_t got, int64_t want)
{
    if (got == want) return true;
    test_fail(file, line, "%s is %" PRId64 ", expected %" PRId64, what, got, want);
    return false;
}

static inline bool test_uint(const char *file, int line, const char *what, uint64_t got,
                             uint64_t want)
{
    if (got == want) return true;
    test_fail(file, line, "%s is %" PRIu64 ", expected %" PRIu64, what, got, want);
    return false;
}

static inline bool test_near(const char *file, int line, const char *what, const double v[3])
{
    if (fabs(v[0] - v[1]) <= v[2]) return true;
    test_fail(file, line, "%s is %.17g, expected %.17g +- %g", what, v[0], v[1], v[2]);
    return false;
}

static inline bool test_str(const char *file, int line, const char *what, struct str got,
                            struct str want)
{
    if (str_eq(got, want) && !got.p == !want.p) return true;
    test_fail(file, line, "%s is\n  \"%.*s\"\nexpected\n  \"%.*s\"", what, got.p ? (int)got.n : 6,
              got.p ? got.p : "(null)", want.p ? (int)want.n : 6, want.p ? want.p : "(null)");
    return false;
}

static inline struct str test_cstr(const char *s)
{
    return s ? str_c(s) : (struct str){NULL, 0};
}

/* Every check is an expression: false when it failed. */
#define CHECK(cond)              ((cond) ? true : (test_fail(__FILE__, __LINE__, "not true: %s", #cond), false))
#define CHECK_EQ_INT(got, want)  test_int(__FILE__, __LINE__, #got, (got), (want))
#define CHECK_EQ_UINT(got, want) test_uint(__FILE__, __LINE__, #got, (got), (want))
#define CHECK_NEAR(got, want, within) \
    test_near(__FILE__, __LINE__, #got, (const double[]){(got), (want), (within)})
#define CHECK_EQ_STR(got, want)   test_str(__FILE__, __LINE__, #got, test_cstr(got), test_cstr(want))
#define CHECK_EQ_BYTES(got, want) test_str(__FILE__, __LINE__, #got, (got), test_cstr(want))

/* Leaves the test when a check fails: REQUIRE(CHECK_EQ_INT(rc, 0)); or REQUIRE(p != NULL); */
#define REQUIRE(cond)             \
    do {                          \
        if (!CHECK(cond)) return; \
    } while (0)

/* Calls fn(ctx) with the first allocation failing, then the second, ... until it needs no more
 * than it may have, all later ones failing too; then with each alone failing, the blocks of arenas
 * among them, of which later ones are sampled where there are thousands. `fn` returns 0 on success
 * and negative when it ran out of memory; it must clean up after itself either way (the sanitizer
 * tells). At least one call must fail. */
static inline void test_allocs(const char *file, int line, int (*fn)(void *ctx), void *ctx,
                               void (*fail_at)(long k))
{
    enum { MOST = 1000000, ALL = 400 };
    bool blocks = fail_at == mem_fail_at_block;
    for (long k = 1; k < MOST; k += blocks ? 1 + k / ALL : 1) {
        fail_at(k);
        int rc = fn(ctx);
        bool reached = mem_count() >= k;
        mem_fail_at(0);
        if (rc == 0 && reached) continue; /* it could do without */
        if (rc == 0) {
            if (k == 1) test_fail(file, line, "nothing was allocated");
            return;
        }
        if (!reached) {
            test_fail(file, line, "failed with %d although memory was there", rc);
            return;
        }
    }
    test_fail(file, line, "still failing after %d allocations", (int)MOST);
}

static inline void test_every_alloc(const char *file, int line, int (*fn)(void *ctx), void *ctx)
{
    test_allocs(file, line, fn, ctx, mem_fail_at);
    test_allocs(file, line, fn, ctx, mem_fail_at_block);
}
#define CHECK_EVERY_ALLOC(fn, ctx) test_every_alloc(__FILE__, __LINE__, (fn), (ctx))

static inline bool test_selected(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strstr(name, argv[i])) return true;
    return argc <= 1;
}

static inline int test_run_all(int argc, char **argv)
{
    int passed = 0, failed = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (struct test *t = test_first; t; t = t->next) {
        if (!test_selected(t->name, argc, argv)) continue;
        test_failed_checks = 0;
        t->fn();
        mem_fail_at(0);
        if (test_failed_checks) printf("FAILED %s\n", t->name);
        test_failed_checks ? failed++ : passed++;
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed || !passed;
}

#endif
