/* import.c: finds the format by its first bytes. To add one: write its importer, list it here. */
#include "import/import.h"

#include <string.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/mem.h"
#include "base/pool.h"
#include "format/timing.h"
#include "import/bytes/inflate.h"
#include "import/importer.h"
#include "import/ring/rings.h"
#include "import/snapshot/snapshot_read.h"

enum { SNIFFED = 4096 };

const struct importer *const importers[] = {&import_native,
                                            &import_sqlite,
                                            &import_xplane,
                                            &import_pftrace,
                                            &import_rocprof,
                                            &import_json,
                                            NULL};

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

/* The first bytes of what is in the file; *ret_codec is NULL where it is not compressed. */
static struct str import_head(const struct file_map *file, char unpacked[SNIFFED],
                              const struct codec **ret_codec)
{
    struct str head = str_from(file->p, file->n < SNIFFED ? file->n : SNIFFED);
    *ret_codec = codec_find(head);
    return *ret_codec ? unpack_head(*ret_codec, file, unpacked) : head;
}

/* Any JSON that the user names may be a trace; one that is found in a folder has to look like one.
 * What comes before the events may be longer than what is examined. */
static bool import_is_chrome(struct str head)
{
    static const char *const keys[] = {"\"traceEvents\"", "\"ph\"", "\"deviceProperties\"",
                                       "\"displayTimeUnit\"", NULL};
    for (int i = 0; keys[i]; i++)
        if (str_has(head, keys[i])) return true;
    return false;
}

static enum import_what import_recognize_head(struct str head, const char *path)
{
    const struct importer *format = head.n ? find_importer(head) : NULL;
    if (!head.n) return IMPORT_UNKNOWN;
    if (snapshot_is(head)) return IMPORT_SNAPSHOT;
    if (timing_is_head(head)) return IMPORT_TIMING;
    if (format && format != &import_json) return IMPORT_TRACE;
    if (foreign_check(head, path, NULL) < 0) return IMPORT_FOREIGN;
    return format && import_is_chrome(head) ? IMPORT_TRACE : IMPORT_UNKNOWN;
}

static bool import_has_file(const char *folder, const char *name, char path[4096])
{
    snprintf(path, 4096, "%s/%s", folder, name);
    return access(path, R_OK) == 0;
}

enum import_what import_recognize(const char *path)
{
    char unpacked[SNIFFED], inside[4096];
    const struct codec *codec;
    struct file_map file;
    if (folder_is(path)) {
        bool run = import_has_file(path, "trace.strata", inside) ||
                   import_has_file(path, IMPORT_TORCH_TRACE, inside) || rings_in(path);
        return run ? IMPORT_RUN : IMPORT_UNKNOWN;
    }
    if (file_map_found(&file, path, NULL) < 0) return IMPORT_UNKNOWN;
    enum import_what what = import_recognize_head(import_head(&file, unpacked, &codec), path);
    file_unmap(&file);
    return what;
}

/* Puts what is inside the compressed file in its place. */
static int import_unpack(const struct codec *codec, struct file_map *file, struct err *e)
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

/* A memory snapshot lists allocations, but has no timeline to analyze. */
static int refuse_snapshot(struct err *e)
{
    return FAIL(e, ERR_UNSUPPORTED,
                "a PyTorch memory snapshot, not a trace: strata memory shows which code holds the "
                "memory");
}

static int open_known(struct file_map *file, const char *path, const struct import_options *o,
                      struct trace **ret, struct err *e)
{
    char unpacked[SNIFFED];
    const struct codec *codec;
    struct str head = import_head(file, unpacked, &codec);
    const struct importer *format = head.n ? find_importer(head) : NULL;
    /* an unknown format is left to the JSON reader, which says what it found instead */
    if (!format) format = &import_json;
    int rc = snapshot_is(head) ? refuse_snapshot(e) : 0;
    if (rc == 0 && format == &import_json) rc = foreign_check(head, path, e);
    if (rc == 0 && codec && !format->inflates) rc = import_unpack(codec, file, e);
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

/* `found` is inside of a folder, else the user named it. */
static int open_path(const char *path, bool found, const struct import_options *o,
                     struct trace **ret, struct err *e)
{
    struct file_map file = {0};
    if (o && o->given) {
        file = *o->given;
        *o->given = (struct file_map){0};
    }
    if (!file.p) TRY(found ? file_map_found(&file, path, e) : file_map(&file, path, e));
    return open_file(&file, path, o, ret, e);
}

int import_open(const char *path, const struct import_options *o, struct trace **ret, struct err *e)
{
    /* A run folder holds the trace made from its recordings, one that torch.profiler took where we
     * cannot record a device, or still the recordings. */
    char made[4096];
    bool folder = folder_is(path);
    bool found = folder && (import_has_file(path, "trace.strata", made) ||
                            import_has_file(path, IMPORT_TORCH_TRACE, made));
    if (folder && (!found || (o && o->one_rank))) return rings_open(path, o, ret, e);
    TRY(open_path(found ? made : path, found, o, ret, e));
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
