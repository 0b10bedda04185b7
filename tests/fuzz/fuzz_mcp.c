/* fuzz_mcp.c: a message to the server of `strata mcp`: read, its arguments checked and made into
 * options, and the same bytes cut as if they were an answer. */
#include "base/mem.h"
#include "cli/mcp_cut.h"
#include "cli/mcp_message.h"
#include "cli/mcp_tools.h"

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
    struct buf out = {0};
    struct str line = str_from((const char *)p, n);
    static const struct mcp_cut how = {
        .list = "rows", .offset = 1, .limit = 2, .others = 1, .inner = 1, .most_bytes = 8};
    uint32_t of;
    arena_init(&mem);
    if (mcp_message_read(line, &mem, &m, NULL) == 0 && m.kind == MCP_REQUEST) call(&m, &mem);
    mcp_cut(line, &how, &out);
    mcp_cut_pick(line, "rows", 2, &out, &of);
    buf_done(&out);
    arena_done(&mem);
    return 0;
}
