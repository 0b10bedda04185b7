/* rank_summary.c: see rank_summary.h. */
#include "analyze/ranks/rank_summary.h"

#include <ctype.h>
#include <stdlib.h>

#include "analyze/gaps/gaps.h"
#include "analyze/names/host_cause.h"
#include "analyze/names/source_place.h"
#include "analyze/ranks/ranks_private.h"
#include "analyze/steps/steps.h"
#include "base/human.h"
#include "base/jdoc.h"
#include "base/search.h"

/* Kernels kept per rank; the rest takes too little time to make it late. */
#define MOST_KERNELS 64

/* ---- who it is */

/* The number after the last "rank" in a file name: "rank3.json", "trace_rank_12_x.json.gz". */
static int rank_in_name(const char *path)
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

static int small_number(const struct jdoc *d, const char *key, int otherwise)
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
        s->rank = small_number(&d, "rank", s->rank);
        s->world = small_number(&d, "world_size", 0);
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys && !host.p; i++)
        host = trace_meta(cx->t, keys[i]);
    if (host.p && jdoc_parse(host, cx->mem, &d, NULL) == 0 && d.kind == JDOC_STRING) host = d.text;
    s->host = host.p ? arena_strdup(mem, host) : NULL;
    arena_reset_to(cx->mem, mark);
    return host.p && !s->host ? ERR_NOMEM : 0;
}

/* ---- places */

const char *rank_keep(struct arena *mem, struct str s, int width)
{
    char cut[512];
    const char *copy = arena_strdup(mem, str_c(human_cut(s, width, cut, sizeof cut)));
    return copy ? copy : "";
}

static const char *stage_of(const struct trace *t, const struct place *p, struct arena *mem)
{
    if (p->annotation != ROW_NONE && !str_starts(trace_name(t, p->annotation), "ProfilerStep#"))
        return rank_keep(mem, trace_name(t, p->annotation), 80);
    bool backward = p->op != ROW_NONE && str_starts(trace_name(t, p->op), "autograd::engine");
    return backward ? "backward" : NULL;
}

static void set_place(const struct context *cx, const struct place *p, struct arena *mem,
                      struct rank_place *ret)
{
    ret->stage = stage_of(cx->t, p, mem);
    if (p->source.line <= 0) return;
    ret->file = rank_keep(mem, p->source.file, 200);
    ret->line = p->source.line;
    ret->function = rank_keep(mem, p->source.function, 80);
}

void rank_find_place(const struct context *cx, row_t r, struct arena *mem, struct rank_place *ret)
{
    struct place p;
    if (r == ROW_NONE) return;
    source_places_find(places_of(cx), r, &p);
    set_place(cx, &p, mem, ret);
}

/* ---- idle time, by reason */

static enum rank_counter counter_of(const struct context *cx, const struct gap_cause *c)
{
    row_t r = c->row == ROW_NONE ? ROW_NONE : host_causes_around(host_causes_of(cx), c->row);
    enum host_cause h = r == ROW_NONE ? HOST_OTHER : host_causes_row(host_causes_of(cx), r);
    if (host_cause_is_data(h) || h == HOST_DATA_CALL) return RANK_IDLE_DATA;
    if (host_cause_is_gc(h)) return RANK_IDLE_GC;
    switch (c->kind) {
    case CAUSE_SYNC:
    case CAUSE_ALLOCATION: return RANK_IDLE_SYNC;
    case CAUSE_PYTHON:
    case CAUSE_LABEL:
    case CAUSE_UNTRACED:
    case CAUSE_LOADING: return RANK_IDLE_HOST;
    case CAUSE_OP:
    case CAUSE_DYNAMO:
    case CAUSE_CALL:
    case CAUSE_LAUNCH:
    case CAUSE_GRAPH: return RANK_IDLE_LAUNCH;
    default: return RANK_IDLE_OTHER;
    }
}

/* Idle time so far, at the end of each gap of the device. */
struct idle_sum {
    int64_t end_ns;
    int64_t ns[RANK_COUNTERS];
};

