/* mcp_message.c: see mcp_message.h. */
#include "cli/mcp/mcp_message.h"

#include <math.h>

#include "base/jout.h"

static bool mcp_message_is_id(const struct jdoc *id)
{
    if (id->kind != JDOC_NUMBER) return id->kind == JDOC_STRING;
    return id->number == floor(id->number) && fabs(id->number) < 1e15;
}

const char *mcp_message_id(const struct jdoc *id, struct arena *mem)
{
    if (!mcp_message_is_id(id)) return NULL;
    if (id->kind == JDOC_NUMBER) return arena_printf(mem, "%.0f", id->number);
    struct buf text = {0};
    jout_quote(&text, id->text);
    const char *copy = buf_ok(&text) ? arena_strdup(mem, buf_str(&text)) : NULL;
    buf_done(&text);
    return copy;
}

static int mcp_message_wrong(struct mcp_message *ret, int code, const char *what)
{
    ret->kind = MCP_WRONG;
    ret->code = code;
    ret->what = what;
    return 0;
}

/* 1 when there is one, 0 when there is none or it is wrong. */
static int take_id(const struct jdoc *doc, struct arena *mem, struct mcp_message *ret,
                   struct err *e)
{
    const struct jdoc *id = jdoc_get(doc, "id");
    if (!id) return 0;
    if (!mcp_message_is_id(id))
        return mcp_message_wrong(ret, MCP_INVALID_REQUEST, "an id is a text or an integer");
    const char *text = mcp_message_id(id, mem);
    if (!text) return err_nomem(e);
    ret->id = text;
    return 1;
}

static int mcp_message_classify(const struct jdoc *doc, struct arena *mem, struct mcp_message *ret,
                                struct err *e)
{
    if (doc->kind == JDOC_ARRAY)
        return mcp_message_wrong(ret, MCP_INVALID_REQUEST,
                                 "send one message per line, not a batch");
    if (doc->kind != JDOC_OBJECT)
        return mcp_message_wrong(ret, MCP_INVALID_REQUEST, "a message is a JSON object");
    int has_id = take_id(doc, mem, ret, e);
    if (has_id < 0 || ret->kind == MCP_WRONG) return has_id;
    if (strcmp(jdoc_text(doc, "jsonrpc", ""), "2.0") != 0)
        return mcp_message_wrong(ret, MCP_INVALID_REQUEST, "expected \"jsonrpc\": \"2.0\"");
    ret->method = jdoc_text(doc, "method", NULL);
    bool answers = jdoc_get(doc, "result") || jdoc_get(doc, "error");
    if (!ret->method && has_id && answers) {
        ret->kind = MCP_RESPONSE;
        return 0;
    }
    if (!ret->method)
        return mcp_message_wrong(ret, MCP_INVALID_REQUEST, "the message names no method");
    ret->params = jdoc_get(doc, "params");
    if (ret->params && ret->params->kind != JDOC_OBJECT)
        return mcp_message_wrong(ret, MCP_INVALID_PARAMS, "params is an object");
    ret->kind = has_id ? MCP_REQUEST : MCP_NOTIFICATION;
    return 0;
}

int mcp_message_read(struct str line, struct arena *mem, struct mcp_message *ret, struct err *e)
{
    struct err why;
    err_init(&why);
    *ret = (struct mcp_message){.kind = MCP_REQUEST, .id = "null"};
    struct jdoc *doc = arena_zalloc(mem, 1, sizeof *doc);
    if (!doc) return err_nomem(e);
    int rc = jdoc_parse(line, mem, doc, &why);
    if (rc == ERR_NOMEM) return err_nomem(e);
    if (rc < 0) {
        const char *what = arena_printf(mem, "not JSON: %s at byte %lld", why.msg,
                                        (long long)(why.offset < 0 ? 0 : why.offset));
        return what ? mcp_message_wrong(ret, MCP_PARSE_ERROR, what) : err_nomem(e);
    }
    return mcp_message_classify(doc, mem, ret, e);
}

static void mcp_message_begin(struct jout *j, struct buf *out, const char *id)
{
    jout_init(j, out, false);
    jout_obj(j, NULL);
    jout_cstr(j, "jsonrpc", "2.0");
    jout_raw(j, "id", str_c(id));
}

static void mcp_message_end(struct jout *j)
{
    jout_end_obj(j);
    buf_addc(j->out, '\n');
}

void mcp_message_result(struct buf *out, const char *id, struct str result)
{
    struct jout j;
    mcp_message_begin(&j, out, id);
    jout_raw(&j, "result", result);
    mcp_message_end(&j);
}

void mcp_message_error(struct buf *out, const char *id, int code, const char *what)
{
    struct jout j;
    mcp_message_begin(&j, out, id);
    jout_obj(&j, "error");
    jout_int(&j, "code", code);
    jout_cstr(&j, "message", what);
    jout_end_obj(&j);
    mcp_message_end(&j);
}

void mcp_message_text(struct buf *out, struct str text, bool is_error)
{
    struct jout j;
    jout_init(&j, out, false);
    jout_obj(&j, NULL);
    jout_arr(&j, "content");
    jout_obj(&j, NULL);
    jout_cstr(&j, "type", "text");
    jout_str(&j, "text", text);
    jout_end_obj(&j);
    jout_end_arr(&j);
    jout_bool(&j, "isError", is_error);
    jout_cstr(&j, "resultType", "complete");
    jout_end_obj(&j);
}
