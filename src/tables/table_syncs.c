/* table_syncs.c: waits of the CPU for a device, by the place that asks for them. */
#include "analyze/waits/syncs.h"
#include "tables/tables.h"
#include "tables/tables_private.h"

static const struct parquet_column columns[] = {
    TEXT("call"),      TEXT("kind"),      TEXT0("op"),   INT("count"),  INT("drains"),
    INT("blocked_ns"), INT("exposed_ns"), INT0("bytes"), PLACE_COLUMNS,
};

static void put_site(const struct trace *t, const struct sync_site *s, struct parquet *p)
{
    parquet_text(p, trace_str(t, s->call));
    parquet_text(p, str_c(wait_kind_name(s->kind)));
    if (s->place.op == ROW_NONE) parquet_null(p);
    else parquet_text(p, trace_name(t, s->place.op));
    parquet_int(p, s->n_rows);
    parquet_int(p, s->n_drains);
    parquet_int(p, s->blocked_ns);
    parquet_int(p, s->exposed_ns);
    parquet_int_unless(p, s->bytes, -1);
    table_place(p, s->place.source.file, s->place.source.line, s->place.source.function);
}

static int fill(const struct tables_in *in, struct parquet *p, struct err *e)
{
    const struct syncs *s = syncs_of(in->cx);
    (void)e;
    for (uint32_t i = 0; i < s->n_sites; i++) put_site(in->cx->t, &s->sites[i], p);
    return 0;
}

static const struct pass *const needs[] = {&syncs_pass, NULL};

const struct table table_syncs = {
    .name = "syncs", .needs = needs, .columns = columns, .n_columns = COUNT(columns), .fill = fill};
