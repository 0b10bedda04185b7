/* import.c: finds the format by its first bytes. To add one: write its importer, list it here. */
#include "import/import.h"

#include <string.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/mem.h"
#include "base/pool.h"
#include "import/foreign.h"
#include "import/inflate.h"
#include "import/json.h"
#include "import/native.h"
#include "import/nsys.h"
#include "import/nsys_parquet.h"
#include "import/pftrace.h"
#include "import/rings.h"
#include "import/rocprof.h"
#include "import/snapshot_read.h"
#include "import/xplane.h"

enum { SNIFFED = 4096 };

const struct importer *const importers[] = {
    &import_native, &import_nsys, &import_xplane, &import_pftrace, &import_rocprof,
    &import_json,   NULL};

static const struct importer *find_importer(struct str head)
{
    for (int i = 0; importers[i]; i++)
        if (importers[i]->sniff(head)) return importers[i];
    return NULL;
}

/* How a compressed file begins inside; empty where it cannot be unpacked. */
static struct str unpack_head(const struct codec *codec, const struct file_map *file,
                              char head[SNIFFED])
{
    size_t n = 0;
    struct inflater f = {0};
    int rc = inflater_init(&f, codec, str_from(file->p, file->n), NULL);
    if (rc == 0) rc = inflater_step(&f, head, SNIFFED, &n, NULL);
    inflater_done(&f);
    return str_from(head, rc == 0 ? n : 0);
}

/* Puts what is inside the compressed file in its place. */
static int unpack(const struct codec *codec, struct file_map *file, struct err *e)
{
    struct buf text = {0};
    bool whole;
    int rc = inflate_all(codec, str_from(file->p, file->n), SIZE_MAX, &text, &whole, e);
    if (rc == 0 && !whole)
        rc = FAIL(e, ERR_FORMAT, "cut short, or damaged: %s ends early", codec->name);
    char *padding = rc == 0 ? buf_room(&text, FILE_PADDING) : NULL;
    if (!padding) {
        buf_done(&text);
        return rc < 0 ? rc : err_nomem(e);
    }
    memset(padding, 0, FILE_PADDING);
    file_unmap(file);
    *file = (struct file_map){.p = text.p, .n = text.n, .mapped = false};
    return 0;
}

/* It has moments, and is not a timeline. */
static int refuse_snapshot(struct err *e)
{
    return FAIL(e, ERR_UNSUPPORTED,
                "a memory snapshot of PyTorch, not a trace: strata memory shows who holds the "
                "memory");
}

static int open_known(struct file_map *file, const char *path, const struct import_options *o,
                      struct trace **ret, struct err *e)
{
    char unpacked[SNIFFED];
    struct str head = str_from(file->p, file->n < SNIFFED ? file->n : SNIFFED);
    const struct codec *codec = codec_find(head);
    if (codec) head = unpack_head(codec, file, unpacked);
    const struct importer *format = head.n ? find_importer(head) : NULL;
    /* what nobody knows is left to the JSON reader, which says what it found instead */
    if (!format) format = &import_json;
    int rc = snapshot_is(head) ? refuse_snapshot(e) : 0;
    if (rc == 0 && format == &import_json) rc = foreign_check(head, path, e);
    if (rc == 0 && codec && !format->inflates) rc = unpack(codec, file, e);
    if (rc == 0) return format->open(file, path, o, ret, e);
    file_unmap(file);
    return rc;
}

/* Takes the file over. */
static int open_file(struct file_map *file, const char *path, const struct import_options *o,
                     struct trace **ret, struct err *e)
{
    struct import_options options = o ? *o : (struct import_options){0};
    if (options.n_threads <= 0) options.n_threads = pool_size();
    int rc;
    if (file->n == 0) {
        file_unmap(file);
        rc = FAIL(e, ERR_FORMAT, "the file is empty, expected a trace");
    } else {
        rc = open_known(file, path, &options, ret, e);
    }
    if (rc < 0) err_at(e, path, ERR_NO_OFFSET);
    return rc;
}

/* Whether the trace in `folder` was made from its recordings before the last ones came. */
static bool is_outdated(const struct trace *t, const char *folder)
{
    char now[RINGS_EXTENT];
    struct str then = trace_meta(t, TRACE_META_EXTENT);
    return then.p && rings_extent(folder, now) && !str_is(then, now);
}

static int open_path(const char *path, const struct import_options *o, struct trace **ret,
                     struct err *e)
{
    struct file_map file = {0};
    if (o && o->given) {
        file = *o->given;
        *o->given = (struct file_map){0};
    }
    if (!file.p) TRY(file_map(&file, path, e));
    return open_file(&file, path, o, ret, e);
}

int import_open(const char *path, const struct import_options *o, struct trace **ret, struct err *e)
{
    /* A run folder holds the trace made from its recordings, one that torch.profiler took where we
     * cannot record a device, or still the recordings. */
    char made[4096];
    bool folder = folder_is(path);
    snprintf(made, sizeof made, "%s/trace.strata", path);
    bool found = folder && access(made, R_OK) == 0;
    if (folder && !found) {
        snprintf(made, sizeof made, "%s/" IMPORT_TORCH_TRACE, path);
        found = access(made, R_OK) == 0;
    }
    if (folder && !found && nsys_parquet_in(path)) return nsys_parquet_open(path, o, ret, e);
    if (folder && (!found || (o && o->one_rank))) return rings_open(path, o, ret, e);
    TRY(open_path(found ? made : path, o, ret, e));
    if (!found || !is_outdated(*ret, path)) return 0;
    trace_free(*ret);
    return rings_open(path, o, ret, e);
}

int import_bytes(struct str bytes, const char *name, const struct import_options *o,
                 struct trace **ret, struct err *e)
{
    char *copy = mem_alloc(bytes.n + FILE_PADDING);
    if (!copy) return err_nomem(e);
    memset(copy + bytes.n, 0, FILE_PADDING);
    if (bytes.n) memcpy(copy, bytes.p, bytes.n);
    struct file_map file = {.p = copy, .n = bytes.n, .mapped = false};
    return open_file(&file, name, o, ret, e);
}
