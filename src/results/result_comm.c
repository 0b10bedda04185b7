/* result_comm.c: communication between devices, by group and by collective. */
#include "analyze/comm/messages.h"
#include "base/stats.h"
#include "results/results.h"

static struct value hidden_share(int64_t time_ns, int64_t exposed_ns)
{
    return value_num(stats_pct((double)(time_ns - exposed_ns), (double)time_ns));
}

/* ---- groups */

static const struct message_kind *kinds_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static const struct message_group *kinds_group(const struct rows *r, uint32_t i)
{
    return &messages_of(r->cx)->groups[kinds_at(r, i)->group];
}

static struct value kinds_name(const struct rows *r, uint32_t i)
{
    return value_cstr(collective_name(kinds_at(r, i)->what));
}

static struct value kinds_kernel(const struct rows *r, uint32_t i)
{
    return value_name(r->cx->t, kinds_at(r, i)->example);
}

static struct value text_or_empty(struct str s)
{
    return value_text(s.p ? s : str_c(""));
}

static struct value kinds_group_name(const struct rows *r, uint32_t i)
{
    return text_or_empty(kinds_group(r, i)->name);
}

static struct value kinds_group_description(const struct rows *r, uint32_t i)
{
    return text_or_empty(kinds_group(r, i)->description);
}

static struct value kinds_group_size(const struct rows *r, uint32_t i)
{
    return value_int(kinds_group(r, i)->ranks);
}

static struct value kinds_overlap(const struct rows *r, uint32_t i)
{
    return hidden_share(kinds_at(r, i)->time_ns, kinds_at(r, i)->exposed_ns);
}

static struct value kinds_bytes(const struct rows *r, uint32_t i)
{
    const struct message_kind *k = kinds_at(r, i);
    return k->n_sized ? value_int(k->bytes) : value_none();
}

static struct value kinds_algo(const struct rows *r, uint32_t i)
{
    return value_num(kinds_at(r, i)->algo_bytes_per_s / 1e9);
}

static struct value kinds_bus(const struct rows *r, uint32_t i)
{
    return value_num(kinds_at(r, i)->algo_bytes_per_s * kinds_at(r, i)->bus_factor / 1e9);
}

static struct value kinds_best_bus(const struct rows *r, uint32_t i)
{
    return value_num(kinds_at(r, i)->best_algo_bytes_per_s * kinds_at(r, i)->bus_factor / 1e9);
}

static struct value groups_name(const struct rows *r, uint32_t i)
{
    return text_or_empty(((const struct message_group *)rows_at(r, i))->name);
}

static struct value groups_description(const struct rows *r, uint32_t i)
{
    return text_or_empty(((const struct message_group *)rows_at(r, i))->description);
}

/* clang-format off */
static const struct field groups_fields[] = {
    FIELD_GET(TEXT, "group", "", groups_name, "its name as recorded"),
    FIELD_GET(TEXT, "group_description", "", groups_description, "what it is for"),
    FIELD(INT, "group_size", "", struct message_group, ranks, "its ranks", .null = NULL_ZERO),
    FIELD(COUNT, "calls", "", struct message_group, calls, "its collectives"),
    FIELD(NS, "time_us", "", struct message_group, time_ns, "durations added"),
    FIELD(NS, "exposed_us", "", struct message_group, exposed_ns, "time in which nothing else runs"),
};
static const struct result result_groups = RESULT("groups", "process groups", groups_fields, struct message_group);

