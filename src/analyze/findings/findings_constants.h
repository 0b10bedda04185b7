/* findings_constants.h: the numbers that decide in analyze/findings; constants.h says what a row
 * is. */
#ifndef STRATA_ANALYZE_FINDINGS_FINDINGS_CONSTANTS_H
#define STRATA_ANALYZE_FINDINGS_FINDINGS_CONSTANTS_H

#include "analyze/constants.h"

/* clang-format off */
#define FINDINGS_CONSTANTS(X) \
    X(int, attention_launches_kept, 2, "launches", \
      "launches whose CPU time stays: a fused operator prepares more than one of a single " \
      "product") \
    X(int, launch_unit_stage_launches, 8, "launches", \
      "of one call of a stage below which there is nothing to gather") \
    X(int, launch_unit_loop_launches, 4, "launches", \
      "the same for a step of the loop") \
    X(double, launch_unit_idle_share, 0.3, "share of CPU time", \
      "the device has to be idle for this share of the unit's CPU time") \
    X(int, launch_unit_work_calls, 4, "launch calls", \
      "work that takes so many launch calls, as recorded, is not short: eager code needs " \
      "two to four of them to the next launch, and whatever else lies between is not " \
      "launching") \
    X(int, launch_unit_kernel_part, 4, "one kernel in", \
      "at least one launch in so many starts a kernel, or a copy inside the device. Neither a " \
      "graph nor a compiler makes fewer of the others: what feeds them takes the time") \
    X(int, launch_unit_first_times, 10, "times", \
      "a first call this many times as long as the usual one did something else: it " \
      "compiled") \
    X(int, launch_unit_quiet_ns, 100000, "ns", \
      "calls without launches that are this long are not part of launching; nor is time in " \
      "which nothing is recorded, so many times as long as it usually is from one call to " \
      "the next") \
    X(int, launch_unit_pause_times, 10, "times", \
      "calls without launches that are this long are not part of launching; nor is time in " \
      "which nothing is recorded, so many times as long as it usually is from one call to " \
      "the next") \
    X(int, launch_unit_slow_times, 20, "times", \
      "a launch that takes this many times what they usually take loads a library or its " \
      "code") \
    X(double, launch_unit_stages_share, 0.75, "share", \
      "stages speak for the loop when they have this share of what it could gain") \
    X(int, host_stretch_ns, 300000, "ns", \
      "a shorter stretch between two calls is part of launching") \
    X(double, host_stretch_share, 0.5, "share", \
      "of a stretch that its function holds; where functions are sampled, a call is seen " \
      "for half a sample less than it lasts") \
    X(double, host_stretch_idle_share, 0.2, "share", \
      "of a stretch that the device is idle") \
    X(double, host_stretch_idle_waiting_share, 0.1, "share", \
      "the same where the thread waits for another one") \
    X(int, host_stretch_samples, 3, "samples", \
      "where functions are sampled, fewer samples say nothing about one") \
    X(double, host_uploads_share, 0.5, "share", \
      "of the time before an upload that operators on the CPU take, at least") \
    X(int, host_uploads_reach_rows, 256, "rows", \
      "between two calls, at most; more are many short operators") \
    X(int, host_uploads_reach_ops, 32, "operators", \
      "whose inputs count: what later ones read was made before") \
    X(double, host_uploads_back_share, 0.5, "share", \
      "of what operators take on the CPU that uploading larger inputs takes instead, at most: " \
      "a conversion makes the upload smaller") \
    X(double, host_uploads_free_page_ns, 100.0, "ns", \
      "that giving back a page of memory takes at most") \
    X(double, host_uploads_page_bytes, 4096.0, "bytes", \
      "of a page: memory is given back to the system in these") \
    X(int, list_tensors_numbers, 256, "numbers", \
      "of a tensor made of a list, at least: fewer take no time") \
    X(int, joined_items_least, 4, "tensors", \
      "of one shape that are joined; fewer are a residual, two halves, three channels") \
    X(int, joined_items_ops_least, 8, "operators", \
      "that launch, for each of them; fewer are a loop over tensors") \
    X(double, joined_items_share, 0.9, "share of operators", \
      "that are the same for each; borders of tiles are padded otherwise") \
    X(int, joined_items_op_ns, 10000, "ns", \
      "operators on the CPU that take longer work on the items, and still would") \
    X(int, list_tensors_reach_rows, 64, "rows", \
      "before one of its operators in which the one before it is") \
    X(double, list_tensors_number_ns, 20.0, "ns", \
      "that filling in a number of a list takes at least; an array is copied faster") \
    X(int, upload_silence_ns, 1000000, "ns", \
      "longer silences before an upload have other reasons") \
    X(double, recomputed_known_share, 0.8, "share of its time", \
      "of a stretch that must have run in the forward pass: the rest may be chosen otherwise") \
    X(int, recomputed_launches, 8, "launches", \
      "of a stretch that is recognized by its launches alone: a layer has more") \
    X(int, recomputed_pause_times, 2, "times", \
      "a pause before the first launch of such a stretch in the forward pass that is so many " \
      "times the usual one belongs to it") \
    X(double, recomputed_memory_share, 0.9, "share of the memory", \
      "what a program can use of it: the context, libraries and fragments take the rest") \
    X(double, adapters_thin_part, 8.0, "one part in", \
      "of the width of a layer that an adapter has at most: its rank") \
    X(int, adapters_short_part, 4, "one part in", \
      "of the time of the layer that each product of an adapter takes, where shapes are not " \
      "known") \
    X(int, adapters_reach_kernels, 4, "kernels", \
      "from the last product to the addition of its result") \
    X(int, nan_checks_bytes, 8, "bytes", \
      "more than a truth value takes are something else") \
    X(int, nan_checks_least, 8, "checks per unit", \
      "fewer are a program's own") \
    X(int, nan_checks_run_launches, 12, "launches", \
      "of a node of the backward pass, at most: attention has five") \
    X(double, nan_checks_share, 0.8, "share", \
      "of what runs backward that is followed by a check, where all of it is checked") \
    X(double, nan_checks_stack_quantile, 0.85, "quantile", \
      "of what comes before a launch, that has a stack in it: an operator has up to six launches") \
    X(int, nan_checks_stack_times, 4, "times", \
      "what exceeds the usual time for a stack so many times is something else") \
    X(int, blocking_launches_kernel_ns, 20000, "ns", \
      "a kernel this long does not end before its launch returns, unless that waits") \
    X(int, blocking_launches_least, 8, "launches", \
      "that last as long as such kernels; fewer are a queue that was full") \
    X(double, blocking_launches_share, 0.95, "share of launches", \
      "that return after their kernel: a setting holds for all, up to clocks that disagree") \
    X(int, blocking_launches_call_ns, 5000, "ns", \
      "what a launch takes at most if it does not wait") \
    X(int, uncached_memory_least, 32, "calls", \
      "that take memory, and that give it back; fewer are a cache that fills") \
    X(double, uncached_memory_share, 0.25, "calls per launch", \
      "one in four launches has a new tensor for its result, at least; a cache takes none") \
    X(int, tensor_calls_gap_ns, 1000000, "ns", \
      "between two units in depth, at most, if nothing was missed in between: one begins where " \
      "the other ends") \
    X(int, tensor_calls_patience, 4096, "operators", \
      "of which none says which tensors it read: the recorder does not know them") \
    X(double, same_inputs_loop_share, 0.99, "share of its time", \
      "of a unit that is the same as in the unit before, where all of it runs again on purpose, " \
      "to be measured") \
    X(int, micro_steps_launches, 8, "launches", \
      "of the forward pass between two backward passes: fewer are an addition of losses") \
    X(int, thread_setups_pause_ns, 1000000, "ns", \
      "before the first launch of a kernel in a thread; loading code alone takes less") \
    X(int, thread_setups_least, 3, "threads", \
      "that come one after the other; two are the begin of a program") \
    X(double, thread_setups_share, 0.8, "share of threads", \
      "with kernels of libraries that pause; others have been there before") \
    X(int, top_p_near_kernels, 4, "kernels", \
      "between a sort and the softmax that goes with it") \
    X(int, top_p_reach_kernels, 64, "kernels", \
      "after a sort that belong to the sampling, at most") \
    X(double, top_p_select_passes, 16.0, "passes", \
      "torch.topk reads 32-bit numbers so often: two bits at a time") \
    X(double, top_p_kernel_ns, 3000.0, "ns", \
      "what a kernel on a thousand numbers per row takes") \
    X(int, sorted_for_few_part, 8, "one place in", \
      "of the sorted dimension that is read at most: selecting more also sorts much") \
    X(int, sorted_for_few_reach_ops, 256, "operators", \
      "after a sort that may read its result") \
    X(double, colliding_adds_times, 64.0, "rows", \
      "that are added to each, at least: fewer are what such an operator is for") \
    X(double, colliding_adds_slow_times, 3.0, "times", \
      "as long as reading the source takes an addition that is worth doing otherwise") \
    X(double, colliding_adds_one_hot_bytes, 20.0, "bytes", \
      "moved for each place of one-hot rows: 8 filled, 8 read and 2 written by a conversion, 2 " \
      "read by the product") \
    X(double, colliding_adds_sorted_bytes, 256.0, "bytes", \
      "moved for each index that is sorted with its place: 16 in and out, in 8 rounds") \
    X(int, colliding_adds_reach_rows, 8, "operators", \
      "before an addition in which its index is expanded") \
    X(int, embedding_gradients_reach_kernels, 24, "kernels", \
      "from filling the gradient of an embedding to writing its rows, at most") \
    X(int, uncached_passes_least, 4, "passes", \
      "that each have more rows than the one before; fewer are batches of different lengths") \
    X(double, uncached_passes_new_part, 8.0, "one row in", \
      "that a pass has more, at most") \
    X(double, uncached_passes_kernel_ns, 2000.0, "ns", \
      "what a kernel on few rows takes") \
    X(int, conv_searches_waits_least, 3, "waits", \
      "for events in one convolution that tries algorithms") \
    X(int, conv_searches_least, 2, "searches", \
      "for weights that were used without one before: new sizes keep coming") \
    X(int, wide_losses_near_kernels, 4, "kernels", \
      "between the softmax of a loss and what picks the logits of the labels") \
    X(double, wide_losses_keep_share, 0.25, "share of their time", \
      "that a fused loss takes: it moves 8 of 36 bytes per logit") \
    X(int, unused_gradients_least, 8, "gradients", \
      "of weights that are not updated: fewer are an oversight in a layer") \
    X(double, unused_gradients_times, 4.0, "times", \
      "as many elements have they as those that are updated, at least") \
    X(double, spare_products_least_ns, 3000.0, "ns", \
      "what the smallest product takes") \
    X(double, spare_products_order_share, 0.5, "share of the multiplications", \
      "that two products take in the other order, where it is worth changing") \
    X(int, spare_products_wide, 8192, "columns", \
      "of a product that is about a vocabulary, at least") \
    X(int, spare_products_rows_part, 4, "one row in", \
      "that is read of such a product, at most, where the others are computed in vain") \
    X(double, noted_idle_pct, 10.0, "% of the time", \
      "the device is idle at least, where what the CPU does besides launching may matter") \
    X(double, noted_busy_pct, 50.0, "% of the time", \
      "the device works at least, where its size matters") \
    X(double, noted_cpu_operators_pct, 10.0, "% of the wall clock", \
      "that operators on the CPU take at least, where their threads matter") \
    X(int, noted_cpus, 4, "processors", \
      "with fewer, one thread for operators on the CPU costs little") \
    X(int, noted_shared_op_ns, 500000, "ns", \
      "shorter operators on the CPU gain little from a second thread") \
    X(double, finding_gain_over_cost, 1.25, "times the cost shown", \
      "a larger gain comes from more than the cost, and the finding says from what") \
    X(int, finding_cheaper_part, 4, "one part in", \
      "a cheaper fix comes first when it has this part of what the dearer one gains")
/* clang-format on */

FINDINGS_CONSTANTS(CONSTANT_DECLARE)

#endif
