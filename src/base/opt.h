/* opt.h: command-line options from a table.
 *
 * A command lists its options once; parsing, --help, man pages and completions all read that
 * list. `--name VALUE`, `--name=VALUE`, `-n VALUE` and bundled flags are understood; `--` ends
 * the options. Unknown options fail with the nearest known name as a suggestion. */
#ifndef STRATA_BASE_OPT_H
#define STRATA_BASE_OPT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct opt {
    const char *name;    /* without dashes; NULL ends the table */
    char letter;         /* 0 when there is no short form */
    const char *arg;     /* what the value is called in help; NULL for a flag */
    const char *help;    /* one line */
    const char *choices; /* "a|b|c" for completion and checking, or NULL */
};

#define OPT_MAX 64

struct opts {
    const struct opt *opt[OPT_MAX]; /* given options in order, with their values */
    const char *value[OPT_MAX];
    int n;
    char **args; /* what is left: operands */
    int n_args;
};

/* `tables` is a NULL-terminated list of option tables. `argv` is permuted in place. With
 * `stop_at_operand` the first operand ends the options (for `run -- CMD`). */
int opt_parse(struct opts *o, const struct opt *const *tables, int argc, char **argv,
              bool stop_at_operand, struct err *e) MUST_USE;

bool opt_has(const struct opts *o, const char *name);
const char *opt_get(const struct opts *o, const char *name,
                    const char *otherwise);                         /* last one given */
const char *opt_nth(const struct opts *o, const char *name, int n); /* n-th one given, or NULL */

/* Number options; ERR_USAGE when the text is not a number in [lo, hi]. */
int opt_long(const struct opts *o, const char *name, long lo, long hi, long *ret,
             struct err *e) MUST_USE;
int opt_double(const struct opts *o, const char *name, double lo, double hi, double *ret,
               struct err *e) MUST_USE;

/* A time as units.h reads it. */
int opt_time_ns(const struct opts *o, const char *name, int64_t lo_ns, int64_t hi_ns,
                int64_t *ret_ns, struct err *e) MUST_USE;

/* The candidate closest to `word` by edit distance, or NULL when none is near. */
const char *opt_nearest(const char *word, const char *const *candidates, int n);

#endif
