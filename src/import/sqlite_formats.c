/* sqlite_formats.c: which of our readers a database is for shows in its tables. */
#include "import/sqlite_formats.h"

#include <string.h>

#include "base/mem.h"
#include "import/importer.h"

/* Of whom the database is shows in its tables. */
static int sqlite_formats_read(struct builder *b, struct sqlite_in *db, struct err *e)
{
    struct trace *t = builder_trace(b);
    if (rpd_is(db)) {
        t->format = "rpd sqlite";
        return rpd_read(db, b, e);
    }
    if (!rocpd_is(db)) return nsys_read(db, b, e);
    t->format = "rocpd sqlite";
    return rocpd_read(db, b, e);
}

/* Fills the builder; the database is only needed for that. */
static int sqlite_formats_fill(struct builder *b, struct file_map *file, struct err *e)
{
    struct sqlite_in db;
    int rc = sqlite_in_open(&db, file, e);
    if (rc == 0) rc = sqlite_formats_read(b, &db, e);
    sqlite_in_close(&db);
    return rc;
}

static int sqlite_formats_open(struct file_map *file, const char *path,
                               const struct import_options *o, struct trace **ret, struct err *e)
{
    struct builder *b = builder_new(e);
    int rc = b ? 0 : ERR_NOMEM;
    if (rc == 0) {
        struct trace *t = builder_trace(b);
        t->format = "nsys sqlite";
        t->without_bytes = true;
        t->source_bytes = file->n;
        t->path = mem_strdup(path);
        rc = t->path ? sqlite_formats_fill(b, file, e) : err_nomem(e);
    }
    file_unmap(file);
    if (rc == 0) return builder_freeze(b, o->n_threads, ret, e);
    builder_free(b);
    return rc;
}

static bool sqlite_formats_sniff(struct str head)
{
    return head.n >= 16 && memcmp(head.p, "SQLite format 3", 16) == 0;
}

const struct importer import_sqlite = {"sqlite", sqlite_formats_sniff, sqlite_formats_open,
                                       .inflates = false};
