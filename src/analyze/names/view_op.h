/* view_op.h: operators that only make views or metadata, by name. They take microseconds whatever
 * the shapes: where one seems to take long, the thread was late for another reason. */
#ifndef STRATA_ANALYZE_NAMES_VIEW_OP_H
#define STRATA_ANALYZE_NAMES_VIEW_OP_H

#include "base/str.h"

bool view_op_is(struct str name);

#endif
