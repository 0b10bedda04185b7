/* mcp_answers.h: answers about one trace, which stays open between calls, with what was computed
 * about it and with the documents made of that. */
#ifndef STRATA_CLI_MCP_ANSWERS_H
#define STRATA_CLI_MCP_ANSWERS_H

#include "cli/mcp_folder.h"
#include "cli/mcp_tools.h"

struct mcp_answers_state;

/* All are kept as they are given; `watch` may be NULL. NULL when out of memory. */
struct mcp_answers_state *mcp_answers_new(const struct mcp_folders *folders,
                                          const struct mcp_path *paths, int n_paths,
                                          struct import_progress *watch);
void mcp_answers_free(struct mcp_answers_state *s);

/* Adds the answer to `ret`; `mem` is for this call only. */
int mcp_answer(struct mcp_answers_state *s, const struct mcp_args *a, struct arena *mem,
               struct buf *ret, struct err *e) MUST_USE;

#endif
