/* view_quality.c: see view_quality.h. */
#include "report/view_quality.h"

#include <stdio.h>
#include <string.h>

static const struct {
    uint8_t flag;
    const char *name;
} recorded[] = {{RECORDED_STACKS, "stacks"},
                {RECORDED_SHAPES, "shapes"},
                {RECORDED_MEMORY, "memory"},
                {RECORDED_MODULES, "modules"},
                {RECORDED_FLOPS, "flops"}};

enum { N_RECORDED = sizeof recorded / sizeof *recorded };

void view_quality_line(const struct screen *s, const struct integrity *i)
{
    static const enum text_style styles[] = {TEXT_PLAIN, TEXT_PLAIN, TEXT_YELLOW, TEXT_RED};
    const struct recording_cost *r = &i->recording;
    buf_adds(s->out, "trace quality: ");
    text_styled(s->out, styles[i->quality], s->color, quality_name(i->quality));
    if (r->pct >= 1 && r->pct < 1000) {
        const char *between = " (recorded with ";
        for (int k = 0; k < N_RECORDED; k++) {
            if (!(r->flags & recorded[k].flag)) continue;
            buf_printf(s->out, "%s%s", between, recorded[k].name);
            between = ", ";
        }
        buf_printf(s->out, "%sCPU side about %.0f %% slower)", r->flags ? ": " : " (", r->pct);
    }
    buf_addc(s->out, '\n');
}

/* Words of `text` in lines of the screen's width, indented. */
static void wrap(const struct screen *s, const char *text, int indent)
{
    int col = 0;
    while (*text) {
        size_t n = strcspn(text, " ");
        if (col && col + 1 + (int)n > s->width) {
            buf_addc(s->out, '\n');
            col = 0;
        }
        if (!col) buf_pad(s->out, ' ', col = indent);
        else buf_addc(s->out, ' '), col++;
        buf_add(s->out, text, n);
        col += (int)n;
        text += n + strspn(text + n, " ");
    }
    if (col) buf_addc(s->out, '\n');
}

static void show_doubt(const struct screen *s, const struct doubt *d)
{
    char label[32];
    snprintf(label, sizeof label, "%s: ", quality_name(d->level));
    buf_adds(s->out, "  ");
    text_styled(s->out, d->level >= QUALITY_DOUBTFUL ? TEXT_RED : TEXT_YELLOW, s->color,
                d->level ? label : "note: ");
    buf_printf(s->out, "%s\n", d->what);
    wrap(s, d->means, 4);
    if (d->instead[0]) wrap(s, d->instead, 4);
}

void view_quality_text(const struct screen *s, const struct integrity *i, enum quality least)
{
    view_quality_line(s, i);
    for (uint32_t k = 0; k < i->n_doubts; k++)
        if (i->doubts[k].level >= least) show_doubt(s, &i->doubts[k]);
}

void view_quality_warn(const struct screen *s, const struct integrity *i)
{
    if (i->quality == QUALITY_GOOD) return;
    view_quality_text(s, i, QUALITY_USABLE);
    buf_addc(s->out, '\n');
}

static void json_doubt(struct jout *j, const struct trace *t, const struct doubt *d)
{
    jout_obj(j, NULL);
    jout_cstr(j, "id", d->id);
    jout_cstr(j, "level", quality_name(d->level));
    jout_uint(j, "count", d->count);
    if (d->of) jout_uint(j, "of", d->of);
    else jout_null(j, "of");
    jout_cstr(j, "what", d->what);
    jout_cstr(j, "means", d->means);
    jout_cstr(j, "instead", d->instead);
    if (d->example != ROW_NONE) {
        jout_str(j, "example", trace_name(t, d->example));
        jout_us(j, "example_start_us", trace_since_ns(t, t->ts_ns[d->example]));
    } else {
        jout_null(j, "example");
        jout_null(j, "example_start_us");
    }
    jout_end_obj(j);
}

static void json_recording(struct jout *j, const struct recording_cost *r)
{
    jout_obj(j, "recording");
    jout_uint(j, "ops", r->ops);
    jout_uint(j, "calls", r->calls);
    jout_uint(j, "python_frames", r->frames);
    jout_uint(j, "memory_events", r->instants);
    jout_us(j, "cost_us", r->cost_ns);
    jout_us(j, "working_us", r->working_ns);
    jout_end_obj(j);
}

static void json_coverage(struct jout *j, const struct coverage *c)
{
    jout_obj(j, "coverage");
    jout_uint(j, "launches_expected", c->all.expected);
    jout_uint(j, "launches_recorded", c->all.recorded);
    jout_num(j, "pct", share_pct(c->all), 3);
    jout_arr(j, "devices");
    for (uint32_t i = 0; i < c->n_devices; i++) {
        jout_obj(j, NULL);
        jout_int(j, "device", c->devices[i].device);
        jout_num(j, "pct", share_pct(c->devices[i].launches), 3);
        jout_end_obj(j);
    }
    jout_end_arr(j);
    jout_end_obj(j);
}

void view_quality_json(struct jout *j, const char *key, const struct trace *t,
                       const struct integrity *i)
{
    jout_obj(j, key);
    jout_cstr(j, "verdict", quality_name(i->quality));
    jout_bool(j, "idle_trusted", i->idle_trusted);
    jout_bool(j, "times_trusted", i->times_trusted);
    jout_bool(j, "links_trusted", i->links_trusted);
    jout_num(j, "recording_cost_pct", i->recording.pct, 1);
    if (i->recording.sample_ns) jout_us(j, "python_sample_us", i->recording.sample_ns);
    else jout_null(j, "python_sample_us");
    json_recording(j, &i->recording);
    jout_arr(j, "recorded");
    for (int k = 0; k < N_RECORDED; k++)
        if (i->recording.flags & recorded[k].flag) jout_cstr(j, NULL, recorded[k].name);
    jout_end_arr(j);
    json_coverage(j, &i->coverage);
    jout_arr(j, "doubts");
    for (uint32_t k = 0; k < i->n_doubts; k++) json_doubt(j, t, &i->doubts[k]);
    jout_end_arr(j);
    jout_end_obj(j);
}
