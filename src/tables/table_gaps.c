/* table_gaps.c: idle time of devices by cause; the rows of a device add up to its idle time. */
#include "analyze/gaps/gaps.h"
#include "tables/tables.h"
#include "tables/tables_private.h"

static const struct parquet_column columns[] = {
    INT("device"), TEXT("cause"),  TEXT("name"),  INT("count"),
    INT("steps"),  INT("idle_ns"), PLACE_COLUMNS,
};

static int fill(const struct tables_in *in, struct parquet *p, struct err *e)
{
    const struct gaps *g = gaps_of(in->cx);
    (void)e;
    for (uint32_t i = 0; i < g->n_causes; i++) {
        const struct gap_cause *c = &g->causes[i];
        parquet_int(p, g->devices[c->device].device);
        parquet_text(p, str_c(gap_cause_kind_name(c->kind)));
        parquet_text(p, c->name);
        parquet_int(p, c->count);
        parquet_int(p, c->in_steps);
        parquet_int(p, c->idle_ns);
        table_frame(p, in->cx->t, c->frame);
    }
    return 0;
}

static const struct pass *const needs[] = {&gaps_pass, NULL};

const struct table table_gaps = {
    .name = "gaps", .needs = needs, .columns = columns, .n_columns = COUNT(columns), .fill = fill};
