/* test_ncu_csv.c: what ncu prints: real pages of an H200, and whatever else may come. */
#include "base/file.h"
#include "dive/csv.h"
#include "dive/profile.h"
#include "test.h"

static struct arena mem;

static struct ncu_report read_text(const char *text)
{
    struct ncu_report r = {0};
    struct err e;
    err_init(&e);
    arena_init(&mem);
    if (ncu_csv_read(str_c(text), &mem, &r, &e) < 0) test_fail(__FILE__, __LINE__, "%s", e.msg);
    return r;
}

static struct ncu_report read_data(const char *name)
{
    char path[1024];
    struct file_map f;
    struct err e;
    struct ncu_report r = {0};
    err_init(&e);
    arena_init(&mem);
    snprintf(path, sizeof path, "%s/dive/%s", TEST_DATA, name);
    if (file_map(&f, path, &e) < 0) {
        test_fail(__FILE__, __LINE__, "%s", e.msg);
        return r;
    }
    char *copy = arena_strdup(&mem, str_from(f.p, f.n));
    if (ncu_csv_read(str_from(copy, f.n), &mem, &r, &e) < 0)
        test_fail(__FILE__, __LINE__, "%s", e.msg);
    file_unmap(&f);
    return r;
}

TEST(csv_records)
{
    struct csv c;
    struct err e;
    arena_init(&mem);
    csv_init(&c, str_c("a,\"b \"\"x\"\", c\",\r\n\r\n\"two\nlines\",1\n,\"open"), &mem);
    REQUIRE(csv_next(&c, &e) == 1);
    CHECK_EQ_UINT(c.n, 3);
    CHECK_EQ_BYTES(c.fields[1], "b \"x\", c");
    CHECK_EQ_UINT(c.fields[2].n, 0);
    REQUIRE(csv_next(&c, &e) == 1);
    CHECK_EQ_BYTES(c.fields[0], "two\nlines");
    REQUIRE(csv_next(&c, &e) == 1);
    CHECK_EQ_BYTES(c.fields[1], "open");
    CHECK_EQ_INT(csv_next(&c, &e), 0);
    csv_done(&c);
    arena_done(&mem);
}

/* 4096 x 4096 x 4096 in bf16 is 2 * 4096^3 operations: ncu counts every one of them. */
TEST(raw_page_of_an_h200)
{
    struct ncu_report r = read_data("h200_raw.csv");
    REQUIRE(r.n_launches == 13);
    const struct ncu_launch *l = &r.launches[0];
    CHECK_EQ_INT(r.page, NCU_PAGE_RAW);
    CHECK_EQ_BYTES(l->name, "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT");
    CHECK_EQ_UINT(l->grid[1], 66);
    CHECK_EQ_UINT(l->block[0], 384);
    CHECK_EQ_INT(l->major, 9);
    CHECK_EQ_BYTES(l->gpu, "NVIDIA H200");
    CHECK_NEAR(l->value[NCU_TIME_NS], 175040, 0);
    CHECK_NEAR(l->tensor_ops[HALF], 137438953472.0, 0);
    CHECK_NEAR(l->value[NCU_DRAM_READ_BYTES], 147975936, 0);
    CHECK_NEAR(l->value[NCU_L2_PCT], 47.92, 1e-9); /* not one of its parts, which stand before it */
    arena_done(&mem);
}

/* Units differ from column to column, and tensor operations are told apart by instruction. */
TEST(full_page_agrees_with_the_lean_one)
{
    struct ncu_report r = read_data("h200_full_raw.csv");
    REQUIRE(r.n_launches == 4);
    struct profile p;
    profile_of(&r.launches[0], &p);
    CHECK_NEAR(p.time_ns, 176256, 1);
    CHECK_NEAR(p.flops, 137438953472.0, 1e6);
    CHECK(p.tensor_used);
    CHECK_NEAR(p.bytes_per_s / 1e9, 998.4, 0.5); /* as the details page says */
    CHECK_EQ_STR(p.occupancy_limit, "registers");
    profile_of(&r.launches[1], &p);
    CHECK(p.tensor_known && !p.tensor_used);
    CHECK_EQ_INT(p.main, FP32);
    arena_done(&mem);
}

