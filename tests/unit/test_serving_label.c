/* test_serving_label.c: rounds of servers of language models, by their labels. */
#include "analyze/names/serving_label.h"

#include "test.h"

TEST(rounds_of_sglang)
{
    struct serving_label l = serving_label_of(str_c("step[DECODE bs=32]"));
    CHECK_EQ_INT(l.phase, SERVING_DECODE);
    CHECK_EQ_INT(l.requests, 32);
    CHECK_EQ_INT(l.decoding, 32);
    l = serving_label_of(str_c("step[EXTEND bs=2 toks=4096]"));
    CHECK_EQ_INT(l.phase, SERVING_PREFILL);
    CHECK_EQ_INT(l.decoding, 0);
}

TEST(rounds_of_vllm)
{
    struct serving_label l = serving_label_of(
        str_c("execute_20_context_4(sq8sk8sqsq8sqsk8)_generation_16(sq16sk900sqsq16sqsk900)"));
    CHECK_EQ_INT(l.phase, SERVING_MIXED);
    CHECK_EQ_INT(l.requests, 20);
    CHECK_EQ_INT(l.decoding, 16);
    l = serving_label_of(str_c("execute_8_context_0(sq0)_generation_8(sq8)"));
    CHECK_EQ_INT(l.phase, SERVING_DECODE);
}

TEST(other_labels_are_none)
{
    CHECK_EQ_INT(serving_label_of(str_c("execute_model")).phase, SERVING_NONE);
    CHECK_EQ_INT(serving_label_of(str_c("step[]")).phase, SERVING_NONE);
    CHECK_EQ_INT(serving_label_of(str_c("step")).phase, SERVING_NONE);
}

TEST_MAIN
