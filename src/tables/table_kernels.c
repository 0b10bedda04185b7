/* table_kernels.c: kernels, copies and fills by name. */
#include <math.h>

#include "analyze/kernels/kernel_stats.h"
#include "tables/tables.h"
#include "tables/tables_private.h"

static const struct parquet_column columns[] = {
    TEXT("name"),    TEXT("short_name"),    TEXT("family"),   TEXT("kind"),  INT("calls"),
    INT("total_ns"), INT("min_ns"),         INT("median_ns"), INT("p95_ns"), INT("max_ns"),
    INT0("bytes"),   NUM0("occupancy_pct"), NUM0("roof_pct"), TEXT0("op"),
};

static void put_kernel(const struct kernel_row *k, struct parquet *p)
{
    parquet_text(p, k->name);
    parquet_text(p, k->short_name);
    parquet_text(p, str_c(kernel_family_name(k->family)));
    parquet_text(p, str_c(kind_name(k->kind)));
    parquet_int(p, (int64_t)k->calls);
    parquet_int(p, k->total_ns);
    parquet_int(p, k->min_ns);
    parquet_int(p, k->median_ns);
    parquet_int(p, k->p95_ns);
    parquet_int(p, k->max_ns);
    parquet_int_unless(p, k->bytes, -1);
    parquet_num(p, k->occupancy_pct);
    parquet_num(p, k->roof_pct);
    if (k->op.n) parquet_text(p, k->op);
    else parquet_null(p);
}

static int fill(const struct tables_in *in, struct parquet *p, struct err *e)
{
    struct kernel_stats k;
    TRY(kernel_stats_run(in->cx, KERNEL_BY_NAME, in->cx->mem, &k, e));
    for (uint32_t i = 0; i < k.n_rows; i++) put_kernel(&k.rows[i], p);
    return 0;
}

const struct table table_kernels = {
    .name = "kernels", .columns = columns, .n_columns = COUNT(columns), .fill = fill};