TEST(details_page)
{
    struct ncu_report r = read_data("h200_details.csv");
    REQUIRE(r.n_launches == 2);
    struct profile p;
    profile_of(&r.launches[0], &p);
    CHECK_EQ_INT(r.page, NCU_PAGE_DETAILS);
    CHECK_NEAR(p.time_ns, 176260, 1);
    CHECK_NEAR(p.bytes_per_s / 1e9, 998.43, 0.01);
    CHECK_NEAR(p.memory_pct, 69.92, 0);
    CHECK_NEAR(p.sm_pct, 90.40, 0);
    CHECK_NEAR(p.occupancy_most_pct, 18.75, 0);
    CHECK(!p.tensor_known);
    arena_done(&mem);
}

static const char german[] =
    "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"gpu__time_duration.sum\","
    "\"dram__bytes_read.sum\",\"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed\"\n"
    "\"\",\"\",\"\",\"\",\"us\",\"Mbyte\",\"%\"\n"
    "\"0\",\"k\",\"(128, 1, 1)\",\"(65536, 1, 1)\",\"1.090,59\",\"268,452\",\"88,62\"\n";

TEST(other_locales_and_units)
{
    struct ncu_report r = read_text(german);
    REQUIRE(r.n_launches == 1);
    CHECK_NEAR(r.launches[0].value[NCU_TIME_NS], 1090590, 0.1);
    CHECK_NEAR(r.launches[0].value[NCU_DRAM_READ_BYTES], 268452000, 1);
    CHECK_NEAR(r.launches[0].value[NCU_DRAM_PCT], 88.62, 1e-9);
    arena_done(&mem);
}

/* Old versions: no sizes in the head, seconds spelled out, latency instead of warps. */
TEST(older_names)
{
    struct ncu_report r = read_text(
        "==PROF== talk, with a comma\n"
        "\"ID\",\"Process ID\",\"Kernel Name\",\"dram__bytes.sum\",\"gpu__time_duration.avg\","
        "\"launch__grid_dim_x\",\"launch__block_dim_x\","
        "\"smsp__average_warp_latency_issue_stalled_long_scoreboard.ratio\"\n"
        "\"\",\"\",\"\",\"Gbyte\",\"msecond\",\"\",\"\",\"\"\n"
        "\"7\",\"1\",\"old\",\"1.5\",\"2.5\",\"80\",\"256\",\"3.25\"\n");
    REQUIRE(r.n_launches == 1);
    CHECK_NEAR(r.launches[0].value[NCU_DRAM_BYTES], 1.5e9, 1);
    CHECK_NEAR(r.launches[0].value[NCU_TIME_NS], 2.5e6, 1);
    CHECK_EQ_UINT(r.launches[0].grid[0], 80);
    CHECK_EQ_UINT(r.launches[0].block[0], 256);
    arena_done(&mem);
}

TEST(hostile_input)
{
    static const char *const texts[] = {
        "",
        "\n\n",
        "ID",
        "\"ID\",\"a\"",
        "==ERROR== no",
        "\"ID\nopen quote",
        "plain text, with commas, and, more\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct ncu_report r;
        struct err e;
        err_init(&e);
        arena_init(&mem);
        CHECK_EQ_INT(ncu_csv_read(str_c(texts[i]), &mem, &r, &e), ERR_FORMAT);
        CHECK(strstr(e.msg, "ncu --csv") != NULL);
        arena_done(&mem);
    }
}

TEST(damaged_rows_are_left_out)
{
    struct ncu_report r =
        read_text("\"ID\",\"Kernel Name\",\"Grid Size\",\"gpu__time_duration.sum\"\n"
                  "\"x\",\"no id\",\"(1, 1, 1)\",\"5\"\n"
                  "\"99999999999999999999\",\"no id either\",\"(1, 1, 1)\",\"5\"\n"
                  "\"3\",\"short row\"\n"
                  "\"4\",\"k\",\"(99999999999, 1)\",\"n/a\"\n"
                  "\"5\",\"cut");
    REQUIRE(r.n_launches == 3);
    CHECK_EQ_BYTES(r.launches[0].name, "short row");
    CHECK_EQ_UINT(r.launches[1].grid[0], 0);
    CHECK(isnan(r.launches[1].value[NCU_TIME_NS]));
    CHECK_EQ_BYTES(r.launches[2].name, "cut");
    arena_done(&mem);
}

static int read_once(void *text)
{
    struct ncu_report r;
    struct err e;
    err_init(&e);
    arena_init(&mem);
    int rc = ncu_csv_read(str_c(text), &mem, &r, &e);
    arena_done(&mem);
    return rc;
}

TEST(out_of_memory)
{
    CHECK_EVERY_ALLOC(read_once, (void *)german);
}

TEST_MAIN
