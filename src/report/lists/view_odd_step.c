/* view_odd_step.c: see views_time.h. */
#include "report/lists/views_time.h"

#include <stdio.h>

#include "analyze/names/source_place.h"
#include "base/human.h"
#include "base/text.h"
#include "report/report_private.h"

static void view_odd_step_put_times(struct text_table *tt, const char *name,
                                    const struct odd_pair *p)
{
    text_table_row(tt, TEXT_PLAIN);
    text_table_cell(tt, 0, name);
    text_table_cell(tt, 1, human_time(p->here).s);
    text_table_cell(tt, 2, human_time(p->usual).s);
}

/* As many as usual explain nothing. */
static void view_odd_step_put_counts(struct text_table *tt, const char *name,
                                     const struct odd_pair *p)
{
    if (p->here == p->usual) return;
    text_table_row(tt, TEXT_PLAIN);
    text_table_cell(tt, 0, name);
    text_table_cell(tt, 1, human_count((uint64_t)p->here).s);
    text_table_cell(tt, 2, human_count((uint64_t)p->usual).s);
}

/* Functions by package path and line, as everywhere. */
static void view_odd_step_name(const struct trace *t, row_t r, struct buf *out)
{
    struct frame f;
    if (t->kind[r] != KIND_PYTHON) buf_add_str(out, trace_name(t, r));
    else if (frame_parse(trace_name(t, r), &f)) source_places_print_frame(t, r, out);
    else source_places_print_call(t, r, out);
}

static void view_odd_step_put_parts(struct text_table *tt, const struct trace *t,
                                    const struct odd_step *o, uint32_t most)
{
    for (uint32_t i = 0; i < o->n_parts && i < most; i++) {
        struct buf name;
        char cut[80];
        buf_init(&name);
        buf_adds(&name, "in ");
        view_odd_step_name(t, o->parts[i].row, &name);
        view_odd_step_put_times(tt, human_cut(buf_str(&name), 62, cut, sizeof cut),
                                &o->parts[i].own_ns);
        buf_done(&name);
    }
}

static void view_odd_step_put_table(const struct screen *s, const struct trace *t,
                                    const struct odd_step *o, uint32_t most)
{
    struct text_table tt;
    char usual[48], cut[64], head[80];
    text_table_init(&tt);
    snprintf(head, sizeof head, "that %s", human_cut(o->unit, 50, cut, sizeof cut));
    snprintf(usual, sizeof usual, "median of %u", o->n_others);
    text_table_col(&tt, head, TEXT_LEFT);
    text_table_col(&tt, "took", TEXT_RIGHT);
    text_table_col(&tt, usual, TEXT_RIGHT);
    view_odd_step_put_times(&tt, o->before ? "wall, with time between" : "wall", &o->wall_ns);
    if (o->gpu_ns.here || o->gpu_ns.usual) view_odd_step_put_times(&tt, "GPU busy", &o->gpu_ns);
    if (o->blocked_ns.here || o->blocked_ns.usual)
        view_odd_step_put_times(&tt, "waiting for it", &o->blocked_ns);
    view_odd_step_put_counts(&tt, "launches", &o->launches);
    view_odd_step_put_counts(&tt, "syncs", &o->syncs);
    view_odd_step_put_parts(&tt, t, o, most);
    screen_table(s, &tt);
    text_table_done(&tt);
}

/* "request 10, at 100 ms: 25.0 ms, 2.5 times the median of the 11 others; the longest of them ..."
 */
static void view_odd_step_put_place(const struct screen *s, const struct trace *t,
                                    const struct odd_step *o)
{
    struct buf text;
    char cut[64];
    double ratio = (double)o->wall_ns.here / (double)(o->wall_ns.usual ? o->wall_ns.usual : 1);
    buf_init(&text);
    buf_printf(&text, "%s %u, at %s, took %s%s, %.*f times the median of the %u others",
               human_cut(o->unit, 50, cut, sizeof cut), o->step,
               human_time(trace_since_ns(t, o->begin_ns)).s, human_time(o->wall_ns.here).s,
               o->before ? " since the end of the one before" : "", ratio < 100, ratio,
               o->n_others);
    if (o->n_longer) buf_printf(&text, "; %u of them took longer", o->n_longer);
    else buf_printf(&text, ", which took %s at most", human_time(o->longest_ns).s);
    text_wrap(s->out, buf_c(&text), 2, s->width);
    buf_done(&text);
}

void view_odd_step_text(const struct screen *s, const struct context *cx, uint32_t most)
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
    view_odd_step_put_place(s, cx->t, o);
    buf_addc(s->out, '\n');
    view_odd_step_put_table(s, cx->t, o, most);
}

static const struct odd_step *odd_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

