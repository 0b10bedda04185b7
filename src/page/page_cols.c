/* page_cols.c: see page_cols.h. */
#include "page/page_cols.h"

#include <assert.h>

#include "export/packer.h"

enum { VARINT_BYTES = 10 };

/* Above this a JavaScript number is not exact. */
#define MOST_ID ((int64_t)1 << 52)

static uint64_t page_cols_zigzag(int64_t v)
{
    return v < 0 ? ~((uint64_t)v << 1) : (uint64_t)v << 1;
}

static void add_varint(struct buf *b, uint64_t v)
{
    char *to = buf_room(b, VARINT_BYTES);
    if (!to) return;
    size_t n = 0;
    for (; v >= 0x80; v >>= 7) to[n++] = (char)(v | 0x80);
    to[n++] = (char)v;
    b->n += n;
}

void page_col_byte(struct page_col *c, uint8_t v)
{
    buf_addc(&c->bytes, (char)v);
    c->n++;
}

void page_col_uint(struct page_col *c, uint64_t v)
{
    add_varint(&c->bytes, v);
    c->n++;
}

void page_col_int(struct page_col *c, int64_t v)
{
    page_col_uint(c, page_cols_zigzag(v));
}

void page_col_delta(struct page_col *c, int64_t v)
{
    page_col_int(c, v - c->last);
    c->last = v;
}

void page_col_id(struct page_col *c, int64_t v)
{
    if (v == PAGE_NO_ID || v < -MOST_ID || v > MOST_ID) {
        page_col_uint(c, 0);
        return;
    }
    page_col_uint(c, 1 + page_cols_zigzag(v - c->last));
    c->last = v;
}

void page_col_text(struct page_col *c, struct str s)
{
    buf_add_str(&c->bytes, s);
    c->n++;
}

uint64_t page_block_add(struct page_block *b, struct page_col *c)
{
    uint64_t offset = b->bytes.n;
    buf_add_str(&b->bytes, buf_str(&c->bytes));
    if (!buf_ok(&c->bytes)) b->bytes.failed = true;
    buf_done(&c->bytes);
    *c = (struct page_col){0};
    return offset;
}

void page_block_name(struct page_block *b, const char *name, struct page_col *c)
{
    assert(b->n_parts < PAGE_PARTS);
    struct page_part *p = &b->parts[b->n_parts++];
    *p = (struct page_part){.name = name, .n = c->n, .n_bytes = c->bytes.n};
    p->offset = page_block_add(b, c);
}

static int pack_waves(struct packer *p, struct str left, struct buf *out, struct err *e)
{
    while (left.n) {
        int n = packer_run(p, left, e);
        if (n < 0) return n;
        for (int i = 0; i < n; i++) buf_add_str(out, packer_get(p, i));
        size_t used = (size_t)n * p->block < left.n ? (size_t)n * p->block : left.n;
        left = str_from(left.p + used, left.n - used);
    }
    return 0;
}

int page_block_pack(const struct page_block *b, int n_threads, struct buf *out, struct err *e)
{
    enum { BLOCK = 1 << 20 };
    static const char last_block[] = {3, 0}; /* of a deflate stream: empty */
    struct packer p;
    if (!buf_ok(&b->bytes)) return err_nomem(e);
    int rc = packer_init(&p, &packer_small, BLOCK, n_threads, e);
    if (rc == 0) rc = pack_waves(&p, buf_str(&b->bytes), out, e);
    packer_done(&p);
    buf_add(out, last_block, sizeof last_block);
    return rc;
}

void page_block_done(struct page_block *b)
{
    buf_done(&b->bytes);
}
