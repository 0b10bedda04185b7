/* view_metrics.h: the stages of a run as Prometheus reads them (text format 0.0.4), for the
 * textfile collector of its node exporter or any other reader. */
#ifndef STRATA_REPORT_VIEW_METRICS_H
#define STRATA_REPORT_VIEW_METRICS_H

#include "format/timing.h"

/* One process per element of `list`. */
void view_metrics(struct buf *out, const struct timing *list, uint32_t n);

#endif
