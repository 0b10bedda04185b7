/* mcp_tools.c: see mcp_tools.h. To add a tool: a row in the table. */
#include "cli/mcp/mcp_tools.h"

#include <math.h>

#include "base/jout.h"
#include "cli/ranks/ranks.h"

extern const struct cmd cmd_report, cmd_table, cmd_kernels, cmd_gaps, cmd_syncs, cmd_steps,
    cmd_stages, cmd_whatif, cmd_diff;

enum { MOST_LIMIT = 1000, MOST_TEXTS = 16, MOST_NAMES = 64 };

static const struct mcp_param report_params[] = {
    {"format", MCP_TEXT, "md (default): the diagnosis under 8 kB; json: everything, in pages",
     "md|json"},
    {0}};

static const struct mcp_param sql_params[] = {
    {"query", MCP_TEXT,
     "one SELECT in the SQL of SQLite. Tables: events (row, name, kind, start_ns, dur_ns, lane, "
     "device, stream, parent, depth, launch, bytes), steps, stages, kernels, gaps, syncs, "
     "collectives, findings, runs; `SELECT * FROM pragma_table_info('gaps')` is not allowed, "
     "`SELECT * FROM gaps LIMIT 1` shows its columns",
     NULL},
    {0}};

static const struct mcp_param evidence_params[] = {
    {"finding", MCP_INTEGER, "number of a finding of `report`: everything known about it", NULL},
    {"sync", MCP_INTEGER, "id of a site of `syncs`: what happened, moment by moment", NULL},
    {"gap", MCP_INTEGER, "number of a gap of `gaps` (list=gaps), longest first: its causes", NULL},
    {"row", MCP_INTEGER,
     "row of an event (in evidence lists, or events.row in `sql`): its times, stack, arguments, "
     "what is around and inside it, what launched it or what it launched",
     NULL},
    {0}};

static const struct mcp_param gaps_params[] = {
    {"list", MCP_TEXT, "causes (default): idle time by cause; gaps: single gaps, longest first",
     "causes|gaps"},
    {0}};

/* `strata report --ranks` of one folder, without the options that go with it. */
static const struct opt no_opts[] = {{0}};
static const struct cmd folder_of_ranks = {
    .name = "ranks", .args = "FOLDER", .opts = no_opts, .run = read_ranks_operands};

#define PART "whole part at"

const struct mcp_tool mcp_tools[] = {
    {"traces", "List traces", "The traces this server may read, by the names other tools take.",
     NULL, MCP_NO_TRACE, MCP_LISTING, "", NULL, "traces", 100},
    {"report", "Diagnose a trace",
     "Start here: what bounds the wall time, what is slow and why, on which source line, what a "
     "fix would gain, predicted by replay. Findings are numbered; `evidence` shows how we know.",
     &cmd_report, MCP_TRACE, MCP_MARKDOWN, "wall " PART, report_params, "findings", 10},
    {"table", "Operators and kernels",
     "The numbers of torch's key_averages(): calls, self and "
     "total time on CPU and device, memory.",
     &cmd_table, MCP_TRACE, MCP_BY_COMMAND, "sort by depth python " PART, NULL, "rows", 15},
    {"kernels", "Kernels",
     "Device work by kernel: calls, time, spread, occupancy, rate reached "
     "against the roofline.",
     &cmd_kernels, MCP_TRACE, MCP_BY_COMMAND, "sort by filter roof " PART, NULL, "rows", 15},
    {"gaps", "GPU idle time",
     "When the GPU was idle and what the CPU did meanwhile: causes add up "
     "to the idle time exactly.",
     &cmd_gaps, MCP_TRACE, MCP_BY_COMMAND, "min-us " PART, gaps_params, "causes", 12},
    {"syncs", "Waits for the GPU",
     "Where the CPU waits for the GPU. `blocked_us` is CPU time "
     "inside the calls, `exposed_us` the GPU idle time they cause. The gain can be larger or smaller.",
     &cmd_syncs, MCP_TRACE, MCP_BY_COMMAND, PART, NULL, "sites", 12},
    {"steps", "Steps of the loop", "Each iteration of the main loop: CPU, GPU, kernels, syncs.",
     &cmd_steps, MCP_TRACE, MCP_BY_COMMAND, PART, NULL, "steps", 20},
    {"stages", "Parts of the program",
     "The cost of each labelled or derived part: CPU, GPU, idle, kernels, syncs, memory.",
     &cmd_stages, MCP_TRACE, MCP_BY_COMMAND, "all " PART, NULL, "stages", 25},
    {"whatif", "Predict a change",
     "Replays the trace with something changed and predicts the wall "
     "time. Without an edit: how well the replay reproduces the trace.",
     &cmd_whatif, MCP_TRACE, MCP_BY_COMMAND,
     "drop-sync drop-cpu scale-cpu scale-kernel drop-kernel cuda-graph pin-copies overlap-copies "
     "undistort wall " PART,
     NULL, "edits", 64},
    {"diff", "Compare two traces",
     "What changed between two traces of one program, split into "
     "parts that add up to the change in wall time.",
     &cmd_diff, MCP_BEFORE_AFTER, MCP_BY_COMMAND, "allow-untrusted " PART, NULL, "parts", 15},
    {"ranks", "Many ranks",
     "The traces of all ranks in a folder: who comes late to collectives, "
     "and why.",
     &folder_of_ranks, MCP_FOLDER, MCP_BY_COMMAND, "", NULL, "ranks", 16},
    {"sql", "Ask in SQL", "One read-only SELECT over the events and the results of the analysis.",
     NULL, MCP_TRACE, MCP_SQL, PART, sql_params, "rows", 50},
    {"evidence", "Show the evidence",
     "One thing in full: a finding, a sync site, a gap or an "
     "event, by its number. Numbers stay the same from call to call.",
     NULL, MCP_TRACE, MCP_EVIDENCE, PART, evidence_params, NULL, 0},
    {0},
};

