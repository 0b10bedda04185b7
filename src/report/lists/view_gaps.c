/* view_gaps.c: see views_waits.h. Times are relative to the first event, as Perfetto shows them. */
#include "report/lists/views_waits.h"

#include <ctype.h>
#include <stdio.h>

#include "analyze/names/program.h"
#include "base/human.h"
#include "base/stats.h"
#include "report/lists/views_file.h"
#include "report/result_text.h"
#include "results/result_json.h"
#include "results/results.h"

/* ---- JSON */

static struct rows document_devices(const struct rows *r, uint32_t i)
{
    return rows_gap_devices(r->cx, rows_at(r, i));
}

static struct rows document_causes(const struct rows *r, uint32_t i)
{
    return rows_causes(r->cx, rows_at(r, i));
}

static struct rows document_gaps(const struct rows *r, uint32_t i)
{
    return rows_gaps(r->cx, rows_at(r, i));
}

/* clang-format off */
static const struct field document_fields[] = {
    FIELD(NS, "min_us", "", struct gaps, min_ns, "shorter gaps are added up, not listed"),
    FIELD_IN(LIST, "devices", "", &result_gap_devices, document_devices, "per device: its window, and how much of it is idle"),
    FIELD_IN(LIST, "causes", "", &result_causes, document_causes, "why it was idle, most first; those of a device add up to its `idle_us`"),
    FIELD_IN(LIST, "gaps", "", &result_gaps, document_gaps, "each gap, longest first"),
    FIELD_IN(OBJECT, "trace_quality", "", &result_quality, rows_in_quality, ""),
};
/* clang-format on */

const struct result document_gaps_view =
    RESULT("gaps", "when the devices were idle, and why", document_fields, struct gaps);

void view_gaps_json(struct jout *j, const char *key, const struct view_gaps *v)
{
    document_json(j, key, v->cx, &document_gaps_view, v->gaps, NULL);
}

/* ---- text */

/* The cause that costs most and that someone could remove; NULL where there is none. */
static const struct gap_cause *view_gaps_top(const struct gaps *g, uint32_t device)
{
    for (uint32_t i = 0; i < g->n_causes; i++)
        if (g->causes[i].device == device && g->causes[i].kind != CAUSE_SHORT) return &g->causes[i];
    return NULL;
}

/* What makes fewer and larger kernels of many small ones, in the words of the program's framework.
 */
static const char *view_gaps_remedy(const struct trace *t)
{
    return program_is_jax(t) ? "Fewer, larger kernels help: more of the step under one jax.jit."
                             : "Fewer, larger kernels (torch.compile) or CUDA graphs help.";
}

static void say_device(const struct screen *s, const struct view_gaps *v,
                       const struct gaps_device *d, const struct gap_cause *top)
{
    int64_t min_ns = v->gaps->min_ns;
    char name[64];
    struct buf line;
    int64_t window = d->window.end_ns - d->window.begin_ns;
    buf_printf(s->out, "GPU %d is idle for %s of %s (%s)", d->device, human_time(d->idle_ns).s,
               human_time(window).s, human_pct(stats_pct(d->idle_ns, window)).s);
    if (top)
        buf_printf(s->out, "\n  largest cause: %s (%s), %s",
                   human_cut(top->name, 36, name, sizeof name), gap_cause_kind_words(top->kind),
                   human_time(top->idle_ns).s);
    buf_init(&line);
    buf_printf(&line, "%s gap%s, %s of %s or more", human_count(d->n_gaps).s,
               d->n_gaps == 1 ? "" : "s", human_count(d->n_listed).s, human_time(min_ns).s);
    if (d->before_ns || d->after_ns)
        buf_printf(&line, "; not counted: %s before and %s after all its work",
                   human_time(d->before_ns).s, human_time(d->after_ns).s);
    buf_adds(s->out, "\n  ");
    text_wrap(s->out, buf_c(&line), 2, s->width);
    if (!buf_ok(&line)) s->out->failed = true;
    buf_done(&line);
    if (d->small_shapes)
        buf_printf(s->out,
                   "  small kernels: one takes %s on average, and a launch comes every %s.\n"
                   "  %s\n",
                   human_time(d->kernel_ns).s, human_time(d->interval_ns).s,
                   view_gaps_remedy(v->t));
}

/* Column widths of the two names, so that a line of a full table fills 100 columns. */
enum { NAME_WIDTH = 28, WHERE_WIDTH = 28 };

static void cell_name(struct text_table *tt, int col, const struct view_gaps *v, uint32_t i,
                      int width)
{
    const struct gap_cause *c = &v->gaps->causes[i];
    struct buf text;
    char cut[256];
    uint32_t n;
    const struct gap_cause_inner *inner = gaps_inner(v->gaps, i, &n);
    buf_init(&text);
    buf_add_str(&text, c->name);
    if (n && inner[0].idle_ns * 3 > c->idle_ns)
        buf_printf(&text, " (" STR_FMT ")", STR_ARG(inner[0].name));
    bool once = c->kind == CAUSE_PROFILER || c->kind == CAUSE_LOADING;
    if (once && !gaps_recurs(c, steps_of(v->cx))) buf_adds(&text, " (once)");
    text_table_cell(tt, col, human_cut(buf_str(&text), width, cut, sizeof cut));
    if (!buf_ok(&text)) tt->failed = true;
    buf_done(&text);
}

