/* simulate_constants.h: the numbers that decide in analyze/simulate; constants.h says what a row
 * is. */
#ifndef STRATA_ANALYZE_SIMULATE_SIMULATE_CONSTANTS_H
#define STRATA_ANALYZE_SIMULATE_SIMULATE_CONSTANTS_H

#include "analyze/constants.h"

/* clang-format off */
#define SIMULATE_CONSTANTS(X) \
    X(int, replay_graph_launch_calls, 2, "launch calls", \
      "what launching a captured graph costs the CPU, in launch calls: one large call " \
      "instead of many") \
    X(int, replay_graph_gap_ns, 400, "ns", \
      "kernels of a graph follow each other closer than queued ones. Graphs of 80 to 640 " \
      "kernels take 0.3 to 0.45 us per kernel more than those took by themselves") \
    X(int, replay_queue_launches, 1024, "launches", \
      "the hardware queue: launches beyond it make the CPU wait") \
    X(int, replay_leads_part, 10, "one call in", \
      "a first thread with a smaller part of the busiest one's calls does not drive the " \
      "device") \
    X(double, replay_cpu_kept_share, 0.15, "share", \
      "taking out the profiler's cost never shrinks a stretch of CPU time below this share " \
      "of it") \
    X(int, cache_warm_calls, 8, "calls", \
      "a name seen less often than this has no usual duration") \
    X(int, cache_warm_cold_times, 4, "times", \
      "an op that takes more times as long as usual did not just find cold caches") \
    X(int, clock_power_runs, 6, "runs", \
      "fewer runs of a kernel say nothing about the clock") \
    X(int, clock_power_kernel_ns, 20000, "ns", \
      "shorter kernels say nothing about the clock") \
    X(double, clock_power_slower_times, 1.03, "times", \
      "from this ratio on a kernel is slower when the GPU is busy") \
    X(double, clock_power_too_slow_times, 1.25, "times", \
      "beyond this ratio it is not the clock") \
    X(double, clock_power_slower_share, 0.6, "share of kernel time", \
      "the kernels that must be slower") \
    X(int, clock_power_kernels, 3, "kernels", \
      "... and how many different ones") \
    X(double, clock_power_give_back_share, 0.28, "share", \
      "power grows with about the 2.5th power of the clock, and an idle device draws about " \
      "0.3 of the limit: the clock sinks by (1 - 0.3) / 2.5 of the share of time that is no" \
      " longer idle") \
    X(int, model_return_window_ns, 60000, "ns", \
      "a wait has waited when what it waited for ended this shortly before it returned") \
    X(int, model_skew_part, 10, "one part in", \
      "a wait for the device that comes back before its work ends, by less than this part of it, " \
      "is one of another clock; one that comes back so much later was woken late") \
    X(int, model_latency_default_ns, 8000, "ns", \
      "launch latency where the trace shows none, and the most that is believed: beyond it " \
      "the median is made of launches that waited for something that was not recorded") \
    X(int, model_latency_most_ns, 30000, "ns", \
      "a longer latency is made of launches that waited for something that was not recorded") \
    X(int, model_unexplained_ns, 20000, "ns", \
      "work that starts this long after it could have must have waited for something else") \
    X(int, model_held_up_times, 4, "times", \
      "a launch that takes this many times the usual") \
    X(int, model_held_up_ns, 20000, "ns", \
      "... and at least this long was held up") \
    X(int, recording_functions, 64, "calls", \
      "fewer calls of functions in a row say nothing about what recording one costs") \
    X(int, edits_cold_after_ns, 100000, "ns", \
      "removing a stretch of CPU time at least this long warms up") \
    X(int, edits_cold_window_ns, 300000, "ns", \
      "... what runs this shortly after it") \
    X(int, undistort_launch_least_ns, 1500, "ns", \
      "a launch call outside these bounds is not a measure of how slow recording is on the " \
      "machine") \
    X(int, undistort_launch_most_ns, 15000, "ns", \
      "see undistort_launch_least_ns") \
    X(double, undistort_scale_least, 0.25, "factor", \
      "how far a fit may move the default cost of recording") \
    X(double, undistort_scale_most, 1.1, "factor", \
      "see undistort_scale_least") \
    X(double, undistort_cpu_scale_least, 0.75, "factor", \
      "how far a fit may move all CPU time after that") \
    X(double, undistort_cpu_scale_most, 1.3, "factor", \
      "see undistort_cpu_scale_least") \
    X(int, pinned_speed_copy_bytes, 1 << 20, "bytes", \
      "smaller copies are mostly latency") \
    X(int, joins_silence_ns, 100000, "ns", \
      "silence of a thread this long may be a wait for another thread") \
    X(int, joins_window_ns, 300000, "ns", \
      "the other thread ends this shortly before the silence does") \
    X(int, joins_window_part, 5, "one part in", \
      "... or this part of a long wait: Python runs before the next operator") \
    X(int, joins_batch_ns, 300000, "ns", \
      "A batch that takes less was ready: taking it over, a large one not so fast, does not" \
      " count as a wait") \
    X(double, joins_batch_share, 0.1, "share", \
      "of the time since the batch before") \
    X(int, fuse_most_kernels, 16, "kernels", \
      "more kernels in a row are a loop over tensors, such as an optimizer by hand") \
    X(int, edit_graph_launches, 3, "launches", \
      "fewer launches are not worth a graph where the user did not ask for one") \
    X(int, model_queued_ns, 3000, "ns", \
      "work whose launch returned this long before the stream was free was queued: what " \
      "follows it shows the gap between kernels") \
    X(int, model_launch_default_ns, 5000, "ns", \
      "what a launch call takes where none was recorded") \
    X(int, model_launch_least_ns, 500, "ns", \
      "no launch call takes less") \
    X(int, model_launch_spread_times, 3, "times", \
      "a median this many times the lower quartile is made of launches that were held up") \
    X(int, model_return_default_ns, 3000, "ns", \
      "how long after the work a wait returns, where none shows it") \
    X(double, fuse_cpu_kept_share, 0.1, "share", \
      "of the CPU time between launches that compiled code still takes")
/* clang-format on */

SIMULATE_CONSTANTS(CONSTANT_DECLARE)

#endif
