/* codecs.c: the ways to compress a block. The gzip ones end every block with a full flush:
 * byte-aligned and without reference to what was before, so that blocks joined together are one
 * deflate stream, which every reader of gzip takes (many stop at the end of a first member). */
#include <zlib.h>
#include <zstd.h>
#ifdef HAVE_ISAL
#include <isa-l/igzip_lib.h>
#endif

#include "base/mem.h"
#include "export/packer.h"

enum { ZSTD_LEVEL = 3, ZLIB_LEVEL = 4, SMALL_LEVEL = 7, FLUSH_MARK = 16 };

static void *zstd_new(void)
{
    ZSTD_CCtx *z = ZSTD_createCCtx();
    if (!z) return NULL;
    if (ZSTD_isError(ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, ZSTD_LEVEL)) ||
        ZSTD_isError(ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1))) {
        ZSTD_freeCCtx(z);
        return NULL;
    }
    return z;
}

static void zstd_free(void *state)
{
    ZSTD_freeCCtx(state);
}

static size_t zstd_pack(void *state, struct str plain, char *to, size_t room)
{
    size_t n = ZSTD_compress2(state, to, room, plain.p, plain.n);
    return ZSTD_isError(n) ? 0 : n;
}

const struct packer_codec packer_zstd = {"zstd", zstd_new, zstd_free, ZSTD_compressBound,
                                         zstd_pack};

static void *zlib_alloc(void *opaque, unsigned n, unsigned size)
{
    (void)opaque;
    return mem_zalloc(n, size);
}

static void zlib_release(void *opaque, void *p)
{
    (void)opaque;
    mem_free(p);
}

static void *zlib_at(int level)
{
    enum { RAW_WINDOW = -15, MEMORY = 9 };
    z_stream *z = mem_zalloc(1, sizeof *z);
    if (!z) return NULL;
    z->zalloc = zlib_alloc;
    z->zfree = zlib_release;
    if (deflateInit2(z, level, Z_DEFLATED, RAW_WINDOW, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK) {
        mem_free(z);
        return NULL;
    }
    return z;
}

static void *zlib_new(void)
{
    return zlib_at(ZLIB_LEVEL);
}

static void *small_new(void)
{
    return zlib_at(SMALL_LEVEL);
}

static void zlib_free(void *state)
{
    deflateEnd(state);
    mem_free(state);
}

/* Stored blocks of 16 KiB and 5 bytes each are the worst either library does. */
static size_t gzip_bound(size_t n)
{
    return n + n / 1024 + 1024 + FLUSH_MARK;
}

static size_t zlib_pack(void *state, struct str plain, char *to, size_t room)
{
    z_stream *z = state;
    if (deflateReset(z) != Z_OK) return 0;
    z->next_in = (unsigned char *)(uintptr_t)plain.p;
    z->avail_in = (unsigned)plain.n;
    z->next_out = (unsigned char *)to;
    z->avail_out = (unsigned)room;
    if (deflate(z, Z_FULL_FLUSH) != Z_OK || z->avail_in || !z->avail_out) return 0;
    return room - z->avail_out;
}

const struct packer_codec packer_gzip_zlib = {"zlib", zlib_new, zlib_free, gzip_bound, zlib_pack};
const struct packer_codec packer_small = {"zlib", small_new, zlib_free, gzip_bound, zlib_pack};

#ifdef HAVE_ISAL

struct isal_state {
    struct isal_zstream stream;
    unsigned char level[ISAL_DEF_LVL2_DEFAULT];
};

static void *isal_new(void)
{
    return mem_zalloc(1, sizeof(struct isal_state));
}

static size_t isal_pack(void *state, struct str plain, char *to, size_t room)
{
    struct isal_state *s = state;
    struct isal_zstream *z = &s->stream;
    isal_deflate_init(z);
    z->level = 2;
    z->level_buf = s->level;
    z->level_buf_size = sizeof s->level;
    z->flush = FULL_FLUSH;
    z->next_in = (unsigned char *)(uintptr_t)plain.p;
    z->avail_in = (uint32_t)plain.n;
    z->next_out = (unsigned char *)to;
    z->avail_out = (uint32_t)room;
    if (isal_deflate(z) != COMP_OK || z->avail_in || !z->avail_out) return 0;
    return room - z->avail_out;
}

const struct packer_codec packer_gzip = {"isa-l", isal_new, mem_free, gzip_bound, isal_pack};

#else

const struct packer_codec packer_gzip = {"zlib", zlib_new, zlib_free, gzip_bound, zlib_pack};

#endif
