/* rank_summary.c: see rank_summary.h. */
#include "analyze/ranks/rank_summary.h"

#include <ctype.h>
#include <stdlib.h>

#include "analyze/comm/host_messages.h"
#include "analyze/gaps/gaps.h"
#include "analyze/names/host_cause.h"
#include "analyze/names/source_place.h"
#include "analyze/ranks/ranks_constants.h"
#include "analyze/ranks/ranks_private.h"
#include "analyze/stages/stages.h"
#include "analyze/structure/outline.h"
#include "base/jdoc.h"

/* ---- who it is */

int rank_in_name(const char *path)
{
    const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    int rank = -1;
    for (const char *p = base; *p; p++) {
        if (strncmp(p, "rank", 4) != 0) continue;
        const char *digit = p + 4;
        while (*digit == '_' || *digit == '-' || *digit == '=' || *digit == '.') digit++;
        if (!isdigit((unsigned char)*digit)) continue;
        long n = strtol(digit, NULL, 10);
        rank = n >= 0 && n <= 10000000 ? (int)n : -1;
    }
    return rank;
}

static int rank_summary_small_number(const struct jdoc *d, const char *key, int otherwise)
{
    double n = jdoc_number(d, key, -1);
    return n >= 0 && n <= 1e7 ? (int)n : otherwise;
}

static int set_identity(struct context *cx, struct arena *mem, struct rank_summary *s)
{
    static const char *const keys[] = {"hostname", "host_name", "host"};
    struct str info = trace_meta(cx->t, "distributedInfo"), host = {NULL, 0};
    struct arena_mark mark = arena_mark(cx->mem);
    struct jdoc d;
    s->rank = rank_in_name(s->path);
    if (info.p && jdoc_parse(info, cx->mem, &d, NULL) == 0) {
        s->rank = rank_summary_small_number(&d, "rank", s->rank);
        s->world = rank_summary_small_number(&d, "world_size", 0);
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys && !host.p; i++)
        host = trace_meta(cx->t, keys[i]);
    if (host.p && jdoc_parse(host, cx->mem, &d, NULL) == 0 && d.kind == JDOC_STRING) host = d.text;
    s->host = host.p ? arena_strdup(mem, host) : NULL;
    arena_reset_to(cx->mem, mark);
    return host.p && !s->host ? ERR_NOMEM : 0;
}

/* ---- groups */

static const char *group_key(const struct rank_reader *in, const struct message_group *g)
{
    struct arena_mark mark = arena_mark(in->cx->mem);
    const char *text = arena_printf(in->cx->mem, STR_FMT "\n" STR_FMT "\n" STR_FMT,
                                    STR_ARG(g->name), STR_ARG(g->description), STR_ARG(g->members));
    str_id id = text ? intern_add(&in->store->texts, str_c(text)) : STR_NONE;
    arena_reset_to(in->cx->mem, mark);
    return id == STR_NONE ? NULL : intern_get(&in->store->texts, id).p;
}

int rank_groups(const struct rank_reader *in, const struct message_group *groups, uint32_t n,
                struct rank_summary *s)
{
    struct arena *mem = &in->store->mem;
    s->groups = arena_zalloc(mem, (size_t)n + 1, sizeof *s->groups);
    s->group_names = arena_zalloc(mem, (size_t)n + 1, sizeof *s->group_names);
    s->group_sizes = arena_zalloc(mem, (size_t)n + 1, sizeof *s->group_sizes);
    if (!s->groups || !s->group_names || !s->group_sizes) return ERR_NOMEM;
    s->n_groups = n;
    for (uint32_t i = 0; i < n; i++) {
        const struct message_group *g = &groups[i];
        bool named = g->description.n && !str_is(g->description, "undefined");
        s->group_names[i] = rank_keep(in, named ? g->description : g->name, 60);
        s->group_sizes[i] = g->ranks > 0 && g->ranks < UINT32_MAX ? (uint32_t)g->ranks : 0;
        s->groups[i] = group_key(in, g);
        if (!s->groups[i]) return ERR_NOMEM;
    }
    return 0;
}

/* ---- steps */

struct span rank_window(const struct rank_reader *in)
{
    const struct context *cx = in->cx;
    const struct comm *c = comm_of(cx);
    int64_t begin = cx->t->begin_ns == ID_NONE ? 0 : cx->t->begin_ns;
    if (in->from_ns == INT64_MIN) return (struct span){begin, begin + c->wall_ns};
    int64_t end = steps_of(cx)->loop.end_ns;
    if (c->busiest < c->n_devices) {
        int64_t last = timeline_of(cx)->devices[c->busiest].extent.end_ns;
        if (last > end) end = last;
    }
    return (struct span){in->from_ns, end};
}

