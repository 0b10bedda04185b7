/* view_sync_story.c: the chain of evidence for one sync site. */
#include "report/view_sync_story.h"

#include <stdio.h>

#include "base/human.h"
#include "report/source_out.h"

void view_sync_what(struct buf *out, const struct trace *t, const struct sync_site *s)
{
    if (s->place.called != ROW_NONE) where_print_call(t, s->place.called, out);
    else if (s->place.op != ROW_NONE) buf_add_str(out, trace_name(t, s->place.op));
    else buf_add_str(out, trace_str(t, s->call));
}

static void json_moment(struct jout *j, const struct view_syncs *v, int64_t ts_ns, const char *what)
{
    jout_obj(j, NULL);
    jout_us(j, "t_us", ts_ns - v->t->begin_ns);
    jout_cstr(j, "what", what);
    jout_end_obj(j);
}

static void json_forecast(struct jout *j, const char *key, const struct forecast *f)
{
    jout_obj(j, key);
    jout_us(j, "predicted_gain_us", f->before_ns - f->after_ns);
    jout_num(j, "predicted_gain_pct", f->gain_pct, 3);
    jout_us(j, "as_traced_gain_us", f->traced_before_ns - f->traced_after_ns);
    jout_end_obj(j);
}

void view_sync_story_json(struct jout *j, const struct view_syncs *v)
{
    const struct sync_story *story = v->story;
    const struct wait *w = story->wait;
    jout_arr(j, "evidence");
    if (story->label != ROW_NONE) json_moment(j, v, v->t->ts_ns[story->label], "label begins");
    json_moment(j, v, w->begin_ns, "the CPU begins to wait");
    if (w->waited_ns) json_moment(j, v, story->done_ns, "the queued work is done");
    json_moment(j, v, w->end_ns, "the call returns");
    if (story->next != ROW_NONE)
        json_moment(j, v, v->t->ts_ns[story->next], "the next work of the thread starts");
    if (story->n_gaps) json_moment(j, v, story->caught_up_ns, "the device has work again");
    jout_end_arr(j);
    jout_arr(j, "meanwhile");
    for (uint32_t i = 0; i < story->n_causes; i++) {
        jout_obj(j, NULL);
        jout_str(j, "name", story->causes[i].name);
        jout_us(j, "idle_us", story->causes[i].ns);
        jout_end_obj(j);
    }
    jout_end_arr(j);
    if (v->alone) json_forecast(j, "if_removed", v->alone);
    if (v->all) json_forecast(j, "if_all_removed", v->all);
}

/* "  t=  402.110 ms  text" */
static void moment(const struct screen *s, const struct view_syncs *v, int64_t ts_ns)
{
    buf_printf(s->out, "  t=%11.3f ms  ", (double)(ts_ns - v->t->begin_ns) / 1e6);
}

static void tell_start(const struct screen *s, const struct view_syncs *v)
{
    const struct trace *t = v->t;
    const struct sync_story *story = v->story;
    const struct lane *l = &t->lanes[t->lane[story->wait->call]];
    char name[128];
    if (story->label == ROW_NONE) return;
    moment(s, v, t->ts_ns[story->label]);
    buf_printf(s->out, "%s begins", human_cut(trace_name(t, story->label), 30, name, sizeof name));
    if (l->tid != ID_NONE) buf_printf(s->out, " on thread %lld", (long long)l->tid);
    buf_printf(s->out, "; %s piece%s of work queued on the GPU\n",
               human_count(story->label_depth).s, story->label_depth == 1 ? "" : "s");
}

static void tell_calls(const struct screen *s, const struct view_syncs *v)
{
    const struct trace *t = v->t;
    const struct wait *w = v->story->wait;
    struct buf what;
    char name[128];
    buf_init(&what);
    view_sync_what(&what, t, v->story->site);
    moment(s, v, w->begin_ns);
    buf_printf(s->out, "%s", human_cut(buf_str(&what), 30, name, sizeof name));
    if (w->copy != ROW_NONE) {
        human_cut(trace_name(t, w->copy), 40, name, sizeof name);
        buf_printf(s->out, ": %s, %s", name, human_bytes(w->bytes).s);
    }
    if (w->call != w->copy_call)
        buf_printf(s->out, "%s " STR_FMT, w->copy != ROW_NONE ? ", then" : ":",
                   STR_ARG(trace_name(t, w->call)));
    buf_addc(s->out, '\n');
    buf_done(&what);
}

