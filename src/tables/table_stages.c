/* table_stages.c: the parts of the program, by path. */
#include "analyze/stages/stages.h"
#include "tables/tables.h"
#include "tables/tables_private.h"

static const struct parquet_column columns[] = {
    TEXT("stage"),      TEXT("name"),    INT("depth"),       TEXT("origin"),
    INT("calls"),       INT("cpu_ns"),   INT("self_cpu_ns"), INT("blocked_ns"),
    INT("median_ns"),   INT("p95_ns"),   INT("gpu_ns"),      INT("self_gpu_ns"),
    INT("gpu_idle_ns"), INT("launches"), INT("syncs"),       INT0("peak_bytes"),
};

static void put_stage(const struct stage *s, struct parquet *p)
{
    parquet_text(p, str_c(s->path));
    parquet_text(p, s->name);
    parquet_int(p, s->depth);
    parquet_text(p, str_c(s->derived ? "derived" : s->user ? "label" : "region"));
    parquet_int(p, s->calls);
    parquet_int(p, s->cpu_ns);
    parquet_int(p, s->self_cpu_ns);
    parquet_int(p, s->blocked_ns);
    parquet_int(p, s->median_ns);
    parquet_int(p, s->p95_ns);
    parquet_int(p, s->gpu.sum_ns);
    parquet_int(p, s->self_gpu_ns);
    parquet_int(p, s->gpu.idle_ns);
    parquet_int(p, s->launches);
    parquet_int(p, s->syncs);
    parquet_int_unless(p, s->peak_bytes, -1);
}

static int fill(const struct tables_in *in, struct parquet *p, struct err *e)
{
    const struct stages *s = stages_of(in->cx);
    (void)e;
    for (uint32_t i = 0; i < s->n; i++) put_stage(&s->list[i], p);
    return 0;
}

static const struct pass *const needs[] = {&stages_pass, NULL};

const struct table table_stages = {.name = "stages",
                                   .needs = needs,
                                   .columns = columns,
                                   .n_columns = COUNT(columns),
                                   .fill = fill};
