/* view_excerpt.c: see view_excerpt.h. */
#include "report/diagnosis/view_excerpt.h"

#include "base/human.h"
#include "base/stats.h"
#include "report/report_private.h"

/* Of the recording: what is left out and shorter is not named. */
#define EXCERPT_LEAST_PART 1000

/* Not where next to nothing is left out. */
bool view_excerpt_is(const struct trace *t)
{
    const struct trace_part *p = &t->part;
    int64_t whole = p->whole_end_ns - p->whole_begin_ns, shown = t->end_ns - t->begin_ns;
    return whole > 0 &&
           (p->judged || p->n_records || p->number || whole - shown > whole / EXCERPT_LEAST_PART);
}

static void view_excerpt_put_recorded(struct buf *out, const struct trace_rests *r)
{
    if (r->n_parts == 1 && r->run_ns - r->recorded_ns <= r->run_ns / EXCERPT_LEAST_PART) return;
    buf_printf(out, "recorded: %s of %s, ", human_time(r->recorded_ns).s, human_time(r->run_ns).s);
    if (r->n_parts > 1) buf_printf(out, "in %u parts; the recorder rested in between", r->n_parts);
    else buf_adds(out, "in 1 part; the recorder rested before or after it");
    buf_adds(out, " (--always records all)\n");
}

