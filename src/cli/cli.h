/* cli.h: what every sub-command gets and how it describes itself.
 *
 * A command is a const struct in cmd_<name>.c, listed once in cmds.c. Help, man pages and shell
 * completions are generated from these structs. Results go to `out`, messages go to stderr. */
#ifndef STRATA_CLI_CLI_H
#define STRATA_CLI_CLI_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/opt.h"
#include "trace/trace.h"

enum cli_exit {
    EXIT_OK = 0,
    EXIT_OVER_BUDGET = 1,
    EXIT_USAGE = 2,
    EXIT_BAD_INPUT = 3,
    EXIT_INTERNAL = 4
};

struct import_progress;
struct jout_page;

struct cli {
    struct buf out; /* flushed to stdout when the command returns */
    bool color;
    bool json;
    int width;   /* of sentences: at most 100 */
    int columns; /* of tables: as many as the terminal has */
    const struct cmd *cmd;
    struct file_map given;  /* the file that snapshot_open looked into, for who opens it next */
    struct jout_page *page; /* what to show of the JSON; NULL: all of it, indented */
    struct import_progress *watch; /* told how far reading a trace has come; NULL: the terminal */
};

enum cmd_group { GROUP_RECORD, GROUP_DIAGNOSE, GROUP_NUMBERS, GROUP_FILES, GROUP_HIDDEN };

/* Names that an option or a file of the command takes, for its help: line `i`, false after the
 * last.
 */
struct cmd_term {
    const char *name, *help;
    char value[16]; /* its default, "" when it has none */
};

struct cmd_terms {
    const char *title;
    bool (*get)(int i, struct cmd_term *ret);
};

struct context;

struct cmd {
    const char *name;
    const char *summary;                  /* one line, lower case, no full stop */
    const char *args;                     /* operands as shown in usage: "TRACE" */
    const char *about;                    /* a few sentences for --help and the manual */
    const char *const *examples;          /* NULL-terminated pairs: command line, what it does */
    const struct cmd_terms *const *terms; /* NULL-terminated; NULL when it has none */
    const struct opt *opts;               /* own options; all have --json, --color and --help */
    enum cmd_group group;
    int min_args, max_args; /* operands; max_args < 0 = any number */
    bool passes_args;       /* the first operand ends the options (run -- CMD) */
    bool serves;            /* runs until it is stopped */

    /* Returns 0, EXIT_OVER_BUDGET, or a negative err code with `e` filled. */
    int (*run)(struct cli *cli, const struct opts *o, struct err *e);

    /* Of a command that shows one trace (show.h): the same for a trace that is open already. */
    int (*show)(struct cli *cli, const struct opts *o, struct context *cx, struct err *e);
};

extern const struct cmd *const cmds[]; /* NULL-terminated, in the order help lists them */
enum { CMDS_MOST_USED = 5 };           /* the first ones, above all groups */
extern const struct opt cli_common_opts[];

const struct cmd *cmd_find(const char *name); /* NULL when there is none */

/* Fails with the nearest name as a suggestion; for a name that became part of another command, with
 * the whole command line as it is written now. */
int cmd_unknown(const char *name, int n_args, char *const *args, struct err *e);

/* The program: runs one command line, prints its result, returns its exit status. */
int cli_main(int argc, char **argv);

/* Reads a trace of any format; shows progress on a terminal and reports damage on stderr. */
int cli_open_trace(struct cli *cli, const char *path, struct trace **ret, struct err *e) MUST_USE;

/* The same without the rests of a recorder in a long run (analyze/rests.h): for all who compute
 * something of it. */
int cli_open_recorded(struct cli *cli, const char *path, struct trace **ret,
                      struct err *e) MUST_USE;

/* As cli_open_trace, but only a part of a recording with more records than this;
 * trace->part.n_records says so. STRATA_TEST_MOST_RECORDS sets another number. */
#define CLI_MOST_RECORDS 4000000u
uint64_t cli_most_records(void);
int cli_open_shown(struct cli *cli, const char *path, struct trace **ret, struct err *e) MUST_USE;

/* The same, of one rank of a recording; `rank` is -1 for any other trace. */
int cli_open_rank(struct cli *cli, const char *path, int rank, struct trace **ret,
                  struct err *e) MUST_USE;

/* The same, reduced to the part of a recording worth looking at (analyze/focus.h) unless the user
 * asks for the whole; for commands with this option. */
#define PART_OPT                                                                                   \
    {"whole", 0, NULL, "include start-up, cold first calls and other parts of a recording", NULL}, \
        {"part", 0, "N", "the N-th of the parts that strata.timeline recorded", NULL},             \
    {                                                                                              \
        "at", 0, "TIME", "of a long recording: the part around this time (90s, 15min)", NULL       \
    }
int cli_open_part(struct cli *cli, const struct opts *o, const char *path, struct trace **ret,
                  struct err *e) MUST_USE;

/* The same without what cannot be judged of it (analyze/recorded/recorded.h). `cx` is a context
 * without a trace yet: it becomes the trace's, and may hold results already. Not after a failure.
 */
int cli_open_judged(struct cli *cli, const struct opts *o, const char *path, struct trace **ret,
                    struct context *cx, struct err *e) MUST_USE;

/* The same for a command that reads no rows: a .strata file of any size opens instantly, and only
 * what import_native allows for that may be used. */
int cli_open_summary(struct cli *cli, const char *path, struct trace **ret, struct err *e) MUST_USE;

/* Prints what is in `out` now, for a command that keeps running after its result. */
int cli_flush(struct cli *cli, struct err *e) MUST_USE;

/* One line to stderr: "strata: ...". Control characters are removed, so file names and texts from
 * traces can be passed as they are. */
void cli_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Lines for people on standard error, where a name in them commands no terminal. `text` is changed.
 */
void cli_show_lines(const struct cli *cli, const char *before, struct buf *text);

/* Gives environment variables that are set under their old names the new ones, for this process and
 * those it starts, and says so. */
void old_settings_take(void);

#endif
