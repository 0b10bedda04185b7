/* test_native.c: .strata files: nothing is lost, the same trace gives the same bytes, and no file
 * however mangled does harm. */
#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>

#include "export/export.h"
#include "format/strata_file.h"
#include "import/import.h"
#include "mend.h"
#include "same.h"
#include "scratch.h"
#include "trace/bounds.h"

static const char tiny[] = TEST_DATA "/tiny.json";
static const struct export_options plain = {.n_threads = 2};

static struct trace *open_trace(const char *path)
{
    struct trace *t = NULL;
    struct err e;
    err_init(&e);
    if (import_open(path, NULL, &t, &e) < 0) test_fail(__FILE__, __LINE__, "%s: %s", path, e.msg);
    return t;
}

static int open_quick(const char *path, struct trace **ret)
{
    struct import_options o = {.n_threads = 1, .skip_rows = true};
    return import_open(path, &o, ret, NULL);
}

static int write_strata(const struct trace *t, const char *path, const struct export_options *o)
{
    struct err e;
    err_init(&e);
    int rc = export_find("strata")->write(t, path, o, &e);
    if (rc < 0) test_fail(__FILE__, __LINE__, "%s: %s", path, e.msg);
    return rc;
}

/* The file's bytes on the heap. */
static char *read_file(const char *path, size_t *ret_n)
{
    struct file_map f;
    *ret_n = 0;
    if (file_map(&f, path, NULL) < 0) return NULL;
    char *p = mem_alloc(f.n);
    memcpy(p, f.p, f.n);
    *ret_n = f.n;
    file_unmap(&f);
    return p;
}

/* tiny.json as a .strata file, on the heap; written once, kept in the scratch directory. */
static char *tiny_strata(size_t *ret_n)
{
    char *p = read_file(scratch("tiny.strata"), ret_n);
    if (p) return p;
    struct trace *t = open_trace(tiny);
    if (!t) return NULL;
    int rc = write_strata(t, scratch("tiny.strata"), &plain);
    trace_free(t);
    return rc == 0 ? read_file(scratch("tiny.strata"), ret_n) : NULL;
}

/* Without the sync of file_write_whole: there are thousands. */
static void put_file(const char *path, const char *p, size_t n)
{
    FILE *f = fopen(path, "wb");
    CHECK(f && fwrite(p, 1, n, f) == n);
    if (f) fclose(f);
}

TEST(nothing_is_lost)
{
    struct trace *a = open_trace(tiny);
    REQUIRE(a != NULL);
    REQUIRE(write_strata(a, scratch("a.strata"), &plain) == 0);
    struct trace *b = open_trace(scratch("a.strata"));
    REQUIRE(b != NULL);
    CHECK_EQ_STR(b->format, "strata");
    CHECK(a->n_ops && a->n_calls && a->n_gpu && a->n_py && a->n_mem && a->n_flows);
    check_same_trace(a, b);
    check_same_args(a, b);
    for (str_id i = 0; i < b->strings.n; i++)
        CHECK_EQ_UINT(intern_find(&b->strings, trace_str(b, i)),
                      intern_find(&a->strings, trace_str(a, i)));
    trace_free(a);
    trace_free(b);
}

TEST(a_trace_without_a_source_has_no_args)
{
    struct kit k = kit_begin();
    kit_launch(&k, 10, "gemm", 20, 50);
    kit_memory(&k, 5, 1024, 2048, 4096);
    kit_python(&k, "f.py(1): f", 0, 100);
    struct trace *a = kit_end(&k);
    REQUIRE(write_strata(a, scratch("a.strata"), &plain) == 0);
    struct trace *b = open_trace(scratch("a.strata"));
    REQUIRE(b != NULL);
    CHECK(b->args == NULL);
    check_same_trace(a, b);
    trace_free(a);
    trace_free(b);
}

