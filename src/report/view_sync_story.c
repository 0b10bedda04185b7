/* view_sync_story.c: the chain of evidence for one sync site. */
#include "report/report_private.h"
#include "report/view_syncs.h"

#include <stdio.h>

#include "base/human.h"
#include "report/source_out.h"
#include "report/sync_moments.h"

enum { INDENT = 20 }; /* of lines without a time */

void view_sync_what(struct buf *out, const struct trace *t, const struct sync_site *s)
{
    if (s->place.called != ROW_NONE) source_places_print_call(t, s->place.called, out);
    else if (s->place.op != ROW_NONE) buf_add_str(out, trace_name(t, s->place.op));
    else buf_add_str(out, trace_str(t, s->call));
}

static void json_moment(struct jout *j, const struct view_syncs *v, int64_t ts_ns, const char *what)
{
    jout_obj(j, NULL);
    jout_us(j, "t_us", trace_since_ns(v->t, ts_ns));
    jout_cstr(j, "what", what);
    jout_end_obj(j);
}

static void json_forecast(struct jout *j, const char *key, const struct forecast *f)
{
    if (!f) {
        jout_null(j, key);
        return;
    }
    jout_obj(j, key);
    jout_us(j, "predicted_gain_us", f->before_ns - f->after_ns);
    jout_num(j, "predicted_gain_pct", f->gain_pct, 3);
    jout_us(j, "as_traced_gain_us", f->traced_before_ns - f->traced_after_ns);
    jout_end_obj(j);
}

void view_sync_story_json(struct jout *j, const struct view_syncs *v)
{
    const struct sync_story *story = v->story;
    if (!story) {
        jout_null(j, "story");
        return;
    }
    const struct wait *w = story->wait;
    jout_obj(j, "story");
    jout_arr(j, "evidence");
    if (story->label != ROW_NONE) json_moment(j, v, v->t->ts_ns[story->label], "label begins");
    json_moment(j, v, w->begin_ns, "the CPU begins to wait");
    if (w->waited_ns) json_moment(j, v, story->done_ns, "the queued work is done");
    json_moment(j, v, w->end_ns, "the call returns");
    if (story->next != ROW_NONE)
        json_moment(j, v, v->t->ts_ns[story->next], "the thread's next GPU work starts");
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
    json_forecast(j, "if_removed", v->alone);
    json_forecast(j, "if_all_removed", v->all);
    jout_end_obj(j);
}

/* What the CPU did in those gaps, as much as fits on a line. */
static void tell_meanwhile(const struct screen *s, const struct sync_story *story)
{
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

/* "  t=  402.110 ms  text" */
static void tell_moment(const struct screen *s, const struct view_syncs *v, const struct moment *m)
{
    static const char *const marks[] = {[MARK_NONE] = "\n",
                                        [MARK_BLOCKED] = "  <- blocked, GPU busy\n",
                                        [MARK_EXPOSED] = "  <- exposed\n"};
    static const enum text_style styles[] = {
        [MARK_NONE] = TEXT_PLAIN, [MARK_BLOCKED] = TEXT_DIM, [MARK_EXPOSED] = TEXT_YELLOW};
    if (m->ts_ns == ID_NONE) buf_pad(s->out, ' ', INDENT);
    else buf_printf(s->out, "  t=%11.3f ms  ", (double)trace_since_ns(v->t, m->ts_ns) / 1e6);
    buf_adds(s->out, m->text);
    text_styled(s->out, styles[m->mark], s->color, marks[m->mark]);
}

static void tell_moments(const struct screen *s, const struct view_syncs *v)
{
    struct moments moments;
    struct arena mem;
    arena_init(&mem);
    if (sync_moments_run(v, &mem, &moments) < 0) s->out->failed = true;
    for (uint32_t i = 0; i < moments.n && buf_ok(s->out); i++) tell_moment(s, v, &moments.list[i]);
    if (v->story->n_gaps) tell_meanwhile(s, v->story);
    arena_done(&mem);
}

static void tell_forecast(const struct screen *s, const char *what, const struct forecast *f)
{
    if (!f) return;
    buf_printf(s->out, "  %-20s gains %s of %s as traced, %s (%s) without the profiler\n", what,
               human_time(f->traced_before_ns - f->traced_after_ns).s,
               human_time(f->traced_before_ns).s, human_time(f->before_ns - f->after_ns).s,
               human_pct(f->gain_pct).s);
}

static void tell_stack(const struct screen *s, const struct view_syncs *v)
{
    enum { MOST = 32 };
    row_t frames[MOST];
    struct buf line;
    char cut[256];
    size_t n = source_places_stack(v->where, v->story->wait->call, frames, MOST);
    if (!n) return;
    buf_init(&line);
    buf_adds(s->out, "  stack, innermost first:\n");
    for (size_t i = 0; i < n && i < MOST; i++) {
        buf_reset(&line);
        source_places_print_frame(v->t, frames[i], &line);
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
    if (site->n_rows > 1) buf_adds(s->out, "  the costliest one:\n");
    tell_moments(s, v);
    tell_forecast(s, "without this sync", v->alone);
    tell_forecast(s, "without all syncs", v->all);
    tell_stack(s, v);
    buf_addc(s->out, '\n');
    char drop[64];
    snprintf(drop, sizeof drop, "whatif %%s --drop-sync %u", number);
    struct screen_next next[] = {{drop, "the same with other assumptions"},
                                 {"gaps %s", "what else the GPU waits for"}};
    screen_next(s, next, 2);
}
