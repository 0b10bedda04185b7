/* html.c: see browser.h. */
#include "cli/browser/browser.h"

#include <string.h>
#include <sys/stat.h>

#include "base/human.h"

int html_check(const struct opts *o, struct err *e)
{
    const char *file = opt_get(o, "html", NULL);
    if (!file) return 0;
    if (strcmp(file, "-") == 0 && (opt_has(o, "json") || opt_has(o, "md")))
        return FAIL(e, ERR_USAGE,
                    "only one output can go to standard output; give --html a file name");
    return page_check_viewer(e);
}

void html_tell(const char *file)
{
    struct stat st;
    if (strcmp(file, "-") == 0 || stat(file, &st) < 0) return;
    cli_say("wrote %s (%s): open it in a browser", file, human_bytes(st.st_size).s);
}

int html_write(struct page *p, const struct html_side *sides, uint32_t n, const char *file,
               struct arena *mem, struct err *e)
{
    struct page_set sets[2] = {{0}};
    int rc = page_check_viewer(e);
    p->viewer = str_from(page_viewer, page_viewer_bytes);
    for (uint32_t i = 0; i < n && rc == 0; i++) {
        rc = page_set_run(&sets[i], sides[i].cx, sides[i].path, mem, e);
        p->sets[p->n_sets++] = &sets[i];
    }
    if (rc == 0) rc = page_write(p, file, e);
    for (uint32_t i = 0; i < p->n_sets; i++) page_set_done(&sets[i]);
    p->n_sets = 0;
    return rc;
}
