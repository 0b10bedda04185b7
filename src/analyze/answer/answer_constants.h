/* answer_constants.h: the numbers that decide in analyze/answer; constants.h says what a row is. */
#ifndef STRATA_ANALYZE_ANSWER_ANSWER_CONSTANTS_H
#define STRATA_ANALYZE_ANSWER_ANSWER_CONSTANTS_H

#include "analyze/constants.h"

/* clang-format off */
#define ANSWER_CONSTANTS(X) \
    X(double, ladder_known_share, 0.5, "share of kernel time", \
      "kernels with a known roof: fewer do not make a roofline") \
    X(double, hot_spots_least_pct, 10, "% of GPU time", \
      "a line that holds less is not worth naming, as answer_hot_pct on the CPU") \
    X(double, energy_covered_share, 0.8, "share of the wall clock", \
      "must lie between readings of power; the nearest one stands for the rest") \
    X(double, mfu_known_pct, 95, "% of the time of kernels that multiply", \
      "must have known work, or the utilization would be too low by more than rounding") \
    X(double, mfu_whole_share, 0.5, "of the operations of a step in the middle", \
      "a step with less was cut off by the recording, or does something else") \
    X(double, hot_spots_known_share, 0.9, "share of the time of a spot", \
      "must have a known roof for a figure about all of it") \
    X(int, no_gain_busy_pct, 80, "% of time", \
      "a GPU that works this much leaves nothing to be explained") \
    X(int, no_gain_cause_pct, 1, "% of wall clock", \
      "smaller causes are not listed") \
    X(double, no_gain_graphs_pct, 50, "% of GPU work", \
      "launched by graphs: above, launching less is done already") \
    X(int, no_gain_launches, 4, "launches per step", \
      "below which there is nothing to gather") \
    X(double, answer_most_share, 0.9, "share of all gains", \
      "fixes are counted until they have this part of what all of them gain") \
    X(double, answer_least_factor, 1.15, "times", \
      "a change is a factor from here on, a percentage below") \
    X(double, answer_busy_pct, 85, "% of time", \
      "the device works all the time, as in wall_gpu_share") \
    X(double, answer_copying_pct, 50, "% of time", \
      "copies or communication that take more of it are the first thing to say") \
    X(double, answer_alike_share, 0.9, "share of the recorded wall clock", \
      "wall clock without the profiler from which shares of the recorded one hold for it too") \
    X(double, answer_idle_left_pct, 20, "% of wall clock", \
      "idle time that fixes leave is named from here on") \
    X(double, answer_range_points, 10, "points", \
      "a range of gains as wide as this is named") \
    X(double, answer_same_points, 0.5, "points", \
      "an option as close to the gain of its finding is what it was priced by") \
    X(double, answer_better_points, 2, "points", \
      "another way to fix it that gains so much more is named beside the result") \
    X(double, answer_whole_pct, 9.95, "% of wall clock", \
      "a gain from here on has no decimals") \
    X(double, answer_nothing_pct, 0.5, "% of wall clock", \
      "less is nothing where whole percents are shown") \
    X(double, answer_main_stage_pct, 50, "% of wall clock", \
      "a stage that takes most of the time of a program without GPU work") \
    X(double, answer_hot_pct, 10, "% of wall clock", \
      "an operator or a function that is worth naming in a program without GPU work") \
    X(double, answer_looks_slow_pct, 1, "% of wall clock", \
      "a wait as long as this looks slow in a viewer") \
    X(double, answer_gpu_share, 0.99, "share", \
      "no fix makes a run shorter than this part of the work of the GPU alone: rounding") \
    X(double, answer_compiled_share, 0.05, "share of kernels", \
      "fewer kernels of compiled code are an operator of a library in an eager program") \
    X(double, answer_good_error_pct, 1, "% replay error", \
      "up to here a replay is good") \
    X(double, answer_fair_error_pct, 3, "% replay error", \
      "up to here a replay is fair") \
    X(double, answer_worth_pct, 1, "% of wall clock", \
      "below the headline of a gain, findings that gain less are counted, not shown in full") \
    X(double, answer_least_mfu_pct, 1, "% of the datasheet", \
      "products that are so small a part say nothing by it") \
    X(int, answer_state_columns, 86, "columns", \
      "of the line of state, above which a good trace is not mentioned") \
    X(double, answer_whole_share, 0.95, "share of kernels", \
      "replayed from graphs: fewer are most of them, not all") \
    X(double, answer_fast_known_pct, 90, "% of the time of kernels", \
      "must have a known roof before a program is called fast by it") \
    X(double, answer_at_roof_pct, 75, "% of the roof", \
      "from here on kernels run as fast as kernels do") \
    X(int, checklist_launches, 10, "launches onto an idle stream", \
      "fewer are the first ones, which load code") \
    X(double, checklist_one_gap_pct, 50, "% of the idle time of a device", \
      "a pause that is most of it: the rest says nothing about launches") \
    X(int, checklist_peak_bytes, 4096, "bytes", \
      "a smaller peak shows that memory was hardly recorded")
/* clang-format on */

ANSWER_CONSTANTS(CONSTANT_DECLARE)

#endif