TEST(an_empty_trace)
{
    struct kit k = kit_begin();
    struct trace *a = kit_end(&k);
    REQUIRE(write_strata(a, scratch("a.strata"), &plain) == 0);
    struct trace *b = open_trace(scratch("a.strata"));
    REQUIRE(b != NULL);
    CHECK_EQ_UINT(b->n_rows, 0);
    trace_free(a);
    trace_free(b);
}

/* Args longer than a block, shorter, none: records cross the borders of blocks. */
TEST(args_of_any_length)
{
    struct buf json = {0};
    buf_adds(&json, "{\"traceEvents\":[");
    for (int i = 0; i < 40; i++) {
        buf_printf(&json, "%s{\"ph\":\"X\",\"name\":\"e\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":1",
                   i ? "," : "", i);
        if (i % 3) {
            buf_adds(&json, ",\"args\":{\"text\":\"");
            for (int n = 0; n < i * 9000; n++) buf_addc(&json, (char)('a' + (n * 7 + i) % 26));
            buf_adds(&json, "\"}");
        }
        buf_adds(&json, "}");
    }
    buf_adds(&json, "]}");
    put_file(scratch("long.json"), json.p, json.n);
    buf_done(&json);
    struct trace *a = open_trace(scratch("long.json"));
    REQUIRE(a != NULL);
    REQUIRE(write_strata(a, scratch("long.strata"), &plain) == 0);
    struct trace *b = open_trace(scratch("long.strata"));
    REQUIRE(b != NULL);
    CHECK_EQ_UINT(b->n_rows, 40);
    check_same_args(a, b);
    trace_free(a);
    trace_free(b);
}

TEST(same_bytes_on_any_number_of_threads_and_when_copied)
{
    struct trace *a = open_trace(tiny);
    REQUIRE(a != NULL);
    struct export_options one = {.n_threads = 1}, many = {.n_threads = 7};
    REQUIRE(write_strata(a, scratch("one.strata"), &one) == 0);
    REQUIRE(write_strata(a, scratch("many.strata"), &many) == 0);
    trace_free(a);
    a = open_trace(scratch("one.strata"));
    REQUIRE(a != NULL);
    REQUIRE(write_strata(a, scratch("copy.strata"), &plain) == 0);
    trace_free(a);
    size_t n[3] = {0};
    char *p[3] = {read_file(scratch("one.strata"), &n[0]), read_file(scratch("many.strata"), &n[1]),
                  read_file(scratch("copy.strata"), &n[2])};
    REQUIRE(p[0] && p[1] && p[2]);
    CHECK(n[0] == n[1] && memcmp(p[0], p[1], n[0]) == 0);
    CHECK(n[0] == n[2] && memcmp(p[0], p[2], n[0]) == 0);
    for (int i = 0; i < 3; i++) mem_free(p[i]);
}

static bool contains(const char *p, size_t n, const char *what)
{
    return memmem(p, n, what, strlen(what)) != NULL;
}

TEST(strip_leaves_secrets_out)
{
    struct kit k = kit_begin();
    kit_op(&k, "aten::mm", 0, 10);
    kit_meta(&k, "schemaVersion", "1");
    kit_meta(&k, "environment", "{\"TOKEN\":\"hunter2\"}");
    struct trace *t = kit_end(&k);
    struct export_options strip = {.n_threads = 1, .strip = true};
    size_t n = 0;
    REQUIRE(write_strata(t, scratch("kept.strata"), &plain) == 0);
    char *p = read_file(scratch("kept.strata"), &n);
    CHECK(contains(p, n, "hunter2"));
    mem_free(p);
    REQUIRE(write_strata(t, scratch("stripped.strata"), &strip) == 0);
    p = read_file(scratch("stripped.strata"), &n);
    CHECK(!contains(p, n, "hunter2"));
    CHECK(!contains(p, n, "environment"));
    mem_free(p);
    trace_free(t);
    t = open_trace(scratch("stripped.strata"));
    REQUIRE(t != NULL);
    CHECK_EQ_UINT(t->n_metas, 1);
    CHECK_EQ_BYTES(trace_meta(t, "schemaVersion"), "1");
    CHECK_EQ_BYTES(trace_name(t, 0), "aten::mm");
    trace_free(t);
}

