/* ring_extent.c: how much the recordings of a run hold, from the heads of their files: what was
 * made from them says this, and is out of date when it is no longer so. Times of files do not help:
 * writing to a mapping need not change them. */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "import/ring/ring_set.h"
#include "import/ring/rings.h"

struct extent {
    uint32_t n_files;
    uint64_t n_records, n_bytes, n_ended;
};

union head {
    struct ring_head ring;
    struct proc_head proc;
    struct defs_head defs;
};

static void add_file(struct extent *x, const char *folder, const char *name)
{
    char path[RING_SET_PATH + 256];
    union head h;
    memset(&h, 0, sizeof h);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = fd_open(path, O_RDONLY | O_NONBLOCK, 0);
    if (fd < 0) return;
    ssize_t n = read(fd, &h, sizeof h);
    close(fd);
    x->n_files++;
    if (n < (ssize_t)sizeof h) return;
    if (memcmp(h.ring.magic, RING_MAGIC, sizeof h.ring.magic) == 0)
        x->n_records += h.ring.n_written;
    if (memcmp(h.defs.magic, DEFS_MAGIC, sizeof h.defs.magic) == 0) x->n_bytes += h.defs.n_bytes;
    if (memcmp(h.proc.magic, PROC_MAGIC, sizeof h.proc.magic) == 0) {
        x->n_bytes += h.proc.strings_bytes;
        x->n_ended += h.proc.closed != 0;
    }
}

static bool ring_extent_is_recording(const char *name)
{
    struct str s = str_c(name);
    return str_ends(s, ".ring") || str_ends(s, ".proc") || str_ends(s, ".defs");
}

bool rings_extent(const char *folder, char ret[RINGS_EXTENT])
{
    char path[RING_SET_PATH];
    DIR *d = ring_set_locate(folder, path) ? opendir(path) : NULL;
    if (!d) return false;
    struct extent x = {0};
    for (struct dirent *f; (f = readdir(d));)
        if (ring_extent_is_recording(f->d_name)) add_file(&x, path, f->d_name);
    closedir(d);
    snprintf(ret, RINGS_EXTENT, "\"%u %" PRIu64 " %" PRIu64 " %" PRIu64 "\"", x.n_files,
             x.n_records, x.n_bytes, x.n_ended);
    return true;
}
