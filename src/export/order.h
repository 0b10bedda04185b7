/* order.h: rows in the order their events stood in the input. Args are read fastest this way, and
 * a file written this way looks like the one that was read. */
#ifndef STRATA_EXPORT_ORDER_H
#define STRATA_EXPORT_ORDER_H

#include "trace/trace.h"

/* All rows by trace->src. The array is the caller's to mem_free; NULL when out of memory. */
row_t *order_by_src(const struct trace *t);

#endif
