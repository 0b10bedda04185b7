/* test_torn.c: files that end too early, files cut into blocks at the worst places, and memory
 * that runs out: nothing complete is lost, nothing depends on where blocks fall. */
#include <zlib.h>

#include "import/import.h"
#include "same_trace.h"
#include "test.h"
#include "trace/verify.h"

/* A little of everything, with damage in the middle. */
static const char sample[] =
    "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"GPU\", \"numSms\": "
    "4}],\n"
    "\"traceEvents\": [\n"
    "  {\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 1, \"tid\": 2, "
    "\"ts\": 10.5,"
    " \"dur\": 4, \"args\": {\"External id\": 1, \"Input Dims\": [[2, 3], [3]], \"x\": {\"a\": "
    "[{\"ph\": 1}]}}},\n"
    "  {\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 1, "
    "\"tid\": 2,"
    " \"ts\": 11, \"dur\": 1, \"args\": {\"correlation\": 7}},\n"
    "  {\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k{lambda()#1}, {\\\"ph\\\": [\", \"pid\": "
    "0, \"tid\": 7,"
    " \"ts\": 13, \"dur\": 2, \"args\": {\"stream\": 7, \"correlation\": 7, \"blocks per SM\": "
    "inf}},\n"
    "  {\"ph\": \"X\", \"name\": \"an \"odd\" name\", \"pid\": 1, \"tid\": 2, \"ts\": 20, \"dur\": "
    "1},\n"
    "  {\"ph\": \"X\", \"name\": broken, , \"pid\": 1},\n"
    "  {\"ph\": \"B\", \"name\": \"b\", \"pid\": 1, \"tid\": 3, \"ts\": 1},\n"
    "  {\"ph\": \"E\", \"pid\": 1, \"tid\": 3, \"ts\": 9},\n"
    "  {\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 1, \"tid\": 2, \"args\": {\"name\": "
    "\"main\"}},\n"
    "  {\"ph\": \"s\", \"id\": 7, \"pid\": 1, \"tid\": 2, \"ts\": 11, \"cat\": \"ac2g\", \"name\": "
    "\"ac2g\"}\n"
    "], \"baseTimeNanoseconds\": 1700000000000000000, \"traceName\": \"t\"}\n";

enum { SAMPLE = sizeof sample - 1 };

static int read_sample(struct str text, struct import_options o, struct trace **ret)
{
    struct err e;
    err_init(&e);
    int rc = import_bytes(text, "test", &o, ret, &e);
    if (rc == 0 && trace_verify(*ret, 1, &e) < 0) test_fail(__FILE__, __LINE__, "%s", e.msg);
    return rc;
}

static struct trace *read_whole(void)
{
    struct trace *t = NULL;
    read_sample(str_from(sample, SAMPLE), (struct import_options){.n_threads = 1}, &t);
    return t;
}

/* Events of the sample that end at or before byte `n`, by looking for their last lines. */
static uint32_t complete_events(size_t n)
{
    const char *p = strstr(sample, "\"traceEvents\"");
    uint32_t count = 0;
    for (const char *q; (q = strchr(p, '\n')); p = q + 1) {
        const char *brace = q[-1] == ',' ? q - 2 : q - 1;
        if (*brace == '}' && p[0] == ' ' && (size_t)(brace + 1 - sample) <= n) count++;
    }
    return count;
}

/* Cut behind the broken event, nobody can tell it from one that was cut. */
static bool ends_in_broken(size_t n)
{
    size_t end = (size_t)(strstr(sample, ", , ") - sample) + strlen(", , \"pid\": 1}");
    return n >= end && n <= end + strlen(",\n  {\"ph\": ");
}

/* Rows, flows and labels, plus the pair that became one row and the event that is broken. */
static uint32_t found_events(const struct trace *t)
{
    uint32_t labels = 0, pairs = 0, bad = (uint32_t)t->damage.count[DAMAGE_BAD_EVENT];
    for (uint32_t i = 0; i < t->n_lanes; i++) labels += t->lanes[i].name != 0;
    for (row_t r = 0; r < t->n_rows; r++)
        pairs += str_is(trace_name(t, r), "b") && !(t->flags[r] & ROW_UNFINISHED);
    return t->n_rows + t->n_flows + labels + pairs + bad;
}

TEST(the_sample_is_read_as_it_should)
{
    struct trace *t = read_whole();
    REQUIRE(t);
    CHECK_EQ_UINT(found_events(t), 9);
    CHECK_EQ_UINT(complete_events(SAMPLE), 9);
    CHECK_EQ_UINT(t->damage.count[DAMAGE_BAD_EVENT], 1);
    CHECK_EQ_UINT(t->damage.count[DAMAGE_BAD_STRING], 1);
    CHECK_EQ_UINT(t->damage.count[DAMAGE_TRUNCATED], 0);
    trace_free(t);
}

TEST(cut_at_every_byte)
{
    size_t events_begin = (size_t)(strstr(sample, "[\n") + 1 - sample);
    size_t last = (size_t)(strrchr(sample, '}') - sample);
    for (size_t n = 0; n <= SAMPLE; n++) {
        struct trace *t = NULL;
        int rc = read_sample(str_from(sample, n), (struct import_options){.n_threads = 1}, &t);
        if (n < events_begin) {
            CHECK_EQ_INT(rc, ERR_FORMAT);
            continue;
        }
        REQUIRE(CHECK_EQ_INT(rc, 0));
        bool cut = t->damage.count[DAMAGE_TRUNCATED] != 0;
        bool ok = CHECK_EQ_UINT(found_events(t), complete_events(n) - ends_in_broken(n)) &&
                  CHECK_EQ_INT(cut, n <= last);
        trace_free(t);
        if (!ok) printf("  cut at %zu\n", n);
        if (!ok) break;
    }
}

