/* sync_moments.c: see sync_moments.h. */
#include "report/lists/sync_moments.h"

#include <stdio.h>

#include "analyze/names/kernel_name.h"
#include "base/human.h"
#include "report/report_private.h"

struct teller {
    const struct view_syncs *v;
    struct arena *mem;
    struct moments *out;
};

static struct moment *sync_moments_tell(const struct teller *k, int64_t ts_ns, const char *text)
{
    struct moment *m = &k->out->list[k->out->n++];
    *m = (struct moment){ts_ns, {ts_ns, ts_ns}, {ROW_NONE, ROW_NONE}, MARK_NONE, text};
    return m;
}

static void tell_start(const struct teller *k)
{
    const struct trace *t = k->v->t;
    const struct sync_story *story = k->v->story;
    const struct lane *l = &t->lanes[t->lane[story->wait->call]];
    char name[128], thread[48] = "";
    if (story->label == ROW_NONE) return;
    human_cut(trace_name(t, story->label), 30, name, sizeof name);
    if (l->tid != ID_NONE) snprintf(thread, sizeof thread, " on thread %lld", (long long)l->tid);
    struct moment *m = sync_moments_tell(
        k, t->ts_ns[story->label],
        arena_printf(k->mem, "%s begins%s; %s launch%s queued on the GPU", name, thread,
                     human_count(story->label_depth).s, story->label_depth == 1 ? "" : "es"));
    m->rows[0] = story->label;
}

static void print_calls(const struct trace *t, const struct wait *w, struct buf *out)
{
    char name[128];
    if (w->copy != ROW_NONE) {
        human_cut(trace_name(t, w->copy), 40, name, sizeof name);
        buf_printf(out, ": %s, %s", name, human_bytes(w->bytes).s);
    }
    if (w->call != w->copy_call)
        buf_printf(out, "%s " STR_FMT, w->copy != ROW_NONE ? ", then" : ":",
                   STR_ARG(trace_name(t, w->call)));
}

static void tell_calls(const struct teller *k)
{
    const struct trace *t = k->v->t;
    const struct wait *w = k->v->story->wait;
    struct buf what, calls;
    char name[128];
    buf_init(&what);
    buf_init(&calls);
    view_sync_what(&what, t, k->v->story->site);
    human_cut(buf_str(&what), 30, name, sizeof name);
    print_calls(t, w, &calls);
    const char *text =
        buf_ok(&what) && buf_ok(&calls) ? arena_printf(k->mem, "%s%s", name, buf_c(&calls)) : NULL;
    buf_done(&what);
    buf_done(&calls);
    struct moment *m = sync_moments_tell(k, w->begin_ns, text);
    m->rows[0] = w->copy_call != ROW_NONE ? w->copy_call : w->call;
    m->rows[1] = w->copy;
}

/* The last work that had started by the time the queue was empty. */
static row_t last_work(const struct view_syncs *v)
{
    const struct device_line *d = timeline_device(timeline_of(v->cx), v->story->wait->device);
    uint32_t n = d ? timeline_work_at(v->t, d, v->story->done_ns) : 0;
    return n ? d->work[n - 1] : ROW_NONE;
}

static void tell_drain(const struct teller *k)
{
    const struct sync_story *story = k->v->story;
    const struct wait *w = story->wait;
    struct moment *m =
        sync_moments_tell(k, w->begin_ns,
                          arena_printf(k->mem, "the CPU stops; the GPU drains %s launch%s in %s",
                                       human_count(w->depth).s, w->depth == 1 ? "" : "es",
                                       human_time(w->waited_ns).s));
    m->about.end_ns = story->done_ns;
    m->mark = MARK_BLOCKED;
    m->rows[0] = w->call;
    char floor[96] = "";
    if (story->site->floor_ns >= 0)
        snprintf(floor, sizeof floor, " (with an empty queue the call takes %s)",
                 human_time(story->site->floor_ns).s);
    m = sync_moments_tell(k, story->done_ns, arena_printf(k->mem, "the queue is empty%s", floor));
    m->rows[0] = last_work(k->v);
}

static void tell_wait(const struct teller *k)
{
    const struct wait *w = k->v->story->wait;
    if (w->drains) {
        tell_drain(k);
    } else {
        struct moment *m =
            sync_moments_tell(k, w->begin_ns,
                              arena_printf(k->mem, "the queue is nearly empty: the calls take %s",
                                           human_time(w->cost_ns).s));
        m->about.end_ns = w->end_ns;
    }
    sync_moments_tell(k, w->end_ns, "the call returns")->rows[0] = w->call;
}

const char *sync_moments_work(const struct trace *t, row_t work, int width, char *out, size_t cap)
{
    struct buf brief;
    buf_init(&brief);
    if (t->kind[work] == KIND_KERNEL) kernel_name_short(trace_name(t, work), &brief);
    bool better = buf_ok(&brief) && brief.n;
    human_cut(better ? buf_str(&brief) : trace_name(t, work), width, out, cap);
    buf_done(&brief);
    return out;
}

static void tell_after(const struct teller *k)
{
    const struct trace *t = k->v->t;
    const struct sync_story *story = k->v->story;
    char name[128];
    if (story->next != ROW_NONE) {
        sync_moments_work(t, story->next, 40, name, sizeof name);
        struct moment *m =
            sync_moments_tell(k, t->ts_ns[story->next],
                              arena_printf(k->mem, "this thread's next GPU work starts: %s", name));
        m->about.end_ns = trace_end_ns(t, story->next);
        m->rows[0] = trace_launch_of(t, story->next);
        m->rows[1] = story->next;
    }
    if (!story->n_gaps) {
        sync_moments_tell(k, ID_NONE, "it causes no GPU idle time");
        return;
    }
    struct moment *m = sync_moments_tell(
        k, story->caught_up_ns,
        arena_printf(k->mem, "the CPU has caught up: %s of GPU idle time in %s gap%s",
                     human_time(story->exposed_ns).s, human_count(story->n_gaps).s,
                     story->n_gaps == 1 ? "" : "s"));
    m->about.begin_ns = story->wait->end_ns;
    m->mark = MARK_EXPOSED;
}

int sync_moments_run(const struct view_syncs *v, struct arena *mem, struct moments *ret)
{
    struct teller k = {v, mem, ret};
    *ret = (struct moments){.n = 0};
    tell_start(&k);
    tell_calls(&k);
    tell_wait(&k);
    tell_after(&k);
    for (uint32_t i = 0; i < ret->n; i++)
        if (!ret->list[i].text) return ERR_NOMEM;
    return 0;
}