/* Opens the file both ways; when it opens, reads everything there is. */
static int use_file(const char *path, struct err *e)
{
    struct trace *t;
    if (open_quick(path, &t) == 0) {
        struct trace_counts counts;
        trace_count(t, &counts);
        for (uint32_t i = 0; i < t->n_metas; i++) trace_str(t, t->metas[i].value);
        for (uint32_t i = 0; i < t->n_lanes; i++)
            trace_str(t, t->processes[t->lanes[i].process].name);
        trace_free(t);
    }
    TRY(import_open(path, NULL, &t, e));
    struct buf args = {0};
    for (row_t r = 0; r < t->n_rows; r++) {
        (void)trace_name(t, r);
        if (trace_args(t, r, &args, NULL) < 0) continue;
    }
    buf_done(&args);
    trace_free(t);
    return 0;
}

TEST(cut_anywhere_it_is_refused)
{
    size_t n;
    char *p = tiny_strata(&n);
    REQUIRE(p != NULL);
    for (size_t len = 9; len < n; len += len < 256 || n - len < 256 ? 1 : 13) {
        struct err e;
        err_init(&e);
        put_file(scratch("cut.strata"), p, len);
        int rc = use_file(scratch("cut.strata"), &e);
        if (rc != ERR_FORMAT) test_fail(__FILE__, __LINE__, "cut at %zu: %d %s", len, rc, e.msg);
    }
    mem_free(p);
}

TEST(a_flipped_bit_is_noticed)
{
    size_t n, gaps = 0;
    char *p = tiny_strata(&n);
    REQUIRE(p != NULL);
    for (size_t at = 0; at < n; at += 11) {
        char old = p[at];
        struct err e;
        err_init(&e);
        p[at] = (char)(p[at] ^ 1 << at % 8);
        put_file(scratch("flip.strata"), p, n);
        gaps += use_file(scratch("flip.strata"), &e) == 0;
        p[at] = old;
    }
    /* The args blocks, whose damage is noticed when they are read, are all that may be wrong in a
     * file that opens. */
    CHECK(gaps < n / 11 / 3);
    mem_free(p);
}

static int open_as_info(const char *path)
{
    struct import_options o = {.n_threads = 1, .skip_rows = true, .check_args = true};
    struct trace *t;
    int rc = import_open(path, &o, &t, NULL);
    if (rc == 0) trace_free(t);
    return rc;
}

/* Also by who looks at the head alone; of what zstd packs, a few bits have no meaning. */
TEST(a_flipped_bit_is_noticed_anywhere)
{
    size_t n;
    char *p = tiny_strata(&n);
    REQUIRE(p != NULL);
    int accepted = 0;
    for (size_t i = 0; i < n; i++) {
        p[i] ^= (char)(1 << i % 8);
        put_file(scratch("bit.strata"), p, n);
        accepted += open_as_info(scratch("bit.strata")) == 0;
        p[i] ^= (char)(1 << i % 8);
    }
    CHECK(accepted <= 4);
    mem_free(p);
}

TEST(a_hostile_file_does_no_harm)
{
    size_t n;
    char *p = tiny_strata(&n);
    char *copy = mem_alloc(n);
    REQUIRE(p && copy);
    static const unsigned char evil[] = {0xff, 0x7f, 0x80, 0x01};
    for (size_t at = 16; at < n - 16; at += 3) {
        memcpy(copy, p, n);
        memset(copy + at, evil[at / 3 % 4], at % 2 ? 1 : 4);
        mend_checksums(copy, n);
        put_file(scratch("evil.strata"), copy, n);
        use_file(scratch("evil.strata"), NULL);
    }
    mem_free(copy);
    mem_free(p);
}

