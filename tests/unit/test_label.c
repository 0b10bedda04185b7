/* test_label.c: what names of labels say, word by word. */
#include "analyze/names/label.h"

#include "analyze/names/torch_words.h"
#include "test.h"

static bool says_call(const char *name)
{
    return label_says_call(str_c(name));
}

static bool says_round(const char *name)
{
    return label_says_round(str_c(name));
}

TEST(a_call_is_named_by_a_whole_word)
{
    CHECK(says_call("pipeline_call") && says_call("generate") && says_call("FluxPipeline"));
    CHECK(says_call("__call__") && says_call("runLoop") && says_call("GPUBenchmark"));
    CHECK(says_call("main") && says_call("denoise") && says_call("timed run 3"));
    CHECK(!says_call("rerun_cache") && !says_call("denoiser_block") && !says_call("remain"));
    CHECK(!says_call("recall") && !says_call("trainable") && !says_call("constrained"));
    CHECK(!says_call("") && !says_call("__") && !says_call("1234"));
}

TEST(a_round_is_no_call)
{
    CHECK(says_round("denoise_step_3") && !says_call("denoise_step_3"));
    CHECK(says_round("step3") && says_round("TrainingStep") && says_round("ITER"));
    CHECK(!says_round("footsteps") && !says_round("background") && !says_round("framework"));
    CHECK(!says_round("literal") && !says_round("tokenizer"));
}

TEST(tails_end_rounds_and_parts_are_pieces_of_a_network)
{
    CHECK(label_is_tail(str_c("scheduler_step")) && label_is_tail(str_c("Optimizer.step#AdamW")));
    CHECK(!label_is_tail(str_c("step")) && label_ends_round(str_c("step")));
    CHECK(!label_is_tail(str_c("resampler2")) && !label_ends_round(str_c("stepwise")));
    CHECK(label_says_part(str_c("transformer_block")) && label_says_part(str_c("LlamaMLP")));
    CHECK(!label_says_part(str_c("unblocked")) && !label_says_part(str_c("normalize")));
}

TEST(torch_words_name_one_thing_each)
{
    CHECK_EQ_INT(torch_step_number(str_c("ProfilerStep#12")), 12);
    CHECK_EQ_INT(torch_step_number(str_c("ProfilerStep#")), -1);
    CHECK_EQ_INT(torch_step_number(str_c("ProfilerStep#1x")), -1);
    CHECK(torch_is_region(str_c("Torch-Compiled Region: 0/1")));
    CHECK(torch_is_region(str_c("## Call CompiledFxGraph abc ##")));
    CHECK(!torch_is_region(str_c("TorchDynamo Cache Lookup")));
    CHECK(torch_is_compiler(str_c("TorchDynamo Cache Lookup")));
    CHECK(torch_is_optimizer(str_c("Optimizer.zero_grad#SGD.zero_grad")));
    CHECK(!torch_is_optimizer_step(str_c("Optimizer.zero_grad#SGD.zero_grad")));
    CHECK(torch_is_inductor(str_c("triton_poi_fused_add_0")));
    CHECK(torch_is_triton(str_c("triton_mine")) && !torch_is_inductor(str_c("triton_mine")));
    CHECK(torch_is_fused_chain(str_c("triton_red_fused_0")));
    CHECK(!torch_is_fused_chain(str_c("triton_tem_fused_mm_0")));
}

TEST_MAIN
