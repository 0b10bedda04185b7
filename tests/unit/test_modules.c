/* test_modules.c: lists of modules and safetensors headers, whole and broken. */
#include "base/buf.h"
#include "base/file.h"
#include "offload/facts.h"
#include "test.h"

static char path[64];

static const char *write_file(const void *p, size_t n)
{
    snprintf(path, sizeof path, "test_modules.%d", (int)getpid());
    CHECK_EQ_INT(file_write_whole(path, p, n, NULL), 0);
    return path;
}

static int read_text(const char *text, struct arena *mem, struct facts *f, struct err *e)
{
    int rc = modules_read(write_file(text, strlen(text)), mem, f, e);
    unlink(path);
    return rc;
}

/* A header with its length in front and a few bytes of data behind. */
static int read_header(const char *json, struct arena *mem, struct facts *f, struct err *e)
{
    struct buf b;
    uint64_t n = strlen(json);
    buf_init(&b);
    buf_add(&b, &n, sizeof n);
    buf_adds(&b, json);
    buf_pad(&b, 'x', 32);
    int rc = modules_read(write_file(b.p, b.n), mem, f, e);
    unlink(path);
    buf_done(&b);
    return rc;
}

TEST(a_list)
{
    struct arena mem;
    struct facts f = {0};
    arena_init(&mem);
    CHECK_EQ_INT(
        read_text("{\"format\": \"strata-modules-1\", \"order\": \"executed\",\n"
                  " \"passes_per_step\": 2, \"modules\": [\n"
                  "  {\"name\": \"a\", \"bytes\": 100, \"tensors\": 2, \"extra\": [1, {}]},\n"
                  "  {\"name\": \"b\", \"bytes\": 2e9, \"compute_ms\": 1.5}]}",
                  &mem, &f, NULL),
        0);
    REQUIRE(CHECK_EQ_UINT(f.n_modules, 2));
    CHECK_EQ_UINT(f.passes, 2);
    CHECK_EQ_STR(f.modules[0].name, "a");
    CHECK_EQ_INT(f.modules[0].bytes, 100);
    CHECK_EQ_UINT(f.modules[0].n_tensors, 2);
    CHECK_EQ_INT(f.modules[1].bytes, 2000000000);
    CHECK_EQ_INT(f.modules[1].compute_ns, 1500000);
    arena_done(&mem);
}

/* What diffusers moves in one go beside its blocks, and accelerate's scheme. */
TEST(the_rest_of_a_model_and_its_scheme)
{
    struct arena mem;
    struct facts f = {0};
    arena_init(&mem);
    CHECK_EQ_INT(
        read_text("{\"scheme\": \"sequential\", \"modules\": [\n"
                  "  {\"name\": \"t.(rest)\", \"bytes\": 100, \"moved_bytes\": 150},\n"
                  "  {\"name\": \"b.0\", \"bytes\": 30, \"moved_bytes\": 1, \"flops\": 7e9}]}",
                  &mem, &f, NULL),
        0);
    REQUIRE(CHECK_EQ_UINT(f.n_modules, 2));
    CHECK(f.empties_cache);
    CHECK(f.modules[0].loose && !f.modules[1].loose);
    CHECK_EQ_INT(f.rest_bytes, 150);
    CHECK_EQ_INT(f.modules[1].moved_bytes, 30);
    CHECK_NEAR(f.modules[1].flops, 7e9, 1);
    arena_done(&mem);
}

static const char header[] =
    "{\"__metadata__\": {\"format\": \"pt\"},"
    "\"proj_out.weight\": {\"dtype\": \"BF16\", \"shape\": [5], \"data_offsets\": [0, 10]},"
    "\"blocks.10.fc.weight\": {\"dtype\": \"BF16\", \"shape\": [5, 2], \"data_offsets\": [10, 30]},"
    "\"blocks.9.fc.bias\": {\"dtype\": \"BF16\", \"shape\": [1], \"data_offsets\": [30, 32]},"
    "\"blocks.9.fc.weight\": {\"dtype\": \"BF16\", \"shape\": [10], \"data_offsets\": [32, 52]},"
    "\"x_embedder.weight\": {\"dtype\": \"BF16\", \"shape\": [4], \"data_offsets\": [52, 60]}}";

TEST(tensors_of_a_safetensors_header_become_modules_in_a_likely_order)
{
    struct arena mem;
    struct facts f = {0};
    arena_init(&mem);
    CHECK_EQ_INT(read_header(header, &mem, &f, NULL), 0);
    REQUIRE(CHECK_EQ_UINT(f.n_modules, 4));
    CHECK_EQ_STR(f.modules[0].name, "x_embedder");
    CHECK_EQ_STR(f.modules[1].name, "blocks.9.fc");
    CHECK_EQ_INT(f.modules[1].bytes, 22);
    CHECK_EQ_UINT(f.modules[1].n_tensors, 2);
    CHECK_EQ_STR(f.modules[2].name, "blocks.10.fc");
    CHECK_EQ_STR(f.modules[3].name, "proj_out");
    /* a second file goes on where the first ended */
    CHECK_EQ_INT(read_header(header, &mem, &f, NULL), 0);
    CHECK_EQ_UINT(f.n_modules, 8);
    arena_done(&mem);
}

TEST(broken_files_are_told)
{
    static const char *const bad[] = {
        "",
        "[]",
        "{",
        "{\"modules\"",
        "{\"modules\": [",
        "{\"modules\": [1]}",
        "<!DOCTYPE html>",
        "{\"modules\": [{\"bytes\": -5}]}",
        "{\"modules\": [{\"bytes\": \"x\"}]}",
        "{\"modules\": []}",
        "{\"modules\": {\"a\": 1}}",
        "{}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct arena mem;
        struct facts f = {0};
        struct err e;
        arena_init(&mem);
        err_init(&e);
        CHECK_EQ_INT(read_text(bad[i], &mem, &f, &e), ERR_FORMAT);
        CHECK(strstr(e.file, "test_modules") != NULL);
        CHECK_EQ_UINT(f.n_modules, 0);
        arena_done(&mem);
    }
}

/* Cut anywhere, a header is an error and nothing worse. */
TEST(a_header_cut_short)
{
    char cut[sizeof header];
    for (size_t n = 0; n + 1 < sizeof header - 1; n++) {
        struct arena mem;
        struct facts f = {0};
        memcpy(cut, header, n);
        cut[n] = '\0';
        arena_init(&mem);
        CHECK(read_header(cut, &mem, &f, NULL) < 0);
        arena_done(&mem);
    }
}

static int read_again(void *ctx)
{
    struct arena mem;
    struct facts f = {0};
    (void)ctx;
    arena_init(&mem);
    int rc = modules_read(path, &mem, &f, NULL);
    arena_done(&mem);
    return rc;
}

TEST(survives_every_failed_allocation)
{
    struct buf b;
    uint64_t n = sizeof header - 1;
    buf_init(&b);
    buf_add(&b, &n, sizeof n);
    buf_adds(&b, header);
    write_file(b.p, b.n);
    buf_done(&b);
    CHECK_EVERY_ALLOC(read_again, NULL);
    unlink(path);
}

TEST_MAIN
