/* view_cpu.h: hot operators and functions: what a program without a GPU spends its time in. */
#ifndef STRATA_REPORT_VIEW_CPU_H
#define STRATA_REPORT_VIEW_CPU_H

#include "analyze/context.h"
#include "base/jout.h"
#include "report/screen.h"

/* Whether the trace is of a program that uses no device: neither work nor launches. */
bool view_cpu_only(const struct context *cx);

void view_cpu_text(const struct screen *s, const struct context *cx);
void view_cpu_md(struct buf *out, const struct context *cx);
void view_cpu_json(struct jout *j, const char *key, const struct context *cx);

#endif
