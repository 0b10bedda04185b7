/* quality_constants.h: the numbers that decide in analyze/quality; constants.h says what a row is.
 */
#ifndef STRATA_ANALYZE_QUALITY_QUALITY_CONSTANTS_H
#define STRATA_ANALYZE_QUALITY_QUALITY_CONSTANTS_H

#include "analyze/constants.h"

/* clang-format off */
#define QUALITY_CONSTANTS(X) \
    X(int, integrity_edge_launches, 3, "launches", \
      "launches without work at an end of the window that are normal: their work lies " \
      "outside") \
    X(int, integrity_edge_pct, 1, "% of launches", \
      "the same as a share of all launches") \
    X(int, integrity_wait_ns, 200000, "ns", \
      "a shorter wait says nothing about work that was not recorded") \
    X(int, integrity_waits_least_ns, 1000000, "ns", \
      "waits for work that was not recorded are reported from this sum on") \
    X(int, graph_replay_short_pct, 80, "% of records", \
      "a replay with fewer records than this share of the fullest one was recorded in part") \
    X(int, integrity_skew_small_ns, 5000, "ns", \
      "the clocks of CPU and device never agree better") \
    X(double, integrity_skew_step_pct, 1, "% of a step", \
      "clocks that differ by less change no figure that anything is decided by") \
    X(int, integrity_skew_large_ns, 100000, "ns", \
      "kernels that begin this long before their launch show clocks that are apart") \
    X(int, integrity_sync_early_ns, 1000, "ns", \
      "a sync that returns this long before the end of the work it waits for is in time: clocks of " \
      "CPU and device agree no better than to a microsecond") \
    X(int, integrity_collective_times, 10, "times the median", \
      "a collective that takes this many times its median waited for a rank that was not " \
      "recorded") \
    X(int, integrity_collective_ns, 10000000, "ns", \
      "... and at least this long") \
    X(int, integrity_graph_part, 10, "one in", \
      "graphs with less than this part of the trace's kernels are not doubted") \
    X(int, integrity_finer_pct, 1, "% of rows", \
      "as few may have a finer duration where the recorder wrote whole microseconds: the rows that " \
      "a left-out part cuts")
/* clang-format on */

QUALITY_CONSTANTS(CONSTANT_DECLARE)

#endif
