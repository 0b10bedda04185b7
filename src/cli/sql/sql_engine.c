/* sql_engine.c: see sql.h. */
#include "cli/sql/sql.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/install_dirs.h"
#include "cli/recording/child.h"

enum { NOT_INSTALLED = 77 }; /* what duckdb_run.py ends with */

/* 1 when it ran, 0 when there is no such program or it has no DuckDB. */
static int try_one(char **argv, struct buf *out, struct err *e)
{
    int status = 0;
    struct err why;
    err_init(&why);
    int rc = child_read(argv, out, &status, &why);
    if (rc == ERR_USAGE) return 0;
    if (rc < 0) return FAIL(e, rc, "%s", why.msg);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_INSTALLED) return 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 1;
    if (WIFEXITED(status)) return FAIL(e, ERR_USAGE, "DuckDB refused the query");
    return FAIL(e, ERR_INTERNAL, "DuckDB was ended by signal %d", WTERMSIG(status));
}

static int try_python(const struct sql_engine *q, const char *python, struct arena *mem,
                      struct buf *out, struct err *e)
{
    const char *folder;
    TRY(sql_folder(mem, &folder, e));
    const char *script = arena_printf(mem, "%s/duckdb_run.py", folder);
    if (!script) return err_nomem(e);
    const char *argv[] = {python, script, q->json ? "json" : "csv", q->views, q->query, NULL};
    return try_one((char **)argv, out, e);
}

static int try_program(const struct sql_engine *q, struct arena *mem, struct buf *out,
                       struct err *e)
{
    const char *all = arena_printf(mem, "%s\n%s", q->views, q->query);
    const char *argv[] = {"duckdb", q->json ? "-json" : "-csv", "-c", all, NULL};
    return all ? try_one((char **)argv, out, e) : err_nomem(e);
}

/* The Python of the environment that this program is installed in, or NULL. */
static const char *own_python(struct arena *mem)
{
    const char *self = install_dirs_self(mem), *slash = self ? strrchr(self, '/') : NULL;
    const char *path = slash ? arena_printf(mem, "%.*s/python3", (int)(slash - self), self) : NULL;
    return path && access(path, X_OK) == 0 ? path : NULL;
}

int sql_engine_run(const struct sql_engine *q, struct arena *mem, struct buf *out, struct err *e)
{
    const char *own = q->python ? q->python : own_python(mem);
    int rc = own ? try_python(q, own, mem, out, e) : 0;
    if (rc == 0 && !q->python) rc = try_python(q, "python3", mem, out, e);
    if (rc == 0 && !q->python) rc = try_program(q, mem, out, e);
    if (rc != 0) return rc < 0 ? rc : 0;
    if (q->python)
        return FAIL(e, ERR_UNSUPPORTED, "'%s' is not a Python that has duckdb", q->python);
    return FAIL(e, ERR_UNSUPPORTED,
                "DuckDB is not installed: `pip install duckdb` for the python3 on the path, or put "
                "its program `duckdb` there; --python names another Python, --print shows the SQL "
                "for a database of your own");
}