/* Puts `value` at the i-th item of a section of the file `p`, which it takes, checksums mended, and
 * says what came of it. */
static int with_bytes_in(char *p, size_t n, uint32_t id, uint64_t i, size_t offset,
                         const void *value, size_t size, struct err *e)
{
    struct strata_foot f;
    memcpy(&f, p + n - sizeof f, sizeof f);
    for (uint64_t k = 0; k < f.n_sections; k++) {
        struct strata_section s;
        memcpy(&s, p + f.table_offset + k * sizeof s, sizeof s);
        if (s.id == id)
            memcpy(p + s.offset + i * s.item_bytes + offset, value,
                   s.item_bytes < size ? s.item_bytes : size);
    }
    mend_checksums(p, n);
    put_file(scratch("item.strata"), p, n);
    mem_free(p);
    err_init(e);
    struct trace *t;
    int rc = import_open(scratch("item.strata"), NULL, &t, e);
    if (rc == 0) trace_free(t);
    return rc;
}

static int with_bytes(uint32_t id, uint64_t i, size_t offset, const void *value, size_t size,
                      struct err *e)
{
    size_t n;
    char *p = tiny_strata(&n);
    return with_bytes_in(p, n, id, i, offset, value, size, e);
}

static int with_item(uint32_t id, uint64_t i, uint64_t value, struct err *e)
{
    return with_bytes(id, i, 0, &value, sizeof value, e);
}

/* Every name of every small table, one beyond all strings and one that says that there is none. */
TEST(names_that_do_not_exist_are_refused)
{
    static const struct {
        uint32_t section;
        size_t offset;
    } names[] = {
        {SECTION_LANES, offsetof(struct strata_lane, tid_text)},
        {SECTION_LANES, offsetof(struct strata_lane, name)},
        {SECTION_PROCESSES, offsetof(struct strata_process, pid_text)},
        {SECTION_PROCESSES, offsetof(struct strata_process, name)},
        {SECTION_PROCESSES, offsetof(struct strata_process, labels)},
        {SECTION_DEVICES, offsetof(struct strata_device, name)},
        {SECTION_METAS, offsetof(struct strata_meta, key)},
        {SECTION_METAS, offsetof(struct strata_meta, value)},
        {SECTION_CATS, offsetof(struct strata_cat, text)},
    };
    static const uint32_t no[] = {1u << 30, UINT32_MAX};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (size_t k = 0; k < sizeof no / sizeof *no; k++) {
            struct err e;
            CHECK_EQ_INT(with_bytes(names[i].section, 0, names[i].offset, &no[k], sizeof no[k], &e),
                         ERR_FORMAT);
            CHECK_EQ_STR(e.msg, "damaged: a name does not exist");
        }
    }
}

TEST(rows_that_break_a_promise_are_named)
{
    struct err e;
    CHECK_EQ_INT(with_item(SECTION_KIND, 0, KIND_COUNT, &e), ERR_FORMAT);
    CHECK_EQ_STR(e.msg, "damaged: row 0: its kind is unknown");
    CHECK_EQ_INT(with_item(SECTION_LANE, 1, 99, &e), ERR_FORMAT);
    CHECK_EQ_STR(e.msg, "damaged: row 1: its lane does not exist");
    CHECK_EQ_INT(with_item(SECTION_PARENT, 1, 1, &e), ERR_FORMAT);
    CHECK_EQ_STR(e.msg, "damaged: row 1: its parent is impossible");
    CHECK_EQ_INT(with_item(SECTION_NAME, 2, 1u << 30, &e), ERR_FORMAT);
    CHECK_EQ_STR(e.msg, "damaged: row 2: its name does not exist");
    CHECK_EQ_INT(with_item(SECTION_DUR_NS, 2, UINT64_MAX, &e), ERR_FORMAT);
    CHECK_EQ_STR(e.msg, "damaged: row 2: its time is impossible");
    CHECK_EQ_INT(with_item(SECTION_AUX, 0, 1u << 20, &e), ERR_FORMAT);
    CHECK_EQ_STR(e.msg, "damaged: row 0: its details do not exist");
    CHECK_EQ_INT(with_item(SECTION_DEPTH, 1, 9, &e), ERR_FORMAT);
    CHECK_EQ_INT(with_item(SECTION_CAT, 1, 200, &e), ERR_FORMAT);
    CHECK_EQ_INT(with_item(SECTION_LAUNCHED, 0, 0, &e), ERR_FORMAT);
    CHECK_EQ_INT(with_item(SECTION_TS_NS, 1, 0, &e), ERR_FORMAT);
    CHECK_EQ_STR(e.msg, "damaged: row 1: it is out of order");
    CHECK_EQ_INT(with_item(SECTION_LANES, 0, LANE_OTHER + 1u, &e), ERR_FORMAT);
}

