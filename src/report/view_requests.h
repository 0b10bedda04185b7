/* view_requests.h: the slow requests of a server against those in the middle. */
#ifndef STRATA_REPORT_VIEW_REQUESTS_H
#define STRATA_REPORT_VIEW_REQUESTS_H

#include "analyze/stages/requests.h"
#include "base/jout.h"
#include "report/screen.h"

/* Nothing where the program does not serve. */
void view_requests_text(const struct screen *s, const struct context *cx);
void view_requests_json(struct jout *j, const char *key, const struct context *cx);

#endif