struct sums {
    struct idle_sum *list; /* by end; list[0] is zero */
    uint32_t n;
};

static int by_end(const void *a, const void *b)
{
    int64_t x = ((const struct idle_sum *)a)->end_ns, y = ((const struct idle_sum *)b)->end_ns;
    return (x > y) - (x < y);
}

static int sum_idle(const struct context *cx, struct sums *ret)
{
    const struct gaps *g = gaps_of(cx);
    ret->list = arena_zalloc(cx->mem, (size_t)g->n_all + 1, sizeof *ret->list);
    if (!ret->list) return ERR_NOMEM;
    ret->list[0].end_ns = INT64_MIN;
    ret->n = 1;
    for (uint32_t i = 0; i < g->n_all; i++) {
        if (g->all[i].device != comm_of(cx)->busiest) continue;
        struct idle_sum *s = &ret->list[ret->n++];
        s->end_ns = g->all[i].at->end_ns;
        for (uint32_t k = 0; k < g->all[i].n_parts; k++) {
            const struct gap_cause_part *p = &g->all[i].parts[k];
            enum rank_counter c = counter_of(cx, &g->causes[p->cause]);
            /* launches are late because a sync left nothing queued */
            if (c == RANK_IDLE_LAUNCH && g->all[i].site != CAUSE_NO_SITE) c = RANK_IDLE_SYNC;
            s->ns[c] += p->ns;
        }
    }
    qsort(ret->list, ret->n, sizeof *ret->list, by_end);
    for (uint32_t i = 1; i < ret->n; i++)
        for (int k = 0; k < RANK_COUNTERS; k++) ret->list[i].ns[k] += ret->list[i - 1].ns[k];
    return 0;
}

/* The sync that leaves the device idle longest. */
static void name_sync(const struct context *cx, struct arena *mem, struct rank_place *ret)
{
    const struct syncs *s = syncs_of(cx);
    const struct sync_site *most = NULL;
    for (uint32_t i = 0; i < s->n_sites; i++)
        if (!most || s->sites[i].exposed_ns > most->exposed_ns) most = &s->sites[i];
    if (!most) return;
    ret->name = rank_keep(mem, trace_str(cx->t, most->call), 80);
    set_place(cx, &most->place, mem, ret);
    row_t op = most->place.op;
    if (op != ROW_NONE) ret->name = rank_keep(mem, trace_name(cx->t, op), 80);
}

static void name_idle(const struct context *cx, struct arena *mem, struct rank_summary *s)
{
    const struct gaps *g = gaps_of(cx);
    name_sync(cx, mem, &s->idle[RANK_IDLE_SYNC]);
    for (uint32_t i = 0; i < g->n_causes; i++) { /* most idle time first */
        struct rank_place *p = &s->idle[counter_of(cx, &g->causes[i])];
        if (p->name || g->causes[i].device != comm_of(cx)->busiest) continue;
        p->name = rank_keep(mem, g->causes[i].name, 80);
        row_t r = g->causes[i].frame != ROW_NONE ? g->causes[i].frame : g->causes[i].row;
        if (r != ROW_NONE && cx->t->lanes[cx->t->lane[r]].kind == LANE_THREAD)
            rank_find_place(cx, r, mem, p);
    }
}

/* ---- collectives */

static void read_counters(const struct context *cx, const struct sums *idle, int64_t ts_ns,
                          int64_t *ret)
{
    const struct comm_device *d = &comm_of(cx)->devices[comm_of(cx)->busiest];
    const struct device_line *line = &timeline_of(cx)->devices[comm_of(cx)->busiest];
    uint32_t i = 0;
    SEARCH_PAST(i, idle->n, idle->list[i].end_ns <= ts_ns);
    for (int k = 0; k < RANK_COUNTERS; k++) ret[k] = i ? idle->list[i - 1].ns[k] : 0;
    int64_t busy = timeline_busy_ns(line, line->extent.begin_ns, ts_ns);
    int64_t exposed = timeline_busy_ns(&d->exposed, line->extent.begin_ns, ts_ns);
    ret[RANK_COMPUTE] = timeline_busy_ns(&d->compute, line->extent.begin_ns, ts_ns);
    ret[RANK_COPIES] = busy - exposed - ret[RANK_COMPUTE];
    ret[RANK_KERNELS] = timeline_work_at(cx->t, line, ts_ns);
}

