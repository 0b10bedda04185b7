/* view_syncs.c: see view_syncs.h. Times are relative to the first event, as Perfetto shows them. */
#include "report/view_syncs.h"

#include <stdio.h>

#include "base/human.h"
#include "report/report_private.h"
#include "report/source_out.h"
#include "report/view_quality.h"

static void json_place(struct jout *j, const struct view_syncs *v, const struct sync_site *s)
{
    const struct trace *t = v->t;
    const struct place *p = &s->place;
    struct buf text;
    buf_init(&text);
    if (p->called != ROW_NONE) {
        source_places_print_call(t, p->called, &text);
        jout_str(j, "called", buf_str(&text));
    }
    source_json(j, t, p);
    jout_cstr(j, "source_by", source_by_name(p->by));
    jout_bool(j, "line_is_function_start", p->frame != ROW_NONE && p->line_is_start);
    buf_reset(&text);
    source_places_path(t, p->annotation, &text);
    jout_str(j, "annotation", buf_str(&text));
    source_json_stack(j, v->where, v->syncs->waits->all[s->longest].call);
    if (!buf_ok(&text)) j->out->failed = true;
    buf_done(&text);
}

static void json_costs(struct jout *j, const struct view_syncs *v, const struct sync_site *s)
{
    const struct wait *longest = &v->syncs->waits->all[s->longest];
    double per_step = syncs_per_step(v->syncs, s);
    jout_uint(j, "count", s->n_rows);
    if (per_step < 0) jout_null(j, "per_step");
    else jout_num(j, "per_step", per_step, 3);
    jout_us(j, "blocked_us", s->blocked_ns);
    jout_us(j, "exposed_us", s->exposed_ns);
    jout_us(j, "longest_us", longest->blocked_ns);
    if (s->floor_ns < 0) jout_null(j, "floor_us");
    else jout_us(j, "floor_us", s->floor_ns);
    jout_bool(j, "drains", s->n_drains > 0);
    jout_uint(j, "queue_depth", longest->depth);
    jout_us(j, "behind_us", longest->waited_ns);
    if (s->bytes < 0) jout_null(j, "bytes");
    else jout_int(j, "bytes", s->bytes);
    jout_us(j, "first_us", trace_since_ns(v->t, s->first_ns));
    jout_us(j, "last_us", trace_since_ns(v->t, s->last_ns));
}

static void json_site(struct jout *j, const struct view_syncs *v, uint32_t i)
{
    const struct trace *t = v->t;
    const struct sync_site *s = &v->syncs->sites[i];
    jout_obj(j, NULL);
    jout_uint(j, "id", i + 1);
    jout_str(j, "call", trace_str(t, s->call));
    if (s->place.op == ROW_NONE) jout_null(j, "op");
    else jout_str(j, "op", trace_name(t, s->place.op));
    if (s->place.inner_op == ROW_NONE) jout_null(j, "inner_op");
    else jout_str(j, "inner_op", trace_name(t, s->place.inner_op));
    jout_cstr(j, "kind", wait_kind_name(s->kind));
    json_place(j, v, s);
    json_costs(j, v, s);
    jout_end_obj(j);
}

static void json_totals(struct jout *j, const struct view_syncs *v)
{
    const struct syncs *s = v->syncs;
    const int64_t *exposed_ns = exposed_of(v->cx)->ns;
    int64_t blocked = 0, exposed = 0, profiler = 0;
    uint32_t n_profiler = 0, n = 0;
    for (size_t i = 0; i < s->waits->n; i++) {
        const struct wait *w = &s->waits->all[i];
        if (w->profiler) n_profiler++, profiler += w->blocked_ns;
        else n++, blocked += w->blocked_ns, exposed += exposed_ns[i];
    }
    jout_obj(j, "totals");
    jout_uint(j, "count", n);
    jout_us(j, "blocked_us", blocked);
    jout_us(j, "exposed_us", exposed);
    jout_end_obj(j);
    jout_obj(j, "profiler");
    jout_uint(j, "count", n_profiler);
    jout_us(j, "blocked_us", profiler);
    jout_end_obj(j);
    jout_obj(j, "backpressure");
    jout_uint(j, "count", s->waits->pressed);
    jout_us(j, "blocked_us", s->waits->pressed_ns);
    jout_end_obj(j);
}