const struct mcp_tool *mcp_tool_find(const char *name)
{
    for (const struct mcp_tool *t = mcp_tools; t->name; t++)
        if (strcmp(t->name, name) == 0) return t;
    return NULL;
}

const char *mcp_tool_operand(const struct mcp_tool *tool, int i)
{
    static const char *const names[][3] = {[MCP_NO_TRACE] = {NULL},
                                           [MCP_TRACE] = {"trace", NULL},
                                           [MCP_BEFORE_AFTER] = {"before", "after", NULL},
                                           [MCP_FOLDER] = {"folder", NULL}};
    return i < 2 ? names[tool->operands][i] : NULL;
}

/* ---- what a tool takes */

/* Options that may be given several times. */
static bool is_repeated(const char *name)
{
    static const char *const all[] = {"drop-sync",   "drop-cpu",   "scale-cpu", "scale-kernel",
                                      "drop-kernel", "cuda-graph", NULL};
    for (int i = 0; all[i]; i++)
        if (strcmp(all[i], name) == 0) return true;
    return false;
}

static enum mcp_type mcp_tools_type_of(const struct opt *o)
{
    if (!o->arg) return MCP_BOOLEAN;
    if (is_repeated(o->name)) return MCP_TEXTS;
    if (strcmp(o->arg, "N") == 0) return MCP_INTEGER;
    bool number = strcmp(o->arg, "US") == 0 || strcmp(o->arg, "MS") == 0 || o->arg[0] == 'G';
    return number ? MCP_NUMBER : MCP_TEXT;
}

static bool mcp_tools_lists(const char *words, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = words; (at = strstr(at, name)) != NULL; at += n)
        if ((at == words || at[-1] == ' ') && (!at[n] || at[n] == ' ')) return true;
    return false;
}

static const struct mcp_param general[] = {
    {"limit", MCP_INTEGER, "entries of the list to show", NULL},
    {"offset", MCP_INTEGER, "entries to leave out before them: next_offset of the last answer",
     NULL},
    {"full_names", MCP_BOOLEAN, "do not cut long names in the middle", NULL},
    {0}};

/* The i-th parameter besides the traces; false after the last. Options have '_' for '-'. */
static bool param_at(const struct mcp_tool *t, int i, char *name, size_t cap, struct mcp_param *ret)
{
    for (const struct mcp_param *p = t->params; p && p->name; p++)
        if (i-- == 0) return *ret = *p, true;
    for (const struct mcp_param *p = t->limit ? general : NULL; p && p->name; p++)
        if (i-- == 0) return *ret = *p, true;
    for (const struct opt *o = t->cmd ? t->cmd->opts : cmd_report.opts; o->name; o++) {
        if (!mcp_tools_lists(t->options, o->name) || i-- > 0) continue;
        snprintf(name, cap, "%s", o->name);
        for (char *c = name; *c; c++)
            if (*c == '-') *c = '_';
        *ret = (struct mcp_param){name, mcp_tools_type_of(o), o->help, o->choices};
        return true;
    }
    return false;
}

static void mcp_tools_put_choices(struct jout *j, const char *choices)
{
    jout_arr(j, "enum");
    while (*choices) {
        size_t n = strcspn(choices, "|");
        jout_str(j, NULL, str_from(choices, n));
        choices += n + (choices[n] == '|');
    }
    jout_end_arr(j);
}

