/* browser.h: what is opened in a browser: the HTML page, Perfetto's viewer, flame graphs. */
#ifndef STRATA_CLI_BROWSER_BROWSER_H
#define STRATA_CLI_BROWSER_BROWSER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "cli/cli.h"
#include "page/page.h"

/* html.c: writing the HTML page, for the commands that have --html. */

/* For the option lists of commands. */
#define HTML_OPT                                                        \
    {                                                                   \
        "html", 0, "FILE", "write an HTML page with the timeline", NULL \
    }

/* Fails early, before anything is read, if --html is given but there is no viewer, or if the page
 * would share standard output with something else. */
int html_check(const struct opts *o, struct err *e) MUST_USE;

/* Writes the page of one trace, or of two side by side, to `file`. `p` needs the kind, the title
 * and documents; the sets are made here from `n` analyses, with memory from `mem`. */
struct html_side {
    struct context *cx;
    const char *path;
};
int html_write(struct page *p, const struct html_side *sides, uint32_t n, const char *file,
               struct arena *mem, struct err *e) MUST_USE;

/* "wrote FILE (1.6 MB): open it in a browser", unless it went to standard output. */
void html_tell(const char *file);

/* perfetto.c: a trace in Perfetto's viewer without uploading it. The viewer's page comes from the
 * web; the trace comes from this machine, over a port that the page may read. */

/* Prints the link that opens the trace of the first operand and serves the trace until Ctrl-C; with
 * --once, until it has been read. What the viewer cannot read is converted first; with --for
 * perfetto, everything is. */
int perfetto_open(struct cli *cli, const struct opts *o, struct err *e) MUST_USE;

/* flame_out.c: time by stack, as a tree, a flame graph, or for other tools. */

/* Whether --to, or else the name of the output, asks for time by stack. */
bool flame_out_is(const struct opts *o);

/* Of the time that --of says. `--to flame` without an output prints the tree of what matters. */
int flame_out(struct cli *cli, const struct opts *o, struct err *e) MUST_USE;

/* serve.c: serves one file over HTTP, on this machine only, to one web page.
 *
 * A request must know the path, which contains a random word, must use the loopback name of this
 * machine, and must come from a page of the given origin. The file is already open and may have
 * been unlinked. */

struct serve {
    int file;           /* open for reading; the caller's */
    const char *origin; /* of the page: "https://ui.perfetto.dev" */
    uint16_t port;      /* 0: any */

    int listener;
    sigset_t while_waiting; /* signals blocked while waiting: not those that end us */
    uint64_t size_bytes;
    char path[160]; /* "/RANDOM/NAME" */
};

/* Starts to listen; then port and path are known, and Ctrl-C ends serve_run. `name` is the file
 * name that others see. */
int serve_open(struct serve *s, const char *name, struct err *e) MUST_USE;
void serve_close(struct serve *s);

/* Answers until Ctrl-C, or with `once` until the whole file has been read once. */
int serve_run(struct serve *s, bool once, struct err *e) MUST_USE;

#endif
