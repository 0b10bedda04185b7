/* result_gaps.c: when devices were idle, and why. */
#include "analyze/gaps/gaps.h"
#include "base/stats.h"
#include "results/results.h"

static const struct gaps *gaps_in(const struct rows *r)
{
    return r->with;
}

/* ---- devices */

static struct value devices_window(const struct rows *r, uint32_t i)
{
    return value_int(span_ns(((const struct gaps_device *)rows_at(r, i))->window));
}

/* clang-format off */
static const struct field devices_fields[] = {
    FIELD(INT, "device", "", struct gaps_device, device, "its number"),
    FIELD(AT, "start_us", "", struct gaps_device, window.begin_ns, "start of its first work"),
    FIELD_GET(NS, "window_us", "", devices_window, "to the end of its last work"),
    FIELD(NS, "busy_us", "", struct gaps_device, busy_ns, "of that, time in which it works"),
    FIELD(NS, "idle_us", "", struct gaps_device, idle_ns, "of that, time in which it is idle"),
    FIELD(NS, "before_us", "", struct gaps_device, before_ns, "recorded time before the window"),
    FIELD(NS, "after_us", "", struct gaps_device, after_ns, "recorded time after the window"),
    FIELD(COUNT, "gaps", "", struct gaps_device, n_gaps, "gaps of any length"),
    FIELD(COUNT, "gaps_listed", "", struct gaps_device, n_listed, "those of at least `min_us`"),
    FIELD(NS, "median_us", "", struct gaps_device, median_ns, "length of the listed ones, median"),
    FIELD(NS, "p95_us", "", struct gaps_device, p95_ns, "the same, 95th percentile"),
    FIELD(NS, "mean_kernel_us", "", struct gaps_device, kernel_ns, "mean length of its work"),
    FIELD(NS, "mean_launch_interval_us", "", struct gaps_device, interval_ns, "mean time between launches, without waits"),
    FIELD(FLAG, "small_shapes", "", struct gaps_device, small_shapes, "its kernels are too short to keep it busy"),
};
const struct result result_gap_devices = RESULT("devices", "one row per device", devices_fields, struct gaps_device);
/* clang-format on */

struct rows rows_gap_devices(const struct context *cx, const struct gaps *g)
{
    return (struct rows){
        .of = &result_gap_devices, .cx = cx, .list = g->devices, .n = g->n_devices, .with = g};
}

/* ---- causes */

static const struct gap_cause *causes_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static struct value causes_device(const struct rows *r, uint32_t i)
{
    return value_int(gaps_in(r)->devices[causes_at(r, i)->device].device);
}

static struct value causes_kind(const struct rows *r, uint32_t i)
{
    return value_cstr(gap_cause_kind_name(causes_at(r, i)->kind));
}

static struct value causes_source(const struct rows *r, uint32_t i)
{
    return value_row_place(r->cx->t, causes_at(r, i)->frame);
}

static struct value causes_site(const struct rows *r, uint32_t i)
{
    const struct gap_cause *c = causes_at(r, i);
    bool known = c->kind == CAUSE_SYNC && c->site != CAUSE_NO_SITE;
    return known ? value_int((int64_t)c->site + 1) : value_none();
}

static struct value causes_recurs(const struct rows *r, uint32_t i)
{
    return value_int(gaps_recurs(causes_at(r, i), steps_of(r->cx)));
}

static struct value causes_share(const struct rows *r, uint32_t i)
{
    const struct gap_cause *c = causes_at(r, i);
    return value_num(stats_pct((double)c->idle_ns, (double)gaps_in(r)->devices[c->device].idle_ns));
}

static struct value inner_source(const struct rows *r, uint32_t i)
{
    return value_row_place(r->cx->t, ((const struct gap_cause_inner *)rows_at(r, i))->row);
}

static struct rows causes_inner(const struct rows *r, uint32_t i)
{
    enum { MOST = 5 };
    uint32_t n = 0;
    const struct gap_cause *c = causes_at(r, i);
    const struct gap_cause_inner *inner = NULL;
    if (c->kind == CAUSE_PYTHON)
        inner = gaps_inner(gaps_in(r), (uint32_t)(c - gaps_in(r)->causes), &n);
    return (struct rows){.list = inner, .n = n < MOST ? n : MOST};
}

/* clang-format off */
static const struct field inner_fields[] = {
    FIELD(TEXT, "name", "", struct gap_cause_inner, name, "a function"),
    FIELD_GET(PLACE, "source", "", inner_source, "where it is"),
    FIELD(NS, "idle_us", "", struct gap_cause_inner, idle_ns, "idle time while it runs"),
};
static const struct result result_inner = RESULT("inside", "functions inside a cause", inner_fields, struct gap_cause_inner);

static const struct field causes_fields[] = {
    FIELD_GET(INT, "device", "", causes_device, "the device"),
    FIELD_GET(WORD, "kind", "cause", causes_kind, "what kind of cause it is", .column = "cause", .page = PAGE_COLUMN),
    FIELD(TEXT, "name", "name", struct gap_cause, name, "the function, operator, call or label", .page = PAGE_COLUMN),
    FIELD_GET(PLACE, "source", "source", causes_source, "`file`, `line`, `function` of the user's code, where stacks were recorded", .page = PAGE_COLUMN),
    FIELD_GET(INT, "sync_site", "site", causes_site, "number of the site in `syncs`", .null = NULL_SOMETIMES, .sparse = true),
    FIELD(COUNT, "count", "gaps", struct gap_cause, count, "gaps it has a part in", .term = "gap", .page = PAGE_COLUMN),
    FIELD(NS, "idle_us", "GPU idle", struct gap_cause, idle_ns, "idle time it causes", .term = "idle", .page = PAGE_BAR),
    FIELD_GET(PCT, "share_pct", "share", causes_share, "share of the device's idle time", .decimals = 4),
    FIELD(COUNT, "in_steps", "in steps", struct gap_cause, in_steps, "different steps among its gaps", .column = "steps", .page = PAGE_COLUMN),
    FIELD_GET(FLAG, "recurs", "", causes_recurs, "whether it comes back in the loop, rather than once"),
    FIELD_IN(LIST, "inside", "", &result_inner, causes_inner, "functions inside it, most idle time first"),
};
/* clang-format on */