/* Fills `since` from the counters at its begin; `before` is at the end of the one before. */
static void set_since(struct rank_event *x, bool beside, const int64_t *begin,
                      const int64_t *before)
{
    for (int k = 0; k < RANK_COUNTERS && !beside; k++) x->since[k] = (float)(begin[k] - before[k]);
}

static void add_event(const struct context *cx, const struct sums *idle, uint32_t i,
                      int64_t *before, struct rank_summary *s)
{
    const struct message *m = &messages_of(cx)->list[i];
    row_t r = comm_of(cx)->works[i].row;
    struct rank_event *x = &s->events[s->n_events];
    int64_t begin[RANK_COUNTERS];
    *x = (struct rank_event){.begin_ns = cx->t->base_ns + cx->t->ts_ns[r],
                             .end_ns = cx->t->base_ns + trace_end_ns(cx->t, r),
                             .group = m->group,
                             .work = i,
                             .what = m->what,
                             .bytes = m->bytes,
                             .seq = m->seq};
    read_counters(cx, idle, cx->t->ts_ns[r], begin);
    begin[RANK_KERNELS] -= s->n_events; /* other collectives do not count */
    set_since(x, s->n_events && x[-1].end_ns > x->begin_ns, begin, before);
    s->n_work = begin[RANK_KERNELS];
    read_counters(cx, idle, trace_end_ns(cx->t, r), before);
    before[RANK_KERNELS] -= ++s->n_events;
}

static int list_events(const struct context *cx, struct arena *mem, struct rank_summary *s)
{
    const struct comm *c = comm_of(cx);
    int64_t before[RANK_COUNTERS] = {0};
    struct sums idle;
    TRY(sum_idle(cx, &idle));
    s->events = arena_zalloc(mem, (size_t)c->n_works + 1, sizeof *s->events);
    if (!s->events) return ERR_NOMEM;
    for (uint32_t i = 0; i < c->n_works; i++)
        if (c->works[i].device == c->busiest && cx->t->dur_ns[c->works[i].row])
            add_event(cx, &idle, i, before, s);
    return 0;
}

static int list_groups(const struct context *cx, struct arena *mem, struct rank_summary *s)
{
    const struct messages *m = messages_of(cx);
    s->groups = arena_zalloc(mem, (size_t)m->n_groups + 1, sizeof *s->groups);
    s->group_names = arena_zalloc(mem, (size_t)m->n_groups + 1, sizeof *s->group_names);
    if (!s->groups || !s->group_names) return ERR_NOMEM;
    s->n_groups = m->n_groups;
    for (uint32_t i = 0; i < m->n_groups; i++) {
        const struct message_group *g = &m->groups[i];
        s->groups[i] = arena_printf(mem, STR_FMT "\n" STR_FMT "\n" STR_FMT, STR_ARG(g->name),
                                    STR_ARG(g->description), STR_ARG(g->members));
        bool named = g->description.n && !str_is(g->description, "undefined");
        s->group_names[i] = rank_keep(mem, named ? g->description : g->name, 60);
        if (!s->groups[i]) return ERR_NOMEM;
    }
    return 0;
}

/* ---- kernels */

struct kernel_sum {
    str_id name;
    uint32_t calls;
    int64_t total_ns;
    double blocks;
    row_t longest;
};

