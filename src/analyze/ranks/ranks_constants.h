/* ranks_constants.h: the numbers that decide in analyze/ranks; constants.h says what a row is. */
#ifndef STRATA_ANALYZE_RANKS_RANKS_CONSTANTS_H
#define STRATA_ANALYZE_RANKS_RANKS_CONSTANTS_H

#include "analyze/constants.h"

/* clang-format off */
#define RANKS_CONSTANTS(X) \
    X(double, rank_straggler_pct, 1.0, "% of wall clock", \
      "a rank is a straggler when it is late by this") \
    X(double, rank_straggler_of_worst_share, 0.2, "share", \
      "... and by this part of what the worst one is") \
    X(int, rank_straggler_times, 2, "times", \
      "the worst is late by this many times the median of the others") \
    X(int, rank_late_ns, 20000, "ns", \
      "arriving later than the others by less does not make a rank late") \
    X(double, rank_replay_blocked_share, 0.25, "share", \
      "of the calls that begin in a stretch of that length elsewhere") \
    X(int, rank_replay_same_ns, 1000, "ns", \
      "collectives that end this close to when they should end the replay") \
    X(int, rank_link_usual_pct, 25, "percentile", \
      "the usual transfer is short: where there are only two groups, half of them may be " \
      "slow") \
    X(int, rank_link_groups, 3, "groups", \
      "groups that say what is usual at one place in the program") \
    X(int, rank_summary_steps, 4, "steps", \
      "a loop of fewer steps does not say where start-up ends") \
    X(double, rank_more_work_share, 0.02, "share", \
      "larger kernels than elsewhere by this: more work, not slower work") \
    X(double, rank_clock_share, 0.8, "share of kernels", \
      "all kernels are slower, not some: this share of the time lies in kernels that are " \
      "slower by at least half of what all are on average") \
    X(int, rank_clock_kernels, 3, "kernels", \
      "all kernels are slower, not some: this share of the time lies in kernels that are " \
      "slower by at least half of what all are on average") \
    X(double, rank_kernels_share, 0.25, "share of lateness", \
      "kernels that take longer by less do not explain it") \
    X(double, rank_alike_share, 0.9, "share", \
      "times that differ by no more than a tenth are alike") \
    X(double, rank_slow_link_times, 1.1, "times", \
      "a link is slow when transfers take this much longer than in other groups") \
    X(double, rank_schedule_pct, 3.0, "% of wall clock", \
      "less is not reported") \
    X(int, rank_pipeline_messages, 4, "messages", \
      "messages between neighbours, per rank, that make a pipeline") \
    X(double, rank_uneven_times, 1.15, "times the mean", \
      "the busiest rank between two all-to-alls computes this much longer") \
    X(double, rank_sizes_times, 1.1, "times the mean", \
      "sizes differ when the largest message is this much larger") \
    X(double, rank_even_times, 1.05, "times the mean", \
      "elsewhere compute is even: what is between the layers") \
    X(double, rank_same_busiest_share, 0.7, "share", \
      "a rank that is the busiest more often has more work, or is slow: it does not change") \
    X(int, rank_clocks_ends, 6, "collectives", \
      "fewer ends say nothing about a drift") \
    X(double, rank_clocks_drift, 500e-6, "seconds per second", \
      "quartz is never this far off") \
    X(int, rank_clocks_stands_out_times, 3, "times", \
      "a drift stands out when it moves the ends by this many times their scatter")
/* clang-format on */

RANKS_CONSTANTS(CONSTANT_DECLARE)

#endif
