/* rules_constants.h: the numbers that decide in analyze/rules; constants.h says what a row is. */
#ifndef STRATA_ANALYZE_RULES_RULES_CONSTANTS_H
#define STRATA_ANALYZE_RULES_RULES_CONSTANTS_H

#include "analyze/constants.h"

/* clang-format off */
#define RULES_CONSTANTS(X) \
    X(int, data_loader_workers, 4, "workers", \
      "as many as `strata try` starts: without a device the loop still waits for one batch in so many") \
    X(int, late_launch_call_launches, 20, "launches", \
      "calls that take less time than so many launches of this trace are part of launching") \
    X(int, late_launch_samples, 3, "samples", \
      "where functions are sampled, fewer samples say nothing about one function") \
    X(int, sync_data_bytes, 4096, "bytes", \
      "more bytes than a constant would have: this is input data") \
    X(double, eager_island_share, 0.25, "share of kernels", \
      "kernels of a compiled stage that may run outside its regions") \
    X(int, eager_island_regions, 2, "regions per call", \
      "with fewer, the stage is not split") \
    X(int, graph_break_launches, 16, "launches", \
      "more launches between two regions are a part of the program") \
    X(double, graph_break_work_share, 0.4, "share of device work", \
      "may lie between regions") \
    X(int, unfused_attention_reach_kernels, 14, "kernels", \
      "between the softmax and the products on either side of it, at most") \
    X(double, unfused_attention_softmax_share, 0.4, "share", \
      "the softmax of weights takes a good part of what the products take; that of a " \
      "classifier does not") \
    X(int, unfused_attention_near_kernels, 8, "kernels", \
      "between the softmax and the next product, if no shapes show what they work on") \
    X(int, unfused_attention_least_ns, 10000, "ns", \
      "below this there is nothing to fuse") \
    X(double, unfused_attention_cut_share, 0.7, "share", \
      "fused, it takes at most this share of the time, or it is not worth a finding") \
    X(double, unfused_attention_kernel_ns, 4000.0, "ns", \
      "a fused kernel takes at least this") \
    X(double, unfused_attention_recomputed_times, 1.25, "times", \
      "gradients take five products when fused, four as they stand") \
    X(int, thread_readback_wait_ns, 100000, "ns", \
      "the loop is silent for so long before the copy begins: it does not just happen to be" \
      " quiet") \
    X(int, thread_readback_bytes, 4096, "bytes", \
      "more bytes are results, not a value to look at") \
    X(int, unfused_chain_kernel_ns, 8000, "ns", \
      "shorter kernels wait for launches, not for memory") \
    X(int, unfused_chain_run_ns, 20000, "ns", \
      "a shorter run of them is not worth a fusion") \
    X(int, unfused_chain_kernels, 3, "kernels", \
      "two in a row are how eager code is: a residual and its norm. What a compiler gains " \
      "there it may lose elsewhere") \
    X(double, unfused_chain_cut_share, 0.8, "share", \
      "fused, a run takes at most this share of its time, or it is left alone") \
    X(double, unfused_chain_reads_times, 3.0, "times", \
      "how often a run reads each of its inputs") \
    X(int, unfused_chain_result_kernels, 12, "kernels", \
      "after so many kernels a run has another result") \
    X(int, unfused_chain_joined_kernels, 4, "kernels", \
      "... where it holds norms or moves data around: those join tensors of their own") \
    X(double, unfused_chain_pointwise_share, 0.85, "share of memory rate", \
      "what fused kernels reach") \
    X(double, unfused_chain_reducing_share, 0.6, "share of memory rate", \
      "... with a reduction inside") \
    X(int, unfused_chain_block_bytes, 256 << 10, "bytes", \
      "A thread block keeps this much on the chip. Where what it reduces is larger, one " \
      "kernel cannot reduce it and go on: the tensor is written, and read again after every" \
      " such reduction") \
    X(double, unfused_chain_give_back_share, 0.3, "share", \
      "A GPU at its power limit rests in memory-bound kernels: without them tensor cores, " \
      "where they do all the work, give back this share of the time as a lower clock") \
    X(double, unfused_chain_power_share, 0.8, "share of kernel time", \
      "in tensor cores, from which on the GPU is at its power limit, and they may give back " \
      "all of it") \
    X(double, unfused_chain_small_times, 8.0, "times", \
      "kernels on tensors smaller by this than the run's largest do not count for its " \
      "traffic") \
    X(double, unfused_chain_grows_times, 2.1, "times", \
      "a tensor this many times as large begins another run") \
    X(double, conv_layout_channels_last_share, 0.6, "share of memory rate", \
      "what norms and pools over channels-last tensors reach") \
    X(double, conv_layout_usual_share, 0.5, "share", \
      "what they take of their time then, where nothing says how much they move") \
    X(int, host_function_plan_launches, 4, "launches", \
      "after work on the host among which the kernel is that it prepared") \
    X(double, host_function_elsewhere_share, 0.8, "share", \
      "of the time that one other finding may hold: then that says it better") \
    X(double, allocation_share, 0.02, "share of wall clock", \
      "worth reporting if not every step allocates") \
    X(int, small_copies_bytes, 65536, "bytes", \
      "larger ones are worth a copy of their own") \
    X(int, small_copies_in_a_row, 8, "copies", \
      "fewer in a row are what programs do") \
    X(int, small_copies_between_calls, 6, "launch calls", \
      "between two of them: the operator around the copy") \
    X(int, overwritten_fill_ns, 3000, "ns", \
      "shorter fills do not show") \
    X(int, overwritten_fill_copies, 64, "copies", \
      "copies that may make up what was filled") \
    X(int, unfused_optimizer_kernels, 24, "kernels", \
      "of a step below which there is nothing to fuse") \
    X(double, unfused_optimizer_tensors, 7.0, "tensors", \
      "a fused step reads parameter, gradient and both moments, and writes all but the " \
      "gradient") \
    X(double, unfused_optimizer_share, 0.85, "share of memory rate", \
      "what a fused step reaches") \
    X(double, unfused_optimizer_launch_parameters, 32.0, "parameters", \
      "that one launch of a fused step takes, roughly") \
    X(double, unfused_optimizer_around_calls, 24.0, "launch calls", \
      "what else a fused step costs the CPU, in launch calls: Python around it, and for " \
      "each parameter") \
    X(double, unfused_optimizer_each_calls, 1.0, "launch calls", \
      "what else a fused step costs the CPU, in launch calls: Python around it, and for " \
      "each parameter") \
    X(int, data_loader_wait_ns, 300000, "ns", \
      "taking a batch that is ready takes less") \
    X(int, repeated_conversion_ns, 2000, "ns", \
      "shorter copies are not worth a line of code") \
    X(int, launch_bound_batch_times, 2, "times", \
      "work at once that a larger batch is priced for") \
    X(double, launch_bound_compiled_share, 0.5, "share", \
      "above this share of compiled work there is nothing left to compile") \
    X(double, growing_cat_large_share, 0.9, "share", \
      "the large part is this share of the result, or it is not growth") \
    X(int, growing_cat_times, 4, "times", \
      "it must happen this often") \
    X(int, growing_cat_ns, 5000, "ns", \
      "shorter copies do not show") \
    X(int, device_copies_pct, 25, "% of device time", \
      "below it copies are what eager programs need") \
    X(int, device_copies_computing_pct, 10, "% of device time", \
      "kernels that compute something: without any, copying is what the program is for") \
    X(int, device_copies_ns, 5000, "ns", \
      "shorter ones wait for launches, not for memory") \
    X(int, device_copies_times, 3, "times", \
      "fewer do not make a loop") \
    X(int, tensor_loop_products, 16, "products", \
      "in a row, at least") \
    X(int, tensor_loop_updates, 32, "updates", \
      "in a row, at least") \
    X(int, tensor_loop_kernel_ns, 30000, "ns", \
      "longer kernels fill the device alone") \
    X(int, tensor_loop_unknown_ns, 8000, "ns", \
      "the same for a product whose shape is not known") \
    X(double, tensor_loop_product_calls, 3.0, "launch calls", \
      "what the CPU still does: the call of one batched product") \
    X(double, tensor_loop_lists_share, 0.2, "share", \
      "... or the share of CPU time that a foreach operator takes for its lists") \
    X(double, tensor_loop_share, 0.8, "share of the roof", \
      "what the one large kernel reaches") \
    X(double, warm_up_share, 0.05, "share of wall clock", \
      "less idle device time is not reported") \
    X(int, kernel_outlier_runs, 8, "runs", \
      "a kernel that ran less often has no usual time") \
    X(int, kernel_outlier_ns, 20000, "ns", \
      "shorter runs are timer noise") \
    X(double, kernel_outlier_share, 0.02, "share of wall clock", \
      "least total cost of the outliers") \
    X(int, slow_attention_reach_kernels, 12, "kernels", \
      "before an attention among which its mask may be made") \
    X(double, slow_attention_cut_share, 0.8, "share", \
      "with fast kernels it takes at most this share of the time, or it is left alone") \
    X(int, pageable_copy_bytes, 65536, "bytes", \
      "smaller copies are constants, see rule sync_in_loop") \
    X(double, exposed_copy_pinned_share, 0.95, "share of their time", \
      "copies that take more of it from pinned memory gain by overlap alone") \
    X(double, odd_gemm_cut_share, 0.67, "share", \
      "what is aligned takes at most this share of the time, or it is not the alignment") \
    X(int, odd_gemm_ns, 8000, "ns", \
      "shorter products are bound by other things") \
    X(double, odd_gemm_usual_share, 0.93, "share of the roof", \
      "what products reach where the trace has no others to compare with") \
    X(int, odd_gemm_nearby_powers, 2, "powers of two", \
      "others tell about products whose operations are this close") \
    X(double, odd_gemm_named_share, 0.25, "share", \
      "what an aligned kernel takes of the time of one that loads single numbers, as " \
      "measured") \
    X(int, recompile_gap_ns, 20000000, "ns", \
      "only microseconds pass between the cache lookup and the compiled region unless " \
      "something is compiled: traces of older torch show nothing else of it") \
    X(int, recompile_ns, 1000000, "ns", \
      "less than this is a look into a cache") \
    X(int, recompile_region_ns, 50000000, "ns", \
      "how far behind the compiler the compiled region begins") \
    X(int, late_start_steps, 2, "steps", \
      "with more steps, what comes before the first one does not matter") \
    X(int, late_start_row_ns, 100000, "ns", \
      "shorter rows are part of launching") \
    X(int, held_clock_samples, 3, "samples", \
      "fewer samples say nothing") \
    X(int, held_clock_pct, 20, "% of samples", \
      "a clock that is held occasionally says nothing") \
    X(double, unfused_attention_about_share, 0.03, "share", \
      "sizes that differ by less are the same: padding") \
    X(int, unfused_optimizer_parameter_kernels, 12, "kernels", \
      "of Adam for each parameter, where no operator shows the number of parameters") \
    X(double, unfused_optimizer_launch_ns, 3000.0, "ns", \
      "one launch of a fused step takes at least this on the GPU") \
    X(double, unfused_optimizer_unknown_share, 0.1, "share", \
      "of the time, which a fused step takes where sizes are not known") \
    X(int, growing_cat_kept_ns, 2000, "ns", \
      "copying the new part alone takes at least this") \
    X(double, sync_notable_blocked_share, 0.02, "share of wall clock", \
      "a wait that blocks the CPU this long catches the eye in any viewer") \
    X(double, sync_notable_exposed_share, 0.0005, "share of wall clock", \
      "... with less idle time behind it, it is what a healthy run looks like") \
    X(double, eager_island_idle_share, 0.05, "share of wall clock", \
      "the GPU must be idle in the stage for this") \
    X(double, host_function_part_share, 0.05, "share of its time", \
      "a smaller part is not listed")
/* clang-format on */

RULES_CONSTANTS(CONSTANT_DECLARE)

#endif
