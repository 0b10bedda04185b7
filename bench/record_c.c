/* record_c.c: what a range costs a C program, off and on, in nanoseconds; prints one JSON object.
 * Times are the best of many short rounds: what the code costs, not what else the machine does. */
#include <stdio.h>
#include <time.h>

#include <strata/strata.h>

enum { ROUNDS = 200, PAIRS = 20000 };

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void literal(int n)
{
    for (int i = 0; i < n; i++) {
        STRATA_BEGIN("decode");
        STRATA_END();
        __asm__ volatile("" ::: "memory");
    }
}

static void looked_up(int n)
{
    for (int i = 0; i < n; i++) {
        strata_begin("decode");
        strata_end();
        __asm__ volatile("" ::: "memory");
    }
}

static void nothing(int n)
{
    for (int i = 0; i < n; i++) __asm__ volatile("" ::: "memory");
}

static double best_ns(void (*fn)(int n))
{
    double best = 1e18;
    for (int i = 0; i < ROUNDS; i++) {
        double begin = now_ns();
        fn(PAIRS);
        double took = (now_ns() - begin) / PAIRS;
        if (took < best) best = took;
    }
    return best;
}

/* Over many blocks, so that emptying them is in it. */
static double mean_ns(void (*fn)(int n))
{
    double best = 1e18;
    for (int i = 0; i < 5; i++) {
        double begin = now_ns();
        for (int k = 0; k < 50; k++) fn(PAIRS);
        double took = (now_ns() - begin) / PAIRS / 50;
        if (took < best) best = took;
    }
    return best;
}

int main(int argc, char **argv)
{
    double loop = best_ns(nothing), off = best_ns(literal) - loop;
    if (argc < 2 || strata_start(argv[1]) < 0) return 1;
    double on = best_ns(literal) - loop, mean = mean_ns(literal) - loop;
    double lookup = best_ns(looked_up) - loop;
    printf("{\"off_ns\": %.3f, \"on_ns\": %.2f, \"on_mean_ns\": %.2f, \"on_looked_up_ns\": %.2f}\n",
           off > 0 ? off : 0, on, mean, lookup);
    if (strata_trouble()) fprintf(stderr, "%s\n", strata_trouble());
    return strata_trouble() != NULL;
}
