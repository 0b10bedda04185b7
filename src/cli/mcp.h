/* mcp.h: the server of `strata mcp`: messages in from one file, replies out to another, calls
 * answered by worker processes, several at a time. */
#ifndef STRATA_CLI_MCP_H
#define STRATA_CLI_MCP_H

#include "cli/mcp_folder.h"

struct mcp_options {
    const struct mcp_folders *folders;
    uint32_t most_open; /* traces that are kept open */
    int in, out;
};

/* Until `in` ends. */
int mcp_serve(const struct mcp_options *o, struct err *e) MUST_USE;

#endif
