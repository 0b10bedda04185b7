/* test_sequence.c: launches in order. */
#include "analyze/sequence/automaton.h"
#include "analyze/sequence/sequence.h"
#include "diagnosis.h"
#include "kernel_kit.h"

/* Whether a stretch occurs in what the automaton has read. */
static bool occurs(const struct automaton *a, const char *text)
{
    uint32_t state = 0;
    for (; *text && state != AUTOMATON_NONE; text++)
        state = automaton_follow(a, state, (uint32_t)*text);
    return state != AUTOMATON_NONE;
}

TEST(automaton_knows_every_stretch_and_no_other)
{
    static const char text[] = "abcbcabbcacbbca";
    struct automaton a;
    CHECK_EQ_INT(automaton_init(&a, sizeof text), 0);
    for (uint32_t i = 0; text[i]; i++) CHECK_EQ_INT(automaton_append(&a, (uint32_t)text[i]), 0);
    for (size_t i = 0; i < sizeof text - 1; i++)
        for (size_t n = 1; i + n < sizeof text; n++) {
            char part[sizeof text] = "";
            memcpy(part, text + i, n);
            CHECK(occurs(&a, part));
            part[n - 1]++;
            CHECK_EQ_INT(occurs(&a, part), strstr(text, part) != NULL);
        }
    automaton_done(&a);
}

/* Launches "a", "b" ... in order, as kernels of these names; upper case by the second thread. */
static struct trace *launches(const char *names)
{
    struct kit k = kit_begin();
    double us = 0;
    for (; *names; names++, us += 20) {
        char name[2] = {*names, 0};
        k.tid = *names >= 'A' && *names <= 'Z' ? 2 : 1;
        kit_launch(&k, us, name, us + 10, 5);
    }
    return kit_end(&k);
}

/* What two threads launch at the same time stands one after the other. */
TEST(sequence_keeps_threads_apart)
{
    struct diagnosis d;
    diagnose(&d, launches("aAbBcCdD"));
    const struct sequence *s = sequence_of(&d.cx);
    if (CHECK_EQ_INT(s->n, 8))
        for (uint32_t i = 0; i < 8; i++)
            CHECK_EQ_INT(trace_name(d.t, s->items[i].work).p[0], "abcdABCD"[i]);
    done(&d);
}

/* Shapes make two launches of one kernel different. */
TEST(sequence_tokens_are_of_kernel_operator_and_shapes)
{
    struct kernel_kit g = kernel_kit_begin();
    kernel_kit_call(&g, "aten::mm", "[[64, 64], [64, 64]]", BF16_2, "nvjet", 10);
    kernel_kit_call(&g, "aten::mm", "[[64, 64], [64, 64]]", BF16_2, "nvjet", 10);
    kernel_kit_call(&g, "aten::mm", "[[64, 64], [64, 32]]", BF16_2, "nvjet", 10);
    struct diagnosis d;
    diagnose(&d, kernel_kit_end(&g));
    const struct launched *x = sequence_of(&d.cx)->items;
    CHECK_EQ_INT(x[0].token, x[1].token);
    CHECK(x[0].token != x[2].token);
    done(&d);
}

TEST_MAIN