void view_syncs_json(struct buf *out, const struct view_syncs *v)
{
    struct jout j;
    jout_init(&j, out, true);
    jout_obj(&j, NULL);
    if (v->syncs->n_steps) jout_uint(&j, "steps", v->syncs->n_steps);
    else jout_null(&j, "steps");
    jout_bool(&j, "has_stacks", v->syncs->has_stacks);
    json_totals(&j, v);
    jout_arr(&j, "sites");
    for (uint32_t i = 0; i < v->syncs->n_sites; i++)
        if (!v->story || v->story->site == &v->syncs->sites[i]) json_site(&j, v, i);
    jout_end_arr(&j);
    view_sync_story_json(&j, v);
    view_quality_json(&j, "trace_quality", v->t, integrity_of(v->cx));
    jout_end_obj(&j);
}

static const char *kind_words(enum wait_kind k)
{
    return k == WAIT_UPLOAD ? "constant upload" : wait_kind_name(k);
}

/* The function, else the innermost label. */
static struct str site_name(const struct trace *t, const struct sync_site *s)
{
    if (s->place.frame != ROW_NONE) return s->place.source.function;
    if (s->place.annotation != ROW_NONE) return trace_name(t, s->place.annotation);
    return trace_str(t, s->call);
}

struct columns {
    int blocked, exposed; /* units */
};

static void site_numbers(const struct screen *s, const struct view_syncs *v, uint32_t i,
                         struct columns u)
{
    const struct sync_site *site = &v->syncs->sites[i];
    const struct wait *longest = &v->syncs->waits->all[site->longest];
    double per_step = syncs_per_step(v->syncs, site);
    char step[16] = "-", name[128];
    if (per_step >= 0) snprintf(step, sizeof step, "%.3g", per_step);
    human_cut(site_name(v->t, site), 25, name, sizeof name);
    buf_printf(s->out, "  %4u  %-15s %8s %8s %6s %8s %6s  %s%s\n", i + 1, kind_words(site->kind),
               screen_time_text(site->blocked_ns, u.blocked).s,
               screen_time_text(site->exposed_ns, u.exposed).s, human_count(site->n_rows).s, step,
               human_count(longest->depth).s, name, site->n_drains ? "  drains" : "");
}

static void site_place(const struct screen *s, const struct view_syncs *v,
                       const struct sync_site *site)
{
    struct buf line;
    char cut[512];
    buf_init(&line);
    if (site->place.frame != ROW_NONE) {
        buf_add_str(&line, site->place.source.file);
        frame_print_line(&line, site->place.source.line);
        buf_adds(&line, "  ");
    } else if (site->place.annotation != ROW_NONE) {
        source_places_path(v->t, site->place.annotation, &line);
        buf_adds(&line, "  ");
    }
    view_sync_what(&line, v->t, site);
    struct str call = trace_str(v->t, site->call);
    if (site->place.called != ROW_NONE || site->place.op != ROW_NONE)
        buf_printf(&line, " -> " STR_FMT, STR_ARG(call));
    buf_adds(s->out, "        ");
    text_styled(s->out, TEXT_DIM, s->color,
                human_cut(buf_str(&line), s->width - 8, cut, sizeof cut));
    buf_addc(s->out, '\n');
    if (!buf_ok(&line)) s->out->failed = true;
    buf_done(&line);
}