static void rank_summary_measure(const struct rank_reader *in, struct rank_summary *s)
{
    const struct comm *c = comm_of(in->cx);
    struct comm_device d = comm_main(c);
    struct span w = rank_window(in);
    s->wall_ns = s->idle_ns = span_ns(w);
    if (d.device < 0) return;
    s->compute_ns = timeline_busy_ns(&d.compute, w.begin_ns, w.end_ns);
    s->comm_ns = timeline_busy_ns(&d.comm, w.begin_ns, w.end_ns);
    s->exposed_ns = timeline_busy_ns(&d.exposed, w.begin_ns, w.end_ns);
    s->idle_ns -= timeline_busy_ns(&timeline_of(in->cx)->devices[c->busiest], w.begin_ns, w.end_ns);
}

static void rank_summary_measure_steps(const struct context *cx, struct rank_summary *s)
{
    const struct steps *st = steps_of(cx);
    const struct device_line *d = &timeline_of(cx)->devices[comm_of(cx)->busiest];
    s->n_steps = st->n_steps;
    s->step_ns = s->wall_ns;
    if (!st->n_steps) return;
    int64_t end = st->loop.end_ns > d->extent.end_ns ? st->loop.end_ns : d->extent.end_ns;
    s->step_ns = (end - st->loop.begin_ns) / st->n_steps;
}

static const struct pass *const needs[] = {&messages_pass, &gaps_pass,   &host_causes_pass,
                                           &places_pass,   &stages_pass, NULL};

static int rank_summary_fill(const struct rank_reader *in, struct rank_summary *s)
{
    struct context *cx = (struct context *)(uintptr_t)in->cx;
    struct comm_device d = comm_main(comm_of(cx));
    TRY(set_identity(cx, &in->store->mem, s));
    s->begin_ns = cx->t->begin_ns == ID_NONE ? 0 : cx->t->base_ns + cx->t->begin_ns;
    s->from_ns = in->from_ns == INT64_MIN ? INT64_MIN : cx->t->base_ns + in->from_ns;
    s->has_device = timeline_of(cx)->n_devices > 0;
    rank_summary_measure(in, s);
    TRY(rank_costs_run(in, s));
    if (!comm_of(cx)->n_works) {
        TRY(context_need(cx, &host_messages_pass, NULL));
        if (d.device < 0 || host_messages_of(cx)->n) return rank_host_run(in, s);
    }
    TRY(rank_groups(in, messages_of(cx)->groups, messages_of(cx)->n_groups, s));
    TRY(rank_events_run(in, s));
    rank_summary_measure_steps(cx, s);
    return 0;
}

/* Traces of other profilers have a window that the user chose; a recording of ours begins with the
 * program (imports, loading, the first calls) and ends with it. */
static struct span rank_summary_loop_of(const struct context *cx)
{
    const struct steps *s = steps_of(cx);
    bool ours = trace_timeline_is_ours(cx->t);
    if (!ours || s->n_steps < rank_summary_steps) return (struct span){INT64_MIN, INT64_MAX};
    return (struct span){s->steps[1].cpu.begin_ns, s->loop.end_ns}; /* the first one warms up */
}

/* What a rank does after its last collective has begun makes no rank wait. */
static void stop_at_last(struct rank_reader *in)
{
    const struct comm *c = comm_of(in->cx);
    const struct trace *t = in->cx->t;
    row_t last = ROW_NONE;
    for (uint32_t i = 0; i < c->n_works; i++)
        if (last == ROW_NONE || t->ts_ns[c->works[i].row] > t->ts_ns[last]) last = c->works[i].row;
    if (last == ROW_NONE || t->ts_ns[last] <= in->from_ns) return;
    row_t call = trace_launch_of(t, last);
    if (t->ts_ns[last] < in->to_ns) in->to_ns = t->ts_ns[last];
    if (call != ROW_NONE) in->launched_ns = t->ts_ns[call];
}

int rank_summary_run(struct context *cx, const char *path, struct rank_store *store,
                     struct rank_summary *ret, struct err *e)
{
    for (const struct pass *const *p = needs; *p; p++) TRY(context_need(cx, *p, e));
    struct span loop = rank_summary_loop_of(cx);
    struct rank_reader in = {
        cx,          store,    arena_zalloc(cx->mem, cx->t->n_lanes + (size_t)1, 1), loop.begin_ns,
        loop.end_ns, INT64_MAX};
    if (!in.autograd) return err_nomem(e);
    stop_at_last(&in);
    for (lane_id l = 0; l < cx->t->n_lanes; l++)
        in.autograd[l] =
            cx->t->lanes[l].kind == LANE_THREAD && outline_is_autograd(cx->t, &cx->t->lanes[l]);
    *ret = (struct rank_summary){.path = path, .part = -1};
    return rank_summary_fill(&in, ret) < 0 ? err_nomem(e) : 0;
}

int rank_store_init(struct rank_store *s, struct err *e)
{
    arena_init(&s->mem);
    return intern_init(&s->texts) ? err_nomem(e) : 0;
}

void rank_store_done(struct rank_store *s)
{
    intern_done(&s->texts);
    arena_done(&s->mem);
}
