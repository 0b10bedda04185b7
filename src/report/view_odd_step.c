/* view_odd_step.c: see view_odd_step.h. */
#include "report/view_odd_step.h"

#include <stdio.h>

#include "base/human.h"
#include "base/text.h"

static void put_times(struct text_table *tt, const char *name, const struct odd_pair *p)
{
    text_table_row(tt, TEXT_PLAIN);
    text_table_cell(tt, 0, name);
    text_table_cell(tt, 1, human_time(p->here).s);
    text_table_cell(tt, 2, human_time(p->usual).s);
}

static void put_counts(struct text_table *tt, const char *name, const struct odd_pair *p)
{
    if (!p->here && !p->usual) return;
    text_table_row(tt, TEXT_PLAIN);
    text_table_cell(tt, 0, name);
    text_table_cell(tt, 1, human_count((uint64_t)p->here).s);
    text_table_cell(tt, 2, human_count((uint64_t)p->usual).s);
}

static void put_parts(struct text_table *tt, const struct trace *t, const struct odd_step *o)
{
    for (uint32_t i = 0; i < o->n_parts; i++) {
        char cut[80], name[100];
        snprintf(name, sizeof name, "in %s",
                 human_cut(trace_str(t, o->parts[i].name), 60, cut, sizeof cut));
        put_times(tt, name, &o->parts[i].own_ns);
    }
}

static void put_table(const struct screen *s, const struct trace *t, const struct odd_step *o)
{
    struct text_table tt;
    char usual[48];
    text_table_init(&tt);
    snprintf(usual, sizeof usual, "median of %u", o->n_others);
    text_table_col(&tt, "that step", TEXT_LEFT);
    text_table_col(&tt, "took", TEXT_RIGHT);
    text_table_col(&tt, usual, TEXT_RIGHT);
    put_times(&tt, "wall", &o->wall_ns);
    if (o->gpu_ns.here || o->gpu_ns.usual) put_times(&tt, "GPU busy", &o->gpu_ns);
    if (o->blocked_ns.here || o->blocked_ns.usual) put_times(&tt, "waiting for it", &o->blocked_ns);
    put_counts(&tt, "launches", &o->launches);
    put_counts(&tt, "syncs", &o->syncs);
    put_parts(&tt, t, o);
    text_table_print(&tt, s->out, 2, s->width, s->color);
    text_table_done(&tt);
}

void view_odd_step_text(const struct screen *s, const struct context *cx)
{
    const struct odd_step *o = odd_step_of(cx);
    struct buf text;
    char cut[420];
    if (!o->is_snapshot) return;
    buf_init(&text);
    buf_printf(&text, "snapshot: %s", human_cut(o->shot.why, 400, cut, sizeof cut));
    text_wrap(s->out, buf_c(&text), 10, s->width);
    buf_done(&text);
    if (!o->found) return;
    buf_addc(s->out, '\n');
    put_table(s, cx->t, o);
    buf_addc(s->out, '\n');
}

static void put_pair(struct jout *j, const char *key, const struct odd_pair *p, bool time)
{
    jout_obj(j, key);
    if (time) {
        jout_us(j, "here_us", p->here);
        jout_us(j, "usual_us", p->usual);
    } else {
        jout_int(j, "here", p->here);
        jout_int(j, "usual", p->usual);
    }
    jout_end_obj(j);
}

static void put_step(struct jout *j, const struct trace *t, const struct odd_step *o)
{
    jout_int(j, "step", o->step);
    put_pair(j, "wall", &o->wall_ns, true);
    put_pair(j, "gpu_busy", &o->gpu_ns, true);
    put_pair(j, "blocked", &o->blocked_ns, true);
    put_pair(j, "launches", &o->launches, false);
    put_pair(j, "syncs", &o->syncs, false);
    jout_arr(j, "parts");
    for (uint32_t i = 0; i < o->n_parts; i++) {
        jout_obj(j, NULL);
        jout_str(j, "name", trace_str(t, o->parts[i].name));
        put_pair(j, "own", &o->parts[i].own_ns, true);
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

void view_odd_step_json(struct jout *j, const char *key, const struct context *cx)
{
    const struct odd_step *o = odd_step_of(cx);
    if (!o->is_snapshot) {
        jout_null(j, key);
        return;
    }
    jout_obj(j, key);
    jout_str(j, "why", o->shot.why);
    if (o->found) put_step(j, cx->t, o);
    jout_end_obj(j);
}
