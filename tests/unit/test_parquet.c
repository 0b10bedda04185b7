/* test_parquet.c: the frame of a file, levels, and every allocation failing. That engines read the
 * files is shown in tests/python/test_tables.py. */
#include "export/parquet.h"

#include <math.h>

#include "base/file.h"
#include "scratch.h"
#include "test.h"

static const struct parquet_column columns[] = {
    {"n", PARQUET_INT, false}, {"x", PARQUET_NUM, true}, {"s", PARQUET_TEXT, true}};

static int write_rows(uint64_t rows, const char *path)
{
    struct parquet p;
    int rc = parquet_begin(&p, columns, 3, NULL);
    for (uint64_t i = 0; rc == 0 && i < rows; i++) {
        parquet_int(&p, (int64_t)i);
        parquet_num(&p, i % 2 ? 0.5 : NAN);
        parquet_cstr(&p, i % 3 ? "a \xff b" : NULL);
    }
    if (rc == 0) rc = parquet_write(&p, path, NULL);
    parquet_done(&p);
    return rc;
}

static uint32_t le32(const char *p)
{
    const unsigned char *b = (const unsigned char *)p;
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static void check_frame(uint64_t rows)
{
    struct file_map f;
    CHECK_EQ_INT(write_rows(rows, scratch("t.parquet")), 0);
    if (file_map(&f, scratch("t.parquet"), NULL) < 0) return;
    CHECK(f.n > 12 && memcmp(f.p, "PAR1", 4) == 0 && memcmp(f.p + f.n - 4, "PAR1", 4) == 0);
    CHECK(le32(f.p + f.n - 8) <= f.n - 12);
    CHECK(rows || le32(f.p + f.n - 8) == f.n - 12); /* no pages without rows */
    file_unmap(&f);
}

TEST(a_file_has_its_magic_and_footer)
{
    check_frame(0);
    check_frame(1);
    check_frame(100000);
}

/* Runs of values and nulls: how often, twice, then which; the last one is open until the end. */
TEST(nulls_are_runs)
{
    static const struct parquet_column one = {"n", PARQUET_INT, true};
    struct parquet p;
    CHECK_EQ_INT(parquet_begin(&p, &one, 1, NULL), 0);
    for (int i = 0; i < 70; i++) parquet_null(&p);
    for (int i = 0; i < 3; i++) parquet_int_unless(&p, i, -1);
    parquet_int_unless(&p, -1, -1);
    CHECK_EQ_INT((long long)p.n_rows, 74);
    CHECK_EQ_INT((long long)p.values[0].plain.n, 3 * 8);
    CHECK_EQ_INT((long long)p.values[0].levels.n, 5);
    CHECK(memcmp(p.values[0].levels.p, "\x8c\x01\x00\x06\x01", 5) == 0);
    parquet_done(&p);
}

static int write_oom(void *ctx)
{
    (void)ctx;
    return write_rows(50, scratch("oom.parquet"));
}

TEST(out_of_memory)
{
    scratch_clear();
    CHECK_EVERY_ALLOC(write_oom, NULL);
    CHECK_EQ_INT(scratch_count(), 1);
}

TEST_MAIN
