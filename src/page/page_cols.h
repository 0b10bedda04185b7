/* page_cols.h: columns of integers for a page, in as few bytes as plain varints allow, and the
 * block they are joined in. docs/format/page.md describes both. Appending never fails visibly:
 * page_block_pack tells in the end. */
#ifndef STRATA_PAGE_PAGE_COLS_H
#define STRATA_PAGE_PAGE_COLS_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct page_col {
    struct buf bytes;
    uint32_t n;
    int64_t last; /* what page_col_delta and page_col_id count from */
};

void page_col_byte(struct page_col *c, uint8_t v);
void page_col_uint(struct page_col *c, uint64_t v);   /* a varint */
void page_col_int(struct page_col *c, int64_t v);     /* a zigzag varint */
void page_col_delta(struct page_col *c, int64_t v);   /* a zigzag varint: difference to the last */
void page_col_id(struct page_col *c, int64_t v);      /* PAGE_NO_ID: none */
void page_col_text(struct page_col *c, struct str s); /* bytes as they are; counts as one */

#define PAGE_NO_ID INT64_MIN

enum { PAGE_PARTS = 32 };

struct page_block {
    struct buf bytes;
    struct page_part {
        const char *name; /* a literal */
        uint64_t offset, n_bytes;
        uint32_t n;
    } parts[PAGE_PARTS]; /* the columns with a name */
    uint32_t n_parts;
};

/* Moves the column into the block under a name. */
void page_block_name(struct page_block *b, const char *name, struct page_col *c);

/* Moves the column into the block and returns its offset. */
uint64_t page_block_add(struct page_block *b, struct page_col *c);

/* Appends the block as one raw deflate stream. */
int page_block_pack(const struct page_block *b, int n_threads, struct buf *out,
                    struct err *e) MUST_USE;

void page_block_done(struct page_block *b);

#endif
