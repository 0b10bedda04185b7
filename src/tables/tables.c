/* tables.c: see tables.h. */
#include "tables/tables.h"

#include <ctype.h>
#include <errno.h>
#include <sys/stat.h>

#include "tables/tables_private.h"

/* One per line: table_<name>.c defines `const struct table table_<name>`. `runs` is the last. */
#define TABLES(X)  \
    X(steps)       \
    X(stages)      \
    X(kernels)     \
    X(gaps)        \
    X(syncs)       \
    X(collectives) \
    X(findings)    \
    X(runs)

#define DECLARE(name) extern const struct table table_##name;
TABLES(DECLARE)

#define LIST(name) &table_##name,
const struct table *const tables[] = {TABLES(LIST) NULL};

void table_place(struct parquet *p, struct str file, int32_t line, struct str function)
{
    if (line <= 0) {
        for (int i = 0; i < 3; i++) parquet_null(p);
        return;
    }
    parquet_text(p, file);
    parquet_int(p, line);
    parquet_text(p, function);
}

void table_frame(struct parquet *p, const struct trace *t, row_t frame)
{
    struct frame f = {0};
    bool known = frame != ROW_NONE && frame_parse(trace_name(t, frame), &f);
    table_place(p, known ? frame_path(f.file) : f.file, known ? f.line : 0, f.function);
}

static int make_folders(char *path, struct err *e)
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

static int write_table(const struct tables_in *in, const struct table *t, const char *path,
                       struct err *e)
{
    struct parquet p;
    for (const struct pass *const *n = t->needs; n && *n; n++) TRY(context_need(in->cx, *n, e));
    int rc = parquet_begin(&p, t->columns, t->n_columns, e);
    if (rc == 0) rc = t->fill(in, &p, e);
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
        TRY(make_folders(path, e));
        TRY(write_table(in, *t, path, e));
    }
    return 0;
}
