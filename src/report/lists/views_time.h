/* views_time.h: stages, steps, requests and the step a snapshot is about, for people and programs.
 */
#ifndef STRATA_REPORT_LISTS_VIEWS_TIME_H
#define STRATA_REPORT_LISTS_VIEWS_TIME_H

#include "analyze/quality/integrity.h"
#include "analyze/stages/stages.h"
#include "analyze/steps/steps.h"
#include "base/jout.h"
#include "report/screen.h"

/* view_stages.c: the stages of the pipeline, for people and for programs. */

/* `wide`: also the times of single calls, and device and memory. */
void view_stages_text(const struct screen *s, const struct context *cx, bool wide);
void view_stages_json(struct jout *j, const char *key, const struct context *cx);

/* view_steps.c: the steps of the loop, for people and for programs. */

/* Need steps_pass and integrity_pass. */
void view_steps_text(const struct screen *s, const struct context *cx);
void view_steps_json(struct jout *j, const char *key, const struct context *cx, uint32_t most);

/* view_requests.c: the slow requests of a server against those in the middle. */

/* Nothing where the program does not serve. */
void view_requests_brief(const struct screen *s, const struct context *cx); /* two lines */
void view_requests_text(const struct screen *s, const struct context *cx);

/* view_odd_step.c: why a snapshot was taken, and how that step differs from the usual ones. */

/* With at most `most` of the parts that took longer. Nothing where the trace is not a snapshot. */
void view_odd_step_text(const struct screen *s, const struct context *cx, uint32_t most);

#endif
