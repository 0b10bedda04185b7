/* ranks_page.h: the page of a set of ranks. */
#ifndef STRATA_CLI_RANKS_PAGE_H
#define STRATA_CLI_RANKS_PAGE_H

#include "cli/html.h"
#include "report/view_ranks.h"

/* Opens the traces of the ranks that it draws again, one at a time on each of a few threads. */
int ranks_page_write(struct cli *cli, const struct view_ranks *v, const char *title,
                     const char *file, struct err *e) MUST_USE;

#endif
