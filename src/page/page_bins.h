/* page_bins.h: how many gaps of which length the devices have, for a small chart. */
#ifndef STRATA_PAGE_PAGE_BINS_H
#define STRATA_PAGE_PAGE_BINS_H

#include "analyze/rules/rule.h"
#include "base/jout.h"

/* "gap_histogram": all gaps of all devices by length, in bins of 1, 2, 5, 10 ... us. */
void page_bins_put(const struct context *cx, struct jout *j);

#endif
