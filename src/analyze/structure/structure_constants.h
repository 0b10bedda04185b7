/* structure_constants.h: the numbers that decide in analyze/structure; constants.h says what a row
 * is. */
#ifndef STRATA_ANALYZE_STRUCTURE_STRUCTURE_CONSTANTS_H
#define STRATA_ANALYZE_STRUCTURE_STRUCTURE_CONSTANTS_H

#include "analyze/constants.h"

/* clang-format off */
#define STRUCTURE_CONSTANTS(X) \
    X(int, rounds_slack_pct, 3, "% of items", \
      "items that may differ from one round to the next") \
    X(int, rounds_difference_items, 33, "items", \
      "as many equal items make up for one that differs: 3 %") \
    X(int, rounds_bridge_items, 2, "items", \
      "differences in a row that a stretch survives") \
    X(int, rounds_loose_period_items, 8, "items", \
      "shorter rounds must be equal") \
    X(int, rounds_cover_pct, 20, "% of weight", \
      "what rounds must hold to be examined") \
    X(int, rounds_as_much_pct, 90, "% of weight", \
      "of what the rounds of another period hold: as much") \
    X(int, rounds_rival_pct, 60, "% of weight", \
      "of the weight that the best period covers: less is not a rival") \
    X(int, rounds_few_inside, 4, "rounds", \
      "repetitions so few are variations of a round: \"log every second step\"") \
    X(int, rounds_alike_pct, 60, "% of items", \
      "items that a round found elsewhere must have in common") \
    X(int, rounds_missing_pct, 10, "% of weight", \
      "of its weight that a round of a few items may miss") \
    X(int, rounds_compared_items, 8, "items", \
      "items compared in that search, per item of the sequence: bounds its cost") \
    X(int, rounds_long_pause_pct, 140, "% of the median", \
      "a pause between rounds is long from this on") \
    X(int, rounds_pause_ns, 1000, "ns", \
      "a shorter pause is never long") \
    X(int, rounds_after_pause_pct, 80, "% of calls", \
      "calls that must begin after a long pause") \
    X(int, rounds_pause_inside_pct, 15, "% of rounds", \
      "rounds inside calls that may begin after one") \
    X(int, rounds_few_calls, 4, "calls", \
      "fewer calls do not show a usual pause") \
    X(int, rounds_far_longer_times, 3, "times", \
      "a pause this many times as long as the others separates calls, however few there are") \
    X(int, rounds_many, 6, "rounds", \
      "of so many rounds, one may be given up") \
    X(int, frame_parts_deepest, 10, "levels", \
      "parts inside one another that are distinguished") \
    X(double, frame_parts_share, 0.01, "share", \
      "of the device work or the recorded time: less is not a part") \
    X(double, frame_parts_same_share, 0.9, "share", \
      "a function that spends this share in one other is that other") \
    X(int, levels_fewest_inside, 3, "rounds", \
      "rounds inside one of the level around it: fewer are parts of a step") \
    X(int, levels_nest_period_items, 4, "items", \
      "what repeats inside a round and makes that a step has at least so many items") \
    X(int, levels_nest_rounds, 4, "rounds", \
      "... and repeats at least so often") \
    X(int, levels_layer_items, 100, "launches", \
      "a layer launches less than that") \
    X(int, levels_layers_most, 200, "layers", \
      "a network has fewer layers") \
    X(int, levels_cover_pct, 30, "% of weight", \
      "share of the weight looked at that rounds must hold") \
    X(int, levels_short_period_leaves, 8, "leaves", \
      "rounds of fewer leaves must come more often") \
    X(int, levels_short_repeats, 4, "rounds", \
      "... namely this often") \
    X(int, levels_far_more_times, 3, "times", \
      "this many times the rounds of another group: not two of a kind")
/* clang-format on */

STRUCTURE_CONSTANTS(CONSTANT_DECLARE)

#endif
