/* table_steps.c: the rounds of the main loop. */
#include "analyze/comm/comm.h"
#include "analyze/steps/steps.h"
#include "tables/tables.h"
#include "tables/tables_private.h"

static const struct parquet_column columns[] = {
    INT("step"),        TEXT0("name"),     INT("begin_ns"),        INT("dur_ns"),
    INT("cpu_ns"),      INT("blocked_ns"), INT("gpu_ns"),          INT("gpu_busy_ns"),
    INT("gpu_idle_ns"), INT("comm_ns"),    INT("exposed_comm_ns"), INT("launches"),
    INT("syncs"),       INT("kernels"),
};

static void put_step(const struct tables_in *in, uint32_t i, struct parquet *p)
{
    const struct trace *t = in->cx->t;
    const struct step *s = &steps_of(in->cx)->steps[i];
    const struct comm_step *c = &comm_of(in->cx)->steps[i];
    parquet_int(p, s->number >= 0 ? s->number : i);
    if (s->name == STR_NONE) parquet_null(p);
    else parquet_text(p, trace_str(t, s->name));
    parquet_int(p, t->base_ns + s->cpu.begin_ns);
    parquet_int(p, s->cpu.end_ns - s->cpu.begin_ns);
    parquet_int(p, s->cpu_ns);
    parquet_int(p, s->blocked_ns);
    parquet_int(p, s->gpu.sum_ns);
    parquet_int(p, s->gpu.union_ns);
    parquet_int(p, s->gpu.idle_ns);
    parquet_int(p, c->comm_ns);
    parquet_int(p, c->exposed_ns);
    parquet_int(p, s->launches);
    parquet_int(p, s->syncs);
    parquet_int(p, s->gpu.kernels);
}

static int fill(const struct tables_in *in, struct parquet *p, struct err *e)
{
    (void)e;
    for (uint32_t i = 0; i < steps_of(in->cx)->n_steps; i++) put_step(in, i, p);
    return 0;
}

static const struct pass *const needs[] = {&steps_pass, &comm_pass, NULL};

const struct table table_steps = {
    .name = "steps", .needs = needs, .columns = columns, .n_columns = COUNT(columns), .fill = fill};
