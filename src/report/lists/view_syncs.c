/* view_syncs.c: see views_waits.h. Times are relative to the first event, as Perfetto shows them.
 */
#include "report/lists/views_waits.h"

#include "analyze/gaps/sync_story.h"
#include "base/human.h"
#include "report/report_private.h"
#include "report/result_text.h"
#include "results/result_json.h"
#include "results/results.h"

static const struct view_syncs *document_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static struct value document_steps(const struct rows *r, uint32_t i)
{
    return value_int(document_at(r, i)->syncs->n_steps);
}

static struct value document_has_stacks(const struct rows *r, uint32_t i)
{
    return value_int(document_at(r, i)->syncs->has_stacks);
}

static struct rows document_totals(const struct rows *r, uint32_t i)
{
    return (struct rows){.list = &document_at(r, i)->syncs->totals, .n = 1};
}

static struct rows document_profiler(const struct rows *r, uint32_t i)
{
    return (struct rows){.list = &document_at(r, i)->syncs->profiler, .n = 1};
}

static struct rows document_pressed(const struct rows *r, uint32_t i)
{
    return (struct rows){.list = document_at(r, i)->syncs->waits, .n = 1};
}

/* All sites, or the one with a story. */
static struct rows document_sites(const struct rows *r, uint32_t i)
{
    const struct view_syncs *v = document_at(r, i);
    struct rows sites = rows_syncs(r->cx, v->syncs, r->text);
    if (v->story) {
        sites.list = v->story->site;
        sites.n = 1;
    }
    return sites;
}

/* clang-format off */
static const struct field totals_fields[] = {
    FIELD(COUNT, "count", "", struct sync_totals, n, "calls that wait, without the profiler's own"),
    FIELD(NS, "blocked_us", "", struct sync_totals, blocked_ns, "CPU time inside them"),
    FIELD(NS, "exposed_us", "", struct sync_totals, exposed_ns, "idle time of the device that they cause"),
};
static const struct result result_totals = RESULT("totals", "all waits", totals_fields, struct sync_totals);

static const struct field profiler_fields[] = {
    FIELD(COUNT, "count", "", struct sync_totals, n, "calls that wait"),
    FIELD(NS, "blocked_us", "", struct sync_totals, blocked_ns, "CPU time inside them"),
};
static const struct result result_profiler = RESULT("profiler", "waits of the profiler itself", profiler_fields, struct sync_totals);

static const struct field pressed_fields[] = {
    FIELD(COUNT, "count", "", struct waits, pressed, "launches that waited"),
    FIELD(NS, "blocked_us", "", struct waits, pressed_ns, "CPU time inside them"),
};
static const struct result result_pressed = RESULT("backpressure", "launches on a full queue", pressed_fields, struct waits);

static const struct field document_fields[] = {
    FIELD_GET(COUNT, "steps", "", document_steps, "steps of the loop", .null = NULL_ZERO),
    FIELD_GET(FLAG, "has_stacks", "", document_has_stacks, "whether Python functions were recorded, so that lines are known"),
    FIELD_IN(OBJECT, "totals", "", &result_totals, document_totals, "all waits together"),
    FIELD_IN(OBJECT, "profiler", "", &result_profiler, document_profiler, "the profiler's own waits, which are not in the list"),
    FIELD_IN(OBJECT, "backpressure", "", &result_pressed, document_pressed, "calls that wait because the queue is full, which costs nothing"),
    FIELD_IN(LIST, "sites", "", &result_syncs, document_sites, "places that wait: what they expose first, then what they block"),
    FIELD_IN(OBJECT, "story", "", &result_sync_story, sync_story_rows, "with `--site`: the evidence; null otherwise", .null = NULL_SOMETIMES),
    FIELD_IN(OBJECT, "trace_quality", "", &result_quality, rows_in_quality, ""),
};
/* clang-format on */

const struct result document_syncs =
    RESULT("syncs", "where the CPU waits", document_fields, struct view_syncs);