static void tell_wait(const struct screen *s, const struct view_syncs *v)
{
    const struct sync_story *story = v->story;
    const struct wait *w = story->wait;
    moment(s, v, w->begin_ns);
    if (!w->drains) {
        buf_printf(s->out, "nothing much is queued: the calls cost %s\n", human_time(w->cost_ns).s);
    } else {
        buf_printf(s->out, "the CPU stops; the GPU works off %s queued for %s",
                   human_count(w->depth).s, human_time(w->waited_ns).s);
        text_styled(s->out, TEXT_DIM, s->color, "  <- blocked, GPU busy\n");
        moment(s, v, story->done_ns);
        buf_adds(s->out, "the queue is empty");
        if (story->site->floor_ns >= 0)
            buf_printf(s->out, " (with nothing queued the call takes %s)",
                       human_time(story->site->floor_ns).s);
        buf_addc(s->out, '\n');
    }
    moment(s, v, w->end_ns);
    buf_adds(s->out, "the call returns\n");
}

/* What the CPU did in those gaps, as much as fits on a line. */
static void tell_meanwhile(const struct screen *s, const struct sync_story *story)
{
    enum { INDENT = 20 };
    static const char start[] = "meanwhile:";
    int left = s->width - INDENT - (int)sizeof start;
    buf_pad(s->out, ' ', INDENT);
    buf_adds(s->out, start);
    for (uint32_t i = 0; i < story->n_causes; i++) {
        char name[64], item[128];
        human_cut(story->causes[i].name, 24, name, sizeof name);
        int n = snprintf(item, sizeof item, "%s %s %s", i ? "," : "", name,
                         human_time(story->causes[i].ns).s);
        if (n > left) break;
        buf_adds(s->out, item);
        left -= n;
    }
    buf_addc(s->out, '\n');
}

static void tell_after(const struct screen *s, const struct view_syncs *v)
{
    const struct sync_story *story = v->story;
    char name[128];
    if (story->next != ROW_NONE) {
        moment(s, v, v->t->ts_ns[story->next]);
        buf_printf(s->out, "the next work of this thread starts: %s\n",
                   human_cut(trace_name(v->t, story->next), 40, name, sizeof name));
    }
    if (!story->n_gaps) {
        buf_adds(s->out, "                    no idle time of the GPU follows from it\n");
        return;
    }
    moment(s, v, story->caught_up_ns);
    buf_printf(s->out, "the CPU has caught up: %s of idle GPU time in %s gap%s",
               human_time(story->wait->exposed_ns).s, human_count(story->n_gaps).s,
               story->n_gaps == 1 ? "" : "s");
    text_styled(s->out, TEXT_YELLOW, s->color, "  <- exposed\n");
    tell_meanwhile(s, story);
}

static void tell_forecast(const struct screen *s, const char *what, const struct forecast *f)
{
    if (!f) return;
    buf_printf(s->out, "  %-20s replay gains %s of %s as traced, %s (%s) without the profiler\n",
               what, human_time(f->traced_before_ns - f->traced_after_ns).s,
               human_time(f->traced_before_ns).s, human_time(f->before_ns - f->after_ns).s,
               human_pct(f->gain_pct).s);
}

static void tell_stack(const struct screen *s, const struct view_syncs *v)
{
    enum { MOST = 32 };
    row_t frames[MOST];
    struct buf line;
    char cut[256];
    size_t n = where_stack(v->where, v->story->wait->call, frames, MOST);
    if (!n) return;
    buf_init(&line);
    buf_adds(s->out, "  stack, innermost first:\n");
    for (size_t i = 0; i < n && i < MOST; i++) {
        buf_reset(&line);
        where_print_frame(v->t, frames[i], &line);
        buf_printf(s->out, "    %s\n", human_cut(buf_str(&line), s->width - 4, cut, sizeof cut));
    }
    if (!buf_ok(&line)) s->out->failed = true;
    buf_done(&line);
}

void view_sync_story_text(const struct screen *s, const struct view_syncs *v)
{
    const struct sync_site *site = v->story->site;
    uint32_t number = (uint32_t)(site - v->syncs->sites) + 1;
    struct str call = trace_str(v->t, site->call);
    buf_printf(s->out, "site %u   " STR_FMT, number, STR_ARG(call));
    if (site->place.op != ROW_NONE) {
        struct str op = trace_name(v->t, site->place.op);
        buf_printf(s->out, " under " STR_FMT, STR_ARG(op));
    }
    buf_printf(s->out, "   %s call%s   blocked %s, exposed %s\n", human_count(site->n_rows).s,
               site->n_rows == 1 ? "" : "s", human_time(site->blocked_ns).s,
               human_time(site->exposed_ns).s);
    if (site->n_rows > 1) buf_adds(s->out, "  the costliest of them:\n");
    tell_start(s, v);
    tell_calls(s, v);
    tell_wait(s, v);
    tell_after(s, v);
    tell_forecast(s, "without this sync", v->alone);
    tell_forecast(s, "without all of them", v->all);
    tell_stack(s, v);
    buf_addc(s->out, '\n');
    char drop[64];
    snprintf(drop, sizeof drop, "whatif %%s --drop-sync %u", number);
    struct screen_next next[] = {{drop, "the same with other assumptions"},
                                 {"gaps %s", "everything else the GPU waits for"}};
    screen_next(s, next, 2);
}
