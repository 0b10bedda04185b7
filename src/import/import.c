/* import.c: finds the format by its first bytes. To add one: write its importer, list it here. */
#include "import/import.h"

#include <stdio.h>
#include <string.h>

#include "base/pool.h"
#include "import/json.h"
#include "import/native.h"

const struct importer *const importers[] = {&import_native, &import_json, NULL};

static const struct importer *find_importer(struct str head)
{
    for (int i = 0; importers[i]; i++)
        if (importers[i]->sniff(head)) return importers[i];
    return NULL;
}

static int open_mapped(struct file_map *file, const char *path, const struct import_options *o,
                       struct trace **ret, struct err *e)
{
    struct str head = str_from(file->p, file->n < 4096 ? file->n : 4096);
    const struct importer *format = find_importer(head);
    /* what nobody knows is left to the JSON reader, which says what it found instead */
    if (!format) format = &import_json;
    return format->open(file, path, o, ret, e);
}

int import_open(const char *path, const struct import_options *o, struct trace **ret, struct err *e)
{
    struct import_options options = o ? *o : (struct import_options){0};
    if (options.n_threads <= 0) options.n_threads = pool_size();
    struct file_map file;
    TRY(file_map(&file, path, e));
    int rc;
    if (file.n == 0) {
        file_unmap(&file);
        rc = FAIL(e, ERR_FORMAT, "is empty, expected a trace");
    } else {
        rc = open_mapped(&file, path, &options, ret, e);
    }
    if (rc < 0) err_at(e, path, ERR_NO_OFFSET);
    return rc;
}
