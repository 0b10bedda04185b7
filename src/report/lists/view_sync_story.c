/* view_sync_story.c: the chain of evidence for one sync site. */
#include "report/lists/views_waits.h"
#include "report/report_private.h"

#include <stdio.h>

#include "base/human.h"
#include "report/lists/sync_moments.h"

enum { INDENT = 20 }; /* of lines without a time */

void view_sync_what(struct buf *out, const struct trace *t, const struct sync_site *s)
{
    if (s->place.called != ROW_NONE) source_places_print_call(t, s->place.called, out);
    else if (s->place.op != ROW_NONE) buf_add_str(out, trace_name(t, s->place.op));
    else buf_add_str(out, trace_str(t, s->call));
}

/* ---- JSON: the story of a struct view_syncs */

struct story_moment {
    int64_t ts_ns;
    const char *what;
};

enum { STORY_MOMENTS = 6 };

static struct value moment_at(const struct rows *r, uint32_t i, bool text)
{
    const struct view_syncs *v = r->with;
    const struct sync_story *y = v->story;
    const struct trace *t = r->cx->t;
    const struct story_moment all[STORY_MOMENTS] = {
        {y->label != ROW_NONE ? t->ts_ns[y->label] : ID_NONE, "label begins"},
        {y->wait->begin_ns, "the CPU begins to wait"},
        {y->wait->waited_ns ? y->done_ns : ID_NONE, "the queued work is done"},
        {y->wait->end_ns, "the call returns"},
        {y->next != ROW_NONE ? t->ts_ns[y->next] : ID_NONE, "the thread's next GPU work starts"},
        {y->n_gaps ? y->caught_up_ns : ID_NONE, "the device has work again"},
    };
    for (int k = 0; k < STORY_MOMENTS; k++)
        if (all[k].ts_ns != ID_NONE && i-- == 0)
            return text ? value_cstr(all[k].what) : value_int(all[k].ts_ns);
    return value_none();
}

static struct value moment_ts(const struct rows *r, uint32_t i)
{
    return moment_at(r, i, false);
}

static struct value moment_what(const struct rows *r, uint32_t i)
{
    return moment_at(r, i, true);
}

static struct rows story_moments(const struct rows *r, uint32_t i)
{
    struct rows all = {.cx = r->cx, .with = r->with, .list = rows_at(r, i)};
    while (moment_at(&all, all.n, false).known) all.n++;
    return all;
}

static struct value meanwhile_name(const struct rows *r, uint32_t i)
{
    const struct view_syncs *v = r->with;
    return value_text(v->story->causes[i].name);
}

static struct value meanwhile_ns(const struct rows *r, uint32_t i)
{
    const struct view_syncs *v = r->with;
    return value_int(v->story->causes[i].ns);
}

static struct rows story_meanwhile(const struct rows *r, uint32_t i)
{
    const struct sync_story *y = rows_at(r, i);
    return (struct rows){.list = y, .n = y->n_causes, .with = r->with};
}

static struct rows story_forecast(const struct forecast *f)
{
    return (struct rows){.list = f, .n = f != NULL};
}

static struct rows story_alone(const struct rows *r, uint32_t i)
{
    (void)i;
    return story_forecast(((const struct view_syncs *)r->with)->alone);
}

static struct rows story_all(const struct rows *r, uint32_t i)
{
    (void)i;
    return story_forecast(((const struct view_syncs *)r->with)->all);
}

static struct value forecast_gain(const struct rows *r, uint32_t i)
{
    const struct forecast *f = rows_at(r, i);
    return value_int(f->before_ns - f->after_ns);
}

static struct value forecast_traced_gain(const struct rows *r, uint32_t i)
{
    const struct forecast *f = rows_at(r, i);
    return value_int(f->traced_before_ns - f->traced_after_ns);
}

/* clang-format off */
static const struct field moment_fields[] = {
    FIELD_GET(AT, "t_us", "", moment_ts, "when"),
    FIELD_GET(TEXT, "what", "", moment_what, "what happens then"),
};
static const struct result result_moments = RESULT("evidence", "moments of one wait", moment_fields, struct sync_story);

static const struct field meanwhile_fields[] = {
    FIELD_GET(TEXT, "name", "", meanwhile_name, "what the CPU did"),
    FIELD_GET(NS, "idle_us", "", meanwhile_ns, "idle time of the device meanwhile"),
};
static const struct result result_meanwhile = RESULT("meanwhile", "what the CPU did in the gaps", meanwhile_fields, struct sync_story);

static const struct field forecast_fields[] = {
    FIELD_GET(NS, "predicted_gain_us", "", forecast_gain, "what the wall clock gains without the profiler"),
    FIELD(PCT, "predicted_gain_pct", "", struct forecast, gain_pct, "the same as a share", .decimals = 3),
    FIELD_GET(NS, "as_traced_gain_us", "", forecast_traced_gain, "what it gains as it was recorded"),
};
static const struct result result_forecast = RESULT("forecast", "a replay", forecast_fields, struct forecast);

static const struct field story_fields[] = {
    FIELD_IN(LIST, "evidence", "", &result_moments, story_moments, "moment by moment"),
    FIELD_IN(LIST, "meanwhile", "", &result_meanwhile, story_meanwhile, "what the CPU did while the device was idle"),
    FIELD_IN(OBJECT, "if_removed", "", &result_forecast, story_alone, "forecast without this site", .null = NULL_SOMETIMES),
    FIELD_IN(OBJECT, "if_all_removed", "", &result_forecast, story_all, "forecast without any site", .null = NULL_SOMETIMES),
};
/* clang-format on */

const struct result result_sync_story =
    RESULT("story", "how we know what a site costs", story_fields, struct sync_story);

struct rows sync_story_rows(const struct rows *r, uint32_t i)
{
    const struct view_syncs *v = rows_at(r, i);
    return (struct rows){.list = v->story, .n = v->story != NULL, .with = v};
}

/* ---- text */

/* What the CPU did in those gaps, as much as fits on a line. */
static void view_sync_story_tell_meanwhile(const struct screen *s, const struct sync_story *story)
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
static void view_sync_story_tell_moment(const struct screen *s, const struct view_syncs *v,
                                        const struct moment *m)
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
    for (uint32_t i = 0; i < moments.n && buf_ok(s->out); i++)
        view_sync_story_tell_moment(s, v, &moments.list[i]);
    if (v->story->n_gaps) view_sync_story_tell_meanwhile(s, v->story);
    arena_done(&mem);
}

static void tell_forecast(const struct screen *s, const char *what, const struct forecast *f)
{
    if (!f) return;
    buf_printf(s->out, "  %-20s gains %s of %s in the trace, %s (%s) without the profiler\n", what,
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
