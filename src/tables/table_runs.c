/* table_runs.c: one row per rank: who it is and where its time goes. */
#include "tables/tables.h"
#include "tables/tables_private.h"

static const struct parquet_column columns[] = {
    TEXT("trace"),   TEXT0("host"),     INT0("world_size"), INT("begin_ns"),
    INT("wall_ns"),  INT("compute_ns"), INT("comm_ns"),     INT("exposed_comm_ns"),
    INT("idle_ns"),  INT("n_steps"),    INT("step_ns"),     INT("n_collectives"),
    TEXT0("device"), INT("n_rows"),
};

static int fill(const struct tables_in *in, struct parquet *p, struct err *e)
{
    const struct rank_summary *r = in->rank;
    const struct trace *t = in->cx->t;
    (void)e;
    parquet_text(p, str_c(r->path));
    parquet_cstr(p, r->host && *r->host ? r->host : NULL);
    parquet_int_unless(p, r->world, 0);
    parquet_int(p, r->begin_ns);
    parquet_int(p, r->wall_ns);
    parquet_int(p, r->compute_ns);
    parquet_int(p, r->comm_ns);
    parquet_int(p, r->exposed_ns);
    parquet_int(p, r->idle_ns);
    parquet_int(p, r->n_steps);
    parquet_int(p, r->step_ns);
    parquet_int(p, r->n_events);
    if (t->n_devices) parquet_text(p, trace_str(t, t->devices[0].name));
    else parquet_null(p);
    parquet_int(p, t->n_rows);
    return 0;
}

const struct table table_runs = {
    .name = "runs", .columns = columns, .n_columns = COUNT(columns), .fill = fill};
