/* chrome_labels.c: names of processes and threads, and of the tracks that overlapping spans got. */
#include "base/jout.h"
#include "base/map.h"
#include "export/chrome.h"
#include "export/export_private.h"

/* {"ph":"M","name":WHAT,"pid":..,"tid":..,"args":{KEY:TEXT or NUMBER}} */
static void chrome_labels_put_label(struct chrome *c, const char *what, struct str where,
                                    const char *key, struct str label)
{
    chrome_begin_event(c);
    buf_printf(chrome_text(c), "{\"ph\":\"M\",\"name\":\"%s\",", what);
    buf_add_str(chrome_text(c), where);
    buf_printf(chrome_text(c), ",\"args\":{\"%s\":", key);
    jout_quote(chrome_text(c), label);
    FMT_LIT(chrome_text(c), "}}");
}

static void put_sort_index(struct chrome *c, const char *what, struct str where, int64_t index)
{
    if (!index) return;
    chrome_begin_event(c);
    buf_printf(chrome_text(c), "{\"ph\":\"M\",\"name\":\"%s\",", what);
    buf_add_str(chrome_text(c), where);
    buf_printf(chrome_text(c), ",\"args\":{\"sort_index\":%lld}}", (long long)index);
}

static void chrome_labels_put_process(struct chrome *c, const struct process *p)
{
    const struct trace *t = c->t;
    struct buf *where = &c->scratch;
    buf_reset(where);
    chrome_put_pid(c, where, p);
    FMT_LIT(where, ",\"tid\":0");
    struct str at = buf_str(where);
    if (p->name) chrome_labels_put_label(c, "process_name", at, "name", trace_str(t, p->name));
    if (p->labels)
        chrome_labels_put_label(c, "process_labels", at, "labels", trace_str(t, p->labels));
    put_sort_index(c, "process_sort_index", at, p->sort_index);
}

/* Names the further tracks of a thread after it. */
static void put_track_names(struct chrome *c, lane_id lane)
{
    const struct trace *t = c->t;
    const struct lane *l = &t->lanes[lane];
    struct str name = str_trim(trace_str(t, l->name));
    for (int k = 0; c->o->for_perfetto && k < c->tracks.n_extra[lane]; k++) {
        struct buf *b = &c->scratch;
        buf_reset(b);
        chrome_put_pid(c, b, &t->processes[l->process]);
        buf_printf(b, ",\"tid\":%lld", (long long)c->tracks.tid[lane] + k);
        size_t n_where = b->n;
        if (name.n) buf_add_str(b, name);
        else if (l->tid != ID_NONE) buf_printf(b, "thread %lld", (long long)l->tid);
        else buf_add_str(b, trace_str(t, l->tid_text));
        buf_adds(b, " (overlap)");
        struct str where = str_from(b->p, n_where);
        chrome_labels_put_label(c, "thread_name", where, "name",
                                str_from(b->p + n_where, b->n - n_where));
        put_sort_index(c, "thread_sort_index", where, l->sort_index);
    }
}

/* Lanes of one pid and tid are one thread to a viewer, and named once. */
static bool names_thread(const struct trace *t, struct map *named, lane_id lane, bool *ret)
{
    const struct lane *l = &t->lanes[lane];
    uint64_t tid = l->tid != ID_NONE ? (uint64_t)l->tid : l->tid_text;
    uint32_t *first = map_at(named, map_mix(map_mix(tid) + l->process));
    if (!first) return false;
    if (*first == MAP_NONE) *first = lane;
    *ret = *first == lane || !tracks_same_thread(&t->lanes[*first], l);
    return true;
}

static int chrome_labels_put_thread(struct chrome *c, struct map *named, lane_id lane,
                                    struct err *e)
{
    const struct lane *l = &c->t->lanes[lane];
    bool first;
    if (!names_thread(c->t, named, lane, &first)) return err_nomem(e);
    if (first && l->name)
        chrome_labels_put_label(c, "thread_name", c->where[lane], "name", trace_str(c->t, l->name));
    if (first) put_sort_index(c, "thread_sort_index", c->where[lane], l->sort_index);
    put_track_names(c, lane);
    return sink_pump(&c->sink, e);
}

int chrome_put_labels(struct chrome *c, struct err *e)
{
    const struct trace *t = c->t;
    struct map named;
    int rc = 0;
    map_init(&named);
    for (uint32_t i = 0; i < t->n_processes; i++) chrome_labels_put_process(c, &t->processes[i]);
    for (lane_id i = 0; i < t->n_lanes && rc == 0; i++)
        rc = chrome_labels_put_thread(c, &named, i, e);
    map_done(&named);
    if (rc < 0) return rc;
    return buf_ok(&c->scratch) ? 0 : err_nomem(e);
}
