/* mcp.c: see mcp_private.h. One thread: it waits for messages and for workers, and never computes.
 *
 *     client --lines--> mcp.c --frames--> worker of trace A   (mcp_worker.c, forked here)
 *            <-lines---       <-frames--  worker of trace B
 *
 * A call waits until the worker of its trace is free; where there is none, until one may be
 * started: as many as traces may be open, and the one that was idle for longest makes room. A call
 * is cancelled by ending its worker. A file that changed has another signature, so another worker.
 */
#include "cli/mcp/mcp_private.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/jout.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/mcp/mcp_message.h"
#include "cli/mcp/mcp_tools.h"

#ifndef STRATA_VERSION
#define STRATA_VERSION "0"
#endif

enum { MOST_WORKERS = 16, MOST_CALLS = 64, READ_BYTES = 64 << 10 };

/* Of clients that begin with a hand-shake. Newest first: the answer to one that asks for one we do
 * not know. */
static const char *const versions[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05",
                                       NULL};

/* And of those that do not. */
#define STATELESS "2026-07-28"

struct call {
    char *id;  /* as JSON; NULL: none here */
    char *key; /* of the worker it needs */
    char *line;
    char *token; /* of its progress, as JSON; NULL: not wanted */
    struct mcp_path paths[MCP_MOST_PATHS];
    int n_paths;
    struct arena mem;  /* of the paths */
    struct worker *by; /* NULL while it waits */
    uint64_t number;
};

struct worker {
    pid_t pid; /* 0: none here */
    char *key;
    int to, from, notes;
    struct call *call; /* NULL while it is idle */
    uint64_t used;
};

struct server {
    const struct mcp_options *o;
    struct call calls[MOST_CALLS];
    struct worker workers[MOST_WORKERS];
    struct buf in, out;
    uint64_t clock;
    bool skipping; /* the rest of a line that is too long */
    bool ended;
};

/* ---- replies */

static int mcp_flush(struct server *s, struct err *e)
{
    if (!buf_ok(&s->out)) return err_nomem(e);
    for (size_t done = 0; done < s->out.n;) {
        ssize_t n = write(s->o->out, s->out.p + done, s->out.n - done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EPIPE) s->ended = true;
        if (n < 0) break;
        done += (size_t)n;
    }
    buf_reset(&s->out);
    return 0;
}

static void reply_text(struct server *s, const char *id, const char *text, bool is_error)
{
    struct buf result = {0};
    mcp_message_text(&result, str_c(text), is_error);
    if (buf_ok(&result)) mcp_message_result(&s->out, id, buf_str(&result));
    else s->out.failed = true;
    buf_done(&result);
}

/* ---- calls and workers */

static void end_call(struct call *c)
{
    mem_free(c->id);
    mem_free(c->key);
    mem_free(c->line);
    mem_free(c->token);
    arena_done(&c->mem);
    *c = (struct call){0};
}

/* What it said last goes where the server's own words go. */
static void pass_notes(struct worker *w)
{
    char part[4096];
    ssize_t n;
    while ((n = read(w->notes, part, sizeof part)) > 0)
        if (write(STDERR_FILENO, part, (size_t)n) < 0) break;
}

static int end_worker(struct worker *w)
{
    int status = 0;
    if (!w->pid) return 0;
    kill(w->pid, SIGKILL);
    while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR) {}
    pass_notes(w);
    close(w->to);
    close(w->from);
    close(w->notes);
    mem_free(w->key);
    *w = (struct worker){0};
    return status;
}

/* In the new process: nothing of the server's is left open. */
static void be_worker(const struct server *s, const struct call *c, const int *to, const int *from,
                      const int *notes)
{
    struct mcp_worker_in in = {s->o->folders, {{0}}, c->n_paths, to[0], from[1], notes[0]};
    for (int i = 0; i < c->n_paths; i++) in.paths[i] = c->paths[i];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 0; i < MOST_WORKERS; i++) {
        if (!s->workers[i].pid) continue;
        close(s->workers[i].to);
        close(s->workers[i].from);
        close(s->workers[i].notes);
    }
    close(to[1]);
    close(from[0]);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(notes[1], STDERR_FILENO);
    const char *real = c->n_paths ? c->paths[0].real : NULL, *shown = real ? c->paths[0].shown : "";
    /* names are short and the same from call to call: relative to the folder of the first */
    for (uint32_t i = 0; real && i < s->o->folders->n; i++) {
        size_t n = strlen(s->o->folders->real[i]);
        bool here = strncmp(real, s->o->folders->real[i], n) == 0 &&
                    (real[n] == '/' || strcmp(shown, ".") == 0);
        if (here && chdir(s->o->folders->real[i]) < 0) _exit(EXIT_INTERNAL);
        if (here) break;
    }
    _exit(mcp_worker_run(&in));
}

