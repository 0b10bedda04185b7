/* inflate.c: which codec, and how much text is too much. */
#include "import/bytes/inflate.h"

#include <stdlib.h>

#include "base/human.h"

/* Real traces compress 13 to 30 times; up to this much text no limit is needed. */
#define HARMLESS_BYTES ((uint64_t)32 << 20)

static const struct codec *const codecs[] = {&codec_gzip, &codec_zstd};

const struct codec *codec_find(struct str head)
{
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++)
        if (codecs[i]->is(head)) return codecs[i];
    return NULL;
}

int inflater_init(struct inflater *f, const struct codec *codec, struct str in, struct err *e)
{
    const char *limit = getenv("STRATA_MAX_INFLATE");
    *f = (struct inflater){.codec = codec, .limit = limit ? strtoull(limit, NULL, 10) : 0};
    f->state = codec->new (in);
    return f->state ? 0 : err_nomem(e);
}

void inflater_done(struct inflater *f)
{
    if (f->state) f->codec->free(f->state);
    *f = (struct inflater){0};
}

static bool is_bomb(const struct inflater *f)
{
    if (f->limit) return f->produced > f->limit;
    if (f->produced <= HARMLESS_BYTES) return false;
    return f->produced / f->codec->most_ratio > f->codec->consumed(f->state);
}

int inflater_step(struct inflater *f, char *out, size_t room, size_t *ret_n, struct err *e)
{
    *ret_n = 0;
    if (f->ended) return 0;
    int rc = f->codec->step(f->state, out, room, ret_n, &f->whole);
    TRY(err_grow(e, rc));
    f->produced += *ret_n;
    f->ended = *ret_n < room;
    if (!is_bomb(f)) return 0;
    return FAIL(e, ERR_LIMIT,
                "%s of %s data decompress to more than %s, which may be an attempt to fill the "
                "memory; not read (set STRATA_MAX_INFLATE=BYTES to allow it)",
                human_bytes((int64_t)f->codec->consumed(f->state)).s, f->codec->name,
                human_bytes((int64_t)f->produced).s);
}

int inflate_all(const struct codec *codec, struct str in, size_t most, struct buf *out,
                bool *ret_whole, struct err *e)
{
    enum { PIECE = 1 << 20 };
    struct inflater f;
    TRY(inflater_init(&f, codec, in, e));
    int rc = 0;
    for (size_t n = 1; rc == 0 && n && !f.ended && out->n < most;) {
        size_t room = most - out->n < PIECE ? most - out->n : PIECE;
        char *to = buf_room(out, room);
        rc = to ? inflater_step(&f, to, room, &n, e) : err_nomem(e);
        if (rc == 0) out->n += n;
    }
    if (ret_whole) *ret_whole = f.whole;
    inflater_done(&f);
    return rc;
}
