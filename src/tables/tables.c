/* tables.c: see tables.h. */
#include "tables/tables.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <sys/stat.h>

#include "analyze/answer/answer.h"
#include "analyze/comm/comm.h"
#include "analyze/gaps/gaps.h"
#include "analyze/kernels/kernel_stats.h"
#include "analyze/quality/integrity.h"
#include "analyze/stages/stages.h"
#include "results/results.h"
#include "tables/tables_private.h"

/* ---- the lists of the analysis */

static int tables_steps(const struct tables_in *in, struct rows *ret, struct err *e)
{
    TRY(context_need(in->cx, &steps_pass, e));
    TRY(context_need(in->cx, &comm_pass, e));
    *ret = rows_steps(in->cx, UINT32_MAX, NULL);
    return 0;
}

static int tables_stages(const struct tables_in *in, struct rows *ret, struct err *e)
{
    TRY(context_need(in->cx, &stages_pass, e));
    *ret = rows_stages(in->cx, stages_of(in->cx), NULL);
    return 0;
}

static int tables_kernels(const struct tables_in *in, struct rows *ret, struct err *e)
{
    struct kernel_stats *k = arena_zalloc(in->cx->mem, 1, sizeof *k);
    if (!k) return err_nomem(e);
    TRY(kernel_stats_run(in->cx, KERNEL_BY_NAME, in->cx->mem, k, e));
    *ret = rows_kernels(in->cx, k, UINT32_MAX);
    return 0;
}

static int tables_gaps(const struct tables_in *in, struct rows *ret, struct err *e)
{
    TRY(context_need(in->cx, &gaps_pass, e));
    *ret = rows_causes(in->cx, gaps_of(in->cx));
    return 0;
}

static int tables_syncs(const struct tables_in *in, struct rows *ret, struct err *e)
{
    TRY(context_need(in->cx, &syncs_pass, e));
    *ret = rows_syncs(in->cx, syncs_of(in->cx), NULL);
    return 0;
}

static int tables_findings(const struct tables_in *in, struct rows *ret, struct err *e)
{
    TRY(context_need(in->cx, &answer_pass, e));
    *ret = rows_findings(in->cx);
    return 0;
}

static const struct table table_steps = {"steps", &result_steps, tables_steps},
                          table_stages = {"stages", &result_stages, tables_stages},
                          table_kernels = {"kernels", &result_kernels, tables_kernels},
                          table_gaps = {"gaps", &result_causes, tables_gaps},
                          table_syncs = {"syncs", &result_syncs, tables_syncs},
                          table_findings = {"findings", &result_findings, tables_findings};

/* `runs` is the last: a rank that stands there is complete. */
const struct table *const tables[] = {&table_steps,    &table_stages, &table_kernels,
                                      &table_gaps,     &table_syncs,  &table_collectives,
                                      &table_findings, &table_runs,   NULL};

/* ---- a table as Parquet */

int tables_make_folders(char *path, struct err *e)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        struct stat st;
        *slash = 0;
        bool made = mkdir(path, 0777) == 0 || (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
        int why = errno;
        if (!made) err_set(e, ERR_IO, "cannot make the folder '%s': %s", path, strerror(why));
        *slash = '/';
        if (!made) return ERR_IO;
    }
    return 0;
}

const char *tables_run_name(const char *run, struct arena *mem)
{
    bool plain = isalpha((unsigned char)*run);
    char *name = arena_printf(mem, "%s%s", plain ? "" : "run_", run);
    for (char *c = name; c && *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("._-", *c)) *c = '_';
    return name;
}

static enum parquet_type tables_type(enum field_kind k)
{
    if (k == FIELD_TEXT || k == FIELD_WORD) return PARQUET_TEXT;
    return k == FIELD_PCT || k == FIELD_NUM || k == FIELD_MEAN_NS ? PARQUET_NUM : PARQUET_INT;
}

/* "cpu_us" is the column "cpu_ns". */
static const char *tables_name(const struct field *f, struct arena *mem)
{
    size_t n = strlen(f->key);
    bool time = f->kind == FIELD_NS || f->kind == FIELD_MEAN_NS || f->kind == FIELD_AT;
    if (f->column) return f->column;
    return time ? arena_printf(mem, "%.*s_ns", (int)n - 3, f->key) : f->key;
}

