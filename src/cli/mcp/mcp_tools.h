/* mcp_tools.h: the tools of the server: what each takes and which command answers. Their arguments
 * are the options of that command, so that both speak alike; the schema comes from its table. */
#ifndef STRATA_CLI_MCP_MCP_TOOLS_H
#define STRATA_CLI_MCP_MCP_TOOLS_H

#include "base/jdoc.h"
#include "base/jout.h"
#include "cli/cli.h"

/* Which traces a tool takes, as arguments of these names. */
enum mcp_operands {
    MCP_NO_TRACE,
    MCP_TRACE,        /* trace */
    MCP_BEFORE_AFTER, /* before, after */
    MCP_FOLDER        /* folder: all traces in it */
};

enum mcp_answers {
    MCP_BY_COMMAND, /* its JSON, made small */
    MCP_MARKDOWN,   /* of the command, as it is */
    MCP_LISTING,
    MCP_SQL,
    MCP_EVIDENCE
};

enum mcp_type { MCP_INTEGER, MCP_NUMBER, MCP_BOOLEAN, MCP_TEXT, MCP_TEXTS };

struct mcp_param {
    const char *name;
    enum mcp_type type;
    const char *help;
    const char *choices; /* "a|b", or NULL */
};

struct mcp_tool {
    const char *name, *title, *about;
    const struct cmd *cmd; /* NULL where none answers */
    enum mcp_operands operands;
    enum mcp_answers answers;
    const char *options;            /* of the command: "sort by filter" */
    const struct mcp_param *params; /* besides; ends with a NULL name; may be NULL */
    const char *list;               /* main list of its JSON */
    uint32_t limit;                 /* entries shown unless asked otherwise; 0: not a list */
};

extern const struct mcp_tool mcp_tools[]; /* ends with a NULL name */

const struct mcp_tool *mcp_tool_find(const char *name); /* NULL when there is none */

/* The result of tools/list. */
void mcp_tools_list(struct buf *out);

/* What the newest protocol wants in results that a client may keep. */
void mcp_tools_cached(struct jout *j);

/* The arguments of a call, checked: every one is known and of its type. */
struct mcp_args {
    const struct mcp_tool *tool;
    const struct jdoc *given; /* an object, or NULL */
    uint32_t offset, limit;
    bool full_names;
};
int mcp_args_read(struct mcp_args *a, const struct mcp_tool *tool, const struct jdoc *given,
                  struct err *e) MUST_USE;

/* Names of the arguments that name traces, in order: at most two, then NULL. */
const char *mcp_tool_operand(const struct mcp_tool *tool, int i);

/* Options of the command as words ("--sort=gpu"), into `ret` of MCP_MOST_WORDS; returns how many.
 */
enum { MCP_MOST_WORDS = OPT_MAX };
int mcp_args_words(const struct mcp_args *a, struct arena *mem, char **ret, struct err *e) MUST_USE;

#endif