static void view_gaps_cell_where(struct text_table *tt, int col, const struct view_gaps *v,
                                 const struct gap_cause *c, int width)
{
    struct buf text;
    struct frame f;
    char cut[256];
    buf_init(&text);
    if (c->kind == CAUSE_SYNC && c->site != CAUSE_NO_SITE)
        buf_printf(&text, "site %u  ", c->site + 1);
    if (c->frame != ROW_NONE && frame_parse(trace_name(v->t, c->frame), &f)) {
        buf_add_str(&text, frame_path(f.file));
        frame_print_line(&text, f.line);
    }
    text_table_cell(tt, col, human_cut_path(buf_str(&text), width, cut, sizeof cut));
    if (!buf_ok(&text)) tt->failed = true;
    buf_done(&text);
}

static void show_causes(const struct screen *s, const struct view_gaps *v, uint32_t device)
{
    static const char *const keys[] = {"idle_us", "share_pct", "count", NULL};
    const struct gaps *g = v->gaps;
    struct rows rows = rows_causes(v->cx, g);
    struct result_text t;
    uint32_t n = 0, shown = 0;
    double sum = 0, total = (double)g->devices[device].idle_ns;
    int wide = s->columns > s->width ? (s->columns - s->width) / 2 : 0;
    result_text_begin(&t, &result_causes, NULL, keys);
    result_text_fit(&t, &rows);
    text_table_col(&t.table, "cause", TEXT_LEFT);
    text_table_col(&t.table, "what", TEXT_LEFT);
    text_table_col(&t.table, "where", TEXT_LEFT);
    for (uint32_t i = 0; i < g->n_causes; i++) {
        const struct gap_cause *c = &g->causes[i];
        bool dim = c->kind == CAUSE_PROFILER || c->kind == CAUSE_SHORT;
        if (c->device != device) continue;
        n++;
        if (screen_full(s, shown, sum, total)) continue;
        shown++;
        sum += (double)c->idle_ns;
        result_text_add(&t, &rows, i, NULL, dim ? TEXT_DIM : TEXT_PLAIN);
        text_table_cell(&t.table, 3, gap_cause_kind_words(c->kind));
        cell_name(&t.table, 4, v, i, NAME_WIDTH + wide);
        view_gaps_cell_where(&t.table, 5, v, c, WHERE_WIDTH + wide);
    }
    if (n) result_text_print(&t, s);
    result_text_done(&t);
    screen_rest(s, shown, n, sum, total);
}

/* The main causes of a gap, and the sync that left the device without work. */
static void gap_causes_cell(struct text_table *tt, int col, const struct view_gaps *v,
                            const struct gap *g)
{
    char name[64];
    struct buf text;
    buf_init(&text);
    for (uint32_t i = 0; i < g->n_parts && i < 3; i++) {
        const struct gap_cause *c = &v->gaps->causes[g->parts[i].cause];
        if (i && g->parts[i].ns * 20 < idle_gap_ns(g->at)) break;
        buf_printf(&text, "%s%s %s", i ? ", " : "", human_cut(c->name, 30, name, sizeof name),
                   human_time(g->parts[i].ns).s);
    }
    if (g->site != CAUSE_NO_SITE) buf_printf(&text, "; after sync site %u", g->site + 1);
    text_table_cell(tt, col, buf_c(&text));
    if (!buf_ok(&text)) tt->failed = true;
    buf_done(&text);
}

static void show_longest(const struct screen *s, const struct view_gaps *v)
{
    enum { MOST = 8 };
    static const char *const keys[] = {"start_us", "dur_us", "step", NULL};
    struct rows rows = rows_gaps(v->cx, v->gaps);
    struct result_text t;
    if (!v->gaps->n_all) return;
    result_text_begin(&t, &result_gaps, "longest at", keys);
    result_text_fit(&t, &rows);
    text_table_col(&t.table, "what the CPU did meanwhile", TEXT_LEFT);
    for (uint32_t i = 0; i < rows.n && i < MOST && i < s->limit; i++) {
        char at[32];
        const struct gap *g = rows_at(&rows, i);
        snprintf(at, sizeof at, "%.3f ms", (double)trace_since_ns(v->t, g->at->begin_ns) / 1e6);
        result_text_add(&t, &rows, i, at, TEXT_PLAIN);
        gap_causes_cell(&t.table, 3, v, g);
    }
    buf_addc(s->out, '\n');
    result_text_print(&t, s);
    result_text_done(&t);
}

static bool view_gaps_is_plain(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        bool plain = isalnum((unsigned char)s.p[i]) || s.p[i] == '_' || s.p[i] == ':';
        if (!plain) return false;
    }
    return s.n > 0 && s.n < 60;
}

/* The command that replays without the largest cause that is CPU work with a name. */
static bool make_whatif(const struct gaps *g, char *out, size_t cap)
{
    for (uint32_t i = 0; i < g->n_causes; i++) {
        const struct gap_cause *c = &g->causes[i];
        if (c->kind != CAUSE_PYTHON && c->kind != CAUSE_OP && c->kind != CAUSE_LABEL) continue;
        if (!view_gaps_is_plain(c->name)) continue;
        snprintf(out, cap, "whatif %%s --drop-cpu " STR_FMT, STR_ARG(c->name));
        return true;
    }
    return false;
}

void view_gaps_text(const struct screen *s, const struct view_gaps *v)
{
    if (!v->gaps->n_devices) {
        screen_no_device(s);
        return;
    }
    for (uint32_t i = 0; i < v->gaps->n_devices; i++) {
        say_device(s, v, &v->gaps->devices[i], view_gaps_top(v->gaps, i));
        show_causes(s, v, i);
    }
    show_longest(s, v);
    buf_addc(s->out, '\n');
    char drop[128];
    struct screen_next next[] = {
        {"syncs %s", "which CPU waits leave the GPU idle"},
        {drop, "what removing it would gain"},
    };
    screen_next(s, next, make_whatif(v->gaps, drop, sizeof drop) ? 2 : 1);
}
