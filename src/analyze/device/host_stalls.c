/* host_stalls.c: see host_stalls.h. A stall is a row of its own; its arguments are few enough to
 * read. */
#include "analyze/device/host_stalls.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/jdoc.h"
#include "base/vec.h"
#include "format/ring.h"

static const char *const titles[HOST_STALL_KINDS] = {
    [HOST_STALL_CORE] = RING_HOST_CORE,
    [HOST_STALL_CGROUP] = RING_HOST_CGROUP,
    [HOST_STALL_FAULTS] = RING_HOST_FAULTS,
    [HOST_STALL_GIL] = RING_HOST_GIL,
};

/* The machine at the worst stall. */
struct crowd {
    double lost_us, runnable, online, cores;
};

static lane_id host_stalls_lane(const struct trace *t, uint32_t process, int64_t tid)
{
    for (lane_id l = 0; l < t->n_lanes; l++)
        if (t->lanes[l].kind == LANE_THREAD && t->lanes[l].process == process &&
            t->lanes[l].tid == tid)
            return l;
    return LANE_NONE;
}

static int host_stalls_kind(struct str name)
{
    for (int k = 0; k < HOST_STALL_KINDS; k++)
        if (str_is(name, titles[k])) return k;
    return -1;
}

static void host_stalls_see(struct crowd *worst, const struct jdoc *args)
{
    struct crowd now = {
        jdoc_number(args, RING_HOST_LOST, 0), jdoc_number(args, RING_HOST_RUNNABLE, 0),
        jdoc_number(args, RING_HOST_ONLINE, 0), jdoc_number(args, RING_HOST_CORES, 0)};
    if (now.lost_us > worst->lost_us) *worst = now;
}

static void host_stalls_add(const struct trace *t, row_t r, const struct jdoc *args,
                            struct host_stalls *s)
{
    int kind = host_stalls_kind(trace_name(t, r));
    double lost_ns = jdoc_number(args, RING_HOST_LOST, 0) * 1000;
    double tid = jdoc_number(args, RING_HOST_THREAD, -1);
    if (kind < 0 || tid < 0 || tid > INT32_MAX || !(lost_ns > 0) || t->dur_ns[r] <= 0) return;
    lane_id thread = host_stalls_lane(t, t->lanes[t->lane[r]].process, (int64_t)tid);
    if (thread == LANE_NONE) return;
    double share = lost_ns / (double)t->dur_ns[r];
    struct span time = {t->ts_ns[r], trace_end_ns(t, r)};
    s->list[s->n++] =
        (struct host_stall){thread, (enum host_stall_kind)kind, time, share < 1 ? share : 1};
    s->lost_ns[kind] += (int64_t)((double)span_ns(time) * s->list[s->n - 1].share);
    if (span_ns(time) > s->longest_ns) s->longest_ns = span_ns(time);
}

/* ERR_NOMEM is the only failure. */
static int host_stalls_read(const struct context *cx, row_t r, struct host_stalls *s,
                            struct crowd *worst, struct err *e)
{
    struct buf text;
    struct jdoc doc;
    struct arena_mark mark = arena_mark(cx->mem);
    buf_init(&text);
    int rc = trace_args(cx->t, r, &text, NULL);
    bool full = buf_ok(&text);
    if (rc == 0 && full) rc = jdoc_parse(buf_str(&text), cx->mem, &doc, NULL);
    if (rc == 0 && full) {
        host_stalls_add(cx->t, r, &doc, s);
        if (host_stalls_kind(trace_name(cx->t, r)) == HOST_STALL_CORE) host_stalls_see(worst, &doc);
    }
    buf_done(&text);
    arena_reset_to(cx->mem, mark);
    return rc == ERR_NOMEM || !full ? err_nomem(e) : 0;
}

static const char *host_stalls_core_words(const struct context *cx, const struct crowd *c)
{
    char text[120];
    if (c->cores > 0 && c->cores < c->online)
        snprintf(text, sizeof text, "bound to %.0f of %.0f cores", c->cores, c->online);
    else if (c->runnable > c->online && c->online > 0)
        snprintf(text, sizeof text, "%.0f runnable threads on %.0f cores", c->runnable, c->online);
    else return "runnable, but not running";
    const char *kept = arena_strdup(cx->mem, str_c(text));
    return kept ? kept : "runnable, but not running";
}

static int host_stalls_order(const void *a, const void *b)
{
    const struct host_stall *x = a, *y = b;
    if (x->thread != y->thread) return x->thread < y->thread ? -1 : 1;
    if (x->time.begin_ns != y->time.begin_ns) return x->time.begin_ns < y->time.begin_ns ? -1 : 1;
    return (int)x->kind - (int)y->kind;
}

uint32_t host_stalls_first(const struct host_stalls *s, lane_id thread, struct span time)
{
    uint32_t low = 0, high = s->n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        const struct host_stall *x = &s->list[mid];
        bool before = x->thread != thread ? x->thread < thread
                                          : x->time.begin_ns + s->longest_ns <= time.begin_ns;
        if (before) low = mid + 1;
        else high = mid;
    }
    return low;
}

bool host_stalls_is(const struct trace *t, row_t r)
{
    return t->kind[r] == KIND_OTHER && t->cat[r] < t->n_cats &&
           str_is(trace_str(t, t->cats[t->cat[r]]), RING_HOST);
}

static int host_stalls_run(struct context *cx, void *ret, struct err *e)
{
    struct host_stalls *s = ret;
    struct crowd worst = {0};
    size_t n = 0;
    for (row_t r = 0; r < cx->t->n_rows; r++) n += host_stalls_is(cx->t, r);
    s->list = arena_zalloc(cx->mem, n + 1, sizeof *s->list);
    if (!s->list) return err_nomem(e);
    for (row_t r = 0; n && r < cx->t->n_rows; r++)
        if (host_stalls_is(cx->t, r)) TRY(host_stalls_read(cx, r, s, &worst, e));
    if (s->n) qsort(s->list, s->n, sizeof *s->list, host_stalls_order);
    s->words[HOST_STALL_CORE] = host_stalls_core_words(cx, &worst);
    s->words[HOST_STALL_CGROUP] = "throttled by cgroup cpu.max";
    s->words[HOST_STALL_FAULTS] = "page faults";
    s->words[HOST_STALL_GIL] = "GIL held by another thread";
    return 0;
}

const struct pass host_stalls_pass = {
    .id = PASS_HOST_STALLS,
    .size = sizeof(struct host_stalls),
    .run = host_stalls_run,
};
