/* sink.c: gathers text, hands waves of blocks to the packer, frames a gzip file around them. */
#include "export/sink.h"

#include <string.h>
#include <zlib.h>
#ifdef HAVE_ISAL
#include <isa-l/crc.h>
#endif

#include "trace/trace.h"

#define PLAIN_CHUNK ((size_t)1 << 20)
#define BLOCK       ((size_t)512 << 10)

static uint32_t crc_of(uint32_t crc, struct str s)
{
#ifdef HAVE_ISAL
    return crc32_gzip_refl(crc, (const unsigned char *)s.p, s.n);
#else
    return (uint32_t)crc32_z(crc, (const unsigned char *)s.p, s.n);
#endif
}

static size_t pump_at(const struct sink *s)
{
    return s->packing == SINK_PLAIN ? PLAIN_CHUNK : PACKER_WAVE * BLOCK;
}

static enum sink_packing sink_packing_of(struct str path)
{
    if (str_ends(path, ".gz")) return SINK_GZIP;
    return str_ends(path, ".zst") ? SINK_ZSTD : SINK_PLAIN;
}

int sink_begin(struct sink *s, const struct trace *t, const char *path, int n_threads,
               struct err *e)
{
    static const unsigned char gzip_head[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff};
    *s = (struct sink){.packing = sink_packing_of(str_c(path))};
    s->most_bytes = trace_text_budget(t);
    s->text.most = s->most_bytes;
    TRY(file_out_begin(&s->file, path, e));
    int rc = 0;
    if (s->packing != SINK_PLAIN)
        rc = packer_init(&s->packer, s->packing == SINK_GZIP ? &packer_gzip : &packer_zstd, BLOCK,
                         n_threads, e);
    if (rc == 0 && s->packing == SINK_GZIP)
        rc = file_out_write(&s->file, gzip_head, sizeof gzip_head, e);
    if (rc < 0) sink_abort(s);
    return rc;
}

/* Writes the first blocks of the text and drops them from it. */
static int sink_write_wave(struct sink *s, struct err *e)
{
    size_t used = s->text.n < PACKER_WAVE * BLOCK ? s->text.n : PACKER_WAVE * BLOCK;
    int n = packer_run(&s->packer, str_from(s->text.p, used), e);
    if (n < 0) return n;
    for (int i = 0; i < n; i++) {
        struct str packed = packer_get(&s->packer, i);
        TRY(file_out_write(&s->file, packed.p, packed.n, e));
    }
    if (s->packing == SINK_GZIP) s->crc = crc_of(s->crc, str_from(s->text.p, used));
    s->plain_bytes += used;
    s->text.n -= used;
    memmove(s->text.p, s->text.p + used, s->text.n);
    return 0;
}

int sink_pump(struct sink *s, struct err *e)
{
    if (s->text.over || s->plain_bytes + s->text.n > s->most_bytes)
        return trace_over_budget(s->most_bytes, e);
    if (!buf_ok(&s->text)) return err_nomem(e);
    if (s->text.n < pump_at(s)) return 0;
    if (s->packing == SINK_PLAIN) {
        TRY(file_out_write(&s->file, s->text.p, s->text.n, e));
        s->plain_bytes += s->text.n;
        buf_reset(&s->text);
        return 0;
    }
    while (s->text.n >= pump_at(s)) TRY(sink_write_wave(s, e));
    return 0;
}

static int write_rest(struct sink *s, struct err *e)
{
    TRY(sink_pump(s, e));
    if (s->packing == SINK_PLAIN)
        return s->text.n ? file_out_write(&s->file, s->text.p, s->text.n, e) : 0;
    if (s->text.n) TRY(sink_write_wave(s, e));
    if (s->packing == SINK_ZSTD) return 0;
    unsigned char tail[10] = {3, 0}; /* the last deflate block, empty */
    uint32_t size = (uint32_t)s->plain_bytes;
    for (int i = 0; i < 4; i++) {
        tail[2 + i] = (unsigned char)(s->crc >> 8 * i);
        tail[6 + i] = (unsigned char)(size >> 8 * i);
    }
    return file_out_write(&s->file, tail, sizeof tail, e);
}

static void sink_release(struct sink *s)
{
    packer_done(&s->packer);
    buf_done(&s->text);
}

int sink_commit(struct sink *s, struct err *e)
{
    int rc = write_rest(s, e);
    if (rc == 0) rc = file_out_commit(&s->file, e);
    else file_out_abort(&s->file);
    sink_release(s);
    return rc;
}

void sink_abort(struct sink *s)
{
    file_out_abort(&s->file);
    sink_release(s);
}