const struct result result_causes = RESULT(
    "causes", "idle time of devices, one row per cause; those of a device add up to its idle time",
    causes_fields, struct gap_cause);

struct rows rows_causes(const struct context *cx, const struct gaps *g)
{
    return (struct rows){
        .of = &result_causes, .cx = cx, .list = g->causes, .n = g->n_causes, .with = g};
}

/* ---- gaps */

static const struct gap *gaps_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static struct value gaps_device(const struct rows *r, uint32_t i)
{
    return value_int(gaps_in(r)->devices[gaps_at(r, i)->device].device);
}

static struct value gaps_start(const struct rows *r, uint32_t i)
{
    return value_int(gaps_at(r, i)->at->begin_ns);
}

static struct value gaps_length(const struct rows *r, uint32_t i)
{
    return value_int(idle_gap_ns(gaps_at(r, i)->at));
}

static struct value gaps_late(const struct rows *r, uint32_t i)
{
    const struct idle_gap *at = gaps_at(r, i)->at;
    return value_int(at->late_ns - at->begin_ns);
}

static struct value gaps_step(const struct rows *r, uint32_t i)
{
    uint32_t step = gaps_at(r, i)->step;
    return step == UINT32_MAX ? value_none() : value_int(step);
}

static struct value gaps_site(const struct rows *r, uint32_t i)
{
    uint32_t site = gaps_at(r, i)->site;
    return site == CAUSE_NO_SITE ? value_none() : value_int((int64_t)site + 1);
}

static struct value gaps_after(const struct rows *r, uint32_t i)
{
    return value_name(r->cx->t, gaps_at(r, i)->at->prev);
}

static struct value gaps_before(const struct rows *r, uint32_t i)
{
    return value_name(r->cx->t, gaps_at(r, i)->at->next);
}

static struct value gaps_launch(const struct rows *r, uint32_t i)
{
    return value_name(r->cx->t, gaps_at(r, i)->at->launch);
}

/* Parts of a gap: each is a share of a cause. */
static const struct gap_cause *parts_cause(const struct rows *r, uint32_t i)
{
    const struct gap_share *p = rows_at(r, i);
    return &gaps_in(r)->causes[p->cause];
}

static struct value parts_kind(const struct rows *r, uint32_t i)
{
    return value_cstr(gap_cause_kind_name(parts_cause(r, i)->kind));
}

static struct value parts_name(const struct rows *r, uint32_t i)
{
    return value_text(parts_cause(r, i)->name);
}

static struct value parts_source(const struct rows *r, uint32_t i)
{
    return value_row_place(r->cx->t, parts_cause(r, i)->frame);
}

static struct rows gaps_parts(const struct rows *r, uint32_t i)
{
    return (struct rows){
        .list = gaps_at(r, i)->parts, .n = gaps_at(r, i)->n_parts, .with = r->with};
}

/* clang-format off */
static const struct field parts_fields[] = {
    FIELD_GET(WORD, "kind", "main cause", parts_kind, "what kind of cause it is", .page = PAGE_COLUMN),
    FIELD_GET(TEXT, "name", "name", parts_name, "the function, operator, call or label", .page = PAGE_COLUMN),
    FIELD_GET(PLACE, "source", "source", parts_source, "where it is", .page = PAGE_COLUMN),
    FIELD(NS, "idle_us", "", struct gap_share, ns, "its part of the gap"),
};
const struct result result_gap_parts = RESULT("gap_causes", "parts of a gap", parts_fields, struct gap_share);

static const struct field gaps_fields[] = {
    FIELD_GET(INT, "device", "", gaps_device, "the device"),
    FIELD_GET(AT, "start_us", "start", gaps_start, "its begin", .column = "begin_ns", .page = PAGE_COLUMN),
    FIELD_GET(NS, "dur_us", "idle", gaps_length, "its length", .page = PAGE_BAR),
    FIELD_GET(NS, "late_us", "", gaps_late, "of it, before the launch that ended it"),
    FIELD_GET(INT, "step", "step", gaps_step, "`index` of the step it is in", .null = NULL_SOMETIMES, .page = PAGE_COLUMN),
    FIELD_GET(INT, "sync_site", "", gaps_site, "number of the site in `syncs` that left the device without work", .null = NULL_SOMETIMES),
    FIELD_GET(TEXT, "after", "", gaps_after, "work before it", .null = NULL_SOMETIMES),
    FIELD_GET(TEXT, "before", "next work", gaps_before, "work after it", .null = NULL_SOMETIMES, .page = PAGE_COLUMN),
    FIELD_GET(TEXT, "launch", "", gaps_launch, "the call that launched that work", .null = NULL_SOMETIMES),
    FIELD_IN(LIST, "causes", "", &result_gap_parts, gaps_parts, "what it consists of, most first"),
};
/* clang-format on */

const struct result result_gaps =
    RESULT("gaps", "one row per gap of at least `min_us`, longest first", gaps_fields, struct gap);

struct rows rows_gaps(const struct context *cx, const struct gaps *g)
{
    return (struct rows){.of = &result_gaps, .cx = cx, .list = g->all, .n = g->n_all, .with = g};
}
