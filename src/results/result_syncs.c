/* result_syncs.c: places in the program where the CPU waits for a device. */
#include "analyze/waits/syncs.h"
#include "base/jout.h"
#include "results/results.h"

enum { MOST_FRAMES = 64 };

static const struct sync_site *syncs_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static const struct wait *syncs_longest(const struct rows *r, uint32_t i)
{
    const struct syncs *s = r->with;
    return &s->waits->all[syncs_at(r, i)->longest];
}

/* Its number among all sites, from 1, also where the rows are only one of them. */
static struct value syncs_id(const struct rows *r, uint32_t i)
{
    const struct syncs *s = r->with;
    return value_int(syncs_at(r, i) - s->sites + 1);
}

static struct value syncs_call(const struct rows *r, uint32_t i)
{
    return value_text(trace_str(r->cx->t, syncs_at(r, i)->call));
}

static struct value syncs_op(const struct rows *r, uint32_t i)
{
    return value_name(r->cx->t, syncs_at(r, i)->place.op);
}

static struct value syncs_inner_op(const struct rows *r, uint32_t i)
{
    return value_name(r->cx->t, syncs_at(r, i)->place.inner_op);
}

static struct value syncs_kind(const struct rows *r, uint32_t i)
{
    return value_cstr(wait_kind_name(syncs_at(r, i)->kind));
}

static struct value syncs_called(const struct rows *r, uint32_t i)
{
    row_t called = syncs_at(r, i)->place.called;
    if (called == ROW_NONE) return value_none();
    buf_reset(r->text);
    source_places_print_call(r->cx->t, called, r->text);
    return value_text(buf_str(r->text));
}

static struct value syncs_source(const struct rows *r, uint32_t i)
{
    return value_row_place(r->cx->t, syncs_at(r, i)->place.frame);
}

static struct value syncs_source_by(const struct rows *r, uint32_t i)
{
    return value_cstr(source_by_name(syncs_at(r, i)->place.by));
}

static struct value syncs_line_is_start(const struct rows *r, uint32_t i)
{
    const struct place *p = &syncs_at(r, i)->place;
    return value_int(p->frame != ROW_NONE && p->line_is_start);
}

static struct value syncs_annotation(const struct rows *r, uint32_t i)
{
    buf_reset(r->text);
    source_places_path(r->cx->t, syncs_at(r, i)->place.annotation, r->text);
    return value_text(str_from(buf_c(r->text), r->text->n));
}

static void syncs_stack(struct jout *j, const struct rows *r, uint32_t i)
{
    row_t frames[MOST_FRAMES];
    size_t n =
        source_places_stack(places_of(r->cx), syncs_longest(r, i)->call, frames, MOST_FRAMES);
    for (size_t k = 0; k < n && k < MOST_FRAMES; k++) {
        buf_reset(r->text);
        source_places_print_frame(r->cx->t, frames[k], r->text);
        jout_str(j, NULL, buf_str(r->text));
    }
}

static struct value syncs_rate(const struct rows *r, uint32_t i)
{
    return value_num(syncs_per_step(r->with, syncs_at(r, i)));
}

static struct value syncs_longest_ns(const struct rows *r, uint32_t i)
{
    return value_int(syncs_longest(r, i)->blocked_ns);
}

static struct value syncs_depth(const struct rows *r, uint32_t i)
{
    return value_int(syncs_longest(r, i)->depth);
}

static struct value syncs_behind(const struct rows *r, uint32_t i)
{
    return value_int(syncs_longest(r, i)->waited_ns);
}

static struct value syncs_drains(const struct rows *r, uint32_t i)
{
    return value_int(syncs_at(r, i)->n_drains > 0);
}

/* clang-format off */
static const struct field syncs_fields[] = {
    FIELD_GET(INT, "id", "site", syncs_id, "its number, from 1", .page = PAGE_COLUMN),
    FIELD_GET(TEXT, "call", "call", syncs_call, "the call that most of the waiting happens in", .page = PAGE_COLUMN),
    FIELD_GET(TEXT, "op", "under", syncs_op, "the operator that the program called", .null = NULL_SOMETIMES, .page = PAGE_COLUMN),
    FIELD_GET(TEXT, "inner_op", "", syncs_inner_op, "the operator directly around the call", .null = NULL_SOMETIMES),
    FIELD_GET(WORD, "kind", "kind", syncs_kind, "why it waits: `readback`, `constant_upload`, `copy`, `allocation`, `explicit`", .page = PAGE_COLUMN),
    FIELD_GET(TEXT, "called", "", syncs_called, "what the line of the user's code calls", .null = NULL_SOMETIMES, .sparse = true),
    FIELD_GET(PLACE, "source", "source", syncs_source, "`file`, `line`, `function` of the user's code, where stacks were recorded", .page = PAGE_COLUMN),
    FIELD_GET(WORD, "source_by", "", syncs_source_by, "how the place is known"),
    FIELD_GET(FLAG, "line_is_function_start", "", syncs_line_is_start, "the line is where the function starts, not the one that ran"),
    FIELD_GET(TEXT, "annotation", "", syncs_annotation, "labels around it, outermost first"),
    FIELD_PUT(TEXTS, "stack", "", syncs_stack, "Python frames of the longest wait, innermost first"),
    FIELD(COUNT, "count", "calls", struct sync_site, n_rows, "its calls", .page = PAGE_COLUMN),
    FIELD_GET(NUM, "per_step", "per step", syncs_rate, "its calls per step of the loop", .null = NULL_NEGATIVE, .decimals = 3, .page = PAGE_COLUMN),
    FIELD(NS, "blocked_us", "blocked", struct sync_site, blocked_ns, "CPU time inside the calls", .page = PAGE_BAR),
    FIELD(NS, "exposed_us", "exposed", struct sync_site, exposed_ns, "idle time of the device that they cause", .page = PAGE_BAR),
    FIELD_GET(NS, "longest_us", "longest", syncs_longest_ns, "the longest of them"),
    FIELD(NS, "floor_us", "", struct sync_site, floor_ns, "what the call costs with nothing to wait for", .null = NULL_NEGATIVE),
    FIELD_GET(FLAG, "drains", "drains", syncs_drains, "some of them drain the queue", .term = "drain"),
    FIELD(COUNT, "drain_count", "", struct sync_site, n_drains, "how many of them drain the queue", .column = "drain_count"),
    FIELD_GET(COUNT, "queue_depth", "queue depth", syncs_depth, "work queued when the longest began", .page = PAGE_COLUMN),
    FIELD_GET(NS, "behind_us", "", syncs_behind, "how long the device was behind at the longest"),
    FIELD(BYTES, "bytes", "bytes", struct sync_site, bytes, "bytes of all its copies", .null = NULL_NEGATIVE, .page = PAGE_COLUMN),
    FIELD(AT, "first_us", "", struct sync_site, first_ns, "start of the first call", .column = "first_ns"),
    FIELD(AT, "last_us", "", struct sync_site, last_ns, "start of the last call", .column = "last_ns"),
};
/* clang-format on */

const struct result result_syncs =
    RESULT("syncs", "waits of the CPU for a device, one row per place that asks for them",
           syncs_fields, struct sync_site);

struct rows rows_syncs(const struct context *cx, const struct syncs *s, struct buf *text)
{
    return (struct rows){&result_syncs, cx, s->sites, s->n_sites, s, text};
}
