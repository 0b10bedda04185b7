/* result_ranks.c: ranks side by side. The rows of these lists are of a struct rank_set, not of one
 * trace: there is no context. */
#include "analyze/ranks/rank_set.h"
#include "base/stats.h"
#include "results/results.h"

static const struct rank_set *ranks_in(const struct rows *r)
{
    return r->with;
}

static const struct rank_summary *ranks_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static struct value ranks_exposed_pct(const struct rows *r, uint32_t i)
{
    const struct rank_summary *x = ranks_at(r, i);
    return value_num(stats_pct((double)x->exposed_ns, (double)x->wall_ns));
}

static struct value ranks_wait(const struct rows *r, uint32_t i)
{
    return value_int(ranks_in(r)->wait_ns[ranks_at(r, i) - ranks_in(r)->ranks]);
}

/* clang-format off */
static const struct field ranks_fields[] = {
    FIELD(INT, "rank", "rank", struct rank_summary, rank, "its number", .page = PAGE_COLUMN),
    FIELD(TEXT, "host", "host", struct rank_summary, host, "its host", .null = NULL_SOMETIMES, .page = PAGE_COLUMN),
    FIELD(NS, "wall_us", "wall", struct rank_summary, wall_ns, "its wall clock, or that of its loop in a recorded program", .page = PAGE_COLUMN),
    FIELD(NS, "compute_us", "compute", struct rank_summary, compute_ns, "time in which kernels that are not communication run", .page = PAGE_BAR),
    FIELD(NS, "comm_us", "communication", struct rank_summary, comm_ns, "time in which communication runs", .page = PAGE_BAR),
    FIELD(NS, "exposed_comm_us", "alone", struct rank_summary, exposed_ns, "of it, time in which nothing else runs", .page = PAGE_BAR),
    FIELD_GET(PCT, "exposed_comm_pct", "of wall", ranks_exposed_pct, "the same as a share of its wall clock", .decimals = 3, .page = PAGE_COLUMN),
    FIELD_GET(NS, "wait_us", "waits", ranks_wait, "time in collectives, for ranks that come later", .page = PAGE_BAR),
    FIELD(NS, "idle_us", "GPU idle", struct rank_summary, idle_ns, "time in which its device is idle", .term = "idle", .page = PAGE_BAR),
    FIELD(TEXT, "path", "trace", struct rank_summary, path, "its trace", .page = PAGE_COLUMN),
};
const struct result result_ranks = RESULT("ranks", "one row per rank", ranks_fields, struct rank_summary);
/* clang-format on */

struct rows rows_ranks(const struct rank_set *s)
{
    return (struct rows){.of = &result_ranks, .list = s->ranks, .n = s->n, .with = s};
}

/* ---- stragglers */

static const struct rank_straggler *stragglers_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static struct value stragglers_rank(const struct rows *r, uint32_t i)
{
    return value_int(ranks_in(r)->ranks[stragglers_at(r, i)->rank].rank);
}

static struct value stragglers_cause(const struct rows *r, uint32_t i)
{
    return value_cstr(rank_cause_name(stragglers_at(r, i)->cause));
}

static struct value stragglers_source(const struct rows *r, uint32_t i)
{
    const struct rank_place *p = &stragglers_at(r, i)->place;
    if (!p->file) return value_none();
    return value_place((struct frame){.file = str_c(p->file),
                                      .line = p->line,
                                      .function = str_c(p->function ? p->function : "")});
}

/* clang-format off */
static const struct field stragglers_fields[] = {
    FIELD_GET(INT, "rank", "rank", stragglers_rank, "its number"),
    FIELD(NS, "late_us", "late", struct rank_straggler, late_ns, "waiting of the others that it causes; ranks late at the same time share it"),
    FIELD(COUNT, "collectives", "collectives", struct rank_straggler, collectives, "collectives it came late to"),
    FIELD(TEXT, "stage", "stage", struct rank_straggler, place.stage, "label around the cause, or the part derived where there is none; `backward` for what autograd runs", .null = NULL_SOMETIMES),
    FIELD_GET(WORD, "cause", "cause", stragglers_cause, "see below"),
    FIELD(NS, "cause_us", "", struct rank_straggler, cause_ns, "how much more of that than on the median rank"),
    FIELD(TEXT, "subject", "what", struct rank_straggler, place.name, "kernel, function or call", .null = NULL_SOMETIMES),
    FIELD(NUM, "ratio", "", struct rank_straggler, ratio, "of kernel times to those elsewhere", .null = NULL_ZERO, .decimals = 3),
    FIELD_GET(PLACE, "source", "source", stragglers_source, "`file`, `line`, `function`"),
};
const struct result result_stragglers = RESULT("stragglers", "ranks that the others wait for, most lateness first", stragglers_fields, struct rank_straggler);
/* clang-format on */

struct rows rows_stragglers(const struct rank_set *s)
{
    return (struct rows){
        .of = &result_stragglers, .list = s->stragglers, .n = s->n_stragglers, .with = s};
}

/* ---- collectives */

static const struct rank_collective *collectives_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static struct value collectives_name(const struct rows *r, uint32_t i)
{
    return value_cstr(collective_name(collectives_at(r, i)->what));
}

static struct value collectives_bus(const struct rows *r, uint32_t i)
{
    return value_num(rank_collective_bus(collectives_at(r, i)) / 1e9);
}

static struct value collectives_matched_by(const struct rows *r, uint32_t i)
{
    return value_cstr(collectives_at(r, i)->numbered ? "number" : "order");
}

static struct value collectives_last(const struct rows *r, uint32_t i)
{
    const struct rank_collective *c = collectives_at(r, i);
    return value_int(ranks_in(r)->ranks[c->members[c->last].rank].rank);
}

/* clang-format off */
static const struct field collectives_fields[] = {
    FIELD(TEXT, "group", "group", struct rank_collective, group, "its process group", .page = PAGE_COLUMN),
    FIELD(INT, "seq", "number", struct rank_collective, seq, "its number as recorded, else the order in the group", .page = PAGE_COLUMN),
    FIELD_GET(TEXT, "name", "collective", collectives_name, "what it is", .page = PAGE_COLUMN),
    FIELD(BYTES, "bytes", "bytes", struct rank_collective, bytes, "the most of any rank", .null = NULL_NEGATIVE, .page = PAGE_COLUMN),
    FIELD(COUNT, "members", "ranks", struct rank_collective, n, "ranks that take part", .page = PAGE_COLUMN),
    FIELD(NS, "end_us", "", struct rank_collective, end_ns, "when it ends"),
    FIELD(NS, "transfer_us", "transfer", struct rank_collective, transfer_ns, "from the last arrival on", .page = PAGE_BAR),
    FIELD_GET(NUM, "bus_gb_per_s", "bus GB/s", collectives_bus, "what a link carries meanwhile; null where the size is not known", .null = NULL_ZERO, .decimals = 6),
    FIELD_GET(WORD, "matched_by", "", collectives_matched_by, "`number`: as recorded, `order`"),
    FIELD_GET(INT, "last_rank", "last rank", collectives_last, "the rank that came last", .page = PAGE_COLUMN),
    FIELD(NS, "spread_us", "apart", struct rank_collective, spread_ns, "first to last arrival", .page = PAGE_BAR),
};
const struct result result_collectives = RESULT("collectives", "matched collectives, by their ends", collectives_fields, struct rank_collective);
/* clang-format on */

struct rows rows_collectives(const struct rank_set *s)
{
    return (struct rows){.of = &result_collectives, .list = s->list, .n = s->n_list, .with = s};
}
