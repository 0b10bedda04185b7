/* test_mcp_message.c: what a line is, and what is wrong with it. */
#include "cli/mcp/mcp_message.h"

#include "test.h"

static struct arena mem;

static struct mcp_message read_line(const char *line)
{
    struct mcp_message m = {.kind = MCP_WRONG};
    struct err e;
    err_init(&e);
    CHECK_EQ_INT(mcp_message_read(str_c(line), &mem, &m, &e), 0);
    return m;
}

TEST(requests_notifications_and_responses)
{
    struct mcp_message m =
        read_line("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"params\":{}}");
    CHECK_EQ_INT(m.kind, MCP_REQUEST);
    CHECK_EQ_STR(m.id, "7");
    CHECK_EQ_STR(m.method, "ping");
    CHECK(m.params != NULL);
    m = read_line("{\"jsonrpc\":\"2.0\",\"id\":\"a\\\"b\",\"method\":\"ping\"}");
    CHECK_EQ_STR(m.id, "\"a\\\"b\"");
    CHECK(m.params == NULL);
    m = read_line("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    CHECK_EQ_INT(m.kind, MCP_NOTIFICATION);
    m = read_line("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    CHECK_EQ_INT(m.kind, MCP_RESPONSE);
    arena_done(&mem);
}

TEST(what_is_wrong)
{
    static const struct {
        const char *line, *id;
        int code;
    } cases[] = {
        {"{", "null", MCP_PARSE_ERROR},
        {"[]", "null", MCP_INVALID_REQUEST},
        {"7", "null", MCP_INVALID_REQUEST},
        {"{\"id\":1,\"method\":\"ping\"}", "1", MCP_INVALID_REQUEST},
        {"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", "1", MCP_INVALID_REQUEST},
        {"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", "null", MCP_INVALID_REQUEST},
        {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", "null", MCP_INVALID_REQUEST},
        {"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", "null", MCP_INVALID_REQUEST},
        {"{\"jsonrpc\":\"2.0\",\"id\":2}", "2", MCP_INVALID_REQUEST},
        {"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":3}", "2", MCP_INVALID_REQUEST},
        {"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"x\",\"params\":[]}", "2", MCP_INVALID_PARAMS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mcp_message m = read_line(cases[i].line);
        CHECK_EQ_INT(m.kind, MCP_WRONG);
        CHECK_EQ_INT(m.code, cases[i].code);
        CHECK_EQ_STR(m.id, cases[i].id);
        CHECK(m.what && m.what[0]);
    }
    arena_done(&mem);
}

TEST(deep_nesting_is_refused)
{
    char line[1000];
    memset(line, '[', sizeof line);
    line[sizeof line - 1] = 0;
    CHECK_EQ_INT(read_line(line).code, MCP_PARSE_ERROR);
    arena_done(&mem);
}

TEST(replies_are_one_line_each)
{
    struct buf out = {0}, result = {0};
    mcp_message_text(&result, str_c("two\nlines \xff"), true);
    mcp_message_result(&out, "7", buf_str(&result));
    mcp_message_error(&out, "null", MCP_NO_METHOD, "no \"such\" method");
    CHECK_EQ_STR(
        buf_c(&out),
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[{\"type\":\"text\","
        "\"text\":\"two\\nlines \xef\xbf\xbd\"}],\"isError\":true,\"resultType\":\"complete\"}}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32601,\"message\":"
        "\"no \\\"such\\\" method\"}}\n");
    buf_done(&out);
    buf_done(&result);
}

static int read_one(void *ctx)
{
    struct mcp_message m;
    struct arena own;
    (void)ctx;
    arena_init(&own);
    int rc = mcp_message_read(str_c("{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"ping\"}"), &own,
                              &m, NULL);
    arena_done(&own);
    return rc;
}

TEST(memory_runs_out)
{
    CHECK_EVERY_ALLOC(read_one, NULL);
}

TEST_MAIN
