/* inflate.c: see inflate.h. */
#include "import/inflate.h"

#include <zlib.h>

enum { STEP = 1 << 22 };

bool inflate_is_gzip(struct str head)
{
    return head.n >= 2 && (unsigned char)head.p[0] == 0x1f && (unsigned char)head.p[1] == 0x8b;
}

int inflate_gzip(struct str in, struct buf *out, bool *ret_cut, struct err *e)
{
    z_stream z = {0};
    if (inflateInit2(&z, 15 + 16) != Z_OK) return FAIL(e, ERR_NOMEM, "out of memory");
    z.next_in = (Bytef *)(uintptr_t)in.p;
    size_t left = in.n;
    int rc = Z_OK;
    *ret_cut = false;
    while (rc == Z_OK || rc == Z_BUF_ERROR) {
        char *room = buf_room(out, STEP);
        if (!room) break;
        uInt give = left > STEP ? STEP : (uInt)left;
        z.avail_in = give;
        z.next_out = (Bytef *)room;
        z.avail_out = STEP;
        rc = inflate(&z, Z_NO_FLUSH);
        left -= give - z.avail_in;
        out->n += STEP - z.avail_out;
        bool stuck = give == z.avail_in && z.avail_out == STEP;
        if (rc == Z_STREAM_END && left >= 2 && inflate_is_gzip(str_from((char *)z.next_in, left)))
            rc = inflateReset(&z);
        else if (rc == Z_OK && left == 0 && z.avail_out > 0) stuck = true;
        if (stuck) break;
    }
    *ret_cut = rc != Z_STREAM_END;
    inflateEnd(&z);
    return buf_ok(out) ? 0 : FAIL(e, ERR_NOMEM, "out of memory");
}
