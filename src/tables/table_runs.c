/* table_runs.c: one row per rank: who it is and where its time goes. */
#include "tables/tables_private.h"

static struct value runs_host(const struct rows *r, uint32_t i)
{
    const char *host = ((const struct rank_summary *)rows_at(r, i))->host;
    return value_cstr(host && *host ? host : NULL);
}

static struct value runs_device(const struct rows *r, uint32_t i)
{
    const struct trace *t = r->cx->t;
    (void)i;
    return t->n_devices ? value_text(trace_str(t, t->devices[0].name)) : value_none();
}

static struct value runs_n_rows(const struct rows *r, uint32_t i)
{
    (void)i;
    return value_int((int64_t)r->cx->t->n_rows);
}

/* clang-format off */
static const struct field runs_fields[] = {
    FIELD(TEXT, "trace", "", struct rank_summary, path, "its trace"),
    FIELD_GET(TEXT, "host", "", runs_host, "its host", .null = NULL_SOMETIMES),
    FIELD(INT, "world_size", "", struct rank_summary, world, "how many ranks there are", .null = NULL_ZERO),
    FIELD(INT, "begin_ns", "", struct rank_summary, begin_ns, "when it begins, since 1970 by the clock of the host"),
    FIELD(NS, "wall_us", "", struct rank_summary, wall_ns, "its wall clock"),
    FIELD(NS, "compute_us", "", struct rank_summary, compute_ns, "time in which kernels that are not communication run"),
    FIELD(NS, "comm_us", "", struct rank_summary, comm_ns, "time in which communication runs"),
    FIELD(NS, "exposed_comm_us", "", struct rank_summary, exposed_ns, "communication during which the device does nothing else"),
    FIELD(NS, "idle_us", "", struct rank_summary, idle_ns, "time in which its device is idle"),
    FIELD(COUNT, "n_steps", "", struct rank_summary, n_steps, "its steps"),
    FIELD(NS, "step_us", "", struct rank_summary, step_ns, "mean step on the device"),
    FIELD(COUNT, "n_collectives", "", struct rank_summary, n_events, "its collectives"),
    FIELD_GET(TEXT, "device", "", runs_device, "name of its device", .null = NULL_SOMETIMES),
    FIELD_GET(COUNT, "n_rows", "", runs_n_rows, "events in its trace"),
};
/* clang-format on */

static const struct result result_runs =
    RESULT("runs", "one row per rank", runs_fields, struct rank_summary);

static int table_runs_rows(const struct tables_in *in, struct rows *ret, struct err *e)
{
    (void)e;
    *ret = (struct rows){.of = &result_runs, .cx = in->cx, .list = in->rank, .n = 1};
    return 0;
}

const struct table table_runs = {"runs", &result_runs, table_runs_rows};
