/* inflate_zstd.c: zstd, any number of frames. */
#define ZSTD_STATIC_LINKING_ONLY /* for the allocator and the largest window */
#include <zstd.h>
#include <zstd_errors.h>

#include "base/mem.h"
#include "import/bytes/inflate.h"

enum { LARGEST_WINDOW_LOG = 31 };

struct zst {
    ZSTD_DStream *z;
    ZSTD_inBuffer in;
    size_t left; /* what the frame still needs; 0 between frames */
};

static bool is_zstd(struct str s)
{
    static const unsigned char magic[] = {0x28, 0xb5, 0x2f, 0xfd};
    static const unsigned char skipped[] = {0x2a, 0x4d, 0x18}; /* of frames to pass over */
    if (s.n < sizeof magic) return false;
    return memcmp(s.p, magic, sizeof magic) == 0 ||
           ((s.p[0] & 0xf0) == 0x50 && memcmp(s.p + 1, skipped, sizeof skipped) == 0);
}

static void *inflate_zstd_z_alloc(void *opaque, size_t size)
{
    return mem_alloc(size);
}

static void inflate_zstd_z_free(void *opaque, void *p)
{
    mem_free(p);
}

static void zst_free(void *state)
{
    struct zst *s = state;
    ZSTD_freeDStream(s->z);
    mem_free(s);
}

static void *zst_new(struct str in)
{
    struct zst *s = mem_zalloc(1, sizeof *s);
    if (!s) return NULL;
    s->in = (ZSTD_inBuffer){in.p, in.n, 0};
    s->left = 1;
    s->z = ZSTD_createDStream_advanced(
        (ZSTD_customMem){inflate_zstd_z_alloc, inflate_zstd_z_free, NULL});
    if (s->z &&
        !ZSTD_isError(ZSTD_DCtx_setParameter(s->z, ZSTD_d_windowLogMax, LARGEST_WINDOW_LOG)))
        return s;
    zst_free(s);
    return NULL;
}

static int zst_step(void *state, char *out, size_t room, size_t *ret_n, bool *ret_whole)
{
    struct zst *s = state;
    ZSTD_outBuffer o = {.size = room};
    o.dst = out;
    while (o.pos < room && (s->in.pos < s->in.size || s->left)) {
        size_t in_before = s->in.pos, out_before = o.pos;
        s->left = ZSTD_decompressStream(s->z, &o, &s->in);
        if (ZSTD_isError(s->left)) {
            if (ZSTD_getErrorCode(s->left) == ZSTD_error_memory_allocation) return ERR_NOMEM;
            break;
        }
        if (s->in.pos == in_before && o.pos == out_before) break;
    }
    *ret_n = o.pos;
    *ret_whole = s->left == 0;
    return 0;
}

static uint64_t zst_consumed(const void *state)
{
    return ((const struct zst *)state)->in.pos;
}

const struct codec codec_zstd = {
    .name = "zstd",
    .most_ratio = 5000,
    .is = is_zstd,
    .new = zst_new,
    .free = zst_free,
    .step = zst_step,
    .consumed = zst_consumed,
};
