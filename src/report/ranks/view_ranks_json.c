/* view_ranks_json.c: many ranks side by side, as JSON. */
#include "base/jout.h"
#include "report/ranks/view_ranks.h"
#include "results/result_json.h"
#include "results/results.h"

void view_ranks_json_ranks(struct jout *j, const struct rank_set *s)
{
    struct rows r = rows_ranks(s);
    result_json_list(j, "ranks", &r, 0, r.n);
}

void view_ranks_json_stragglers(struct jout *j, const struct rank_set *s)
{
    struct rows r = rows_stragglers(s);
    result_json_list(j, "stragglers", &r, 0, r.n);
}

static const struct rank_set *set_of(const struct rows *r, uint32_t i)
{
    return ((const struct view_ranks *)rows_at(r, i))->set;
}

static const struct rank_set *set_with(const struct rows *r)
{
    return r->with;
}

static struct value ranks_number(const struct rank_set *s, uint32_t i)
{
    return value_int(s->ranks[i].rank);
}

/* ---- clocks */

static const struct rank_clock *clock_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static struct value clock_num(const struct rows *r, uint32_t i, double v)
{
    return clock_at(r, i)->aligned ? value_num(v) : value_none();
}

VALUE_OF(clock_rank, ranks_number(set_with(r), i))
VALUE_OF(clock_host, value_cstr(set_with(r)->ranks[i].host))
VALUE_OF(clock_offset, clock_num(r, i, clock_at(r, i)->offset_ns))
VALUE_OF(clock_drift, clock_num(r, i, clock_at(r, i)->drift * 1e6))
VALUE_OF(clock_error, clock_num(r, i, clock_at(r, i)->error_ns))

/* clang-format off */
static const struct field clock_fields[] = {
    FIELD_GET(INT, "rank", "", clock_rank, "the rank"),
    FIELD_GET(TEXT, "host", "", clock_host, "its machine; ranks of a host have the same clock", .null = NULL_SOMETIMES),
    FIELD_GET(MEAN_NS, "offset_us", "", clock_offset, "what to add to its clock; null where it shares no collective with the others", .decimals = 3),
    FIELD_GET(NUM, "drift_ppm", "", clock_drift, "and per second after that, in millionths", .decimals = 3),
    FIELD_GET(MEAN_NS, "error_us", "", clock_error, "what remains: nine of ten ends differ by less", .decimals = 3),
};
static const struct result result_clocks = RESULT("clocks", "clocks of the ranks", clock_fields, struct rank_clock);
/* clang-format on */

/* ---- critical path */

static const struct rank_collective *hop_collective(const struct rows *r, uint32_t i)
{
    return &set_with(r)->list[((const struct rank_hop *)rows_at(r, i))->collective];
}

static struct value hop_rank(const struct rows *r, uint32_t i)
{
    const struct rank_collective *c = hop_collective(r, i);
    return ranks_number(set_with(r), c->members[c->last].rank);
}

VALUE_OF(hop_name, value_cstr(collective_name(hop_collective(r, i)->what)))
VALUE_OF(hop_seq, value_int(hop_collective(r, i)->seq))

/* clang-format off */
static const struct field hop_fields[] = {
    FIELD_GET(INT, "rank", "", hop_rank, "the rank that came last"),
    FIELD(NS, "start_us", "", struct rank_hop, start_ns, "when that begins"),
    FIELD(NS, "own_us", "", struct rank_hop, own_ns, "its own time since the last one ended"),
    FIELD_GET(TEXT, "collective", "", hop_name, "the collective"),
    FIELD_GET(INT, "seq", "", hop_seq, "its number"),
    FIELD(NS, "transfer_us", "", struct rank_hop, transfer_ns, "its transfer"),
};
static const struct result result_path = RESULT("critical_path", "the rank that each collective waited for", hop_fields, struct rank_hop);
/* clang-format on */

/* ---- pipeline and experts */

VALUE_OF(pipeline_slowest,
         ranks_number(set_with(r), ((const struct rank_pipeline *)rows_at(r, i))->slowest))
VALUE_OF(experts_busiest,
         ranks_number(set_with(r), ((const struct rank_experts *)rows_at(r, i))->busiest))
ROWS_OF(pipeline_bubbles, .list = ((const struct rank_pipeline *)rows_at(r, i))->bubble_ns,
        .n = set_with(r)->n)

/* clang-format off */
static const struct field bubble_fields[] = {FIELD_BARE(NS, int64_t)};
static const struct result result_bubbles = RESULT("bubble_us", "by rank", bubble_fields, int64_t);

static const struct field pipeline_fields[] = {
    FIELD(COUNT, "ranks", "", struct rank_pipeline, ranks, "ranks of the chain"),
    FIELD(PCT, "bubble_pct", "", struct rank_pipeline, bubble_pct, "waiting for a neighbour while nothing else runs, of the wall clock of all ranks", .decimals = 3),
    FIELD(PCT, "uneven_pct", "", struct rank_pipeline, uneven_pct, "of it, because stages compute for different times", .decimals = 3),
    FIELD_GET(INT, "slowest_rank", "", pipeline_slowest, "the stage that computes longest"),
    FIELD(NUM, "ratio", "", struct rank_pipeline, ratio, "its compute by the mean of the others", .decimals = 3),
    FIELD_IN(LIST, "bubble_us", "", &result_bubbles, pipeline_bubbles, "that waiting by rank"),
};
static const struct result result_pipeline = RESULT("pipeline", "ranks that hand work to each other in a chain", pipeline_fields, struct rank_pipeline);