static void put_param(struct jout *j, const struct mcp_param *p, uint32_t limit)
{
    static const char *const types[] = {"integer", "number", "boolean", "string", "array"};
    jout_obj(j, p->name);
    jout_cstr(j, "type", types[p->type]);
    jout_cstr(j, "description", p->help);
    if (p->type == MCP_TEXTS) {
        jout_obj(j, "items");
        jout_cstr(j, "type", "string");
        jout_end_obj(j);
        jout_int(j, "maxItems", MOST_TEXTS);
    }
    if (p->type == MCP_INTEGER)
        jout_int(j, "minimum", strcmp(p->name, "offset") != 0 && strcmp(p->name, "row") != 0);
    if (strcmp(p->name, "limit") == 0) {
        jout_int(j, "maximum", MOST_LIMIT);
        jout_uint(j, "default", limit);
    }
    if (p->choices) mcp_tools_put_choices(j, p->choices);
    jout_end_obj(j);
}

static void mcp_tools_put_schema(struct jout *j, const struct mcp_tool *t)
{
    char name[64];
    struct mcp_param p;
    const char *operand;
    jout_obj(j, "inputSchema");
    jout_cstr(j, "type", "object");
    jout_obj(j, "properties");
    for (int i = 0; (operand = mcp_tool_operand(t, i)) != NULL; i++) {
        p = (struct mcp_param){operand, MCP_TEXT,
                               t->operands == MCP_FOLDER
                                   ? "a folder with one trace per rank; \".\" is the server's own"
                                   : "a name as `traces` lists it: a file or a run folder",
                               NULL};
        put_param(j, &p, 0);
    }
    for (int i = 0; param_at(t, i, name, sizeof name, &p); i++) put_param(j, &p, t->limit);
    jout_end_obj(j);
    jout_arr(j, "required");
    for (int i = 0; (operand = mcp_tool_operand(t, i)) != NULL; i++) jout_cstr(j, NULL, operand);
    if (t->answers == MCP_SQL) jout_cstr(j, NULL, "query");
    jout_end_arr(j);
    jout_bool(j, "additionalProperties", false);
    jout_end_obj(j);
}

void mcp_tools_list(struct buf *out)
{
    struct jout j;
    jout_init(&j, out, false);
    jout_obj(&j, NULL);
    jout_arr(&j, "tools");
    for (const struct mcp_tool *t = mcp_tools; t->name; t++) {
        jout_obj(&j, NULL);
        jout_cstr(&j, "name", t->name);
        jout_cstr(&j, "title", t->title);
        jout_cstr(&j, "description", t->about);
        mcp_tools_put_schema(&j, t);
        jout_obj(&j, "annotations");
        jout_bool(&j, "readOnlyHint", true);
        jout_bool(&j, "openWorldHint", false);
        jout_end_obj(&j);
        jout_end_obj(&j);
    }
    jout_end_arr(&j);
    mcp_tools_cached(&j);
    jout_end_obj(&j);
}

void mcp_tools_cached(struct jout *j)
{
    jout_cstr(j, "resultType", "complete");
    jout_int(j, "ttlMs", 24 * 3600 * 1000); /* as long as the program is the same */
    jout_cstr(j, "cacheScope", "private");
}

/* ---- what a call gives */

static int mcp_tools_unknown(const struct mcp_tool *t, const char *given, struct err *e)
{
    char names[MOST_NAMES][64], list[400] = "";
    const char *all[MOST_NAMES], *operand;
    struct mcp_param p;
    int n = 0;
    for (int i = 0; (operand = mcp_tool_operand(t, i)) != NULL; i++) all[n++] = operand;
    for (int i = 0; n < MOST_NAMES && param_at(t, i, names[n], sizeof names[n], &p); i++)
        all[n] = p.name, n++;
    const char *near = opt_nearest(given, all, n);
    if (near)
        return FAIL(e, ERR_USAGE, "%s has no argument '%s'. Did you mean '%s'?", t->name, given,
                    near);
    for (int i = 0; i < n; i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", all[i]);
    }
    return FAIL(e, ERR_USAGE, "%s has no argument '%s'; it takes %s", t->name, given, list);
}

static bool plain_text(const struct jdoc *v)
{
    return v->kind == JDOC_STRING && !memchr(v->text.p, 0, v->text.n);
}

static bool is_integer(const struct jdoc *v)
{
    return v->kind == JDOC_NUMBER && v->number == floor(v->number) && v->number >= 0 &&
           v->number <= UINT32_MAX;
}

static bool mcp_tools_fits(const struct jdoc *v, enum mcp_type type)
{
    switch (type) {
    case MCP_INTEGER: return is_integer(v);
    case MCP_NUMBER: return v->kind == JDOC_NUMBER;
    case MCP_BOOLEAN: return v->kind == JDOC_BOOL;
    case MCP_TEXT: return plain_text(v);
    case MCP_TEXTS: break;
    }
    if (plain_text(v) || is_integer(v)) return true;
    bool ok = v->kind == JDOC_ARRAY && v->n <= MOST_TEXTS;
    for (uint32_t i = 0; ok && i < v->n; i++)
        ok = plain_text(&v->items[i]) || is_integer(&v->items[i]);
    return ok;
}

