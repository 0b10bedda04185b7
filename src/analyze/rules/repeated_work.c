/* repeated_work.c: the same work a second time within one unit of the program, and what it means:
 * a table of kinds of repetition, each with how it is found and what to do about it. */
#include "analyze/findings/spare_rows.h"
#include "analyze/rules/rules.h"

static const struct spare_row rows[] = {
    {.title = "the forward pass is computed twice",
     .fix = "Switch activation checkpointing off where memory allows: "
            "model.gradient_checkpointing_disable(), gradient_checkpointing=False, or call the "
            "module directly instead of torch.utils.checkpoint.checkpoint. If not all of it fits, "
            "checkpoint only some of the layers.",
     .not_fixed = "The results of the forward pass stay in memory until the backward pass has used "
                  "them: the peak rises.",
     .tries = "no_checkpointing",
     .effort = EFFORT_ONE_LINE,
     .show = "kernels %s --by op",
     .find = recomputed_find},
    {.title = "all positions are computed again for every token",
     .fix = "Generate with a cache: use_cache=True (training sets it to False for checkpointing: "
            "model.config.use_cache = True), past_key_values of the pass before, or "
            "cache_implementation=\"static\", which can be compiled.",
     .not_fixed = "The cache takes memory for the keys and values of all positions.",
     .effort = EFFORT_ONE_LINE,
     .show = "kernels %s --by op",
     .find = uncached_passes_find},
    {.title = "weight norm is computed at every call",
     .fix = "Compute the weights once, before the loop: torch.nn.utils.remove_weight_norm(layer), "
            "or parametrize.remove_parametrizations(layer, \"weight\") of torch.nn.utils, for "
            "every layer that has it (many models have a remove_weight_norm()).",
     .not_fixed = "The model cannot be trained on as before.",
     .tries = "no_weight_norm:model",
     .effort = EFFORT_ONE_LINE,
     .show = "kernels %s --by op",
     .find = weight_norms_find},
    {.title = "libraries are set up again in every new thread",
     .subject = "a thread per request",
     .fix =
         "Keep threads: a pool (concurrent.futures.ThreadPoolExecutor, the workers of the server) "
         "or one thread that launches for all. cuDNN keeps its plans per thread; with "
         "torch.backends.cuda.enable_cudnn_sdp(False) attention has none.",
     .not_fixed = "Each thread of a pool still makes its own once.",
     .effort = EFFORT_LOCAL,
     .show = "gaps %s",
     .find = thread_setups_find},
    {.title = "gradients are reduced in every micro-step",
     .fix = "Reduce after the last backward pass only: with model.no_sync(): around the forward "
            "and backward pass of all others (Accelerate: accelerator.accumulate(model); FSDP2: "
            "model.set_requires_gradient_sync(False)). The forward pass has to be inside, too.",
     .not_fixed = "With sharded gradients (FSDP) memory for whole gradients is needed until then.",
     .effort = EFFORT_LOCAL,
     .show = "comm %s",
     .find = micro_steps_find},
    {.title = "the same is computed again from the same inputs",
     .fix = "Compute it once before the loop and keep the result: what an encoder makes of a "
            "prompt in a variable, the keys and values of a text in the layer, a cache that holds "
            "a prompt (copied for each answer). Tables of positions and masks are built once, in "
            "__init__ (register_buffer) or by the model, which hands them to its layers. Compute "
            "it again where the inputs change.",
     .not_fixed = "What is kept takes memory.",
     .effort = EFFORT_LOCAL,
     .show = "kernels %s --by module",
     .find = same_inputs_find},
};

static int repeated_work_run(const struct context *cx, struct findings *out, struct err *e)
{
    return spare_rows_run(cx, &rule_repeated_work, rows, sizeof rows / sizeof *rows, out, e);
}

const struct rule rule_repeated_work = {
    .id = "repeated_work",
    .summary = "the same work is done again within one step",
    .limit = LIMIT_GPU,
    .claims = CLAIM_KERNELS | CLAIM_CALLS | CLAIM_TIME,
    .yields_to = RULE_LIST(&rule_settings),
    .run = repeated_work_run,
};
