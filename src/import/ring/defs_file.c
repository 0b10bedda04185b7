/* defs_file.c: see defs_file.h. Nothing in the file is believed before it is checked. */
#include "import/ring/defs_file.h"

#include <string.h>

#include "base/mem.h"

/* The definition at `*at`, which is moved behind it; false at the end, or where it makes no sense.
 */
static bool next_def(const struct defs_file *f, uint64_t n_bytes, uint64_t *at,
                     struct ring_def *ret)
{
    if (*at > n_bytes || n_bytes - *at < sizeof *ret) return false;
    memcpy(ret, f->map.p + RING_HEAD_BYTES + *at, sizeof *ret);
    if (ret->id == 0 || ret->id >= RING_DEFS_MAX || ret->n > RING_DEF_BYTES) return false;
    if (ring_def_bytes(ret->n) > n_bytes - *at) return false;
    *at += ring_def_bytes(ret->n);
    return true;
}

static int read_defs(struct defs_file *f, uint64_t n_bytes, struct err *e)
{
    struct ring_def d;
    for (uint64_t at = 0; next_def(f, n_bytes, &at, &d);)
        if (d.id >= f->n) f->n = d.id + 1;
    f->entries = mem_zalloc(f->n ? f->n : 1, sizeof *f->entries);
    if (!f->entries) return err_nomem(e);
    for (uint64_t at = 0; next_def(f, n_bytes, &at, &d);) {
        const char *p = f->map.p + RING_HEAD_BYTES + at - ring_def_bytes(d.n) + sizeof d;
        f->entries[d.id] = (struct defs_entry){d.type, str_from(p, d.n)};
    }
    return 0;
}

static int defs_file_check_head(const struct defs_file *f, const char *path,
                                const struct defs_head *h, struct err *e)
{
    static const char nothing[8];
    if (f->map.n < RING_HEAD_BYTES || memcmp(h->magic, nothing, 8) == 0) return 0;
    err_at(e, path, 0);
    if (memcmp(h->magic, DEFS_MAGIC, 8) != 0) return FAIL(e, ERR_FORMAT, "not a definitions file");
    if (h->version != RING_VERSION || h->head_bytes != RING_HEAD_BYTES)
        return FAIL(e, ERR_VERSION, "has version %u, expected %u", h->version, RING_VERSION);
    return 0;
}

int defs_file_open(struct defs_file *f, const char *path, struct err *e)
{
    *f = (struct defs_file){0};
    TRY(file_map_found(&f->map, path, e));
    struct defs_head h = {0};
    if (f->map.n >= RING_HEAD_BYTES) memcpy(&h, f->map.p, sizeof h);
    int rc = defs_file_check_head(f, path, &h, e);
    uint64_t room = f->map.n > RING_HEAD_BYTES ? f->map.n - RING_HEAD_BYTES : 0;
    f->n_refused = h.n_refused;
    if (rc == 0) rc = read_defs(f, h.n_bytes < room ? h.n_bytes : room, e);
    if (rc < 0) defs_file_close(f);
    return rc;
}

void defs_file_close(struct defs_file *f)
{
    mem_free(f->entries);
    file_unmap(&f->map);
    *f = (struct defs_file){0};
}

struct str defs_file_get(const struct defs_file *f, uint32_t id, enum def_type type, size_t least)
{
    struct str none = {NULL, 0};
    if (id >= f->n || f->entries[id].type != (uint32_t)type) return none;
    return f->entries[id].bytes.n >= least ? f->entries[id].bytes : none;
}