static void show_sites(const struct screen *s, const struct view_syncs *v)
{
    const struct syncs *syncs = v->syncs;
    int64_t blocked = 0, exposed = 0;
    for (uint32_t i = 0; i < syncs->n_sites; i++) {
        if (syncs->sites[i].blocked_ns > blocked) blocked = syncs->sites[i].blocked_ns;
        if (syncs->sites[i].exposed_ns > exposed) exposed = syncs->sites[i].exposed_ns;
    }
    struct columns u = {screen_unit(blocked), screen_unit(exposed)};
    char head[128];
    snprintf(head, sizeof head, "  %4s  %-15s %8s %8s %6s %8s %6s  %s", "site", "kind", "blocked",
             "exposed", "calls", "per step", "queued", "in");
    text_styled(s->out, TEXT_DIM, s->color, head);
    buf_addc(s->out, '\n');
    for (uint32_t i = 0; i < syncs->n_sites && i < s->limit; i++) {
        site_numbers(s, v, i, u);
        site_place(s, v, &syncs->sites[i]);
    }
    screen_more(s, syncs->n_sites);
}

static void say_totals(const struct screen *s, const struct view_syncs *v)
{
    int64_t blocked = 0, exposed = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->syncs->n_sites; i++) {
        blocked += v->syncs->sites[i].blocked_ns;
        exposed += v->syncs->sites[i].exposed_ns;
        n += v->syncs->sites[i].n_rows;
    }
    buf_printf(s->out, "the CPU waits %s time%s at %s place%s", human_count(n).s, n == 1 ? "" : "s",
               human_count(v->syncs->n_sites).s, v->syncs->n_sites == 1 ? "" : "s");
    if (v->syncs->n_steps)
        buf_printf(s->out, " (%s step%s)", human_count(v->syncs->n_steps).s,
                   v->syncs->n_steps == 1 ? "" : "s");
    buf_printf(s->out, ": blocked %s, which leaves the GPU idle for %s\n", human_time(blocked).s,
               human_time(exposed).s);
}

static void say_rest(const struct screen *s, const struct view_syncs *v)
{
    const struct waits *w = v->syncs->waits;
    uint32_t own = 0;
    for (size_t i = 0; i < w->n; i++) own += w->all[i].profiler;
    if (w->pressed)
        buf_printf(s->out,
                   "  not a sync: %s launch%s waited %s on a full queue: the CPU is far ahead, "
                   "which is healthy\n",
                   human_count(w->pressed).s, w->pressed == 1 ? "" : "es",
                   human_time(w->pressed_ns).s);
    if (own)
        buf_printf(s->out, "  not counted: %u synchronize call%s of the profiler itself\n", own,
                   own == 1 ? "" : "s");
}

static void say_terms(const struct screen *s, const struct view_syncs *v)
{
    buf_adds(s->out, "  blocked: CPU time inside the calls; exposed: GPU idle time they cause\n");
    if (v->syncs->has_lines)
        buf_adds(s->out, "  line numbers are the lines that were running when the CPU waited\n");
    else if (v->syncs->has_stacks)
        buf_adds(s->out, "  line numbers are where a function starts: torch records no others\n");
    else
        buf_adds(
            s->out,
            "  the trace has no Python stacks; record with with_stack=True to get file and line\n");
}

static void show_all(const struct screen *s, const struct view_syncs *v)
{
    if (!v->syncs->n_sites && !timeline_of(v->cx)->n_devices) {
        screen_no_device(s);
        return;
    }
    if (!v->syncs->n_sites) {
        buf_adds(s->out, "the CPU never waits for the GPU in this trace\n");
    } else {
        say_totals(s, v);
        show_sites(s, v);
        say_terms(s, v);
    }
    say_rest(s, v);
    buf_addc(s->out, '\n');
    static const struct screen_next next[] = {
        {"syncs %s --site 1", "the evidence, step by step"},
        {"whatif %s --drop-sync 1", "what removing it would gain"},
    };
    static const struct screen_next other[] = {{"gaps %s", "when the GPU was idle, and why"}};
    screen_next(s, v->syncs->n_sites ? next : other, v->syncs->n_sites ? 2 : 1);
}

void view_syncs_text(const struct screen *s, const struct view_syncs *v)
{
    if (v->story) view_sync_story_text(s, v);
    else show_all(s, v);
}
