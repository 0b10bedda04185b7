/* host_messages.c: see host_messages.h. */
#include "analyze/comm/host_messages.h"

#include <stdlib.h>

#include "analyze/comm/message_args.h"
#include "analyze/comm/notes.h"

struct reader {
    struct context *cx;
    struct host_messages *m;
    struct intern groups;
    int64_t rank, world;
};

bool host_message_is(const struct trace *t, row_t r)
{
    return t->kind[r] == KIND_ANNOTATION && t->dur_ns[r] > 0 && collective_label(trace_name(t, r));
}

static int host_messages_by_begin(const void *a, const void *b, void *trace)
{
    const struct trace *t = trace;
    row_t x = *(const row_t *)a, y = *(const row_t *)b;
    if (t->ts_ns[x] != t->ts_ns[y]) return t->ts_ns[x] < t->ts_ns[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

static int host_messages_list_rows(struct reader *r, row_t **ret)
{
    const struct trace *t = r->cx->t;
    uint32_t n = 0;
    for (row_t i = 0; i < t->n_rows; i++) n += host_message_is(t, i);
    row_t *rows = arena_zalloc(r->cx->mem, (size_t)n + 1, sizeof *rows);
    if (!rows) return ERR_NOMEM;
    for (row_t i = 0; i < t->n_rows; i++)
        if (host_message_is(t, i)) rows[r->m->n++] = i;
    if (n) qsort_r(rows, n, sizeof *rows, host_messages_by_begin, (void *)(uintptr_t)t);
    *ret = rows;
    return 0;
}

static int read_message(struct reader *r, struct host_message *m, row_t args)
{
    struct message_args a;
    struct arena_mark mark = arena_mark(r->cx->mem);
    TRY(message_args_read(r->cx, args, &a));
    m->what = collective_of(trace_name(r->cx->t, m->row));
    if (a.what != COLLECTIVE_OTHER) m->what = a.what;
    a.what = m->what;
    m->bytes = a.bytes;
    m->seq = a.seq;
    str_id id = message_args_group(&r->groups, &a, r->rank);
    arena_reset_to(r->cx->mem, mark);
    if (id == STR_NONE) return ERR_NOMEM;
    m->group = id - 1; /* no group is the empty text, which is number 0 */
    struct message_group *g = &r->m->groups[m->group];
    g->calls++;
    if (a.ranks > g->ranks) g->ranks = a.ranks;
    return 0;
}

static int name_groups(struct reader *r)
{
    r->m->n_groups = r->groups.n - 1;
    for (uint32_t i = 0; i < r->m->n_groups; i++) {
        struct message_group *g = &r->m->groups[i];
        struct str texts[3];
        TRY(message_args_split(intern_get(&r->groups, i + 1), r->cx->mem, texts));
        g->name = texts[0];
        g->description = texts[1];
        g->members = texts[2];
        if (!g->ranks) g->ranks = r->world;
    }
    return 0;
}

static int host_messages_read_all(struct reader *r)
{
    row_t *rows, *notes;
    struct arena *mem = r->cx->mem;
    TRY(host_messages_list_rows(r, &rows));
    size_t n = (size_t)r->m->n + 1;
    notes = arena_zalloc(mem, n, sizeof *notes);
    r->m->list = arena_zalloc(mem, n, sizeof *r->m->list);
    r->m->groups = arena_zalloc(mem, n, sizeof *r->m->groups);
    if (!notes || !r->m->list || !r->m->groups) return ERR_NOMEM;
    TRY(notes_find(r->cx, rows, r->m->n, notes));
    message_args_world(r->cx, &r->rank, &r->world);
    for (uint32_t i = 0; i < r->m->n; i++) {
        r->m->list[i].row = rows[i];
        TRY(read_message(r, &r->m->list[i], notes[i] != ROW_NONE ? notes[i] : rows[i]));
    }
    return name_groups(r);
}

static int host_messages_run_pass(struct context *cx, void *ret, struct err *e)
{
    struct reader r = {.cx = cx, .m = ret};
    if (intern_init(&r.groups)) return err_nomem(e);
    int rc = host_messages_read_all(&r);
    intern_done(&r.groups);
    return rc < 0 ? err_nomem(e) : 0;
}

const struct pass host_messages_pass = {
    .id = PASS_HOST_MESSAGES,
    .size = sizeof(struct host_messages),
    .run = host_messages_run_pass,
};
