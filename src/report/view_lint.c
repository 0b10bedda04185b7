/* view_lint.c: see view_lint.h. */
#include "report/view_lint.h"

#include <inttypes.h>

#include "base/human.h"
#include "base/jout.h"
#include "report/cells.h"
#include "report/view_quality.h"

#define PLACES_SHOWN 8

/* Prints `text` in lines of at most `width` columns, each behind `indent` blanks. */
static void print_wrapped(struct buf *out, const char *text, int indent, int width)
{
    int col = 0;
    while (*text) {
        size_t n = strcspn(text, " ");
        if (col && col + 1 + (int)n > width) {
            buf_addc(out, '\n');
            col = 0;
        }
        if (col) buf_addc(out, ' ');
        else buf_pad(out, ' ', indent), col = indent - 1;
        buf_add(out, text, n);
        col += 1 + (int)n;
        text += n;
        while (*text == ' ') text++;
    }
    buf_addc(out, '\n');
}

/* "  warning  kernel_before_launch   12" */
static void print_head(const struct screen *s, enum lint_severity severity, const char *id,
                       uint64_t count)
{
    bool warns = severity == LINT_WARNING;
    buf_adds(s->out, "  ");
    text_styled(s->out, warns ? TEXT_YELLOW : TEXT_DIM, s->color, warns ? "warning" : "note   ");
    buf_printf(s->out, "  %s   %s", id, human_count(count).s);
}

static void print_places(const struct screen *s, const struct damage *d, enum damage_reason r)
{
    uint64_t kept = d->count[r] < DAMAGE_PLACES ? d->count[r] : DAMAGE_PLACES;
    buf_adds(s->out, "           at byte ");
    for (uint64_t i = 0; i < kept && i < PLACES_SHOWN; i++)
        buf_printf(s->out, "%s%s", i ? "  " : "", human_count(d->place[r][i]).s);
    if (d->count[r] > PLACES_SHOWN) buf_adds(s->out, "  ...");
    buf_addc(s->out, '\n');
}

static void print_damage(const struct screen *s, const struct trace *t)
{
    for (int r = 0; r < DAMAGE_REASONS; r++) {
        if (!t->damage.count[r]) continue;
        enum damage_reason reason = (enum damage_reason)r;
        print_head(s, damage_loses(reason) ? LINT_WARNING : LINT_INFO, damage_name(reason),
                   t->damage.count[r]);
        buf_printf(s->out, "\n           %s\n", damage_text(reason));
        print_places(s, &t->damage, reason);
    }
}

static void print_examples(const struct screen *s, const struct trace *t,
                           const struct lint_result *r)
{
    if (!r->n_examples) return;
    row_t row = r->examples[0];
    struct str name = trace_name(t, row);
    buf_printf(s->out, "           first: %s at %s", cell_text(name, 50).s,
               t->begin_ns == ID_NONE ? "?" : human_time(trace_since_ns(t, t->ts_ns[row])).s);
    buf_printf(s->out, ", byte %s\n", human_count(t->src[row]).s);
}

static void print_oddity(const struct screen *s, const struct trace *t,
                         const struct lint_oddity *oddity, const struct lint_result *r)
{
    print_head(s, oddity->severity, oddity->id, r->count);
    if (r->of > r->count) buf_printf(s->out, " of %s", human_count(r->of).s);
    if (r->worst_ns) buf_printf(s->out, ", up to %s", human_time(r->worst_ns).s);
    buf_addc(s->out, '\n');
    print_wrapped(s->out, oddity->title, 11, s->width);
    print_wrapped(s->out, oddity->explain, 11, s->width);
    print_examples(s, t, r);
}

void view_lint_text(const struct screen *s, const struct trace *t, const struct lint_results *c)
{
    uint64_t n = damage_total(&t->damage);
    print_damage(s, t);
    for (int i = 0; i < c->n; i++) {
        if (!c->results[i].count) continue;
        print_oddity(s, t, lint_oddities[i], &c->results[i]);
        n++;
    }
    if (!n)
        buf_adds(s->out, "  no problems: the file is complete and the recording is consistent\n");
    buf_addc(s->out, '\n');
    static const struct screen_next next[] = {
        {"info %s", "what is in the file"},
        {"report %s", "what is slow and why"},
    };
    screen_next(s, next, 2);
}

static void json_damage(struct jout *j, const struct damage *d)
{
    jout_arr(j, "damage");
    for (int r = 0; r < DAMAGE_REASONS; r++) {
        if (!d->count[r]) continue;
        jout_obj(j, NULL);
        jout_cstr(j, "reason", damage_name((enum damage_reason)r));
        jout_cstr(j, "text", damage_text((enum damage_reason)r));
        jout_uint(j, "count", d->count[r]);
        jout_bool(j, "loses_events", damage_loses((enum damage_reason)r));
        jout_arr(j, "bytes");
        for (uint64_t i = 0; i < d->count[r] && i < DAMAGE_PLACES; i++)
            jout_uint(j, NULL, d->place[r][i]);
        jout_end_arr(j);
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

static void json_oddity(struct jout *j, const struct trace *t, const struct lint_oddity *oddity,
                        const struct lint_result *r)
{
    jout_obj(j, NULL);
    jout_cstr(j, "id", oddity->id);
    jout_cstr(j, "severity", lint_severity_name(oddity->severity));
    jout_cstr(j, "title", oddity->title);
    jout_cstr(j, "explain", oddity->explain);
    jout_uint(j, "count", r->count);
    jout_uint(j, "of", r->of);
    jout_us(j, "worst_us", r->worst_ns);
    jout_arr(j, "examples");
    for (uint32_t i = 0; i < r->n_examples; i++) {
        jout_obj(j, NULL);
        jout_str(j, "name", trace_name(t, r->examples[i]));
        jout_us(j, "ts_us", t->ts_ns[r->examples[i]]);
        jout_uint(j, "byte", t->src[r->examples[i]]);
        jout_end_obj(j);
    }
    jout_end_arr(j);
    jout_end_obj(j);
}

void view_lint_json(struct buf *out, const struct context *cx, const struct lint_results *c)
{
    const struct trace *t = cx->t;
    struct jout j;
    jout_init(&j, out, true);
    jout_obj(&j, NULL);
    json_damage(&j, &t->damage);
    jout_arr(&j, "checks");
    for (int i = 0; i < c->n; i++) json_oddity(&j, t, lint_oddities[i], &c->results[i]);
    jout_end_arr(&j);
    view_quality_json(&j, "trace_quality", t, integrity_of(cx));
    jout_end_obj(&j);
}
