/* view_part.c: see view_part.h. */
#include "report/view_part.h"

#include "base/human.h"

bool view_part_is(const struct trace *t)
{
    return t->part.whole_end_ns > t->part.whole_begin_ns;
}

static int64_t before_ns(const struct trace *t)
{
    return t->begin_ns - t->part.whole_begin_ns;
}

static int64_t after_ns(const struct trace *t)
{
    int64_t ns = t->part.whole_end_ns - t->end_ns;
    return ns > 0 ? ns : 0;
}

static void put_calls(struct buf *out, const struct trace *t)
{
    const struct trace_part *p = &t->part;
    if (p->number) {
        buf_printf(out, "part %u of %u", p->number, p->n_parts);
        return;
    }
    if (p->snapshot) {
        buf_adds(out, "what was kept");
        return;
    }
    char cut[80];
    const char *many = p->n_calls == 1 ? "" : "s";
    if (!p->n_calls && p->n_records) buf_adds(out, "a part");
    else if (!p->n_calls) buf_adds(out, "the stages");
    else if (p->name == STR_NONE) buf_printf(out, "%s step%s", human_count(p->n_calls).s, many);
    else
        buf_printf(out, "%s call%s of %s", human_count(p->n_calls).s, many,
                   human_cut(trace_str(t, p->name), 40, cut, sizeof cut));
}

void view_part_shown(struct buf *out, const struct trace *t)
{
    if (!view_part_is(t)) return;
    buf_adds(out, "shown: ");
    put_calls(out, t);
    buf_printf(out, ", %s of the %s recorded", human_time(t->end_ns - t->begin_ns).s,
               human_time(t->part.whole_end_ns - t->part.whole_begin_ns).s);
    if (t->part.n_records) buf_printf(out, ", from %s on", human_time(before_ns(t)).s);
}

/* Of a recording too long to read. */
static void put_rest(struct buf *out, const struct trace *t)
{
    buf_printf(out,
               "\nleft out: the rest of %s records (--at TIME shows the part around another time, "
               "--whole adds up all)\n",
               human_count(t->part.n_records).s);
}

void view_part_text(struct buf *out, const struct trace *t)
{
    const struct trace_part *p = &t->part;
    if (!view_part_is(t)) return;
    view_part_shown(out, t);
    if (p->snapshot || (p->number && p->n_parts == 1)) {
        buf_addc(out, '\n');
        return;
    }
    if (p->number) {
        buf_printf(out,
                   "\nleft out: the other parts that strata.timeline recorded (--part 1 to %u; "
                   "--whole includes all)\n",
                   p->n_parts);
        return;
    }
    if (p->n_records) {
        put_rest(out, t);
        return;
    }
    buf_printf(out, "\nleft out: start-up %s", human_time(before_ns(t) - p->cold_ns).s);
    if (p->n_cold == 1) buf_printf(out, ", the cold first call %s", human_time(p->cold_ns).s);
    else if (p->n_cold)
        buf_printf(out, ", %u cold first calls %s", p->n_cold, human_time(p->cold_ns).s);
    if (after_ns(t)) buf_printf(out, ", the end %s", human_time(after_ns(t)).s);
    buf_adds(out, " (--whole includes them)\n");
    if (p->lost_end)
        buf_adds(out, "the device records of the end are lost: the program was killed, or CUPTI's "
                      "buffers were full\n");
}

void view_part_json(struct jout *j, const char *key, const struct trace *t)
{
    const struct trace_part *p = &t->part;
    if (!view_part_is(t)) {
        jout_null(j, key);
        return;
    }
    jout_obj(j, key);
    jout_us(j, "recorded_us", p->whole_end_ns - p->whole_begin_ns);
    jout_us(j, "shown_us", t->end_ns - t->begin_ns);
    jout_us(j, "before_us", before_ns(t));
    jout_us(j, "after_us", after_ns(t));
    if (p->name == STR_NONE) jout_null(j, "name");
    else jout_str(j, "name", trace_str(t, p->name));
    jout_uint(j, "calls", p->n_calls);
    jout_uint(j, "cold_calls", p->n_cold);
    jout_us(j, "cold_us", p->cold_ns);
    jout_bool(j, "lost_end", p->lost_end);
    if (p->n_records) jout_uint(j, "recorded_records", p->n_records);
    if (p->number) {
        jout_uint(j, "number", p->number);
        jout_uint(j, "parts", p->n_parts);
    }
    jout_end_obj(j);
}
