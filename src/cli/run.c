/* run.c: finds the command, parses its options, runs it, prints its result, and turns error codes
 * into exit codes. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/human.h"
#include "cli/cli.h"
#include "cli/help/help.h"
#include "trace/trace.h"

#ifndef STRATA_VERSION
#define STRATA_VERSION "0"
#endif

const struct opt cli_common_opts[] = {
    {"json", 0, NULL, "machine-readable output with stable keys", NULL},
    {"color", 0, "WHEN", "colour: auto, always or never", "auto|always|never"},
    {"help", 'h', NULL, "this text", NULL},
    {0},
};

void cli_say(const char *fmt, ...)
{
    char text[2048];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    fflush(stdout);
    fprintf(stderr, "strata: %s\n", human_clean(text));
}

void cli_show_lines(const struct cli *cli, const char *before, struct buf *text)
{
    if (!buf_ok(text)) return;
    size_t n = human_clean_lines(text->p, text->n, cli->color);
    fprintf(stderr, "%s%.*s", before, (int)n, text->p);
}

static int exit_code(int rc)
{
    if (rc >= 0) return rc;
    if (rc == ERR_USAGE) return EXIT_USAGE;
    return rc == ERR_NOMEM || rc == ERR_INTERNAL ? EXIT_INTERNAL : EXIT_BAD_INPUT;
}

static void say_error(const struct err *e)
{
    char where[320] = "";
    int n = 0;
    if (e->file[0])
        n = snprintf(where, sizeof where,
                     "%s: ", strcmp(e->file, "-") ? e->file : "standard input");
    if (e->offset != ERR_NO_OFFSET && n >= 0 && (size_t)n < sizeof where)
        snprintf(where + n, sizeof where - (size_t)n,
                 "byte %s: ", human_count((uint64_t)e->offset).s);
    cli_say("%s%s", where, e->msg[0] ? e->msg : "failed");
}

static bool want_color(const struct opts *o)
{
    const char *when = opt_get(o, "color", "auto");
    if (strcmp(when, "always") == 0) return true;
    if (strcmp(when, "never") == 0 || getenv("NO_COLOR")) return false;
    const char *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0;
}

#define SENTENCE_WIDTH 100 /* longer lines are hard to read */
#define NARROWEST      40  /* columns of a terminal; others are a mistake */
#define WIDEST         1000

/* Of the terminal; of COLUMNS where the output goes elsewhere. */
static int terminal_columns(void)
{
    struct winsize w;
    const char *columns = getenv("COLUMNS");
    long n = 0;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0) n = w.ws_col;
    else if (columns) n = strtol(columns, NULL, 10);
    return n >= NARROWEST && n <= WIDEST ? (int)n : SENTENCE_WIDTH;
}

int cli_flush(struct cli *cli, struct err *e)
{
    if (cli->out.over) return trace_over_budget(cli->out.most, e);
    if (!buf_ok(&cli->out)) return err_nomem(e);
    /* whatever a name in a trace holds, it commands no terminal; JSON has its own escapes */
    if (!cli->json) cli->out.n = human_clean_lines(cli->out.p, cli->out.n, cli->color);
    size_t done = 0;
    while (done < cli->out.n) {
        ssize_t n = write(STDOUT_FILENO, cli->out.p + done, cli->out.n - done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EPIPE) return 0;
        if (n < 0) return FAIL(e, ERR_IO, "cannot write the result: %s", strerror(errno));
        done += (size_t)n;
    }
    buf_reset(&cli->out);
    return 0;
}

/* An option error points to where options are explained, unless it already has a suggestion. */
static int see_help(const struct cmd *c, int rc, struct err *e)
{
    size_t n = strlen(e->msg);
    if (n && e->msg[n - 1] != '?')
        snprintf(e->msg + n, sizeof e->msg - n, "; see strata %s --help", c->name);
    return rc;
}

static int check_operands(const struct cmd *c, const struct opts *o, struct err *e)
{
    if (o->n_args < c->min_args)
        return FAIL(e, ERR_USAGE, "%s needs %s; strata %s --help has an example", c->name, c->args,
                    c->name);
    if (c->max_args >= 0 && o->n_args > c->max_args)
        return FAIL(e, ERR_USAGE, "unexpected argument '%s'; strata %s --help has an example",
                    o->args[c->max_args], c->name);
    return 0;
}

/* What a command writes never takes the place of what it reads. */
static int check_outputs(const struct opts *o, struct err *e)
{
    static const char *const outputs[] = {"output", "html", "md"};
    for (size_t k = 0; k < sizeof outputs / sizeof *outputs; k++) {
        const char *path = opt_get(o, outputs[k], NULL);
        struct stat out, in;
        if (!path || stat(path, &out) < 0 || !S_ISREG(out.st_mode)) continue;
        for (int i = 0; i < o->n_args; i++) {
            if (stat(o->args[i], &in) < 0 || in.st_dev != out.st_dev || in.st_ino != out.st_ino)
                continue;
            return FAIL(e, ERR_USAGE, "--%s names the input itself, '%s'; give another name",
                        outputs[k], o->args[i]);
        }
    }
    return 0;
}

static int run_command(const struct cmd *c, int argc, char **argv, struct err *e)
{
    struct opts o;
    const struct opt *tables[] = {cli_common_opts, c->opts, NULL};
    int parsed = opt_parse(&o, tables, argc, argv, c->passes_args, e);
    if (parsed < 0) return see_help(c, parsed, e);
    int columns = terminal_columns();
    struct cli cli = {.color = want_color(&o),
                      .json = opt_has(&o, "json"),
                      .width = columns < SENTENCE_WIDTH ? columns : SENTENCE_WIDTH,
                      .columns = columns,
                      .cmd = c};
    buf_init(&cli.out);
    int rc = 0;
    if (opt_has(&o, "help")) help_command(&cli.out, c, cli.color, cli.width);
    else if ((rc = check_operands(c, &o, e)) == 0 && (rc = check_outputs(&o, e)) == 0)
        rc = c->run(&cli, &o, e);
    int flushed = rc < 0 ? 0 : cli_flush(&cli, e); /* a partial result is worse than none */
    buf_done(&cli.out);
    return flushed < 0 ? flushed : rc;
}

int cli_main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "help";
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) word = "help";
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        puts("strata " STRATA_VERSION);
        return EXIT_OK;
    }
    struct err e;
    err_init(&e);
    const struct cmd *c = cmd_find(word);
    int rc = c ? run_command(c, argc > 2 ? argc - 2 : 0, argv + 2, &e)
               : cmd_unknown(word, argc > 2 ? argc - 2 : 0, argv + 2, &e);
    if (rc < 0) say_error(&e);
    return exit_code(rc);
}
