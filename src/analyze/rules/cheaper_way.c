/* cheaper_way.c: work for which there is a cheaper way to the same result: a table of patterns of
 * operators and kernels, each with the condition under which the other way is safe. */
#include "analyze/findings/spare_rows.h"
#include "analyze/rules/rules.h"

static const struct spare_row rows[] = {
    {.title = "adapters are computed beside the layers",
     .fix = "Add the adapters to the weights once, before the loop: model.merge_and_unload() in "
            "PEFT, pipe.fuse_lora() in diffusers, or weight += scale * (B @ A).",
     .not_fixed =
         "This works only if all calls use the same adapter. Merged weights are rounded to their "
         "type, so results differ slightly.",
     .tries = "merged_adapters:model",
     .effort = EFFORT_ONE_LINE,
     .show = "kernels %s --by op",
     .find = adapters_find},
    {.title = "the whole vocabulary is sorted for top-p",
     .fix =
         "Sample from the largest values only: top = logits.topk(1024), then softmax, cumsum and "
         "multinomial on top.values, and top.indices.gather at the end. Or "
         "use a sampler that does not sort (FlashInfer's top_p_sampling_from_probs).",
     .not_fixed = "The result differs if top-p keeps more values than are taken, which a very flat "
                  "distribution with p near 1 can do.",
     .effort = EFFORT_LOCAL,
     .show = "kernels %s --by op",
     .find = top_p_find},
    {.title = "all of a tensor is sorted to read a few places",
     .fix = "Select instead of sorting: x.topk(k, dim, largest=False) instead of x.sort(dim)[0][:, "
            ":k], x.topk(k, dim) where the sort is descending, x.kthvalue or x.amin for one place.",
     .not_fixed = "Of equal values topk may return other indices than a sort.",
     .effort = EFFORT_ONE_LINE,
     .show = "kernels %s --by op",
     .find = sorted_for_few_find},
    {.title = "rows are added to a few others by atomics",
     .fix = "Instead of index_add or scatter_add take a product: one_hot(index, groups).to(x.dtype)"
            ".T @ x, with x in half precision if it is; or sort once and add up segments: order = "
            "index.argsort(), then torch.segment_reduce(x[order], \"sum\", lengths=counts).",
     .not_fixed = "Sums are rounded differently, and are the same every time. The product takes "
                  "memory for a number per row and group.",
     .effort = EFFORT_LOCAL,
     .show = "kernels %s --by op",
     .find = colliding_adds_find},
    {.title = "weights are unpacked before every product",
     .fix =
         "Unpack them once if memory allows (model.dequantize() of transformers, or load without "
         "quantization), or use products that read packed weights: Marlin, Machete or torchao's "
         "kernels, or torch.compile, which fuses the two where it can.",
     .not_fixed = "Unpacked weights take two to four times the memory.",
     .effort = EFFORT_LOCAL,
     .show = "kernels %s --by op",
     .find = dequantized_find},
    {.title = "gradients are computed that no optimizer uses",
     .fix = "Freeze what is not trained: model.requires_grad_(False) before the part that is gets "
            "requires_grad_(True), or run it under torch.no_grad() if nothing below it is trained.",
     .not_fixed = "Not where the gradients are used otherwise: for norms, for logging, by a second "
                  "optimizer that runs more rarely.",
     .effort = EFFORT_ONE_LINE,
     .show = "kernels %s --by op",
     .find = unused_gradients_find},
    {.title = "gradients are filled with zeros and added to",
     .fix = "optimizer.zero_grad(set_to_none=True), the default since torch 2.0, or p.grad = None: "
            "the backward pass then leaves its own tensors as gradients.",
     .not_fixed = "Not where something keeps addresses of gradients: a captured backward pass, "
                  "gradients that are views of buckets or of a flat buffer.",
     .effort = EFFORT_ONE_LINE,
     .show = "kernels %s --by op",
     .find = zeroed_gradients_find},
    {.title = "a loss goes through float32 logits",
     .fix = "Fuse it: torch.compile the function that computes the loss from half-precision logits "
            "(logits.float() inside it), use Liger's fused linear cross entropy, or compute the "
            "loss of some rows at a time.",
     .not_fixed = "Sums are rounded differently.",
     .effort = EFFORT_LOCAL,
     .show = "kernels %s --by op",
     .find = wide_losses_find},
    {.title = "8-bit weights are converted before every product",
     .fix = "Unpack them once if memory allows (model.dequantize() of transformers, or keep the "
            "converted weight), or use products that read packed weights: torchao, Marlin or "
            "Machete, or torch.compile, which fuses conversion and product where it can.",
     .not_fixed = "Unpacked weights take two to four times the memory.",
     .effort = EFFORT_LOCAL,
     .show = "kernels %s --by op",
     .find = unpacked_weights_find},
    {.title = "products are taken in the dearer order",
     .fix = "Set the brackets the other way: a @ (b @ x) instead of (a @ b) @ x, or "
            "torch.linalg.multi_dot([a, b, x]), which finds the cheapest order.",
     .not_fixed = "Results are rounded differently. Where the product of the two large ones never "
                  "changes, computing it once is another way.",
     .effort = EFFORT_ONE_LINE,
     .show = "kernels %s --by op",
     .find = product_order_find},
    {.title = "rows are looked up by one-hot vectors",
     .fix = "Use the indices: torch.nn.functional.embedding(ids, weight), or weight[ids], instead "
            "of one_hot(ids) @ weight.",
     .not_fixed = "Where weights are trained, gradients are added up in another order.",
     .effort = EFFORT_ONE_LINE,
     .show = "kernels %s --by op",
     .find = one_hot_find},
    {.title = "systems are solved by way of an inverse",
     .fix = "torch.linalg.solve(a, b) instead of torch.linalg.inv(a) @ b; for symmetric, positive "
            "definite matrices torch.cholesky_solve(b, torch.linalg.cholesky(a)), which is faster "
            "still. For one matrix and many b, keep torch.linalg.lu_factor(a).",
     .not_fixed = "Results are rounded differently (less).",
     .effort = EFFORT_ONE_LINE,
     .show = "kernels %s --by op",
     .find = inverses_find},
    {.title = "logits are computed for rows that are not read",
     .fix = "Select the rows before the last layer: head(hidden[:, -1]) instead of "
            "head(hidden)[:, -1]; logits_to_keep=1 in models of transformers.",
     .not_fixed = "Only if the other rows are really not used.",
     .effort = EFFORT_ONE_LINE,
     .show = "kernels %s --by op",
     .find = unread_rows_find},
    {.title = "gradients are copied out of their buckets",
     .fix = "DistributedDataParallel(..., gradient_as_bucket_view=True): gradients live in the "
            "buckets that are reduced.",
     .not_fixed =
         "Not with code that detaches gradients in place, nor with zero_grad(set_to_none=False).",
     .effort = EFFORT_ONE_LINE,
     .show = "kernels %s --by op",
     .find = bucket_copies_find},
    {.title = "3D convolutions take a slow path",
     .fix = "Give cuDNN what it takes: model.to(memory_format=torch.channels_last_3d) with bf16 or "
            "fp16, no dilation that it lacks, and a version of torch whose cuDNN has the kernel "
            "(2.9.0 fell back for bf16).",
     .not_fixed = "Counted is the unrolling alone: products of cuDNN may gain more.",
     .tries = "channels_last:model",
     .effort = EFFORT_ONE_LINE,
     .show = "kernels %s --by op",
     .find = volume_columns_find},
    {.title = "the gradient of an embedding is mostly zeros",
     .fix = "nn.Embedding(..., sparse=True) with torch.optim.SparseAdam, SGD or Adagrad for its "
            "weights: only the rows that were looked up have gradients.",
     .not_fixed = "Not where another layer shares the weights, nor with weight decay on all rows. "
                  "Without the shapes of operators, what the optimizer saves is not counted.",
     .effort = EFFORT_LOCAL,
     .show = "kernels %s --by op",
     .find = embedding_gradients_find},
};

static int cheaper_way_run(const struct context *cx, struct findings *out, struct err *e)
{
    return spare_rows_run(cx, &rule_cheaper_way, rows, sizeof rows / sizeof *rows, out, e);
}

const struct rule rule_cheaper_way = {
    .id = "cheaper_way",
    .summary = "work for which there is a cheaper way to the same result",
    .limit = LIMIT_GPU,
    .claims = CLAIM_KERNELS | CLAIM_CALLS | CLAIM_TIME,
    .yields_to = RULE_LIST(&rule_repeated_work),
    .run = cheaper_way_run,
};
