/* inflate_gzip.c: gzip, any number of members, by ISA-L or, where that is missing, by zlib.
 *
 * Both keep what they need of earlier output to themselves, so the caller may give pages of it
 * back. What follows the last member without looking like another one is ignored, as gzip does. */
#include <string.h>

#include "base/mem.h"
#include "import/bytes/inflate.h"

#ifdef HAVE_ISAL
#include <isa-l/igzip_lib.h>
#else
#include <zlib.h>
#endif

enum { LARGEST_STEP = 1 << 30 };

static bool is_gzip(struct str s)
{
    return s.n >= 2 && (unsigned char)s.p[0] == 0x1f && (unsigned char)s.p[1] == 0x8b;
}

/* What one call of the library came to. */
enum progress { GOES_ON, MEMBER_DONE, DAMAGED };

struct gzip {
    struct str left; /* of the input */
    uint64_t consumed;
#ifdef HAVE_ISAL
    struct inflate_state z;
#else
    z_stream z;
#endif
};

#ifdef HAVE_ISAL

static bool inflate_gzip_start(struct gzip *g)
{
    isal_inflate_init(&g->z);
    g->z.crc_flag = ISAL_GZIP;
    return true;
}

static void inflate_gzip_restart(struct gzip *g)
{
    isal_inflate_reset(&g->z);
    g->z.crc_flag = ISAL_GZIP;
}

static void inflate_gzip_finish(struct gzip *g)
{
}

static enum progress inflate_gzip_decode(struct gzip *g, size_t *in_left, size_t *out_left,
                                         char *out)
{
    g->z.next_in = (uint8_t *)(uintptr_t)g->left.p;
    g->z.avail_in = (uint32_t)*in_left;
    g->z.next_out = (uint8_t *)out;
    g->z.avail_out = (uint32_t)*out_left;
    int rc = isal_inflate(&g->z);
    *in_left = g->z.avail_in;
    *out_left = g->z.avail_out;
    if (rc < 0) return DAMAGED;
    return g->z.block_state == ISAL_BLOCK_FINISH ? MEMBER_DONE : GOES_ON;
}

static void *gzip_clone(const void *state)
{
    struct gzip *copy = mem_alloc(sizeof *copy);
    if (copy) memcpy(copy, state, sizeof *copy);
    return copy;
}

#else

/* zlib's own memory comes from our allocator, so that tests can make it fail. */
static void *inflate_gzip_z_alloc(void *opaque, unsigned n, unsigned size)
{
    return mem_zalloc(n, size);
}

static void inflate_gzip_z_free(void *opaque, void *p)
{
    mem_free(p);
}

static bool inflate_gzip_start(struct gzip *g)
{
    g->z.zalloc = inflate_gzip_z_alloc;
    g->z.zfree = inflate_gzip_z_free;
    return inflateInit2(&g->z, 15 + 16) == Z_OK;
}

static void inflate_gzip_restart(struct gzip *g)
{
    inflateReset(&g->z);
}

static void inflate_gzip_finish(struct gzip *g)
{
    inflateEnd(&g->z);
}

static enum progress inflate_gzip_decode(struct gzip *g, size_t *in_left, size_t *out_left,
                                         char *out)
{
    g->z.next_in = (Bytef *)(uintptr_t)g->left.p;
    g->z.avail_in = (uInt)*in_left;
    g->z.next_out = (Bytef *)out;
    g->z.avail_out = (uInt)*out_left;
    int rc = inflate(&g->z, Z_NO_FLUSH);
    *in_left = g->z.avail_in;
    *out_left = g->z.avail_out;
    if (rc == Z_STREAM_END) return MEMBER_DONE;
    return rc == Z_OK || rc == Z_BUF_ERROR ? GOES_ON : DAMAGED;
}

static void *gzip_clone(const void *state)
{
    const struct gzip *g = state;
    struct gzip *copy = mem_alloc(sizeof *copy);
    if (!copy) return NULL;
    *copy = *g;
    if (inflateCopy(&copy->z, (z_stream *)(uintptr_t)&g->z) == Z_OK) return copy;
    mem_free(copy);
    return NULL;
}

#endif

static void gzip_free(void *state)
{
    inflate_gzip_finish(state);
    mem_free(state);
}

static void *gzip_new(struct str in)
{
    struct gzip *g = mem_zalloc(1, sizeof *g);
    if (!g) return NULL;
    g->left = in;
    if (inflate_gzip_start(g)) return g;
    mem_free(g);
    return NULL;
}

static int gzip_step(void *state, char *out, size_t room, size_t *ret_n, bool *ret_whole)
{
    struct gzip *g = state;
    *ret_n = 0;
    enum progress p = GOES_ON;
    while (*ret_n < room) {
        size_t in = g->left.n < LARGEST_STEP ? g->left.n : LARGEST_STEP, in_left = in;
        size_t want = room - *ret_n < LARGEST_STEP ? room - *ret_n : LARGEST_STEP, out_left = want;
        p = inflate_gzip_decode(g, &in_left, &out_left, out + *ret_n);
        g->left = str_from(g->left.p + (in - in_left), g->left.n - (in - in_left));
        g->consumed += in - in_left;
        *ret_n += want - out_left;
        bool stuck = in == in_left && want == out_left;
        if (p == MEMBER_DONE && is_gzip(g->left)) inflate_gzip_restart(g);
        else if (p != GOES_ON || stuck) break;
    }
    *ret_whole = p == MEMBER_DONE;
    return 0;
}

static uint64_t gzip_consumed(const void *state)
{
    return ((const struct gzip *)state)->consumed;
}

const struct codec codec_gzip = {
    .name = "gzip",
    .most_ratio = 300,
    .is = is_gzip,
    .new = gzip_new,
    .free = gzip_free,
    .step = gzip_step,
    .consumed = gzip_consumed,
    .clone = gzip_clone,
};