static void close_pair(const int *pair)
{
    for (int i = 0; i < 2; i++)
        if (pair[i] >= 0) close(pair[i]);
}

static bool start_worker(struct server *s, struct worker *w, const struct call *c)
{
    int to[2] = {-1, -1}, from[2] = {-1, -1}, notes[2] = {-1, -1};
    bool ok = pipe2(to, O_CLOEXEC) == 0 && pipe2(from, O_CLOEXEC) == 0 &&
              pipe2(notes, O_CLOEXEC | O_NONBLOCK) == 0;
    char *key = ok ? mem_strdup(c->key) : NULL;
    pid_t pid = key ? fork() : -1;
    if (pid == 0) be_worker(s, c, to, from, notes);
    if (pid < 0) {
        mem_free(key);
        close_pair(to);
        close_pair(from);
        close_pair(notes);
        return false;
    }
    close(to[0]);
    close(from[1]);
    close(notes[1]);
    *w = (struct worker){pid, key, to[1], from[0], notes[0], NULL, 0};
    return true;
}

/* A worker for this call that is free: its own, or a new one; NULL when it has to wait. */
static struct worker *worker_for(struct server *s, const struct call *c, bool *failed)
{
    struct worker *free_slot = NULL, *idle = NULL;
    uint32_t running = 0;
    for (int i = 0; i < MOST_WORKERS; i++) {
        struct worker *w = &s->workers[i];
        if (!w->pid) {
            free_slot = w;
            continue;
        }
        running++;
        if (strcmp(w->key, c->key) == 0) return w->call ? NULL : w;
        if (!w->call && (!idle || w->used < idle->used)) idle = w;
    }
    if (running >= s->o->most_open) {
        if (!idle) return NULL;
        end_worker(idle);
        free_slot = idle;
    }
    *failed = !start_worker(s, free_slot, c);
    return *failed ? NULL : free_slot;
}

static void fail_call(struct server *s, struct call *c, const char *why)
{
    reply_text(s, c->id, why, true);
    end_call(c);
}