static int by_total(const void *a, const void *b)
{
    const struct kernel_sum *x = a, *y = b;
    if (x->total_ns != y->total_ns) return x->total_ns > y->total_ns ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

static double blocks_of(const struct gpu_info *g)
{
    return g ? (double)g->grid[0] * g->grid[1] * g->grid[2] : 0;
}

/* Sums by name, most time first; those of communication are left out. */
static struct kernel_sum *sum_kernels(const struct context *cx, uint32_t *ret_n)
{
    const struct trace *t = cx->t;
    const struct device_line *d = &timeline_of(cx)->devices[comm_of(cx)->busiest];
    struct kernel_sum *sums = arena_zalloc(cx->mem, t->strings.n + (size_t)1, sizeof *sums);
    if (!sums) return NULL;
    for (uint32_t i = 0; i < d->n_work; i++) {
        row_t r = d->work[i];
        struct kernel_sum *s = &sums[t->name[r]];
        if (t->kind[r] != KIND_KERNEL || (!s->calls && collective_kernel(trace_name(t, r))))
            continue;
        if (!s->calls || t->dur_ns[r] > t->dur_ns[s->longest]) s->longest = r;
        s->name = t->name[r];
        s->calls++;
        s->total_ns += t->dur_ns[r];
        s->blocks += blocks_of(trace_gpu(t, r));
    }
    qsort(sums, t->strings.n, sizeof *sums, by_total);
    for (*ret_n = 0; *ret_n < t->strings.n && sums[*ret_n].calls;) ++*ret_n;
    return sums;
}

static int list_kernels(const struct context *cx, struct arena *mem, struct rank_summary *s)
{
    uint32_t n;
    const struct kernel_sum *sums = sum_kernels(cx, &n);
    if (!sums) return ERR_NOMEM;
    s->n_kernels = n < MOST_KERNELS ? n : MOST_KERNELS;
    s->kernels = arena_zalloc(mem, (size_t)s->n_kernels + 1, sizeof *s->kernels);
    if (!s->kernels) return ERR_NOMEM;
    for (uint32_t i = 0; i < s->n_kernels; i++) {
        struct rank_kernel *k = &s->kernels[i];
        k->name = rank_keep(mem, trace_str(cx->t, sums[i].name), 160);
        k->calls = sums[i].calls;
        k->total_ns = sums[i].total_ns;
        k->blocks = sums[i].blocks / sums[i].calls;
        k->place.name = k->name;
        rank_find_place(cx, trace_launch_of(cx->t, sums[i].longest), mem, &k->place);
    }
    return 0;
}

/* ---- steps */

static void measure_steps(const struct context *cx, struct rank_summary *s)
{
    const struct steps *st = steps_of(cx);
    const struct device_line *d = &timeline_of(cx)->devices[comm_of(cx)->busiest];
    s->n_steps = st->n_steps;
    s->step_ns = s->wall_ns;
    if (!st->n_steps) return;
    int64_t end = st->loop.end_ns > d->extent.end_ns ? st->loop.end_ns : d->extent.end_ns;
    s->step_ns = (end - st->loop.begin_ns) / st->n_steps;
}

static const struct pass *const needs[] = {&messages_pass, &gaps_pass, &host_causes_pass,
                                           &places_pass, NULL};

static int fill(struct context *cx, struct arena *mem, struct rank_summary *s)
{
    struct comm_device d = comm_main(comm_of(cx));
    TRY(set_identity(cx, mem, s));
    s->begin_ns = cx->t->begin_ns == ID_NONE ? 0 : cx->t->base_ns + cx->t->begin_ns;
    s->wall_ns = comm_of(cx)->wall_ns;
    s->compute_ns = d.compute_ns;
    s->comm_ns = d.comm_ns;
    s->exposed_ns = d.exposed_ns;
    s->idle_ns = s->wall_ns - d.busy_ns;
    TRY(list_groups(cx, mem, s));
    TRY(rank_functions(cx, mem, s));
    if (d.device < 0) return rank_host_run(cx, mem, s);
    TRY(list_events(cx, mem, s));
    TRY(list_kernels(cx, mem, s));
    name_idle(cx, mem, s);
    measure_steps(cx, s);
    return 0;
}

int rank_summary_run(struct context *cx, const char *path, struct arena *mem,
                     struct rank_summary *ret, struct err *e)
{
    for (const struct pass *const *p = needs; *p; p++) TRY(context_need(cx, *p, e));
    *ret = (struct rank_summary){.path = path};
    return fill(cx, mem, ret) < 0 ? err_nomem(e) : 0;
}