/* Every row of every kind, its details taken away or one too far: what calls and device work say is
 * looked up without a question, so such a file is refused; what it says is never out of bounds. */
TEST(a_row_without_its_details_is_refused_where_they_are_needed)
{
    struct trace *t = open_trace(tiny);
    REQUIRE(t != NULL);
    bool seen[KIND_COUNT] = {0};
    const uint32_t n[] = {
        [TABLE_NONE] = 0,
        [TABLE_OP] = t->n_ops,
        [TABLE_CALL] = t->n_calls,
        [TABLE_GPU] = t->n_gpu,
        [TABLE_PY] = t->n_py,
        [TABLE_MEM] = t->n_mem,
        [TABLE_ASYNC] = t->n_asyncs,
    };
    for (row_t r = 0; r < t->n_rows; r++) {
        enum kind_table table = kind_table(t->kind[r]);
        bool needed = table == TABLE_CALL || table == TABLE_GPU;
        struct err e;
        if (seen[t->kind[r]]) continue;
        seen[t->kind[r]] = true;
        CHECK_EQ_INT(with_item(SECTION_AUX, r, UINT32_MAX, &e), needed ? ERR_FORMAT : 0);
        if (needed) CHECK(strstr(e.msg, "its details do not exist") != NULL);
        CHECK_EQ_INT(with_item(SECTION_AUX, r, n[table], &e), ERR_FORMAT);
        CHECK(strstr(e.msg, "its details do not exist") != NULL);
    }
    CHECK(seen[KIND_OP] && seen[KIND_RUNTIME] && seen[KIND_KERNEL] && seen[KIND_MEMCPY]);
    CHECK(seen[KIND_PYTHON] && seen[KIND_MEMORY] && seen[KIND_ANNOTATION]);
    trace_free(t);
}

/* Passes that count rows make room for as many as there are details, and sums of rows are bounded
 * by those of details. */
TEST(two_rows_with_the_same_details_are_refused)
{
    struct trace *t = open_trace(tiny);
    REQUIRE(t != NULL);
    row_t first[TABLE_ASYNC + 1];
    bool refused[TABLE_ASYNC + 1] = {0};
    for (int i = 0; i <= TABLE_ASYNC; i++) first[i] = ROW_NONE;
    for (row_t r = 0; r < t->n_rows; r++) {
        enum kind_table table = kind_table(t->kind[r]);
        struct err e;
        if (t->aux[r] == UINT32_MAX) continue;
        if (first[table] == ROW_NONE) {
            first[table] = r;
            continue;
        }
        CHECK_EQ_INT(with_item(SECTION_AUX, r, t->aux[first[table]], &e), ERR_FORMAT);
        CHECK(strstr(e.msg, "its details are those of another") != NULL);
        refused[table] = true;
    }
    CHECK(refused[TABLE_CALL] && refused[TABLE_GPU] && refused[TABLE_OP]);
    CHECK(refused[TABLE_PY] && refused[TABLE_MEM]);
    trace_free(t);
}