TEST(blocks_of_every_size_make_no_difference)
{
    struct trace *whole = read_whole();
    REQUIRE(whole);
    for (uint64_t bytes = 1; bytes < SAMPLE + 10; bytes++) {
        for (int threads = 1; threads <= 3; threads += 2) {
            struct trace *t = NULL;
            struct import_options o = {.n_threads = threads, .block_bytes = bytes};
            REQUIRE(CHECK_EQ_INT(read_sample(str_from(sample, SAMPLE), o, &t), 0));
            bool same = CHECK_EQ_STR(same_trace(whole, t), NULL);
            trace_free(t);
            if (!same) printf("  with blocks of %d bytes\n", (int)bytes);
            if (!same) break;
        }
    }
    trace_free(whole);
}

static size_t compress_gzip(const char *text, size_t n, char *out, size_t room)
{
    z_stream z = {0};
    deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    z.next_in = (Bytef *)(uintptr_t)text;
    z.avail_in = (uInt)n;
    z.next_out = (Bytef *)out;
    z.avail_out = (uInt)room;
    deflate(&z, Z_FINISH);
    deflateEnd(&z);
    return z.total_out;
}

TEST(several_gzip_members_are_one_text)
{
    static char gz[8192];
    struct trace *whole = read_whole();
    REQUIRE(whole);
    for (size_t cut = 0; cut <= SAMPLE; cut += 97) {
        size_t n = compress_gzip(sample, cut, gz, sizeof gz);
        n += compress_gzip(sample + cut, SAMPLE - cut, gz + n, sizeof gz - n);
        for (int threads = 1; threads <= 2; threads++) {
            struct trace *t = NULL;
            struct import_options o = {.n_threads = threads};
            REQUIRE(CHECK_EQ_INT(read_sample(str_from(gz, n), o, &t), 0));
            CHECK_EQ_STR(same_trace(whole, t), NULL);
            CHECK_EQ_UINT(t->source_bytes, SAMPLE);
            trace_free(t);
        }
    }
    trace_free(whole);
}

TEST(gzip_cut_at_every_byte)
{
    static char gz[8192];
    size_t n = compress_gzip(sample, SAMPLE, gz, sizeof gz);
    uint32_t most = 0;
    for (size_t cut = 1; cut < n; cut++) {
        struct trace *t = NULL;
        int rc = read_sample(str_from(gz, cut), (struct import_options){.n_threads = 2}, &t);
        if (rc < 0) continue;
        CHECK_EQ_UINT(t->damage.count[DAMAGE_TRUNCATED], 1);
        uint32_t found = found_events(t);
        CHECK(found >= most); /* more bytes never mean less */
        most = found;
        trace_free(t);
    }
    CHECK(most >= 8);
}

TEST(args_of_compressed_events)
{
    static char gz[8192];
    size_t n = compress_gzip(sample, SAMPLE, gz, sizeof gz);
    struct trace *t = NULL, *plain = read_whole();
    REQUIRE(plain &&
            read_sample(str_from(gz, n), (struct import_options){.n_threads = 1}, &t) == 0);
    struct buf a, b;
    struct err e;
    buf_init(&a);
    buf_init(&b);
    for (row_t r = t->n_rows; r-- > 0;) {
        CHECK_EQ_INT(trace_args(t, r, &a, &e), 0);
        CHECK_EQ_INT(trace_args(plain, r, &b, &e), 0);
    }
    CHECK_EQ_STR(buf_c(&a), buf_c(&b));
    CHECK(strstr(buf_c(&a), "{\"correlation\": 7}") != NULL);
    buf_done(&a);
    buf_done(&b);
    trace_free(t);
    trace_free(plain);
}

TEST(a_bomb_is_refused)
{
    enum { ZEROS = 64 << 20, ROOM = 1 << 18 };
    char *zeros = calloc(ZEROS, 1), *gz = malloc(ROOM);
    memset(zeros, ' ', ZEROS);
    size_t n = compress_gzip(zeros, ZEROS, gz, ROOM);
    CHECK(n < 100000);
    struct trace *t = NULL;
    struct err e;
    err_init(&e);
    CHECK_EQ_INT(import_bytes(str_from(gz, n), "bomb", NULL, &t, &e), ERR_LIMIT);
    CHECK(strstr(e.msg, "STRATA_MAX_INFLATE") != NULL);
    free(zeros);
    free(gz);
}

static int read_once(void *ctx)
{
    struct str *text = ctx;
    struct trace *t = NULL;
    struct import_options o = {.n_threads = 1, .block_bytes = 300};
    int rc = import_bytes(*text, "test", &o, &t, NULL);
    if (rc < 0) return rc;
    struct buf b;
    buf_init(&b);
    rc = trace_args(t, 0, &b, NULL);
    buf_done(&b);
    trace_free(t);
    return rc;
}

TEST(memory_runs_out)
{
    static char gz[8192];
    struct str plain = str_from(sample, SAMPLE);
    CHECK_EVERY_ALLOC(read_once, &plain);
    struct str packed = str_from(gz, compress_gzip(sample, SAMPLE, gz, sizeof gz));
    CHECK_EVERY_ALLOC(read_once, &packed);
}

TEST_MAIN
