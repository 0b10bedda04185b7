/* view_cpu.c: see view_cpu.h. */
#include "report/view_cpu.h"

#include "analyze/gaps/wall.h"
#include "analyze/names/source_place.h"
#include "analyze/ops/cpu_hot.h"
#include "analyze/quality/integrity.h"
#include "base/human.h"
#include "base/stats.h"

#define SHOWN 5

bool view_cpu_only(const struct context *cx)
{
    return !timeline_of(cx)->n_devices && !integrity_of(cx)->coverage.all.expected;
}

static double share(const struct context *cx, int64_t ns)
{
    return stats_pct((double)ns, (double)wall_of(cx)->wall_ns);
}

/* "resize" for operators; "image.py:12 decode" or "Tensor.tolist" for functions. */
static void put_name(struct buf *out, const struct trace *t, const struct cpu_hot_item *i)
{
    struct frame f;
    if (t->kind[i->longest] != KIND_PYTHON) buf_add_str(out, trace_str(t, i->name));
    else if (frame_parse(trace_str(t, i->name), &f)) source_places_print_frame(t, i->longest, out);
    else source_places_print_call(t, i->longest, out);
}

static void put_list(const struct screen *s, const struct context *cx, const char *title,
                     const struct cpu_hot_list *l)
{
    struct text_table table;
    if (!l->n) return;
    text_table_init(&table);
    text_table_col(&table, title, TEXT_LEFT);
    text_table_col(&table, "calls", TEXT_RIGHT);
    text_table_col(&table, "itself", TEXT_RIGHT);
    text_table_col(&table, "of wall", TEXT_RIGHT);
    int unit = screen_unit(l->top[0].self_ns);
    for (uint32_t i = 0; i < l->n && i < SHOWN; i++) {
        struct buf name;
        char cut[128];
        buf_init(&name);
        put_name(&name, cx->t, &l->top[i]);
        text_table_row(&table, TEXT_PLAIN);
        text_table_cell(&table, 0, human_cut(buf_str(&name), 56, cut, sizeof cut));
        screen_count(&table, 1, l->top[i].calls);
        screen_time(&table, 2, l->top[i].self_ns, unit);
        text_table_cell(&table, 3, human_pct(share(cx, l->top[i].self_ns)).s);
        buf_done(&name);
    }
    buf_addc(s->out, '\n');
    text_table_print(&table, s->out, 2, s->width, s->color);
    text_table_done(&table);
}

void view_cpu_text(const struct screen *s, const struct context *cx)
{
    const struct cpu_hot *h = cpu_hot_of(cx);
    put_list(s, cx, "hot operators", &h->operators);
    put_list(s, cx, "hot Python functions", &h->functions);
    if (h->data_ns)
        buf_printf(
            s->out,
            "\n  the DataLoader takes %s of the wall clock (%s, %u batches); num_workers loads "
            "them meanwhile\n",
            human_pct(share(cx, h->data_ns)).s, human_time(h->data_ns).s, h->data_waits);
}

static void md_list(struct buf *out, const struct context *cx, const char *title,
                    const struct cpu_hot_list *l)
{
    if (!l->n) return;
    buf_printf(out, "\n## %s\n", title);
    for (uint32_t i = 0; i < l->n && i < SHOWN; i++) {
        buf_adds(out, "- `");
        put_name(out, cx->t, &l->top[i]);
        buf_printf(out, "`: %s itself in %u calls (%s)\n", human_time(l->top[i].self_ns).s,
                   l->top[i].calls, human_pct(share(cx, l->top[i].self_ns)).s);
    }
}

void view_cpu_md(struct buf *out, const struct context *cx)
{
    const struct cpu_hot *h = cpu_hot_of(cx);
    md_list(out, cx, "Hot operators", &h->operators);
    md_list(out, cx, "Hot Python functions", &h->functions);
    if (h->data_ns)
        buf_printf(out, "\n%s of the wall clock is spent in the DataLoader.\n",
                   human_pct(share(cx, h->data_ns)).s);
}

static void json_list(struct jout *j, const char *key, const struct context *cx,
                      const struct cpu_hot_list *l)
{
    jout_arr(j, key);
    for (uint32_t i = 0; i < l->n; i++) {
        struct buf name;
        buf_init(&name);
        put_name(&name, cx->t, &l->top[i]);
        jout_obj(j, NULL);
        jout_str(j, "name", buf_str(&name));
        jout_uint(j, "calls", l->top[i].calls);
        jout_us(j, "self_us", l->top[i].self_ns);
        jout_num(j, "share_pct", share(cx, l->top[i].self_ns), 3);
        jout_end_obj(j);
        if (!buf_ok(&name)) j->out->failed = true;
        buf_done(&name);
    }
    jout_end_arr(j);
}

void view_cpu_json(struct jout *j, const char *key, const struct context *cx)
{
    const struct cpu_hot *h = cpu_hot_of(cx);
    jout_obj(j, key);
    jout_bool(j, "only", view_cpu_only(cx));
    json_list(j, "operators", cx, &h->operators);
    json_list(j, "functions", cx, &h->functions);
    jout_us(j, "data_wait_us", h->data_ns);
    jout_uint(j, "data_waits", h->data_waits);
    jout_end_obj(j);
}