static void lost_worker(struct server *s, struct worker *w)
{
    struct call *c = w->call;
    int status = end_worker(w);
    char why[160];
    if (WIFSIGNALED(status) && mcp_limits_ended(WTERMSIG(status)))
        snprintf(why, sizeof why,
                 "this call took more processor time than a call may; ask for less: a plainer "
                 "regular expression, a narrower query");
    else
        snprintf(why, sizeof why,
                 "the analysis of this trace broke off (%s %d): the file changed while it was "
                 "read, memory ran out, or it is a mistake of strata's",
                 WIFSIGNALED(status) ? "signal" : "status",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    if (c) fail_call(s, c, why);
}

static void send_call(struct server *s, struct call *c, struct worker *w)
{
    w->call = c;
    w->used = ++s->clock;
    c->by = w;
    if (!mcp_worker_send(w->to, str_c(c->line))) lost_worker(s, w);
}

/* The oldest call that waits and came after `number`, or NULL. */
static struct call *next_waiting(struct server *s, uint64_t number)
{
    struct call *next = NULL;
    for (int i = 0; i < MOST_CALLS; i++) {
        struct call *c = &s->calls[i];
        if (!c->id || c->by || c->number <= number) continue;
        if (!next || c->number < next->number) next = c;
    }
    return next;
}

/* Gives waiting calls to workers, the oldest first. */
static void mcp_dispatch(struct server *s)
{
    struct call *c;
    for (uint64_t number = 0; (c = next_waiting(s, number)) != NULL;) {
        bool failed = false;
        struct worker *w = worker_for(s, c, &failed);
        number = c->number;
        if (w) send_call(s, c, w);
        else if (failed) fail_call(s, c, "cannot start a process for this trace");
    }
}

/* ---- tools/call */

static struct call *find_call(struct server *s, const char *id)
{
    for (int i = 0; i < MOST_CALLS; i++)
        if (s->calls[i].id && strcmp(s->calls[i].id, id) == 0) return &s->calls[i];
    return NULL;
}

static struct call *free_call(struct server *s)
{
    for (int i = 0; i < MOST_CALLS; i++)
        if (!s->calls[i].id) return &s->calls[i];
    return NULL;
}

/* Which worker: by the files, what they hold, and the part of the recording. */
static int mcp_make_key(struct call *c, const struct mcp_args *a, struct buf *key, struct err *e)
{
    const struct jdoc *whole = jdoc_get(a->given, "whole");
    buf_printf(key, "%d %.0f %s %s", whole && whole->yes, jdoc_number(a->given, "part", 0),
               jdoc_text(a->given, "at", ""),
               a->tool->cmd && !a->tool->cmd->show ? a->tool->name : "");
    for (int i = 0; i < c->n_paths; i++)
        buf_printf(key, "\n%s\n%llx", c->paths[i].real, (unsigned long long)c->paths[i].signature);
    c->key = buf_ok(key) ? mem_strdup(buf_c(key)) : NULL;
    return c->key ? 0 : err_nomem(e);
}

/* The name under which the client wants reports, or NULL. */
static int take_token(struct call *c, const struct mcp_message *m, struct err *e)
{
    const struct jdoc *token = jdoc_get(jdoc_get(m->params, "_meta"), "progressToken");
    const char *text = token ? mcp_message_id(token, &c->mem) : NULL;
    c->token = text ? mem_strdup(text) : NULL;
    return text && !c->token ? err_nomem(e) : 0;
}

static int mcp_prepare(struct server *s, struct call *c, const struct mcp_message *m,
                       const struct mcp_tool *tool, struct err *e)
{
    struct mcp_args a;
    struct buf key = {0};
    const char *operand;
    TRY(mcp_args_read(&a, tool, jdoc_get(m->params, "arguments"), e));
    TRY(take_token(c, m, e));
    for (int i = 0; (operand = mcp_tool_operand(tool, i)) != NULL; i++) {
        const char *name = jdoc_text(a.given, operand, "");
        TRY(mcp_folder_find(s->o->folders, name, &c->mem, &c->paths[c->n_paths++], e));
    }
    if (tool->operands == MCP_FOLDER && !folder_is(c->paths[0].real))
        return FAIL(e, ERR_USAGE, "'%s' is not a folder; `report` reads a single trace",
                    c->paths[0].shown);
    int rc = mcp_make_key(c, &a, &key, e);
    buf_done(&key);
    return rc;
}

static void call_tool(struct server *s, const struct mcp_message *m, struct str line)
{
    const char *name = jdoc_text(m->params, "name", "");
    const struct mcp_tool *tool = mcp_tool_find(name);
    struct call *c = free_call(s);
    struct err e;
    err_init(&e);
    if (!tool) {
        mcp_message_error(&s->out, m->id, MCP_INVALID_PARAMS,
                          "unknown tool; tools/list lists them");
        return;
    }
    if (find_call(s, m->id)) {
        mcp_message_error(&s->out, m->id, MCP_INVALID_REQUEST, "this id is in use");
        return;
    }
    if (!c) {
        reply_text(s, m->id, "too many calls at once; wait for some to be answered", true);
        return;
    }
    arena_init(&c->mem);
    c->number = ++s->clock;
    c->id = mem_strdup(m->id);
    c->line = mem_alloc(line.n + 1);
    int rc = c->id && c->line ? mcp_prepare(s, c, m, tool, &e) : err_nomem(&e);
    if (c->line) {
        memcpy(c->line, line.p, line.n);
        c->line[line.n] = 0;
    }
    if (rc == 0) return;
    reply_text(s, m->id, e.msg, true);
    end_call(c);
}

static void mcp_cancel(struct server *s, const struct mcp_message *m)
{
    struct arena mem;
    const struct jdoc *wanted = jdoc_get(m->params, "requestId");
    arena_init(&mem);
    const char *id = wanted ? mcp_message_id(wanted, &mem) : NULL;
    struct call *c = id ? find_call(s, id) : NULL;
    if (c && c->by) end_worker(c->by);
    if (c) end_call(c);
    arena_done(&mem);
}

/* ---- other methods */

static const char instructions[] = "Reads traces of GPU programs. `traces` lists them. `report` "
                                   "says what is slow, why, on which line and what a fix would "
                                   "gain. `evidence` shows how we know. `whatif` predicts a change "
                                   "before it is made. `diff` compares before and after. Rank by "
                                   "predicted gain: blocked time is not exposed time (GPU idle in "
                                   "the trace), and a gain can be larger than what is exposed, "
                                   "because the CPU can then run ahead.";

static void put_server(struct jout *j, const char *key)
{
    jout_obj(j, key);
    jout_cstr(j, "name", "strata");
    jout_cstr(j, "title", "Strata, a GPU profiler");
    jout_cstr(j, "version", STRATA_VERSION);
    jout_end_obj(j);
}

static void put_abilities(struct jout *j)
{
    jout_obj(j, "capabilities");
    jout_obj(j, "tools");
    jout_bool(j, "listChanged", false);
    jout_end_obj(j);
    jout_end_obj(j);
    jout_cstr(j, "instructions", instructions);
}

static void mcp_reply(struct server *s, const struct mcp_message *m, struct buf *result)
{
    if (buf_ok(result)) mcp_message_result(&s->out, m->id, buf_str(result));
    else s->out.failed = true;
    buf_done(result);
}

static void mcp_initialize(struct server *s, const struct mcp_message *m)
{
    const char *wanted = jdoc_text(m->params, "protocolVersion", ""), *version = versions[0];
    struct buf result = {0};
    struct jout j;
    for (int i = 0; versions[i]; i++)
        if (strcmp(versions[i], wanted) == 0) version = versions[i];
    jout_init(&j, &result, false);
    jout_obj(&j, NULL);
    jout_cstr(&j, "protocolVersion", version);
    put_abilities(&j);
    put_server(&j, "serverInfo");
    jout_end_obj(&j);
    mcp_reply(s, m, &result);
}

/* Since 2026-07-28 there is no hand-shake: every request names its version. */
static void mcp_discover(struct server *s, const struct mcp_message *m)
{
    struct buf result = {0};
    struct jout j;
    jout_init(&j, &result, false);
    jout_obj(&j, NULL);
    jout_arr(&j, "supportedVersions");
    jout_cstr(&j, NULL, STATELESS);
    jout_end_arr(&j);
    put_abilities(&j);
    mcp_tools_cached(&j);
    jout_obj(&j, "_meta");
    put_server(&j, "io.modelcontextprotocol/serverInfo");
    jout_end_obj(&j);
    jout_end_obj(&j);
    mcp_reply(s, m, &result);
}

/* Whether the version that a request names, if any, is one we speak. */
static bool is_spoken(const struct mcp_message *m)
{
    const struct jdoc *meta = jdoc_get(m->params, "_meta");
    const char *version = jdoc_text(meta, "io.modelcontextprotocol/protocolVersion", STATELESS);
    for (int i = 0; versions[i]; i++)
        if (strcmp(versions[i], version) == 0) return true;
    return strcmp(version, STATELESS) == 0;
}

/* An error that says which version to take instead. */
static void refuse_version(struct server *s, const struct mcp_message *m)
{
    const char *version =
        jdoc_text(jdoc_get(m->params, "_meta"), "io.modelcontextprotocol/protocolVersion", "");
    struct jout j;
    jout_init(&j, &s->out, false);
    jout_obj(&j, NULL);
    jout_cstr(&j, "jsonrpc", "2.0");
    jout_raw(&j, "id", str_c(m->id));
    jout_obj(&j, "error");
    jout_int(&j, "code", MCP_NO_VERSION);
    jout_cstr(&j, "message", "unsupported protocol version");
    jout_obj(&j, "data");
    jout_arr(&j, "supported");
    jout_cstr(&j, NULL, STATELESS);
    jout_end_arr(&j);
    jout_cstr(&j, "requested", version);
    jout_end_obj(&j);
    jout_end_obj(&j);
    jout_end_obj(&j);
    buf_addc(&s->out, '\n');
}

static void list_tools(struct server *s, const struct mcp_message *m)
{
    struct buf result = {0};
    mcp_tools_list(&result);
    mcp_reply(s, m, &result);
}

static void mcp_request(struct server *s, const struct mcp_message *m, struct str line)
{
    if (!is_spoken(m)) refuse_version(s, m);
    else if (strcmp(m->method, "tools/call") == 0) call_tool(s, m, line);
    else if (strcmp(m->method, "tools/list") == 0) list_tools(s, m);
    else if (strcmp(m->method, "initialize") == 0) mcp_initialize(s, m);
    else if (strcmp(m->method, "server/discover") == 0) mcp_discover(s, m);
    else if (strcmp(m->method, "ping") == 0) mcp_message_result(&s->out, m->id, str_c("{}"));
    else mcp_message_error(&s->out, m->id, MCP_NO_METHOD, "this server has tools only");
}

static int mcp_take_line(struct server *s, struct str line, struct err *e)
{
    struct arena mem;
    struct mcp_message m;
    line = str_trim(line);
    if (!line.n) return 0;
    arena_init(&mem);
    int rc = mcp_message_read(line, &mem, &m, e);
    if (rc == 0 && m.kind == MCP_WRONG) mcp_message_error(&s->out, m.id, m.code, m.what);
    else if (rc == 0 && m.kind == MCP_REQUEST) mcp_request(s, &m, line);
    else if (rc == 0 && m.kind == MCP_NOTIFICATION &&
             strcmp(m.method, "notifications/cancelled") == 0)
        mcp_cancel(s, &m);
    arena_done(&mem);
    return rc;
}

/* ---- waiting */

/* A line that is too long is refused once and skipped to its end. */
static void refuse_long(struct server *s)
{
    if (!s->skipping)
        mcp_message_error(&s->out, "null", MCP_INVALID_REQUEST,
                          "the message is longer than 1,048,576 bytes");
    s->skipping = true;
    buf_reset(&s->in);
}

static int take_input(struct server *s, struct err *e)
{
    char *room = buf_room(&s->in, READ_BYTES);
    if (!room) return err_nomem(e);
    ssize_t n = read(s->o->in, room, READ_BYTES);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return 0;
    s->ended |= n <= 0;
    if (n > 0) s->in.n += (size_t)n;
    size_t from = 0;
    const char *end;
    while (from < s->in.n && (end = memchr(s->in.p + from, '\n', s->in.n - from)) != NULL) {
        struct str line = str_from(s->in.p + from, (size_t)(end - s->in.p) - from);
        if (line.n > MCP_MOST_BYTES && !s->skipping) refuse_long(s);
        else if (!s->skipping) TRY(mcp_take_line(s, line, e));
        s->skipping = false;
        if (!s->in.n) return 0;
        from += line.n + 1;
    }
    memmove(s->in.p, s->in.p + from, s->in.n - from);
    s->in.n -= from;
    if (s->in.n > MCP_MOST_BYTES) refuse_long(s);
    return 0;
}

/* "P", bytes done and in total. */
static void pass_progress(struct server *s, const struct call *c, struct buf *frame)
{
    unsigned long long done = 0, total = 0;
    struct jout j;
    if (!c->token || sscanf(buf_c(frame), "P%llu %llu", &done, &total) != 2) return;
    jout_init(&j, &s->out, false);
    jout_obj(&j, NULL);
    jout_cstr(&j, "jsonrpc", "2.0");
    jout_cstr(&j, "method", "notifications/progress");
    jout_obj(&j, "params");
    jout_raw(&j, "progressToken", str_c(c->token));
    jout_uint(&j, "progress", done);
    if (total >= done && total) jout_uint(&j, "total", total);
    jout_cstr(&j, "message", "bytes of the trace read");
    jout_end_obj(&j);
    jout_end_obj(&j);
    buf_addc(&s->out, '\n');
}

static void take_answer(struct server *s, struct worker *w)
{
    struct buf frame = {0};
    struct call *c = w->call;
    if (!mcp_worker_receive(w->from, &frame) || !c) lost_worker(s, w);
    else if (frame.n && frame.p[0] == 'P') pass_progress(s, c, &frame);
    else {
        mcp_message_result(&s->out, c->id, buf_str(&frame));
        end_call(c);
        w->call = NULL;
    }
    buf_done(&frame);
}

static int wait_once(struct server *s, struct err *e)
{
    struct pollfd fds[1 + MOST_WORKERS];
    struct worker *of[1 + MOST_WORKERS];
    nfds_t n = 0;
    fds[n++] = (struct pollfd){s->o->in, POLLIN, 0};
    for (int i = 0; i < MOST_WORKERS; i++) {
        if (!s->workers[i].pid) continue;
        of[n] = &s->workers[i];
        fds[n++] = (struct pollfd){s->workers[i].from, POLLIN, 0};
    }
    if (poll(fds, n, -1) < 0)
        return errno == EINTR ? 0 : FAIL(e, ERR_IO, "cannot wait: %s", strerror(errno));
    for (nfds_t i = 1; i < n; i++)
        if (fds[i].revents) take_answer(s, of[i]);
    if (fds[0].revents) TRY(take_input(s, e));
    mcp_dispatch(s);
    return mcp_flush(s, e);
}

int mcp_serve(const struct mcp_options *o, struct err *e)
{
    struct server *s = mem_zalloc(1, sizeof *s);
    if (!s) return err_nomem(e);
    s->o = o;
    signal(SIGPIPE, SIG_IGN);
    int rc = 0;
    while (rc == 0 && !s->ended) rc = wait_once(s, e);
    for (int i = 0; i < MOST_WORKERS; i++) end_worker(&s->workers[i]);
    for (int i = 0; i < MOST_CALLS; i++)
        if (s->calls[i].id) end_call(&s->calls[i]);
    buf_done(&s->in);
    buf_done(&s->out);
    mem_free(s);
    return rc;
}