/* One launch of a graph with two kernels, as a .strata file on the heap. */
static char *graph_strata(size_t *ret_n)
{
    static const char json[] =
        "[{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaGraphLaunch\",\"pid\":1,"
        "\"tid\":1,\"ts\":1,\"dur\":2,\"args\":{\"correlation\":5}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a\",\"pid\":0,\"tid\":7,\"ts\":5,"
        "\"dur\":2,\"args\":{\"correlation\":5,\"stream\":7}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"b\",\"pid\":0,\"tid\":7,\"ts\":9,"
        "\"dur\":2,\"args\":{\"correlation\":5,\"stream\":7}}]";
    put_file(scratch("graph.json"), json, sizeof json - 1);
    struct trace *t = open_trace(scratch("graph.json"));
    if (!t) return NULL;
    CHECK_EQ_UINT(t->n_launched, 2);
    int rc = write_strata(t, scratch("graph.strata"), &plain);
    trace_free(t);
    return rc == 0 ? read_file(scratch("graph.strata"), ret_n) : NULL;
}

static int graph_with(uint32_t id, uint64_t i, size_t offset, uint32_t value, struct err *e)
{
    size_t n = 0;
    char *p = graph_strata(&n);
    return p ? with_bytes_in(p, n, id, i, offset, &value, sizeof value, e) : ERR_INTERNAL;
}

/* What was launched is listed once, by its launch: sums over what calls launched stay within those
 * over all rows. */
TEST(work_is_listed_once_where_it_was_launched)
{
    struct err e;
    size_t n_gpu = offsetof(struct call_info, n_gpu);
    CHECK_EQ_INT(graph_with(SECTION_CALLS, 0, n_gpu, 2, &e), 0);
    CHECK_EQ_INT(graph_with(SECTION_CALLS, 0, n_gpu, 1, &e), ERR_FORMAT);
    CHECK_EQ_STR(e.msg, "damaged: work that its launch does not know");
    CHECK_EQ_INT(graph_with(SECTION_CALLS, 0, n_gpu, 0, &e), ERR_FORMAT);
    CHECK_EQ_INT(graph_with(SECTION_CALLS, 0, n_gpu, 3, &e), ERR_FORMAT);
    CHECK_EQ_INT(graph_with(SECTION_LAUNCHED, 0, 0, 2, &e), ERR_FORMAT); /* b, b */
    CHECK(strstr(e.msg, "what it launched does not exist") != NULL);
    CHECK_EQ_INT(graph_with(SECTION_LAUNCHED, 1, 0, 1, &e), ERR_FORMAT); /* a, a */
}

/* Times of the whole trace are used without its rows, by `info`, and with them. */
TEST(times_of_the_whole_that_cannot_be_are_refused)
{
    static const size_t at[] = {
        offsetof(struct strata_summary, base_ns), offsetof(struct strata_summary, begin_ns),
        offsetof(struct strata_summary, end_ns), offsetof(struct strata_summary, window_begin_ns),
        offsetof(struct strata_summary, window_end_ns)};
    static const int64_t no[] = {INT64_MIN + 1, INT64_MAX, BOUNDS_TS_NS + 1};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        for (size_t k = 0; k < sizeof no / sizeof *no; k++) {
            struct err e;
            struct trace *t = NULL;
            CHECK_EQ_INT(with_bytes(SECTION_SUMMARY, 0, at[i], &no[k], sizeof no[k], &e),
                         ERR_FORMAT);
            CHECK_EQ_STR(e.msg, "damaged: it begins or ends at no time");
            CHECK_EQ_INT(open_quick(scratch("item.strata"), &t), ERR_FORMAT);
        }
    }
}