static bool mcp_tools_is_choice(struct str given, const char *choices)
{
    while (*choices) {
        size_t n = strcspn(choices, "|");
        if (str_eq(given, str_from(choices, n))) return true;
        choices += n + (choices[n] == '|');
    }
    return false;
}

static int check_one(const struct mcp_tool *t, const char *key, const struct jdoc *v, struct err *e)
{
    static const char *const words[] = {"an integer, not negative", "a number", "true or false",
                                        "a text", "a list of at most 16 texts"};
    char name[64];
    struct mcp_param p = {0};
    bool found = false;
    const char *operand;
    for (int i = 0; !found && (operand = mcp_tool_operand(t, i)) != NULL; i++) {
        p = (struct mcp_param){operand, MCP_TEXT, NULL, NULL};
        found = strcmp(key, operand) == 0;
    }
    for (int i = 0; !found && param_at(t, i, name, sizeof name, &p); i++)
        found = strcmp(key, p.name) == 0;
    if (!found) return mcp_tools_unknown(t, key, e);
    if (!mcp_tools_fits(v, p.type))
        return FAIL(e, ERR_USAGE, "%s: '%s' is %s", t->name, key, words[p.type]);
    if (p.choices && !mcp_tools_is_choice(v->text, p.choices))
        return FAIL(e, ERR_USAGE, "%s: '%s' is one of %s", t->name, key, p.choices);
    return 0;
}

static int check_needed(const struct mcp_args *a, struct err *e)
{
    const char *operand;
    for (int i = 0; (operand = mcp_tool_operand(a->tool, i)) != NULL; i++)
        if (!jdoc_get(a->given, operand))
            return FAIL(e, ERR_USAGE, "%s needs '%s'; the tool `traces` lists what there is",
                        a->tool->name, operand);
    if (a->tool->answers == MCP_SQL && !jdoc_get(a->given, "query"))
        return FAIL(e, ERR_USAGE, "sql needs 'query': one SELECT");
    return 0;
}

int mcp_args_read(struct mcp_args *a, const struct mcp_tool *tool, const struct jdoc *given,
                  struct err *e)
{
    *a = (struct mcp_args){.tool = tool, .given = given};
    if (given && given->kind != JDOC_OBJECT)
        return FAIL(e, ERR_USAGE, "%s: arguments is an object", tool->name);
    for (uint32_t i = 0; given && i < given->n; i++)
        TRY(check_one(tool, given->keys[i].p, &given->items[i], e));
    TRY(check_needed(a, e));
    double limit = jdoc_number(given, "limit", tool->limit);
    if (tool->limit && !(limit >= 1 && limit <= MOST_LIMIT))
        return FAIL(e, ERR_USAGE, "%s: 'limit' is from 1 to %d; 'offset' goes on from there",
                    tool->name, MOST_LIMIT);
    a->limit = (uint32_t)limit;
    a->offset = (uint32_t)jdoc_number(given, "offset", 0);
    const struct jdoc *full = jdoc_get(given, "full_names");
    a->full_names = full && full->yes;
    return 0;
}

/* "--name=value" for one value; a flag without. */
static int mcp_tools_put_word(const char *name, const struct jdoc *v, struct arena *mem, char **ret,
                              struct err *e)
{
    if (v->kind == JDOC_BOOL) *ret = arena_printf(mem, "--%s", name);
    else if (v->kind == JDOC_NUMBER) *ret = arena_printf(mem, "--%s=%.15g", name, v->number);
    else *ret = arena_printf(mem, "--%s=%s", name, v->text.p);
    return *ret ? 0 : err_nomem(e);
}

int mcp_args_words(const struct mcp_args *a, struct arena *mem, char **ret, struct err *e)
{
    int n = 0;
    const struct opt *opts = a->tool->cmd ? a->tool->cmd->opts : cmd_report.opts;
    for (const struct opt *o = opts; o->name; o++) {
        char key[64];
        snprintf(key, sizeof key, "%s", o->name);
        for (char *c = key; *c; c++)
            if (*c == '-') *c = '_';
        const struct jdoc *v =
            mcp_tools_lists(a->tool->options, o->name) ? jdoc_get(a->given, key) : NULL;
        if (!v || (v->kind == JDOC_BOOL && !v->yes)) continue;
        const struct jdoc *items = v->kind == JDOC_ARRAY ? v->items : v;
        uint32_t n_items = v->kind == JDOC_ARRAY ? v->n : 1;
        for (uint32_t i = 0; i < n_items; i++) {
            if (n == MCP_MOST_WORDS) return FAIL(e, ERR_USAGE, "too many options in one call");
            TRY(mcp_tools_put_word(o->name, &items[i], mem, &ret[n++], e));
        }
    }
    return n;
}
