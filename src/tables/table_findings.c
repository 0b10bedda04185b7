/* table_findings.c: what is wrong, what it costs and what a fix gains, most first. */
#include "analyze/rules/rule.h"
#include "tables/tables.h"
#include "tables/tables_private.h"

static const struct parquet_column columns[] = {
    INT("place"),     TEXT("rule"),      TEXT("severity"),  TEXT("title"),
    TEXT0("subject"), TEXT0("fix"),      TEXT("effort"),    INT("gain_ns"),
    NUM0("gain_pct"), INT("blocked_ns"), INT("exposed_ns"), PLACE_COLUMNS,
};

static struct str text_of(const char *s)
{
    return str_c(s ? s : "");
}

static void put_finding(uint32_t place, const struct finding *f, struct parquet *p)
{
    parquet_int(p, place);
    parquet_text(p, str_c(f->rule->id));
    parquet_text(p, str_c(severity_name(f->severity)));
    parquet_text(p, text_of(f->title));
    parquet_cstr(p, f->subject);
    parquet_cstr(p, f->fix);
    parquet_text(p, str_c(effort_name(f->effort)));
    parquet_int(p, f->gain_ns);
    parquet_num(p, f->gain_pct);
    parquet_int(p, f->blocked_ns);
    parquet_int(p, f->exposed_ns);
    table_place(p, text_of(f->file), f->file ? f->line : 0, text_of(f->function));
}

static int fill(const struct tables_in *in, struct parquet *p, struct err *e)
{
    const struct findings *f = findings_of(in->cx);
    (void)e;
    for (uint32_t i = 0; i < f->n; i++) put_finding(i + 1, f->items[i], p);
    return 0;
}

static const struct pass *const needs[] = {&findings_pass, NULL};

const struct table table_findings = {.name = "findings",
                                     .needs = needs,
                                     .columns = columns,
                                     .n_columns = COUNT(columns),
                                     .fill = fill};