void view_syncs_json(struct jout *j, const char *key, const struct view_syncs *v)
{
    document_json(j, key, v->cx, &document_syncs, v, NULL);
}

/* The function, else the innermost label. */
static struct str site_name(const struct trace *t, const struct sync_site *s)
{
    if (s->place.frame != ROW_NONE) return s->place.source.function;
    if (s->place.annotation != ROW_NONE) return trace_name(t, s->place.annotation);
    return trace_str(t, s->call);
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
    text_styled(
        s->out, TEXT_DIM, s->color,
        human_cut_path(buf_str(&line), (s->columns ? s->columns : s->width) - 8, cut, sizeof cut));
    buf_addc(s->out, '\n');
    if (!buf_ok(&line)) s->out->failed = true;
    buf_done(&line);
}

/* Each row of the table is followed by the place in the program. */
static void put_lines(const struct screen *s, const struct view_syncs *v, struct str lines)
{
    for (uint32_t i = 0; lines.n; i++) {
        const char *end = memchr(lines.p, '\n', lines.n);
        size_t n = end ? (size_t)(end - lines.p) + 1 : lines.n;
        buf_add(s->out, lines.p, n);
        if (i) site_place(s, v, &v->syncs->sites[i - 1]);
        lines = str_from(lines.p + n, lines.n - n);
    }
}

static void view_syncs_show_sites(const struct screen *s, const struct view_syncs *v)
{
    static const char *const keys[] = {"id",    "kind",     "blocked_us",  "exposed_us",
                                       "count", "per_step", "queue_depth", NULL};
    struct buf text, lines;
    struct result_text t;
    buf_init(&text);
    buf_init(&lines);
    struct rows sites = rows_syncs(v->cx, v->syncs, &text);
    result_text_begin(&t, &result_syncs, NULL, keys);
    result_text_fit(&t, &sites);
    text_table_col(&t.table, "drains", TEXT_LEFT);
    text_table_col(&t.table, "in", TEXT_LEFT);
    for (uint32_t i = 0; i < sites.n && i < s->limit; i++) {
        const struct sync_site *site = rows_at(&sites, i);
        char name[128];
        result_text_add(&t, &sites, i, NULL, TEXT_PLAIN);
        human_cut(site_name(v->t, site), 60, name, sizeof name);
        text_table_cell(&t.table, 7, site->n_drains ? "yes" : "-");
        text_table_cell(&t.table, 8, name);
    }
    struct screen to_lines = *s;
    to_lines.out = &lines;
    result_text_print(&t, &to_lines);
    result_text_done(&t);
    put_lines(s, v, buf_str(&lines));
    if (!buf_ok(&lines) || !buf_ok(&text)) s->out->failed = true;
    buf_done(&lines);
    buf_done(&text);
    screen_more(s, sites.n);
}

static void say_totals(const struct screen *s, const struct view_syncs *v)
{
    const struct sync_totals *all = &v->syncs->totals;
    buf_printf(s->out, "the CPU waits %s time%s at %s place%s", human_count(all->n).s,
               all->n == 1 ? "" : "s", human_count(v->syncs->n_sites).s,
               v->syncs->n_sites == 1 ? "" : "s");
    if (v->syncs->n_steps)
        buf_printf(s->out, " (%s step%s)", human_count(v->syncs->n_steps).s,
                   v->syncs->n_steps == 1 ? "" : "s");
    buf_printf(s->out, ": blocked %s, which leaves the GPU idle for %s\n",
               human_time(all->blocked_ns).s, human_time(all->exposed_ns).s);
}

static void say_rest(const struct screen *s, const struct view_syncs *v)
{
    const struct waits *w = v->syncs->waits;
    uint32_t own = v->syncs->profiler.n;
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
    buf_adds(s->out, "  blocked: CPU time inside the calls; exposed: GPU idle time they cause\n"
                     "  drains: the call waits for all queued work\n");
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
        view_syncs_show_sites(s, v);
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