static const struct field experts_fields[] = {
    FIELD(PCT, "wait_pct", "", struct rank_experts, wait_pct, "waiting for the busiest rank, of the wall clock", .decimals = 3),
    FIELD(NUM, "ratio", "", struct rank_experts, ratio, "compute of the busiest rank by the mean", .decimals = 3),
    FIELD(NUM, "size_ratio", "", struct rank_experts, size_ratio, "the same of message sizes", .null = NULL_ZERO, .decimals = 3),
    FIELD_GET(INT, "busiest_rank", "", experts_busiest, "the rank that most often is"),
    FIELD(NUM, "busiest_share", "", struct rank_experts, often, "how often it is that one, from 0 to 1", .decimals = 3),
};
static const struct result result_experts = RESULT("experts", "compute between two all-to-alls that differs from rank to rank", experts_fields, struct rank_experts);
/* clang-format on */

/* ---- the document */

static struct rows ranks_list(const struct rows *r, uint32_t i)
{
    return rows_ranks(set_of(r, i));
}

static struct rows ranks_stragglers(const struct rows *r, uint32_t i)
{
    return rows_stragglers(set_of(r, i));
}

static struct rows ranks_collectives(const struct rows *r, uint32_t i)
{
    return rows_collectives(set_of(r, i));
}

VALUE_OF(ranks_world, value_int(set_of(r, i)->world))
VALUE_OF(ranks_step, value_int(set_of(r, i)->step_ns))
VALUE_OF(ranks_without, value_int(((const struct view_ranks *)rows_at(r, i))->step_without_ns))
VALUE_OF(ranks_unmatched, value_int((int64_t)set_of(r, i)->unmatched))
ROWS_OF(ranks_missing, .list = set_of(r, i)->missing, .n = set_of(r, i)->n_missing)
ROWS_OF(ranks_twice, .list = set_of(r, i)->twice, .n = set_of(r, i)->n_twice)
ROWS_OF(ranks_clocks, .list = set_of(r, i)->clocks, .n = set_of(r, i)->n, .with = set_of(r, i))
ROWS_OF(ranks_path, .list = set_of(r, i)->path, .n = set_of(r, i)->n_path, .with = set_of(r, i))
ROWS_OF(ranks_pipeline, .list = &set_of(r, i)->pipeline, .n = set_of(r, i)->pipeline.ranks > 0,
        .with = set_of(r, i))
ROWS_OF(ranks_experts, .list = &set_of(r, i)->experts, .n = set_of(r, i)->experts.found,
        .with = set_of(r, i))

/* clang-format off */
static const struct field missing_fields[] = {FIELD_BARE(INT, int)};
static const struct result result_missing = RESULT("missing_ranks", "ranks without a trace", missing_fields, int);

static const struct field twice_fields[] = {
    FIELD(INT, "rank", "", struct rank_summary, rank, "the rank"),
    FIELD(TEXT, "path", "", struct rank_summary, path, "the file"),
};
static const struct result result_twice = RESULT("duplicate_ranks", "files left out", twice_fields, struct rank_summary);

static const struct field ranks_fields[] = {
    FIELD_GET(INT, "world_size", "", ranks_world, "how many ranks there should be"),
    FIELD_IN(LIST, "missing_ranks", "", &result_missing, ranks_missing, "those without a trace"),
    FIELD_IN(LIST, "duplicate_ranks", "", &result_twice, ranks_twice, "files left out because their rank is there already"),
    FIELD_GET(NS, "step_us", "", ranks_step, "mean step on the device, median over ranks"),
    FIELD_GET(NS, "step_without_straggler_us", "", ranks_without, "the same with every straggler as early as the median rank, from a replay of a rank that is not one; null where there is no straggler, and in a pipeline", .null = NULL_ZERO),
    FIELD_IN(LIST, "ranks", "", &result_ranks, ranks_list, "one per rank"),
    FIELD_IN(LIST, "stragglers", "", &result_stragglers, ranks_stragglers, "ranks that the others wait for, most lateness first"),
    FIELD_IN(LIST, "collectives", "", &result_collectives, ranks_collectives, "matched ones, by their ends"),
    FIELD_IN(LIST, "clocks", "", &result_clocks, ranks_clocks, "by how much the clocks of the ranks differ"),
    FIELD_IN(LIST, "critical_path", "", &result_path, ranks_path, "one entry per collective: the rank that came last"),
    FIELD_IN(OBJECT, "pipeline", "", &result_pipeline, ranks_pipeline, "where ranks hand work to each other in a chain", .null = NULL_SOMETIMES),
    FIELD_IN(OBJECT, "experts", "", &result_experts, ranks_experts, "where compute between two all-to-alls differs from rank to rank", .null = NULL_SOMETIMES),
    FIELD_GET(COUNT, "unmatched", "", ranks_unmatched, "collectives of single ranks that no other rank has"),
};
/* clang-format on */

const struct result document_ranks =
    RESULT("ranks", "many ranks side by side", ranks_fields, struct view_ranks);

void view_ranks_json(struct jout *j, const struct view_ranks *v)
{
    document_json(j, NULL, NULL, &document_ranks, v, NULL);
}
