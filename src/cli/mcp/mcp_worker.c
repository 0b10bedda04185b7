/* mcp_worker.c: see mcp_private.h. */
#include "cli/mcp/mcp_private.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/demangle.h"
#include "base/human.h"
#include "base/jout.h"
#include "base/mem.h"
#include "cli/mcp/mcp_message.h"
#include "import/importer.h"

#define TELL_NS 250000000u /* 4 per second */

bool mcp_worker_send(int fd, struct str frame)
{
    uint32_t n = (uint32_t)frame.n;
    struct str parts[2] = {{(const char *)&n, sizeof n}, frame};
    for (int i = 0; i < 2; i++)
        for (size_t done = 0; done < parts[i].n;) {
            ssize_t k = write(fd, parts[i].p + done, parts[i].n - done);
            if (k < 0 && errno != EINTR) return false;
            if (k > 0) done += (size_t)k;
        }
    return true;
}

static bool mcp_worker_read_all(int fd, char *to, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t k = read(fd, to + done, n - done);
        if (k == 0 || (k < 0 && errno != EINTR)) return false;
        if (k > 0) done += (size_t)k;
    }
    return true;
}

bool mcp_worker_receive(int fd, struct buf *ret)
{
    uint32_t n;
    buf_reset(ret);
    if (!mcp_worker_read_all(fd, (char *)&n, sizeof n) || n > MCP_MOST_ANSWER) return false;
    char *room = buf_room(ret, n);
    if (!room || !mcp_worker_read_all(fd, room, n)) return false;
    ret->n += n;
    return true;
}

/* ---- how far reading has come */

struct watch {
    struct import_progress base;
    int to;
    atomic_uint_least64_t next_ns; /* when to tell again */
};

/* From any thread: one write, which a pipe keeps in one piece. */
static void mcp_worker_tell(struct import_progress *self, uint64_t done, uint64_t total)
{
    struct watch *w = (struct watch *)self;
    uint64_t now = clock_mono_ns(), due = atomic_load(&w->next_ns);
    char frame[64];
    if (now < due || !atomic_compare_exchange_strong(&w->next_ns, &due, now + TELL_NS)) return;
    int n = snprintf(frame + 4, sizeof frame - 4, "P%llu %llu", (unsigned long long)done,
                     (unsigned long long)total);
    uint32_t length = (uint32_t)n;
    memcpy(frame, &length, sizeof length);
    /* when the server has gone, so will this process be */
    if (write(w->to, frame, (size_t)n + sizeof length) < 0) return;
}

/* ---- what was said on standard error meanwhile */

static void take_notes(int fd, struct buf *ret)
{
    char part[4096];
    ssize_t n;
    while (fd >= 0 && ret->n < 4 * sizeof part && (n = read(fd, part, sizeof part)) > 0)
        buf_add(ret, part, (size_t)n);
    if (buf_ok(ret) && ret->n) ret->n = human_clean_lines(ret->p, ret->n, false);
}

static void put_note_lines(struct jout *j, struct str notes)
{
    while (notes.n) {
        const char *end = memchr(notes.p, '\n', notes.n);
        struct str line = str_from(notes.p, end ? (size_t)(end - notes.p) : notes.n);
        notes = str_from(notes.p + line.n + (end ? 1 : 0), notes.n - line.n - (end ? 1 : 0));
        if (str_starts(line, "strata: ")) line = str_from(line.p + 8, line.n - 8);
        if (line.n) jout_str(j, NULL, line);
    }
}

/* At the end of a document; below a text. */
static void mcp_worker_add_notes(struct buf *mcp_worker_answer, struct str notes)
{
    struct jout j;
    if (!notes.n) return;
    bool json = mcp_worker_answer->n > 1 && mcp_worker_answer->p[0] == '{' &&
                mcp_worker_answer->p[mcp_worker_answer->n - 1] == '}';
    if (json) mcp_worker_answer->n--;
    buf_adds(mcp_worker_answer,
             json ? (mcp_worker_answer->n > 1 ? ",\"notes\":" : "\"notes\":") : "\nnotes: ");
    jout_init(&j, mcp_worker_answer, false);
    jout_arr(&j, NULL);
    put_note_lines(&j, notes);
    jout_end_arr(&j);
    if (json) buf_addc(mcp_worker_answer, '}');
}

/* ---- one call */

static void put_error(struct buf *text, const struct err *e)
{
    if (e->file[0]) buf_printf(text, "%s: ", e->file);
    if (e->offset != ERR_NO_OFFSET) buf_printf(text, "byte %lld: ", (long long)e->offset);
    buf_adds(text, e->msg[0] ? e->msg : "failed");
}

static int mcp_worker_call(struct mcp_answers_state *s, struct str line, struct arena *mem,
                           struct buf *text, struct err *e)
{
    struct mcp_message m;
    struct mcp_args a;
    TRY(mcp_message_read(line, mem, &m, e));
    const struct mcp_tool *tool = mcp_tool_find(jdoc_text(m.params, "name", ""));
    if (!tool) return FAIL(e, ERR_INTERNAL, "no such tool");
    TRY(mcp_args_read(&a, tool, jdoc_get(m.params, "arguments"), e));
    return mcp_answer(s, &a, mem, text, e);
}

static void mcp_worker_answer(struct mcp_answers_state *s, struct str line, int notes_from,
                              struct buf *ret)
{
    struct arena mem;
    struct err e;
    struct buf text = {0}, notes = {0};
    arena_init(&mem);
    err_init(&e);
    int rc = mcp_worker_call(s, line, &mem, &text, &e);
    if (rc == 0 && !buf_ok(&text)) rc = err_nomem(&e);
    if (rc < 0) {
        buf_done(&text);
        buf_init(&text);
        put_error(&text, &e);
    }
    take_notes(notes_from, &notes);
    if (rc == 0) mcp_worker_add_notes(&text, buf_str(&notes));
    mcp_message_text(ret, buf_str(&text), rc < 0);
    buf_done(&text);
    buf_done(&notes);
    arena_done(&mem);
}

int mcp_worker_run(const struct mcp_worker_in *in)
{
    struct watch watch = {.base.tell = mcp_worker_tell, .to = in->answers};
    struct mcp_answers_state *s = mcp_answers_new(in->folders, in->paths, in->n_paths, &watch.base);
    struct buf line = {0}, out = {0};
    setenv("STRATA_NATIVE", "off", 1); /* a recording may name files outside */
    struct mcp_limits limits = mcp_limits_of(in->paths, in->n_paths);
    mcp_limits_memory(&limits);
    struct demangler names; /* its library cannot be opened from inside */
    demangler_init(&names);
    demangle(&names, str_c("_Z1fv"), &out);
    mcp_jail_enter(in->folders->real, in->folders->n);
    while (s && mcp_worker_receive(in->questions, &line)) {
        buf_reset(&out);
        mcp_limits_call(&limits, true);
        mcp_worker_answer(s, buf_str(&line), in->notes, &out);
        mcp_limits_call(&limits, false);
        if (!buf_ok(&out) || out.n > MCP_MOST_ANSWER) {
            buf_reset(&out);
            out.failed = false;
            mcp_message_text(&out, str_c("the answer is too large; ask with a smaller limit"),
                             true);
        }
        if (!buf_ok(&out) || !mcp_worker_send(in->answers, buf_str(&out))) break;
    }
    mcp_answers_free(s);
    demangler_done(&names);
    buf_done(&line);
    buf_done(&out);
    return s ? 0 : 4;
}