VALUE_OF(odd_why, value_text(odd_at(r, i)->shot.why))
VALUE_OF(odd_number, odd_at(r, i)->found ? value_int(odd_at(r, i)->step) : value_none())
VALUE_OF(odd_unit, odd_at(r, i)->found ? value_text(odd_at(r, i)->unit) : value_none())
VALUE_OF(odd_begin, odd_at(r, i)->found
                        ? value_int(trace_since_ns(r->cx->t, odd_at(r, i)->begin_ns))
                        : value_none())
VALUE_OF(odd_others, odd_at(r, i)->found ? value_int(odd_at(r, i)->n_others) : value_none())
VALUE_OF(odd_longer, odd_at(r, i)->found ? value_int(odd_at(r, i)->n_longer) : value_none())
VALUE_OF(odd_longest, odd_at(r, i)->found ? value_int(odd_at(r, i)->longest_ns) : value_none())
VALUE_OF(odd_part_name,
         value_text(trace_name(r->cx->t, ((const struct odd_part *)rows_at(r, i))->row)))
ROWS_OF(odd_wall, .list = &odd_at(r, i)->wall_ns, .n = odd_at(r, i)->found)
ROWS_OF(odd_busy, .list = &odd_at(r, i)->gpu_ns, .n = odd_at(r, i)->found)
ROWS_OF(odd_blocked, .list = &odd_at(r, i)->blocked_ns, .n = odd_at(r, i)->found)
ROWS_OF(odd_launches, .list = &odd_at(r, i)->launches, .n = odd_at(r, i)->found)
ROWS_OF(odd_syncs, .list = &odd_at(r, i)->syncs, .n = odd_at(r, i)->found)
ROWS_OF(odd_parts, .list = odd_at(r, i)->parts, .n = odd_at(r, i)->n_parts)

/* clang-format off */
static const struct field times_fields[] = {
    FIELD(NS, "here_us", "", struct odd_pair, here, "of that step or request"),
    FIELD(NS, "usual_us", "", struct odd_pair, usual, "the median of the others"),
};
static const struct result result_times = RESULT("times", "a step and the others", times_fields, struct odd_pair);

static const struct field counts_fields[] = {
    FIELD(INT, "here", "", struct odd_pair, here, "of that step or request"),
    FIELD(INT, "usual", "", struct odd_pair, usual, "the median of the others"),
};
static const struct result result_counts = RESULT("counts", "a step and the others", counts_fields, struct odd_pair);

static const struct field odd_part_fields[] = {
    FIELD_GET(TEXT, "name", "", odd_part_name, "a function, operator, call or label"),
    FIELD_SUB("own", &result_times, struct odd_part, own_ns, "its own time, without what it called"),
};
static const struct result result_odd_parts = RESULT("parts", "what took longer", odd_part_fields, struct odd_part);

static const struct field odd_fields[] = {
    FIELD_GET(TEXT, "why", "", odd_why, "why the snapshot was taken"),
    FIELD_GET(COUNT, "step", "", odd_number, "number of the step or request that took too long", .null = NULL_SOMETIMES, .sparse = true),
    FIELD_GET(TEXT, "unit", "", odd_unit, "what is compared: `step`, or the outermost stage around what was slow", .null = NULL_SOMETIMES, .sparse = true),
    FIELD_GET(NS, "begin_us", "", odd_begin, "when it began", .null = NULL_SOMETIMES, .sparse = true),
    FIELD_GET(COUNT, "others", "", odd_others, "number of the others", .null = NULL_SOMETIMES, .sparse = true),
    FIELD_GET(COUNT, "longer", "", odd_longer, "how many of the others took longer", .null = NULL_SOMETIMES, .sparse = true),
    FIELD_GET(NS, "longest_other_us", "", odd_longest, "the longest of the others", .null = NULL_SOMETIMES, .sparse = true),
    FIELD_IN(OBJECT, "wall", "", &result_times, odd_wall, "its wall clock", .sparse = true),
    FIELD_IN(OBJECT, "gpu_busy", "", &result_times, odd_busy, "time in which the device worked", .sparse = true),
    FIELD_IN(OBJECT, "blocked", "", &result_times, odd_blocked, "time in calls that wait for the device", .sparse = true),
    FIELD_IN(OBJECT, "launches", "", &result_counts, odd_launches, "launches", .sparse = true),
    FIELD_IN(OBJECT, "syncs", "", &result_counts, odd_syncs, "calls that wait", .sparse = true),
    FIELD_IN(LIST, "parts", "", &result_odd_parts, odd_parts, "what took longer, by how much", .sparse = true),
};
/* clang-format on */

const struct result result_odd_step =
    RESULT("snapshot", "the step that a snapshot was taken for", odd_fields, struct odd_step);

struct rows rows_in_odd_step(const struct rows *r, uint32_t i)
{
    (void)i;
    return (struct rows){.list = odd_step_of(r->cx), .n = odd_step_of(r->cx)->is_snapshot};
}
