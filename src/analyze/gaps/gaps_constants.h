/* gaps_constants.h: the numbers that decide in analyze/gaps; constants.h says what a row is. */
#ifndef STRATA_ANALYZE_GAPS_GAPS_CONSTANTS_H
#define STRATA_ANALYZE_GAPS_GAPS_CONSTANTS_H

#include "analyze/constants.h"

/* clang-format off */
#define GAPS_CONSTANTS(X) \
    X(int, gap_latency_ns, 30000, "ns", \
      "a launch takes a few microseconds to reach the device; beyond this something else " \
      "holds it") \
    X(int, gap_loading_ns, 500000, "ns", \
      "while one launch call takes this long the device does not wait for a launch: code is" \
      " being loaded") \
    X(int, launch_delay_least_ns, 500000, "ns", \
      "idle time below which a single launch needs no reason") \
    X(int, launch_delay_far_intervals, 10, "launch intervals", \
      "... and this many times the usual interval of launches") \
    X(int, launch_delay_samples, 2, "samples", \
      "where functions are sampled, one sample alone does not say whose time it was") \
    X(int, launch_delay_few_steps, 2, "steps", \
      "with so few steps it is not known what comes back") \
    X(int, launch_delay_place_part, 100, "one launch in", \
      "launches of the step that a place may be off by: not every step launches the same") \
    X(int, launch_delay_often, 3, "steps in all / steps with it", \
      "a delay that comes back in one of so many steps comes back") \
    X(int, gaps_often, 3, "steps in all / steps with it", \
      "a cause that comes back in one of so many steps comes back") \
    X(double, wall_gpu_share, 0.85, "share", \
      "a run is limited by the GPU when it works this share of the steps") \
    X(double, wall_gpu_run_share, 0.5, "share", \
      "... and this share of the whole run") \
    X(double, wall_reason_share, 0.5, "share", \
      "below that, one reason has to make up this share of the idle time") \
    X(double, wall_copy_share, 0.5, "share", \
      "copies that no kernel overlaps, of the time the device works") \
    X(int, gaps_main_cause_pct, 40, "% of idle time", \
      "no single cause explains the idle time when the largest has less")
/* clang-format on */

GAPS_CONSTANTS(CONSTANT_DECLARE)

#endif
