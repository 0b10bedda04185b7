/* test_sink.c: text through gzip, zstd and plain files comes back as it was. */
#include "export/sink.h"

#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

#include "scratch.h"
#include "test.h"
#include "trace/trace.h"

static const struct trace source; /* of no events: it bounds what may be written */

/* Half words, half noise: compresses, but not to nothing. */
static void make_text(struct buf *b, size_t n)
{
    uint64_t random = 42;
    while (b->n < n) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        buf_printf(b, "{\"name\":\"aten::mm\",\"ts\":%llu}\n", (unsigned long long)(random >> 20));
    }
}

static int write_text(const char *path, struct str text, size_t piece, int n_threads)
{
    struct sink s;
    struct err e;
    err_init(&e);
    int rc = sink_begin(&s, &source, path, n_threads, &e);
    if (rc < 0) return rc;
    for (size_t at = 0; at < text.n && rc == 0; at += piece) {
        buf_add(&s.text, text.p + at, text.n - at < piece ? text.n - at : piece);
        rc = sink_pump(&s, &e);
    }
    if (rc == 0) return sink_commit(&s, &e);
    sink_abort(&s);
    return rc;
}

static void gunzip(const char *path, struct buf *out)
{
    gzFile f = gzopen(path, "rb");
    char piece[65536];
    for (int n; f && (n = gzread(f, piece, sizeof piece)) > 0;) buf_add(out, piece, (size_t)n);
    CHECK(f && gzeof(f) && gzclose(f) == Z_OK);
}

static void check_gzip(size_t n, int n_threads)
{
    struct buf text = {0}, back = {0};
    make_text(&text, n);
    CHECK_EQ_INT(write_text(scratch("t.gz"), buf_str(&text), 70001, n_threads), 0);
    gunzip(scratch("t.gz"), &back);
    CHECK_EQ_UINT(back.n, text.n);
    CHECK(str_eq(buf_str(&text), buf_str(&back)));
    buf_done(&text);
    buf_done(&back);
}

TEST(gzip)
{
    check_gzip(0, 1);
    check_gzip(1, 1);
    check_gzip(100000, 2);
    check_gzip(3 << 20, 2);
    check_gzip(40 << 20, 3); /* more than one wave */
}

/* Many readers stop at the end of the first member: there must be one only. */
TEST(gzip_has_one_member)
{
    struct buf text = {0};
    make_text(&text, 3 << 20);
    CHECK_EQ_INT(write_text(scratch("t.gz"), buf_str(&text), 1 << 20, 2), 0);
    struct file_map f;
    REQUIRE(file_map(&f, scratch("t.gz"), NULL) == 0);
    z_stream z = {0};
    char *out = mem_alloc(text.n + 1);
    REQUIRE(out && inflateInit2(&z, 15 + 16) == Z_OK);
    z.next_in = (unsigned char *)(uintptr_t)f.p;
    z.avail_in = (unsigned)f.n;
    z.next_out = (unsigned char *)out;
    z.avail_out = (unsigned)text.n + 1;
    CHECK_EQ_INT(inflate(&z, Z_FINISH), Z_STREAM_END);
    CHECK_EQ_UINT(z.avail_in, 0);
    inflateEnd(&z);
    mem_free(out);
    file_unmap(&f);
    buf_done(&text);
}

TEST(zstd)
{
    struct buf text = {0};
    make_text(&text, 2 << 20);
    CHECK_EQ_INT(write_text(scratch("t.zst"), buf_str(&text), 12345, 2), 0);
    struct file_map f;
    REQUIRE(file_map(&f, scratch("t.zst"), NULL) == 0);
    char *out = mem_alloc(text.n);
    CHECK_EQ_UINT(ZSTD_decompress(out, text.n, f.p, f.n), text.n);
    CHECK(memcmp(out, text.p, text.n) == 0);
    mem_free(out);
    file_unmap(&f);
    buf_done(&text);
}

TEST(plain)
{
    struct buf text = {0};
    make_text(&text, 3 << 20);
    CHECK_EQ_INT(write_text(scratch("t.json"), buf_str(&text), 54321, 1), 0);
    struct file_map f;
    REQUIRE(file_map(&f, scratch("t.json"), NULL) == 0);
    CHECK(str_eq(str_from(f.p, f.n), buf_str(&text)));
    file_unmap(&f);
    buf_done(&text);
}

/* A trace of no events does not make gigabytes: a file that asks for them is refused, and what was
 * written of it is gone. */
static void check_too_much(const char *name)
{
    struct buf text = {0};
    make_text(&text, (size_t)trace_text_budget(&source) + 1000);
    scratch_clear();
    CHECK_EQ_INT(write_text(scratch(name), buf_str(&text), 1 << 20, 2), ERR_LIMIT);
    CHECK_EQ_INT(write_text(scratch(name), buf_str(&text), text.n, 2), ERR_LIMIT);
    CHECK_EQ_INT(scratch_count(), 0);
    buf_done(&text);
}

TEST(more_than_the_trace_may_ask_for)
{
    check_too_much("t.json");
    check_too_much("t.json.gz");
}

/* Incompressible blocks must fit their slots, with both gzip libraries. */
static void check_codec(const struct packer_codec *codec)
{
    struct packer p;
    struct buf noise = {0}, packed = {0};
    uint64_t random = 7;
    for (int i = 0; i < 100000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        buf_add(&noise, (char *)&random + 4, 4);
    }
    REQUIRE(packer_init(&p, codec, 30000, 3, NULL) == 0);
    int n = packer_run(&p, buf_str(&noise), NULL);
    CHECK_EQ_INT(n, 14);
    for (int i = 0; i < n; i++) buf_add_str(&packed, packer_get(&p, i));
    buf_add(&packed, "\3\0", 2);
    z_stream z = {0};
    char *out = mem_alloc(noise.n + 1);
    REQUIRE(inflateInit2(&z, -15) == Z_OK);
    z.next_in = (unsigned char *)packed.p;
    z.avail_in = (unsigned)packed.n;
    z.next_out = (unsigned char *)out;
    z.avail_out = (unsigned)noise.n + 1;
    CHECK_EQ_INT(inflate(&z, Z_FINISH), Z_STREAM_END);
    CHECK_EQ_UINT(z.total_out, noise.n);
    CHECK(memcmp(out, noise.p, noise.n) == 0);
    inflateEnd(&z);
    mem_free(out);
    packer_done(&p);
    buf_done(&noise);
    buf_done(&packed);
}

TEST(codecs)
{
    check_codec(&packer_gzip);
    check_codec(&packer_gzip_zlib);
}

static int write_some(void *ctx)
{
    return write_text(scratch(ctx), str_c("text of little length"), 5, 2);
}

TEST(out_of_memory)
{
    char gz[] = "oom.gz", zst[] = "oom.zst", plain[] = "oom";
    scratch_clear();
    CHECK_EVERY_ALLOC(write_some, gz);
    CHECK_EVERY_ALLOC(write_some, zst);
    CHECK_EVERY_ALLOC(write_some, plain);
    CHECK_EQ_INT(scratch_count(), 3);
}

TEST_MAIN
