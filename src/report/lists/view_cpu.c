/* view_cpu.c: see views_kernels.h. */
#include "report/lists/views_kernels.h"

#include "analyze/gaps/wall.h"
#include "analyze/names/source_place.h"
#include "analyze/ops/cpu_hot.h"
#include "analyze/quality/integrity.h"
#include "base/human.h"
#include "base/stats.h"
#include "report/md.h"
#include "report/report_private.h"

bool view_cpu_only(const struct context *cx)
{
    return !timeline_of(cx)->n_devices && !integrity_of(cx)->coverage.all.expected;
}

/* Functions are recorded from the first import on, the wall clock begins with the first operator or
 * call: what runs before it is a part of the recording, not of the wall clock. */
static int64_t view_cpu_all_ns(const struct context *cx, const struct cpu_hot_list *l)
{
    if (l != &cpu_hot_of(cx)->functions) return wall_of(cx)->wall_ns;
    int64_t recorded = cx->t->begin_ns == ID_NONE ? 0 : cx->t->end_ns - cx->t->begin_ns;
    return recorded > wall_of(cx)->wall_ns ? recorded : wall_of(cx)->wall_ns;
}

/* Of an item of a list, on one thread: on several it may take longer than there is. NULL: of
 * anything else. */
static double view_cpu_share(const struct context *cx, const struct cpu_hot_list *l, int64_t ns)
{
    return stats_pct((double)ns, (double)view_cpu_all_ns(cx, l));
}

/* "resize" for operators; "image.py:12 decode" or "Tensor.tolist" for functions. */
static void view_cpu_put_name(struct buf *out, const struct trace *t, const struct cpu_hot_item *i)
{
    struct frame f;
    if (t->kind[i->longest] != KIND_PYTHON) buf_add_str(out, trace_str(t, i->name));
    else if (frame_parse(trace_str(t, i->name), &f)) source_places_print_frame(t, i->longest, out);
    else source_places_print_call(t, i->longest, out);
}

/* An item that takes less is not hot. */
#define VIEW_CPU_LEAST_PCT 1.0

static void put_list(const struct screen *s, const struct context *cx, const char *title,
                     const struct cpu_hot_list *l, uint32_t most)
{
    struct text_table table;
    if (!l->n || view_cpu_share(cx, l, l->top[0].thread_ns) < VIEW_CPU_LEAST_PCT) return;
    text_table_init(&table);
    text_table_col(&table, title, TEXT_LEFT);
    text_table_col(&table, "calls", TEXT_RIGHT);
    text_table_col(&table, "itself", TEXT_RIGHT);
    bool more = view_cpu_all_ns(cx, l) > wall_of(cx)->wall_ns;
    text_table_col(&table, more ? "of recording" : "of wall", TEXT_RIGHT);
    int unit = screen_unit(l->top[0].self_ns);
    for (uint32_t i = 0; i < l->n && i < most; i++) {
        if (view_cpu_share(cx, l, l->top[i].thread_ns) < VIEW_CPU_LEAST_PCT) break;
        struct buf name;
        char cut[128];
        buf_init(&name);
        view_cpu_put_name(&name, cx->t, &l->top[i]);
        text_table_row(&table, TEXT_PLAIN);
        text_table_cell(&table, 0, human_cut(buf_str(&name), 56, cut, sizeof cut));
        screen_count(&table, 1, l->top[i].calls);
        screen_time(&table, 2, l->top[i].self_ns, unit);
        text_table_cell(&table, 3, human_pct(view_cpu_share(cx, l, l->top[i].thread_ns)).s);
        buf_done(&name);
    }
    buf_addc(s->out, '\n');
    screen_table(s, &table);
    text_table_done(&table);
}

void view_cpu_text(const struct screen *s, const struct context *cx, uint32_t most)
{
    const struct cpu_hot *h = cpu_hot_of(cx);
    put_list(s, cx, "hot operators", &h->operators, most);
    put_list(s, cx, "hot Python functions", &h->functions, most);
    if (view_cpu_share(cx, NULL, h->data_ns) >= cx->th.value[TH_MEDIUM_GAIN_PCT])
        buf_printf(s->out,
                   "\n  the DataLoader takes %s of the wall clock (%s, %u batch%s); num_workers "
                   "loads them meanwhile\n",
                   human_pct(view_cpu_share(cx, NULL, h->data_ns)).s, human_time(h->data_ns).s,
                   h->data_waits, h->data_waits == 1 ? "" : "es");
}

