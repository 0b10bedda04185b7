/* joined_items.h: items that are worked on one by one, whose results are joined at the end: frames,
 * tiles, prompts.
 *
 *     select 0  conv norm conv ...   select 1  conv norm conv ...   ...   aten::cat [n tensors]
 *
 * As many runs of the same operators as tensors are joined. Whether one item needs the result of
 * another (a recurrent network) no trace shows: this is a way to fix something, no finding. */
#ifndef STRATA_ANALYZE_FINDINGS_JOINED_ITEMS_H
#define STRATA_ANALYZE_FINDINGS_JOINED_ITEMS_H

#include "analyze/findings/rule.h"

/* What one run for all items of a join is: the first one, with as much more in each kernel. */
struct joined_items {
    uint32_t items; /* of the largest join; 0: there is none */
    struct sim_edit edits[2];
};

/* Memory of the analysis. */
int joined_items_find(const struct context *cx, struct joined_items *ret, struct err *e) MUST_USE;

#endif
