/* table_collectives.c: every collective of the rank, and what the rank did until it came there.
 *
 * The same collective has the same group_key, number and part on all its ranks: `number` is the one
 * in its group where that was recorded, else its place in the order of the group's; `part` counts
 * those with the same number. The columns before_* say what the rank did since the end of its
 * collective before this one. */
#include "tables/tables_private.h"

/* A collective of the rank with what identifies it among the ranks. */
struct arrival {
    const struct rank_event *event;
    int64_t number, part;
};

static const struct arrival *collectives_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static struct value collectives_name(const struct rows *r, uint32_t i)
{
    return value_cstr(collective_name((enum collective)collectives_at(r, i)->event->what));
}

static struct value collectives_group_name(const struct rows *r, uint32_t i)
{
    const struct rank_summary *rank = r->with;
    return value_cstr(rank->group_names[collectives_at(r, i)->event->group]);
}

/* Name, description and members of the group in one line. */
static struct value collectives_group_key(const struct rows *r, uint32_t i)
{
    const struct rank_summary *rank = r->with;
    buf_reset(r->text);
    for (const char *c = rank->groups[collectives_at(r, i)->event->group]; *c; c++)
        buf_addc(r->text, *c == '\n' ? '|' : *c);
    return value_text(str_c(buf_c(r->text)));
}

static struct value collectives_begin(const struct rows *r, uint32_t i)
{
    return value_int(collectives_at(r, i)->event->begin_ns);
}

static struct value collectives_length(const struct rows *r, uint32_t i)
{
    const struct rank_event *x = collectives_at(r, i)->event;
    return value_int(x->end_ns - x->begin_ns);
}

static struct value collectives_bytes(const struct rows *r, uint32_t i)
{
    return value_int(collectives_at(r, i)->event->bytes);
}

static struct value collectives_kernels(const struct rows *r, uint32_t i)
{
    return value_int(collectives_at(r, i)->event->kernels);
}

#define BEFORE(name, counter)                                                     \
    static struct value before_##name(const struct rows *r, uint32_t i)           \
    {                                                                             \
        return value_int(rank_event_since(collectives_at(r, i)->event, counter)); \
    }
BEFORE(compute, RANK_COMPUTE)
BEFORE(copies, RANK_COPIES)
BEFORE(sync, RANK_IDLE_SYNC)
BEFORE(data, RANK_IDLE_DATA)
BEFORE(gc, RANK_IDLE_GC)
BEFORE(host, RANK_IDLE_HOST)
BEFORE(launch, RANK_IDLE_LAUNCH)
BEFORE(idle, RANK_IDLE_OTHER)
_Static_assert(RANK_TIMES == 8, "one column per counter");

/* clang-format off */
static const struct field collectives_fields[] = {
    FIELD_GET(WORD, "name", "", collectives_name, "what it is"),
    FIELD_GET(TEXT, "group_name", "", collectives_group_name, "its process group"),
    FIELD_GET(TEXT, "group_key", "", collectives_group_key, "name, description and members of that"),
    FIELD(INT, "number", "", struct arrival, number, "its number in the group, else its place in the order"),
    FIELD(INT, "part", "", struct arrival, part, "counts those with the same number"),
    FIELD_GET(INT, "begin_ns", "", collectives_begin, "when it begins, since 1970 by the clock of the host"),
    FIELD_GET(NS, "dur_us", "", collectives_length, "its length"),
    FIELD_GET(BYTES, "bytes", "", collectives_bytes, "its size", .null = NULL_NEGATIVE),
    FIELD_GET(NS, "before_compute_us", "", before_compute, "since the collective before: kernels that are not communication"),
    FIELD_GET(NS, "before_copies_us", "", before_copies, "the same: copies"),
    FIELD_GET(NS, "before_sync_us", "", before_sync, "the same: idle, the CPU waits for the device"),
    FIELD_GET(NS, "before_data_us", "", before_data, "the same: idle, the CPU waits for data"),
    FIELD_GET(NS, "before_gc_us", "", before_gc, "the same: idle, Python collects garbage"),
    FIELD_GET(NS, "before_host_us", "", before_host, "the same: idle, CPU work that launches nothing"),
    FIELD_GET(NS, "before_launch_us", "", before_launch, "the same: idle, launches"),
    FIELD_GET(NS, "before_idle_us", "", before_idle, "the same: idle for other reasons"),
    FIELD_GET(COUNT, "before_kernels", "", collectives_kernels, "kernels that ran since then"),
};
/* clang-format on */

static const struct result result_arrivals =
    RESULT("collectives", "one row per collective of the busiest device", collectives_fields,
           struct arrival);

/* The collective before, by group. */
struct before {
    int64_t number, n;
    int64_t part;
};

static int table_collectives_rows(const struct tables_in *in, struct rows *ret, struct err *e)
{
    const struct rank_summary *r = in->rank;
    struct before *before = arena_zalloc(in->cx->mem, (size_t)r->n_groups + 1, sizeof *before);
    struct arrival *list = arena_zalloc(in->cx->mem, (size_t)r->n_events + 1, sizeof *list);
    if (!before || !list) return err_nomem(e);
    for (uint32_t i = 0; i < r->n_events; i++) {
        const struct rank_event *x = &r->events[i];
        struct before *b = &before[x->group];
        int64_t number = x->seq >= 0 ? x->seq : b->n;
        b->part = b->n && b->number == number ? b->part + 1 : 0;
        b->number = number;
        b->n++;
        list[i] = (struct arrival){x, number, b->part};
    }
    *ret = (struct rows){
        .of = &result_arrivals, .cx = in->cx, .list = list, .n = r->n_events, .with = r};
    return 0;
}

const struct table table_collectives = {"collectives", &result_arrivals, table_collectives_rows};