static void md_list(struct buf *out, const struct context *cx, const char *title,
                    const struct cpu_hot_list *l)
{
    if (!l->n) return;
    buf_printf(out, "\n## %s\n", title);
    for (uint32_t i = 0; i < l->n && i < VIEW_CPU_MOST; i++) {
        struct buf name;
        char cut[256];
        buf_init(&name);
        view_cpu_put_name(&name, cx->t, &l->top[i]);
        buf_adds(out, "- ");
        md_code(out, human_cut(buf_str(&name), 120, cut, sizeof cut));
        buf_done(&name);
        buf_printf(out, ": %s itself in %s calls (%s)\n", human_time(l->top[i].self_ns).s,
                   human_count(l->top[i].calls).s,
                   human_pct(view_cpu_share(cx, l, l->top[i].thread_ns)).s);
    }
}

void view_cpu_md(struct buf *out, const struct context *cx)
{
    const struct cpu_hot *h = cpu_hot_of(cx);
    md_list(out, cx, "Hot operators", &h->operators);
    md_list(out, cx, "Hot Python functions", &h->functions);
    if (h->data_ns)
        buf_printf(out, "\n%s of the wall clock is spent in the DataLoader.\n",
                   human_pct(view_cpu_share(cx, NULL, h->data_ns)).s);
}

static struct value hot_name(const struct rows *r, uint32_t i)
{
    buf_reset(r->text);
    view_cpu_put_name(r->text, r->cx->t, rows_at(r, i));
    return value_text(buf_str(r->text));
}

static struct value hot_share(const struct rows *r, uint32_t i)
{
    const struct cpu_hot_item *item = rows_at(r, i);
    return value_num(view_cpu_share(r->cx, r->with, item->thread_ns));
}

static struct rows hot_rows(const struct cpu_hot_list *l)
{
    return (struct rows){.list = l->top, .n = l->n, .with = l};
}

static struct rows cpu_operators(const struct rows *r, uint32_t i)
{
    return hot_rows(&((const struct cpu_hot *)rows_at(r, i))->operators);
}

static struct rows cpu_functions(const struct rows *r, uint32_t i)
{
    return hot_rows(&((const struct cpu_hot *)rows_at(r, i))->functions);
}

VALUE_OF(cpu_only, value_int(view_cpu_only(r->cx)))

/* clang-format off */
static const struct field hot_fields[] = {
    FIELD_GET(TEXT, "name", "", hot_name, "its name"),
    FIELD(COUNT, "calls", "", struct cpu_hot_item, calls, "its calls"),
    FIELD(NS, "self_us", "", struct cpu_hot_item, self_ns, "time in it and in nothing that it calls"),
    FIELD_GET(PCT, "share_pct", "", hot_share, "share of the wall clock, on the thread where it takes most; of functions, of the recording", .decimals = 3),
};
static const struct result result_hot = RESULT("hot", "operators or functions by their own time", hot_fields, struct cpu_hot_item);

static const struct field cpu_fields[] = {
    FIELD_GET(FLAG, "only", "", cpu_only, "the program uses no device"),
    FIELD_IN(LIST, "operators", "", &result_hot, cpu_operators, "operators by the time in them and in nothing they call"),
    FIELD_IN(LIST, "functions", "", &result_hot, cpu_functions, "Python functions by the same"),
    FIELD(NS, "data_wait_us", "", struct cpu_hot, data_ns, "time in a DataLoader"),
    FIELD(COUNT, "data_waits", "", struct cpu_hot, data_waits, "how often"),
};
/* clang-format on */

const struct result result_cpu =
    RESULT("cpu", "where the CPU spends its time", cpu_fields, struct cpu_hot);

struct rows rows_in_cpu(const struct rows *r, uint32_t i)
{
    (void)i;
    return (struct rows){.list = cpu_hot_of(r->cx), .n = 1};
}