static const struct field kinds_fields[] = {
    FIELD_GET(TEXT, "name", "collective", kinds_name, "`all_reduce`, `all_gather`, `reduce_scatter`, `all_to_all`, `send_recv`, `broadcast`, `barrier`, `reduce`, `gather`, `scatter`, `other`"),
    FIELD_GET(TEXT, "kernel", "", kinds_kernel, "an example kernel"),
    FIELD_GET(TEXT, "group", "group", kinds_group_name, "name of its group"),
    FIELD_GET(TEXT, "group_description", "", kinds_group_description, "what that is for"),
    FIELD_GET(INT, "group_size", "", kinds_group_size, "ranks of it", .null = NULL_ZERO),
    FIELD(COUNT, "calls", "calls", struct message_kind, calls, "how many"),
    FIELD(NS, "time_us", "time", struct message_kind, time_ns, "durations added"),
    FIELD(NS, "exposed_us", "alone", struct message_kind, exposed_ns, "time in which nothing else runs"),
    FIELD_GET(PCT, "overlap_pct", "hidden", kinds_overlap, "share of it that other work hides", .decimals = 3, .term = "overlap"),
    FIELD(NS, "min_us", "", struct message_kind, shortest_ns, "of one call, shortest"),
    FIELD(NS, "median_us", "", struct message_kind, median_ns, "of one call, median"),
    FIELD(NS, "max_us", "", struct message_kind, longest_ns, "of one call, longest"),
    FIELD_GET(BYTES, "bytes", "bytes", kinds_bytes, "in total", .null = NULL_SOMETIMES),
    FIELD_GET(NUM, "algo_gb_per_s", "GB/s", kinds_algo, "bytes by time, median", .null = NULL_ZERO, .decimals = 3),
    FIELD_GET(NUM, "bus_gb_per_s", "bus GB/s", kinds_bus, "what a link had to carry, median", .null = NULL_ZERO, .decimals = 3),
    FIELD_GET(NUM, "best_bus_gb_per_s", "", kinds_best_bus, "the same of the fastest call", .null = NULL_ZERO, .decimals = 3),
};
const struct result result_messages = RESULT("messages", "collectives by name and group, most time without other work first", kinds_fields, struct message_kind);
/* clang-format on */

struct rows rows_messages(const struct context *cx)
{
    const struct messages *m = messages_of(cx);
    return (struct rows){.of = &result_messages, .cx = cx, .list = m->kinds, .n = m->n_kinds};
}

/* ---- the busiest device */

static struct comm_device comm_at(const struct rows *r)
{
    return comm_main(comm_of(r->cx));
}

#define COMM_NS(member)                                                 \
    static struct value comm_##member(const struct rows *r, uint32_t i) \
    {                                                                   \
        (void)i;                                                        \
        return value_int(comm_at(r).member);                            \
    }
COMM_NS(device)
COMM_NS(compute_ns)
COMM_NS(copy_ns)
COMM_NS(comm_ns)
COMM_NS(exposed_ns)

static struct value comm_exposed_share(const struct rows *r, uint32_t i)
{
    (void)i;
    return value_num(comm_exposed_pct(comm_of(r->cx)));
}

static struct value comm_overlap(const struct rows *r, uint32_t i)
{
    (void)i;
    return hidden_share(comm_at(r).comm_ns, comm_at(r).exposed_ns);
}

static struct rows comm_groups(const struct rows *r, uint32_t i)
{
    const struct messages *m = messages_of(r->cx);
    (void)i;
    return (struct rows){.list = m->groups, .n = m->n_groups};
}

static struct rows comm_kinds(const struct rows *r, uint32_t i)
{
    (void)i;
    return rows_messages(r->cx);
}

/* clang-format off */
static const struct field comm_fields[] = {
    FIELD_GET(INT, "device", "", comm_device, "the busiest device"),
    FIELD(NS, "recorded_us", "", struct comm, wall_ns, "the time from the first record to the last, of which shares are taken"),
    FIELD_GET(NS, "compute_us", "", comm_compute_ns, "time in which kernels that are not communication (or fills) run"),
    FIELD_GET(NS, "copy_us", "", comm_copy_ns, "in which copies run and no such kernel"),
    FIELD_GET(NS, "comm_us", "", comm_comm_ns, "in which communication kernels run"),
    FIELD_GET(NS, "exposed_us", "", comm_exposed_ns, "in which communication runs and nothing else does"),
    FIELD_GET(PCT, "exposed_pct", "", comm_exposed_share, "its share of `recorded_us`", .decimals = 3),
    FIELD_GET(PCT, "overlap_pct", "", comm_overlap, "share of the communication that other work hides", .decimals = 3),
    FIELD_IN(LIST, "groups", "", &result_groups, comm_groups, "process groups"),
    FIELD_IN(LIST, "collectives", "", &result_messages, comm_kinds, "by name and group, most time without other work first"),
};
/* clang-format on */

const struct result result_comm =
    RESULT("communication", "communication between devices", comm_fields, struct comm);

struct rows rows_in_comm(const struct rows *r, uint32_t i)
{
    const struct comm *c = comm_of(r->cx);
    (void)i;
    return (struct rows){.list = c, .n = c->n_works > 0};
}
