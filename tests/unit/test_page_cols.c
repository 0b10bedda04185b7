/* test_page_cols.c: columns byte by byte, the block they are joined in, and text inside HTML. */
#include "page/page_cols.h"

#include <zlib.h>

#include "page/page_private.h"
#include "test.h"

static bool bytes_are(struct page_col *c, const char *bytes, size_t n)
{
    bool same = c->bytes.n == n && memcmp(c->bytes.p, bytes, n) == 0;
    for (size_t i = 0; !same && i < c->bytes.n; i++) printf("%02x ", (unsigned char)c->bytes.p[i]);
    buf_done(&c->bytes);
    *c = (struct page_col){0};
    return same;
}

TEST(varints_are_seven_bits_a_byte_low_first)
{
    struct page_col c = {0};
    page_col_uint(&c, 0);
    page_col_uint(&c, 127);
    page_col_uint(&c, 128);
    page_col_uint(&c, 300);
    CHECK_EQ_UINT(c.n, 4);
    CHECK(bytes_are(&c, "\x00\x7f\x80\x01\xac\x02", 6));
    page_col_uint(&c, UINT64_MAX);
    CHECK(bytes_are(&c, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10));
}

TEST(signs_zigzag_and_deltas_count_from_the_last)
{
    struct page_col c = {0};
    page_col_int(&c, 0);
    page_col_int(&c, -1);
    page_col_int(&c, 1);
    page_col_int(&c, -2);
    CHECK(bytes_are(&c, "\x00\x01\x02\x03", 4));
    page_col_delta(&c, 5);
    page_col_delta(&c, 3);
    page_col_delta(&c, 3);
    CHECK(bytes_are(&c, "\x0a\x03\x00", 3));
}

TEST(ids_may_be_missing_and_are_counted_from_the_last_that_was_there)
{
    struct page_col c = {0};
    page_col_id(&c, 7);
    page_col_id(&c, PAGE_NO_ID);
    page_col_id(&c, 8);
    page_col_id(&c, INT64_MAX); /* no integer in a browser */
    page_col_id(&c, 8);
    CHECK(bytes_are(&c, "\x0f\x00\x03\x00\x01", 5));
}

static void unpack(struct str packed, char *to, size_t room, size_t *ret_n)
{
    z_stream z = {0};
    z.next_in = (unsigned char *)(uintptr_t)packed.p;
    z.avail_in = (unsigned)packed.n;
    z.next_out = (unsigned char *)to;
    z.avail_out = (unsigned)room;
    CHECK_EQ_INT(inflateInit2(&z, -15), Z_OK);
    CHECK_EQ_INT(inflate(&z, Z_FINISH), Z_STREAM_END);
    *ret_n = z.total_out;
    inflateEnd(&z);
}

/* More than a block of the packer, so that several are joined. */
TEST(a_block_is_one_deflate_stream)
{
    enum { N = 3 << 20 };
    struct page_block b = {.n_parts = 0};
    struct page_col c = {0};
    struct buf packed;
    buf_init(&packed);
    for (int i = 0; i < N; i++) page_col_byte(&c, (uint8_t)(i * 31 >> 5));
    page_col_uint(&c, 300);
    page_block_name(&b, "depth", &c);
    page_col_byte(&c, 9);
    CHECK_EQ_UINT(page_block_add(&b, &c), N + 2);
    CHECK_EQ_UINT(b.parts[0].n, N + 1);
    CHECK_EQ_UINT(b.parts[0].n_bytes, N + 2);
    CHECK_EQ_INT(page_block_pack(&b, 2, &packed, NULL), 0);
    char *plain = malloc(N + 16);
    size_t n = 0;
    unpack(buf_str(&packed), plain, N + 16, &n);
    CHECK_EQ_UINT(n, b.bytes.n);
    CHECK(memcmp(plain, b.bytes.p, n) == 0);
    free(plain);
    buf_done(&packed);
    page_block_done(&b);
}

TEST(an_empty_block_is_a_stream_too)
{
    struct page_block b = {.n_parts = 0};
    struct buf packed;
    char plain[4];
    size_t n = 1;
    buf_init(&packed);
    CHECK_EQ_INT(page_block_pack(&b, 1, &packed, NULL), 0);
    unpack(buf_str(&packed), plain, sizeof plain, &n);
    CHECK_EQ_UINT(n, 0);
    buf_done(&packed);
}

TEST(a_column_without_memory_fails_the_block)
{
    struct page_block b = {.n_parts = 0};
    struct page_col c = {0};
    struct buf packed;
    buf_init(&packed);
    mem_fail_at(1);
    page_col_uint(&c, 1);
    mem_fail_at(0);
    page_block_name(&b, "start", &c);
    CHECK_EQ_INT(page_block_pack(&b, 1, &packed, NULL), ERR_NOMEM);
    buf_done(&packed);
    page_block_done(&b);
}

static bool turns_into(void (*fn)(struct str, struct buf *), const char *from, const char *want)
{
    struct buf out;
    buf_init(&out);
    fn(str_c(from), &out);
    bool same = str_is(buf_str(&out), want);
    if (!same) printf("%s became %s\n", from, buf_c(&out));
    buf_done(&out);
    return same;
}

TEST(nothing_ends_the_script_element)
{
    CHECK(turns_into(page_json_escape, "{\"a\":\"</script><!--\"}",
                     "{\"a\":\"\\u003c/script>\\u003c!--\"}"));
    CHECK(turns_into(page_json_escape, "", ""));
}

TEST(base64_with_every_length_of_rest)
{
    CHECK(turns_into(page_json_base64, "", ""));
    CHECK(turns_into(page_json_base64, "M", "TQ=="));
    CHECK(turns_into(page_json_base64, "Ma", "TWE="));
    CHECK(turns_into(page_json_base64, "Man", "TWFu"));
    CHECK(turns_into(page_json_base64, "\xff\xfe\xfd\xfb", "//79+w=="));
}

TEST_MAIN
