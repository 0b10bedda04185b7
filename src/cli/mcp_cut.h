/* mcp_cut.h: a JSON document made small: of every list only the first entries (of the main one: a
 * page), long texts cut in the middle. What was left out is said at the end, with the way to get
 * it.
 *
 * Entries of the main list get their number, which is the same on every page. */
#ifndef STRATA_CLI_MCP_CUT_H
#define STRATA_CLI_MCP_CUT_H

#include <stdint.h>

#include "base/buf.h"

struct mcp_cut {
    const char *list;   /* the main list: a key at the top; NULL when there is none */
    const char *hidden; /* a list at the top of which nothing is shown, or NULL */
    uint32_t offset;    /* its entries before this one are left out */
    uint32_t limit;     /* entries of it that are shown */
    uint32_t others;    /* entries of the other lists at the top */
    uint32_t inner;     /* entries of lists inside */
    size_t most_bytes;  /* of a text; 0: any */
};

/* Adds the document to `out`, on one line. `doc` has to be JSON; what is not is left out. */
void mcp_cut(struct str doc, const struct mcp_cut *how, struct buf *out);

/* Adds the `number`-th entry (from 1) of the list `list` in full; the length of the list in
 * *ret_of. False when it has fewer. */
bool mcp_cut_pick(struct str doc, const char *list, uint32_t number, struct buf *out,
                  uint32_t *ret_of);

#endif
