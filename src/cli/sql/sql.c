/* sql.c: see sql.h. A query is a file; its first line is a comment that says what it answers. */
#include "cli/sql/sql.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/opt.h"
#include "cli/install_dirs.h"

enum { MOST_QUERIES = 256 };

int sql_folder(struct arena *mem, const char **ret, struct err *e)
{
    const char *package = install_dirs_package(mem);
    if (!package)
        return FAIL(e, ERR_UNSUPPORTED,
                    "cannot find the Python package next to this program, which holds the SQL: "
                    "install both with `pip install .` in the source tree");
    *ret = arena_printf(mem, "%s/strata/sql", package);
    return *ret ? 0 : err_nomem(e);
}

static int sql_read_text(const char *path, struct arena *mem, const char **ret, struct err *e)
{
    struct file_map f;
    TRY(file_map(&f, path, e));
    *ret = arena_strdup(mem, str_from(f.p, f.n));
    file_unmap(&f);
    return *ret ? 0 : err_nomem(e);
}

static void sql_put_quoted(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'') buf_addc(out, '\'');
        buf_addc(out, *text);
    }
}

/* The text with its marks replaced. */
static void put_filled(struct buf *out, const char *text, const char *tables)
{
    static const char folder[] = "@TABLES@", source[] = "@SOURCE@";
    for (; *text; text++) {
        if (strncmp(text, folder, sizeof folder - 1) == 0) {
            sql_put_quoted(out, tables);
            text += sizeof folder - 2;
        } else if (strncmp(text, source, sizeof source - 1) == 0) {
            buf_adds(out, strstr(tables, "://") ? "s3" : "file");
            text += sizeof source - 2;
        } else buf_addc(out, *text);
    }
}

int sql_views(const char *database, const char *tables, struct arena *mem, const char **ret,
              struct err *e)
{
    const char *folder, *own, *shared;
    struct buf out = {0};
    TRY(sql_folder(mem, &folder, e));
    const char *first = arena_printf(mem, "%s/%s.sql", folder, database);
    const char *second = arena_printf(mem, "%s/views.sql", folder);
    if (!first || !second) return err_nomem(e);
    TRY(sql_read_text(first, mem, &own, e));
    TRY(sql_read_text(second, mem, &shared, e));
    put_filled(&out, own, tables);
    buf_adds(&out, shared);
    *ret = buf_ok(&out) ? arena_strdup(mem, buf_str(&out)) : NULL;
    buf_done(&out);
    return *ret ? 0 : err_nomem(e);
}

int sql_query(const char *name, struct arena *mem, const char **ret, struct err *e)
{
    const char *names[MOST_QUERIES], *folder;
    struct sql_list list;
    int n = 0;
    TRY(sql_folder(mem, &folder, e));
    TRY(sql_list(mem, &list, e));
    for (uint32_t i = 0; i < list.n && n < MOST_QUERIES; i++) {
        names[n++] = list.all[i].name;
        if (strcmp(list.all[i].name, name) != 0) continue;
        const char *path = arena_printf(mem, "%s/queries/%s.sql", folder, name);
        return path ? sql_read_text(path, mem, ret, e) : err_nomem(e);
    }
    const char *near = opt_nearest(name, names, n);
    if (near) return FAIL(e, ERR_USAGE, "no query '%s'. Did you mean '%s'?", name, near);
    return FAIL(e, ERR_USAGE, "no query '%s'; strata sql --list names all of them", name);
}

/* "-- what it answers" -> what it answers. */
static const char *summary_of(const char *text, struct arena *mem)
{
    struct str line = str_from(text, strcspn(text, "\n"));
    while (line.n && (*line.p == '-' || *line.p == ' ')) line = str_from(line.p + 1, line.n - 1);
    return arena_strdup(mem, line);
}

int sql_list(struct arena *mem, struct sql_list *ret, struct err *e)
{
    const char *folder, *text;
    struct folder_list files;
    TRY(sql_folder(mem, &folder, e));
    const char *queries = arena_printf(mem, "%s/queries", folder);
    if (!queries) return err_nomem(e);
    TRY(folder_list_run(queries, mem, &files, e));
    *ret = (struct sql_list){arena_zalloc(mem, (size_t)files.n + 1, sizeof *ret->all), 0};
    if (!ret->all) return err_nomem(e);
    for (uint32_t i = 0; i < files.n; i++) {
        struct str name = str_c(strrchr(files.paths[i], '/') + 1);
        if (!str_ends(name, ".sql")) continue;
        TRY(sql_read_text(files.paths[i], mem, &text, e));
        struct sql_named q = {arena_strdup(mem, str_from(name.p, name.n - 4)),
                              summary_of(text, mem)};
        if (!q.name || !q.summary) return err_nomem(e);
        ret->all[ret->n++] = q;
    }
    return 0;
}
