/* fuzz_mcp.c: a message to the server of `strata mcp`: read, its arguments checked and made into
 * options. */
#include "base/mem.h"
#include "cli/mcp/mcp_message.h"
#include "cli/mcp/mcp_tools.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static void call(const struct mcp_message *m, struct arena *mem)
{
    struct mcp_args a;
    char *words[MCP_MOST_WORDS];
    const struct mcp_tool *tool = mcp_tool_find(jdoc_text(m->params, "name", ""));
    if (!tool || mcp_args_read(&a, tool, jdoc_get(m->params, "arguments"), NULL) < 0) return;
    if (mcp_args_words(&a, mem, words, NULL) < 0) return;
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    struct arena mem;
    struct mcp_message m;
    struct str line = str_from((const char *)p, n);
    arena_init(&mem);
    if (mcp_message_read(line, &mem, &m, NULL) == 0 && m.kind == MCP_REQUEST) call(&m, &mem);
    arena_done(&mem);
    return 0;
}