enum { MOST_COLUMNS = 96 };

static int tables_columns(const struct result *of, struct arena *mem,
                          const struct parquet_column **ret, uint32_t *ret_n, struct err *e)
{
    struct parquet_column *list = arena_zalloc(mem, MOST_COLUMNS, sizeof *list);
    uint32_t n = 0;
    if (!list) return err_nomem(e);
    for (uint32_t i = 0; i < of->n_fields; i++) {
        const struct field *f = &of->fields[i];
        assert(n + 3 <= MOST_COLUMNS);
        if (f->json_only) continue;
        if (f->kind == FIELD_PLACE) {
            list[n++] = (struct parquet_column){"file", PARQUET_TEXT, true};
            list[n++] = (struct parquet_column){"line", PARQUET_INT, true};
            list[n++] = (struct parquet_column){"function", PARQUET_TEXT, true};
            continue;
        }
        const char *name = tables_name(f, mem);
        if (!name) return err_nomem(e);
        list[n++] = (struct parquet_column){name, tables_type(f->kind), field_may_be_null(f)};
    }
    *ret = list;
    *ret_n = n;
    return 0;
}

static void tables_cell(const struct rows *r, const struct field *f, const struct value *v,
                        struct parquet *p)
{
    switch (tables_type(f->kind)) {
    case PARQUET_TEXT: parquet_text(p, v->text); break;
    case PARQUET_NUM: parquet_num(p, v->num); break;
    case PARQUET_INT: parquet_int(p, f->kind == FIELD_AT ? r->cx->t->base_ns + v->i : v->i); break;
    }
}

static void tables_place(const struct value *v, struct parquet *p)
{
    if (!v->known || v->place.line <= 0) {
        for (int i = 0; i < 3; i++) parquet_null(p);
        return;
    }
    parquet_text(p, v->place.file);
    parquet_int(p, v->place.line);
    parquet_text(p, v->place.function);
}

static void tables_row(const struct rows *r, uint32_t i, struct parquet *p)
{
    for (uint32_t k = 0; k < r->of->n_fields; k++) {
        const struct field *f = &r->of->fields[k];
        if (f->json_only) continue;
        struct value v = rows_value(r, i, f);
        if (f->kind == FIELD_PLACE) tables_place(&v, p);
        else if (v.known) tables_cell(r, f, &v, p);
        else parquet_null(p);
    }
}

int tables_fill(const struct tables_in *in, const struct table *t, struct parquet *p, struct err *e)
{
    const struct parquet_column *columns;
    uint32_t n;
    struct buf text = {0};
    struct rows r;
    *p = (struct parquet){0};
    TRY(context_need(in->cx, &integrity_pass, e));
    TRY(t->rows(in, &r, e));
    TRY(tables_columns(t->of, in->cx->mem, &columns, &n, e));
    TRY(parquet_begin(p, columns, n, e));
    r.text = &text;
    for (uint32_t i = 0; i < r.n; i++) tables_row(&r, i, p);
    int rc = buf_ok(&text) ? 0 : err_nomem(e);
    buf_done(&text);
    return rc;
}

static int write_table(const struct tables_in *in, const struct table *t, const char *path,
                       struct err *e)
{
    struct parquet p;
    int rc = tables_fill(in, t, &p, e);
    if (rc == 0) rc = parquet_write(&p, path, e);
    parquet_done(&p);
    return rc;
}

int tables_write(const struct tables_in *in, const char *folder, const char *run, struct err *e)
{
    struct arena *mem = in->cx->mem;
    for (const struct table *const *t = tables; *t; t++) {
        char *path = arena_printf(mem, "%s/%s/run=%s/rank=%d/part.parquet", folder, (*t)->name, run,
                                  in->rank->rank);
        if (!path) return err_nomem(e);
        TRY(tables_make_folders(path, e));
        TRY(write_table(in, *t, path, e));
    }
    return 0;
}
