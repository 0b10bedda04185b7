/* show.h: what commands that read one trace and show one view share. */
#ifndef STRATA_CLI_SHOW_H
#define STRATA_CLI_SHOW_H

#include "analyze/context.h"
#include "base/jout.h"
#include "cli/cli.h"
#include "report/screen.h"

typedef int show_fn(struct cli *cli, const struct opts *o, struct context *cx, struct err *e);

/* Opens the trace of the first operand, calls `fn` with its context, cleans up. */
int show_trace(struct cli *cli, const struct opts *o, show_fn *fn, struct err *e) MUST_USE;

/* The same with cli_open_part. The text starts with the part shown, unless the view says so itself.
 */
int show_part(struct cli *cli, const struct opts *o, show_fn *fn, struct err *e) MUST_USE;
int show_part_quiet(struct cli *cli, const struct opts *o, show_fn *fn, struct err *e) MUST_USE;

/* The same for views that judge: without what cannot be judged of a recording (recorded.h), unless
 * the user asks for a part or for all of it. */
int show_judged(struct cli *cli, const struct opts *o, show_fn *fn, struct err *e) MUST_USE;
int show_judged_quiet(struct cli *cli, const struct opts *o, show_fn *fn, struct err *e) MUST_USE;

/* The same with cli_open_summary. */
int show_summary(struct cli *cli, const struct opts *o, show_fn *fn, struct err *e) MUST_USE;

/* The wall clock in the timing files of a run folder, that of the slowest rank; 0 without any. */
int64_t show_program_wall(const char *path, struct arena *mem);

/* The screen of a text view. `limit` is the default of --limit N, where 0 means all rows. */
int show_screen(struct cli *cli, const struct opts *o, uint32_t limit, struct screen *ret,
                struct err *e) MUST_USE;

/* JSON for standard output, as the argument of a view. */
#define SHOW_JSON(cli) ((struct jout[1]){show_json(cli)})
struct jout show_json(struct cli *cli);

#endif