TEST(a_trace_begins_and_ends_with_its_spans)
{
    struct trace *t = open_trace(scratch("tiny.strata"));
    REQUIRE(t != NULL);
    int64_t early = t->begin_ns - 1, late = t->end_ns + 1;
    trace_free(t);
    size_t begin = offsetof(struct strata_summary, begin_ns);
    size_t end = offsetof(struct strata_summary, end_ns);
    struct err e;
    CHECK_EQ_INT(with_bytes(SECTION_SUMMARY, 0, begin, &early, sizeof early, &e), ERR_FORMAT);
    CHECK_EQ_STR(e.msg, "damaged: it begins or ends with no span");
    CHECK_EQ_INT(with_bytes(SECTION_SUMMARY, 0, end, &late, sizeof late, &e), ERR_FORMAT);
    CHECK_EQ_STR(e.msg, "damaged: it begins or ends with no span");
}

/* A few bytes cannot be the text of many names: whoever reads every name would read them as often.
 */
TEST(texts_that_share_their_bytes_are_refused)
{
    struct err e;
    CHECK_EQ_INT(with_item(SECTION_STRING_OFFSETS, 2, 0, &e), ERR_FORMAT);
    CHECK_EQ_STR(e.msg, "damaged: texts that share their bytes");
    CHECK_EQ_INT(with_item(SECTION_STRING_OFFSETS, 1, 1u << 30, &e), ERR_FORMAT);
    struct trace *t = open_trace(scratch("tiny.strata"));
    REQUIRE(t != NULL);
    uint64_t n = t->strings.n, end = t->strings.view.offsets[n];
    trace_free(t);
    CHECK_EQ_INT(with_item(SECTION_STRING_OFFSETS, n, end, &e), 0);
    CHECK_EQ_INT(with_item(SECTION_STRING_OFFSETS, n, end + 1, &e), ERR_FORMAT);
}

TEST(another_version_is_refused)
{
    size_t n;
    char *p = tiny_strata(&n);
    REQUIRE(p != NULL);
    struct err e;
    err_init(&e);
    p[offsetof(struct strata_head, major)] = 9;
    put_file(scratch("new.strata"), p, n);
    CHECK_EQ_INT(use_file(scratch("new.strata"), &e), ERR_VERSION);
    CHECK_EQ_STR(e.msg, "written in version 9 of the format; this strata reads version 1");
    mem_free(p);
}

static int write_tiny(void *ctx)
{
    return export_find("strata")->write(ctx, scratch("oom.strata"), &plain, NULL);
}

static int read_tiny(void *ctx)
{
    struct trace *t = NULL;
    struct buf args = {0};
    int rc = import_open(ctx, NULL, &t, NULL);
    if (rc == 0) rc = trace_args(t, 0, &args, NULL);
    buf_done(&args);
    trace_free(t);
    return rc;
}

TEST(out_of_memory)
{
    struct trace *t = open_trace(tiny);
    REQUIRE(t != NULL);
    scratch_clear();
    CHECK_EVERY_ALLOC(write_tiny, t);
    CHECK_EQ_INT(scratch_count(), 1);
    CHECK_EVERY_ALLOC(read_tiny, (void *)(uintptr_t)scratch("oom.strata"));
    trace_free(t);
}

TEST(a_full_disk_leaves_nothing_behind)
{
    struct trace *t = open_trace(tiny);
    REQUIRE(t != NULL);
    scratch_clear();
    struct rlimit old, small;
    getrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, SIG_IGN);
    for (int i = 0; exporters[i]; i++) {
        small = (struct rlimit){100, old.rlim_max};
        setrlimit(RLIMIT_FSIZE, &small);
        struct err e;
        err_init(&e);
        int rc = exporters[i]->write(t, scratch("full"), &plain, &e);
        setrlimit(RLIMIT_FSIZE, &old);
        CHECK_EQ_INT(rc, ERR_IO);
        CHECK(strstr(e.msg, "cannot write") != NULL);
        CHECK(strstr(e.file, "full") != NULL);
        CHECK_EQ_INT(scratch_count(), 0);
    }
    trace_free(t);
}

TEST_MAIN
