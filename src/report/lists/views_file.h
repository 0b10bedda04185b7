/* views_file.h: what is in a file and how far it can be trusted, for people and programs. */
#ifndef STRATA_REPORT_LISTS_VIEWS_FILE_H
#define STRATA_REPORT_LISTS_VIEWS_FILE_H

#include "analyze/context.h"
#include "analyze/quality/census.h"
#include "analyze/quality/integrity.h"
#include "base/jout.h"
#include "report/screen.h"

/* view_info.c: what is in a trace, for people and for programs. */

/* `file_bytes` is the size on disk, -1 when it is not a file. */
void view_info_text(const struct screen *s, const struct trace *t, const struct census *c,
                    int64_t file_bytes);

/* A process of a run folder. */
struct info_process {
    int64_t pid;
    int rank; /* or -1 */
    const char *host, *program, *ended;
    uint64_t threads, records, lost_records;
};

/* What the document is made of besides the trace. */
struct view_info {
    const struct census *c;
    int64_t file_bytes;             /* as above */
    const struct info_process *run; /* of a run folder */
    uint32_t n_run, unreadable_files;
};

void view_info_json(struct jout *j, const char *key, const struct trace *t,
                    const struct view_info *v);

/* view_lint.c: damage to a file and all problems of the trace, for people and for programs. */

void view_lint_text(const struct screen *s, const struct context *cx);
void view_lint_json(struct jout *j, const struct context *cx);

/* view_quality.c: the verdict on the trace itself, as other views begin with it. */

/* "trace quality: good (recorded with stacks, shapes: the CPU side took about 9 % longer)" */
void view_quality_line(const struct screen *s, const struct integrity *i);

/* A problem: what was seen, what it means, what to record instead. */
void view_quality_problem(const struct screen *s, const struct problem *p);

/* The line, then every problem of at least `least`. */
void view_quality_text(const struct screen *s, const struct integrity *i, enum quality least);

/* The same for a view about something else: prints nothing for a trace of good quality. */
void view_quality_warn(const struct screen *s, const struct integrity *i);

/* An object with all problems and the coverage. */
void view_quality_json(struct jout *j, const char *key, const struct trace *t,
                       const struct integrity *i);

/* view_row.c: one event with what is around it, for programs. */

/* Needs places_pass. `r` is a row of the trace. The longest of what it holds are shown. */
int view_row_json(struct buf *out, const struct context *cx, row_t r, struct err *e) MUST_USE;

#endif
