/* html.h: writing the HTML page, for the commands that have --html. */
#ifndef STRATA_CLI_HTML_H
#define STRATA_CLI_HTML_H

#include "cli/cli.h"
#include "page/page.h"

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

#endif
