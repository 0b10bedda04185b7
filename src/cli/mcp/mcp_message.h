/* mcp_message.h: one message of the Model Context Protocol: a line of JSON-RPC 2.0. Reading one
 * never fails hard: what is wrong with it is the reply. */
#ifndef STRATA_CLI_MCP_MCP_MESSAGE_H
#define STRATA_CLI_MCP_MCP_MESSAGE_H

#include "base/buf.h"
#include "base/jdoc.h"

enum { MCP_MOST_BYTES = 1 << 20 }; /* of a line */

enum mcp_code {
    MCP_PARSE_ERROR = -32700,
    MCP_INVALID_REQUEST = -32600,
    MCP_NO_METHOD = -32601,
    MCP_INVALID_PARAMS = -32602,
    MCP_INTERNAL = -32603,
    MCP_NO_VERSION = -32022
};

enum mcp_kind {
    MCP_REQUEST,
    MCP_NOTIFICATION,
    MCP_RESPONSE, /* to a request of ours; we make none */
    MCP_WRONG     /* `code` and `what` say why */
};

struct mcp_message {
    enum mcp_kind kind;
    const char *id; /* as JSON, to be repeated in the reply; "null" when there is none */
    const char *method;
    const struct jdoc *params; /* NULL when there are none */
    int code;
    const char *what;
};

/* Everything in `ret` lives in `mem`. ERR_NOMEM is the only error. */
int mcp_message_read(struct str line, struct arena *mem, struct mcp_message *ret,
                     struct err *e) MUST_USE;

/* An id as JSON, or NULL when it is neither a text nor an integer (or out of memory). */
const char *mcp_message_id(const struct jdoc *id, struct arena *mem);

/* Replies: one line each. `result` is JSON. */
void mcp_message_result(struct buf *out, const char *id, struct str result);
void mcp_message_error(struct buf *out, const char *id, int code, const char *what);

/* The result of a tool: a text, and whether it says what went wrong. */
void mcp_message_text(struct buf *out, struct str text, bool is_error);

#endif
