/* table_collectives.c: every collective of the rank, and what the rank did until it came there.
 *
 * The same collective has the same group_key, number and part on all its ranks: `number` is the one
 * in its group where that was recorded, else its place in the order of the group's; `part` counts
 * those with the same number. The columns before_* say what the rank did since the end of its
 * collective before this one. */
#include "tables/tables.h"
#include "tables/tables_private.h"

static const struct parquet_column columns[] = {
    TEXT("name"),
    TEXT("group_name"),
    TEXT("group_key"),
    INT("number"),
    INT("part"),
    INT("begin_ns"),
    INT("dur_ns"),
    INT0("bytes"),
    INT("before_compute_ns"),
    INT("before_copies_ns"),
    INT("before_sync_ns"),
    INT("before_data_ns"),
    INT("before_gc_ns"),
    INT("before_host_ns"),
    INT("before_launch_ns"),
    INT("before_idle_ns"),
    INT("before_kernels"),
};

_Static_assert(COUNT(columns) == 9 + RANK_TIMES, "one column per counter, in their order");

/* The collective before, by group. */
struct before {
    int64_t number, n;
    int64_t part;
};

/* Name, description and members of the group in one line. */
static void put_key(const char *group, struct parquet *p)
{
    struct buf key = {0};
    for (; *group; group++) buf_addc(&key, *group == '\n' ? '|' : *group);
    if (!buf_ok(&key)) p->values[p->at].plain.failed = true;
    parquet_text(p, buf_str(&key));
    buf_done(&key);
}

static void put_identity(const struct rank_summary *r, const struct rank_event *x, struct before *b,
                         struct parquet *p)
{
    int64_t number = x->seq >= 0 ? x->seq : b->n;
    b->part = b->n && b->number == number ? b->part + 1 : 0;
    b->number = number;
    b->n++;
    parquet_text(p, str_c(collective_name((enum collective)x->what)));
    parquet_text(p, str_c(r->group_names[x->group]));
    put_key(r->groups[x->group], p);
    parquet_int(p, number);
    parquet_int(p, b->part);
}

static int fill(const struct tables_in *in, struct parquet *p, struct err *e)
{
    const struct rank_summary *r = in->rank;
    struct before *before = arena_zalloc(in->cx->mem, (size_t)r->n_groups + 1, sizeof *before);
    if (!before) return err_nomem(e);
    for (uint32_t i = 0; i < r->n_events; i++) {
        const struct rank_event *x = &r->events[i];
        put_identity(r, x, &before[x->group], p);
        parquet_int(p, x->begin_ns);
        parquet_int(p, x->end_ns - x->begin_ns);
        parquet_int_unless(p, x->bytes, -1);
        for (int k = 0; k < RANK_TIMES; k++) parquet_int(p, rank_event_since(x, k));
        parquet_int(p, x->kernels);
    }
    return 0;
}

const struct table table_collectives = {
    .name = "collectives", .columns = columns, .n_columns = COUNT(columns), .fill = fill};
