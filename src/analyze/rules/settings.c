/* settings.c: something that is switched on and costs time: a table of settings, each with the
 * evidence it leaves in a timeline, what it costs there, and the line to change. Settings that a
 * recording knows to be off are skipped; what costs nothing here is not mentioned. Those that leave
 * too little to be priced are in noted_settings.c. */
#include "analyze/findings/spare_rows.h"
#include "analyze/rules/rules.h"

static const struct spare_row rows[] = {
    {.title = "anomaly detection is on",
     .subject = "torch.autograd.set_detect_anomaly",
     .fix = "Switch it off: torch.autograd.set_detect_anomaly(False), detect_anomaly=False of "
            "Lightning's Trainer, and no torch.autograd.detect_anomaly() around the step. Use it "
            "only to look for the operator that makes a NaN.",
     .not_fixed = "NaN in gradients is no longer reported where it arises.",
     .tries = "no_anomaly",
     .effort = EFFORT_ONE_LINE,
     .show = "gaps %s",
     .off = {"anomaly_detection"},
     .find = nan_checks_find},
    {.title = "every launch waits for its kernel",
     .subject = "CUDA_LAUNCH_BLOCKING",
     .fix = "Remove CUDA_LAUNCH_BLOCKING=1 (with AMD's runtime HIP_LAUNCH_BLOCKING "
            "or AMD_SERIALIZE_KERNEL) from the environment. Use it only to find the launch that "
            "fails.",
     .not_fixed = "Errors of kernels are reported later than where they arise.",
     .tries = "no_launch_blocking",
     .effort = EFFORT_ONE_LINE,
     .show = "gaps %s",
     .off = {"CUDA_LAUNCH_BLOCKING", "HIP_LAUNCH_BLOCKING", "AMD_SERIALIZE_KERNEL"},
     .find = blocking_launches_find},
    {.title = "memory is not kept for the next tensor",
     .subject = "PYTORCH_NO_CUDA_MEMORY_CACHING",
     .fix =
         "Remove PYTORCH_NO_CUDA_MEMORY_CACHING (on AMD GPUs PYTORCH_NO_HIP_MEMORY_CACHING) from "
         "the environment, and any allocator of the program's own that keeps nothing.",
     .not_fixed = "Tools that look for wrong accesses (compute-sanitizer) see less of them.",
     .effort = EFFORT_ONE_LINE,
     .show = "memory %s",
     .find = uncached_memory_find},
    {.title = "cuDNN searches for every new size",
     .subject = "torch.backends.cudnn.benchmark",
     .fix =
         "Set torch.backends.cudnn.benchmark = False, or bring inputs to a few sizes (by padding "
         "or buckets), so that each search pays.",
     .not_fixed = "For sizes that come again the chosen algorithm may be slower.",
     .effort = EFFORT_ONE_LINE,
     .show = "gaps %s",
     .off = {"cudnn_benchmark"},
     .find = conv_searches_find},
    {.title = "new memory is filled for determinism",
     .subject = "torch.use_deterministic_algorithms",
     .fix = "Set torch.utils.deterministic.fill_uninitialized_memory = False: algorithms stay "
            "deterministic. Or switch torch.use_deterministic_algorithms(False) where runs need "
            "not be equal to the last bit.",
     .not_fixed = "Deterministic algorithms may be slower than the others; what that costs is not "
                  "seen from the trace.",
     .tries = "no_determinism",
     .effort = EFFORT_ONE_LINE,
     .show = "kernels %s --by op",
     .off = {"deterministic"},
     .find = filled_empty_find},
    {.title = "cuDNN is switched off",
     .subject = "torch.backends.cudnn.enabled",
     .fix =
         "Set torch.backends.cudnn.enabled = True, or leave the line out. To work around an error "
         "of one layer, switch it off around that layer: with torch.backends.cudnn.flags(False).",
     .not_fixed = "Counted is the unrolling alone: products of cuDNN may gain more.",
     .effort = EFFORT_ONE_LINE,
     .show = "kernels %s --by op",
     .find = image_columns_find},
};

static int settings_run(const struct context *cx, struct findings *out, struct err *e)
{
    TRY(spare_rows_run(cx, &rule_settings, rows, sizeof rows / sizeof *rows, out, e));
    return noted_settings_run(cx, &rule_settings, out, e);
}

const struct rule rule_settings = {
    .id = "settings",
    .summary = "a setting that costs time is switched on",
    .limit = LIMIT_CPU,
    .claims = CLAIM_KERNELS | CLAIM_CALLS | CLAIM_TIME,
    .yields_to = RULE_LIST(&rule_made_on_cpu),
    .run = settings_run,
};