/* Of a run that was not recorded throughout: how much of it was, and what was seen all the time. */
static void view_excerpt_put_rests(struct buf *out, const struct trace *t)
{
    const struct trace_rests *r = &t->part.rests;
    char cut[80];
    if (!r->n_parts) return;
    view_excerpt_put_recorded(out, r);
    if (r->n_units < 2) return;
    buf_printf(out, "throughout: %s times %s", human_count(r->n_units).s,
               human_cut(trace_str(t, r->unit), 32, cut, sizeof cut));
    if (r->usual_ns) buf_printf(out, ", median %s", human_time(r->usual_ns).s);
    if (r->rest_usual_ns)
        buf_printf(out, ", %sin the rests %s", r->usual_ns ? "" : "median ",
                   human_time(r->rest_usual_ns).s);
    if (r->n_slow)
        buf_printf(out, "; %s pause%s took %s", human_count(r->n_slow).s, r->n_slow == 1 ? "" : "s",
                   human_pct(stats_pct((double)r->slow_ns, (double)r->units_ns)).s);
    buf_addc(out, '\n');
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
    if (p->judged) {
        buf_adds(out, "what can be judged");
        return;
    }
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

void view_excerpt_shown(struct buf *out, const struct trace *t)
{
    if (!view_excerpt_is(t)) return;
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

static const char *const left_out_words[LEFT_OUT_KINDS] = {
    [LEFT_OUT_START_UP] = "start-up",
    [LEFT_OUT_CAPTURE] = "the capture of graphs",
    [LEFT_OUT_PROFILER] = "the profiler's start and stop",
    [LEFT_OUT_EARLIER] = "waiting for work launched before the recording",
};

/* What was left out around the part that can be judged: "start-up 1.31 ms, the end 8.00 us". */
static void view_excerpt_put_left_out(struct buf *out, const struct trace *t)
{
    const char *join = "";
    for (int i = 0; i < LEFT_OUT_KINDS; i++) {
        if (!t->part.left_out_ns[i]) continue;
        buf_printf(out, "%s%s %s", join, left_out_words[i], human_time(t->part.left_out_ns[i]).s);
        join = ", ";
    }
}

/* What was left out around the calls of a recording. Stretches too short to be missed are not
 * named. */
static void view_excerpt_put_around(struct buf *out, const struct trace *t)
{
    const struct trace_part *p = &t->part;
    int64_t least = (p->whole_end_ns - p->whole_begin_ns) / EXCERPT_LEAST_PART;
    int64_t start_up = before_ns(t) - p->cold_ns;
    const char *join = "\nleft out: ";
    size_t before = out->n;
    if (start_up > least) {
        buf_printf(out, "%sstart-up %s", join, human_time(start_up).s);
        join = ", ";
    }
    if (p->n_cold) {
        if (p->n_cold == 1) buf_printf(out, "%sthe cold first call ", join);
        else buf_printf(out, "%s%u cold first calls ", join, p->n_cold);
        buf_adds(out, human_time(p->cold_ns).s);
        join = ", ";
    }
    if (after_ns(t) > least) buf_printf(out, "%sthe end %s", join, human_time(after_ns(t)).s);
    buf_adds(out, out->n > before ? " (--whole includes them)\n" : "\n");
}

static void view_excerpt_put_lost(struct buf *out, const struct trace *t)
{
    if (t->part.snapshot)
        buf_printf(
            out,
            "left out: the last %s, whose device records are missing: the GPU was far behind, "
            "or CUPTI's buffers were full\n",
            human_time(t->part.snapshot_at_ns - t->end_ns).s);
    else
        buf_adds(out, "the device records of the end are lost: the program was killed, or CUPTI's "
                      "buffers were full\n");
}

/* How to see what is not shown. */
static void view_excerpt_put_other(struct buf *out, const struct trace *t)
{
    const struct trace_part *p = &t->part;
    bool part = p->number || p->snapshot;
    if (p->n_records && !part) {
        put_rest(out, t);
        return;
    }
    if (p->number && p->n_parts > 1) buf_printf(out, " (--part 1 to %u shows another)", p->n_parts);
    else if (!part) buf_adds(out, " (--whole shows all)");
    buf_addc(out, '\n');
}

void view_excerpt_brief(struct buf *out, const struct trace *t)
{
    const struct trace_part *p = &t->part;
    view_excerpt_put_rests(out, t);
    if (!view_excerpt_is(t)) return;
    if (!p->judged) {
        view_excerpt_shown(out, t);
        view_excerpt_put_other(out, t);
        if (p->lost_end) view_excerpt_put_lost(out, t);
        return;
    }
    buf_printf(out,
               "left out of the %s recorded: ", human_time(p->whole_end_ns - p->whole_begin_ns).s);
    view_excerpt_put_left_out(out, t);
    buf_adds(out, " (--whole includes it)\n");
}

void view_excerpt_text(struct buf *out, const struct trace *t)
{
    const struct trace_part *p = &t->part;
    view_excerpt_put_rests(out, t);
    if (!view_excerpt_is(t)) return;
    view_excerpt_shown(out, t);
    if (p->judged) {
        buf_adds(out, "\nleft out: ");
        view_excerpt_put_left_out(out, t);
        buf_adds(out, " (--whole includes it)\n");
        return;
    }
    if (p->snapshot || (p->number && p->n_parts == 1)) {
        buf_addc(out, '\n');
        if (p->lost_end) view_excerpt_put_lost(out, t);
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
    view_excerpt_put_around(out, t);
    if (p->lost_end) view_excerpt_put_lost(out, t);
}

VALUE_OF(excerpt_recorded, value_int(r->cx->t->part.whole_end_ns - r->cx->t->part.whole_begin_ns))
VALUE_OF(excerpt_shown, value_int(r->cx->t->end_ns - r->cx->t->begin_ns))
VALUE_OF(excerpt_before, value_int(before_ns(r->cx->t)))
VALUE_OF(excerpt_after, value_int(after_ns(r->cx->t)))
VALUE_OF(excerpt_name, r->cx->t->part.name == STR_NONE
                           ? value_none()
                           : value_text(trace_str(r->cx->t, r->cx->t->part.name)))
VALUE_OF(excerpt_parts, value_int(r->cx->t->part.number ? r->cx->t->part.n_parts : 0))

VALUE_OF(excerpt_rests_unit, r->cx->t->part.rests.n_units < 2
                                 ? value_none()
                                 : value_text(trace_str(r->cx->t, r->cx->t->part.rests.unit)))

/* clang-format off */
static const struct field rests_fields[] = {
    FIELD(COUNT, "parts", "", struct trace_rests, n_parts, "how many parts were recorded"),
    FIELD(NS, "recorded_us", "", struct trace_rests, recorded_ns, "their length together"),
    FIELD(NS, "run_us", "", struct trace_rests, run_ns, "length of the run, from the first record to the last"),
    FIELD_GET(TEXT, "unit", "", excerpt_rests_unit, "what the run repeats, seen in the rests too", .null = NULL_SOMETIMES),
    FIELD(COUNT, "units", "", struct trace_rests, n_units, "how often, in the whole run"),
    FIELD(NS, "usual_us", "", struct trace_rests, usual_ns, "median from one to the next in the parts that were recorded"),
    FIELD(NS, "rest_usual_us", "", struct trace_rests, rest_usual_ns, "the same in the rests"),
    FIELD(COUNT, "pauses", "", struct trace_rests, n_slow, "of all of them, those that took over 1.5 times the median"),
    FIELD(NS, "pauses_us", "", struct trace_rests, slow_ns, "what those took more than the median"),
};
/* clang-format on */

const struct result result_rests = RESULT(
    "rests", "the whole run, if it was not recorded throughout", rests_fields, struct trace_rests);

struct rows rows_in_rests(const struct rows *r, uint32_t i)
{
    (void)i;
    return (struct rows){.list = &r->cx->t->part.rests, .n = r->cx->t->part.rests.n_parts > 0};
}

/* clang-format off */
static const struct field excerpt_fields[] = {
    FIELD_GET(NS, "recorded_us", "", excerpt_recorded, "length of the recording"),
    FIELD_GET(NS, "shown_us", "", excerpt_shown, "length of the part shown"),
    FIELD_GET(NS, "before_us", "", excerpt_before, "time left out before it"),
    FIELD_GET(NS, "after_us", "", excerpt_after, "time left out after it"),
    FIELD_GET(TEXT, "name", "", excerpt_name, "the outermost stage; null for steps of a loop", .null = NULL_SOMETIMES),
    FIELD(COUNT, "calls", "", struct trace_part, n_calls, "how many calls of it are shown; 0 for stages side by side"),
    FIELD(COUNT, "cold_calls", "", struct trace_part, n_cold, "number of the cold calls left out before them"),
    FIELD(NS, "cold_us", "", struct trace_part, cold_ns, "time of those"),
    FIELD(FLAG, "lost_end", "", struct trace_part, lost_end, "calls at the end are left out, whose device records were lost"),
    FIELD(COUNT, "recorded_records", "", struct trace_part, n_records, "if the recording was too long to be read as a whole: how many records it has", .null = NULL_ZERO, .sparse = true),
    FIELD(COUNT, "number", "", struct trace_part, number, "if the program recorded several parts of itself with `strata.timeline`: which of them is shown (`--part N`, the last by default)", .null = NULL_ZERO, .sparse = true),
    FIELD_GET(COUNT, "parts", "", excerpt_parts, "and of how many", .null = NULL_ZERO, .sparse = true),
};
/* clang-format on */

const struct result result_excerpt =
    RESULT("part", "the part that is shown", excerpt_fields, struct trace_part);

struct rows rows_in_excerpt(const struct rows *r, uint32_t i)
{
    (void)i;
    return (struct rows){.list = &r->cx->t->part, .n = view_excerpt_is(r->cx->t)};
}
