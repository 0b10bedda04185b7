/* test_ring.c: the ring file of one thread: what the writer puts in is what the reader gets out,
 * through wrapping, lack of room, and files cut or broken at any place. */
#include <sys/resource.h>

#include "import/ring/ring_file.h"
#include "record/writer.h"
#include "recording.h"

static const struct writer_options plain = {CLOCK_OS, 1e9, 64 << 20};

static struct writer *new_ring(struct folder *f, const struct writer_options *o, char path[128])
{
    *f = folder_new();
    snprintf(path, 128, "%s/x.ring", f->path);
    struct err e;
    err_init(&e);
    struct writer *w = writer_new(path, o, &e);
    if (!w) CHECK_EQ_STR(e.msg, "");
    return w;
}

static void put_counter(struct writer *w, uint64_t value)
{
    writer_put(w, (struct ring_record){.kind = RING_COUNTER, .name = 7}, value);
}

/* Counters with values from ..: every value of [first, end) once, in order; returns how many. */
static uint64_t check_counters(const char *path, uint64_t *ret_first, uint64_t *ret_missing)
{
    struct ring_file f;
    struct err e;
    err_init(&e);
    if (!CHECK_EQ_INT(ring_file_open(&f, path, &e), 0)) return 0;
    struct ring_cursor c;
    struct ring_entry entry;
    uint64_t n = 0, last = 0;
    ring_cursor_init(&c, &f, 0);
    while (ring_cursor_next(&c, &entry)) {
        if (entry.r.kind != RING_COUNTER) continue;
        CHECK_EQ_UINT(entry.r.name, 7);
        if (n == 0) *ret_first = entry.value;
        else if (!CHECK_EQ_UINT(entry.value, last + 1)) break;
        last = entry.value;
        n++;
    }
    *ret_missing = c.n_missing + f.first;
    ring_file_close(&f);
    return n;
}

TEST(what_goes_in_comes_out)
{
    struct folder f;
    char path[128];
    struct writer *w = new_ring(&f, &plain, path);
    REQUIRE(w != NULL);
    uint64_t before = clock_mono_ns();
    uint64_t at =
        writer_put(w, (struct ring_record){.kind = RING_BEGIN, .name = 3, .category = 4}, 0);
    put_counter(w, 42);
    writer_put(w, (struct ring_record){.kind = RING_END}, 0);
    CHECK(at >= before && at <= clock_mono_ns());
    writer_free(w);

    struct ring_file r;
    REQUIRE(ring_file_open(&r, path, NULL) == 0);
    struct ring_cursor c;
    struct ring_entry e;
    ring_cursor_init(&c, &r, 0);
    REQUIRE(ring_cursor_next(&c, &e));
    CHECK_EQ_INT(e.r.kind, RING_CLOCK); /* the first record notes the clocks */
    CHECK_EQ_UINT(e.r.ticks, e.value);
    REQUIRE(ring_cursor_next(&c, &e));
    CHECK_EQ_INT(e.r.kind, RING_BEGIN);
    CHECK_EQ_UINT(e.r.ticks, at);
    CHECK_EQ_UINT(e.r.name, 3);
    CHECK_EQ_UINT(e.r.category, 4);
    REQUIRE(ring_cursor_next(&c, &e));
    CHECK_EQ_INT(e.r.kind, RING_COUNTER);
    CHECK_EQ_UINT(e.value, 42);
    REQUIRE(ring_cursor_next(&c, &e));
    CHECK_EQ_INT(e.r.kind, RING_END);
    CHECK(!ring_cursor_next(&c, &e));
    CHECK_EQ_UINT(c.n_missing, 0);
    ring_file_close(&r);
    folder_done(&f);
}

TEST(the_head_says_what_and_whose_it_is)
{
    struct folder f;
    char path[128];
    struct ring_head h;
    struct writer *w = new_ring(&f, &plain, path);
    REQUIRE(w != NULL);
    writer_free(w);
    FILE *file = fopen(path, "rb");
    REQUIRE(file != NULL);
    CHECK_EQ_UINT(fread(&h, sizeof h, 1, file), 1);
    fclose(file);
    CHECK(memcmp(h.magic, RING_MAGIC, sizeof h.magic) == 0);
    CHECK_EQ_UINT(h.version, RING_VERSION);
    CHECK_EQ_UINT(h.pid, (uint32_t)getpid());
    CHECK_EQ_UINT(h.block_records, RING_BLOCK);
    folder_done(&f);
}

TEST(many_blocks)
{
    struct folder f;
    char path[128];
    struct writer *w = new_ring(&f, &plain, path);
    REQUIRE(w != NULL);
    enum { N = 100000 };
    for (uint64_t i = 0; i < N; i++) {
        put_counter(w, i);
        /* single records in between shift the double ones over the ends of blocks */
        if (i % 3 == 0) writer_put(w, (struct ring_record){.kind = RING_END}, 0);
    }
    uint64_t first = 1, missing = 1;
    CHECK_EQ_UINT(check_counters(path, &first, &missing), N);
    CHECK_EQ_UINT(first, 0);
    CHECK_EQ_UINT(missing, 0);
    CHECK_EQ_UINT(w->head->n_lost, 0);
    writer_free(w);
    folder_done(&f);
}

TEST(wraps_at_its_limit_and_keeps_the_newest)
{
    struct folder f;
    char path[128];
    struct writer_options small = plain;
    small.limit_bytes = 4 * RING_BLOCK_BYTES;
    struct writer *w = new_ring(&f, &small, path);
    REQUIRE(w != NULL);
    enum { N = 60000 };
    for (uint64_t i = 0; i < N; i++) put_counter(w, i);
    uint64_t first = 0, missing = 0;
    uint64_t n = check_counters(path, &first, &missing);
    CHECK_EQ_UINT(first + n, N);
    CHECK(n >= 3 * RING_BLOCK / 2 && n <= 5 * RING_BLOCK / 2);
    CHECK_EQ_UINT(w->head->n_lost, missing); /* the writer knows what it threw away */
    struct stat st;
    CHECK(stat(path, &st) == 0 && st.st_size == RING_LOG_OFFSET + 4 * RING_BLOCK_BYTES);
    writer_free(w);
    folder_done(&f);
}

/* One thread of many is busy: it takes what the others leave, and leaves some for those to come. */
TEST(rings_share_a_budget_by_use)
{
    enum { QUIET = 40, N = 600000 };
    struct folder f;
    char path[128];
    atomic_uint_least64_t left = (uint64_t)64 << 20;
    struct writer_options small = plain;
    small.limit_bytes = RING_BLOCK_BYTES;
    small.budget_bytes = &left;
    struct writer *w = new_ring(&f, &small, path), *quiet[QUIET];
    REQUIRE(w != NULL);
    for (int i = 0; i < QUIET; i++) {
        snprintf(path, sizeof path, "%s/%d.ring", f.path, i);
        quiet[i] = writer_new(path, &small, NULL);
        REQUIRE(quiet[i] != NULL);
        put_counter(quiet[i], 0);
    }
    CHECK_EQ_UINT(atomic_load(&left), 64 << 20); /* nobody took what it does not need */
    for (uint64_t i = 0; i < N / 4; i++) put_counter(w, i);
    CHECK_EQ_UINT(w->head->n_lost, 0);
    for (uint64_t i = N / 4; i < N; i++) put_counter(w, i);
    uint64_t taken = (64 << 20) - atomic_load(&left);
    CHECK(w->head->n_lost > 0 && taken >= (8 << 20) && taken <= (12 << 20)); /* about an eighth */
    for (int i = 0; i < QUIET; i++) writer_free(quiet[i]);
    writer_free(w);
    folder_done(&f);
}

/* The file may not grow: what fits is kept, newest first, and the process gets no SIGXFSZ. */
static void fill_beyond_limit(const char *dir)
{
    struct rlimit most = {RING_LOG_OFFSET + 2 * RING_BLOCK_BYTES + 100, RLIM_INFINITY};
    if (setrlimit(RLIMIT_FSIZE, &most) < 0) abort();
    char path[128];
    snprintf(path, sizeof path, "%s/x.ring", dir);
    struct writer *w = writer_new(path, &plain, NULL);
    if (!w) abort();
    for (uint64_t i = 0; i < 50000; i++) put_counter(w, i);
    CHECK(w->head->n_lost > 0);
    writer_free(w);
}

TEST(no_room_to_grow)
{
    struct folder f = folder_new();
    char path[128];
    snprintf(path, sizeof path, "%s/x.ring", f.path);
    CHECK_EQ_INT(in_child(fill_beyond_limit, f.path), 0);
    uint64_t first = 0, missing = 0;
    uint64_t n = check_counters(path, &first, &missing);
    CHECK_EQ_UINT(first + n, 50000);
    CHECK(n >= RING_BLOCK / 2);
    folder_done(&f);
}

static void start_without_room(const char *dir)
{
    struct rlimit most = {1000, RLIM_INFINITY};
    if (setrlimit(RLIMIT_FSIZE, &most) < 0) abort();
    char path[128];
    snprintf(path, sizeof path, "%s/x.ring", dir);
    struct err e;
    err_init(&e);
    CHECK(writer_new(path, &plain, &e) == NULL);
    CHECK_EQ_INT(e.code, ERR_IO);
    CHECK(access(path, F_OK) < 0); /* nothing half-made stays */
}

TEST(no_room_to_begin)
{
    struct folder f = folder_new();
    CHECK_EQ_INT(in_child(start_without_room, f.path), 0);
    folder_done(&f);
}

/* Somebody removes the file, or puts another in its place: that one is not touched. */
TEST(file_taken_away)
{
    struct folder f;
    char path[128];
    struct writer *w = new_ring(&f, &plain, path);
    REQUIRE(w != NULL);
    for (uint64_t i = 0; i < RING_BLOCK; i++) put_counter(w, i);
    CHECK_EQ_UINT(w->head->n_lost, 0);
    unlink(path);
    FILE *other = fopen(path, "w");
    REQUIRE(other != NULL);
    fputs("mine", other);
    fclose(other);
    for (uint64_t i = 0; i < 3 * RING_BLOCK; i++) put_counter(w, i);
    CHECK(w->head->n_lost >= RING_BLOCK);
    struct stat st;
    CHECK(stat(path, &st) == 0 && st.st_size == 4);
    writer_free(w);
    folder_done(&f);
}

/* Cut at any length the file opens, and holds a run of the values that were put in. */
TEST(cut_anywhere)
{
    struct folder f;
    char path[128];
    struct writer *w = new_ring(&f, &plain, path);
    REQUIRE(w != NULL);
    for (uint64_t i = 0; i < 3 * RING_BLOCK; i++) put_counter(w, i);
    writer_free(w);
    struct stat st;
    REQUIRE(stat(path, &st) == 0);
    uint64_t first, missing;
    for (off_t n = st.st_size; n >= 0; n = n > 4200 ? n - 4099 : n - 37) {
        REQUIRE(truncate(path, n) == 0);
        check_counters(path, &first, &missing);
    }
    folder_done(&f);
}

static void poke(const char *path, off_t at, uint64_t value, size_t n)
{
    int fd = open(path, O_WRONLY);
    if (fd < 0 || pwrite(fd, &value, n, at) != (ssize_t)n) abort();
    close(fd);
}

TEST(heads_that_lie)
{
    struct folder f;
    char path[128];
    struct writer *w = new_ring(&f, &plain, path);
    REQUIRE(w != NULL);
    put_counter(w, 1);
    writer_free(w);
    static const struct {
        off_t at;
        size_t n;
        uint64_t good, bad;
        int code;
    } lies[] = {
        {offsetof(struct ring_head, magic), 1, 'S', 'X', ERR_FORMAT},
        {offsetof(struct ring_head, version), 4, RING_VERSION, 99, ERR_VERSION},
        {offsetof(struct ring_head, block_records), 4, RING_BLOCK, 3, ERR_FORMAT},
        {offsetof(struct ring_head, log_slots), 8, 0, 5, ERR_FORMAT},
        {offsetof(struct ring_head, n_logged), 8, 0, 1u << 30, ERR_FORMAT},
        {offsetof(struct ring_head, n_written), 8, 4, UINT64_MAX, ERR_FORMAT},
    };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        struct ring_file r;
        struct err e;
        err_init(&e);
        poke(path, lies[i].at, lies[i].bad, lies[i].n);
        CHECK_EQ_INT(ring_file_open(&r, path, &e), lies[i].code);
        CHECK_EQ_STR(e.file, path);
        poke(path, lies[i].at, lies[i].good, lies[i].n);
        CHECK_EQ_INT(ring_file_open(&r, path, NULL), 0);
        ring_file_close(&r);
    }
    folder_done(&f);
}

/* More written than the file has room for, consistently: nothing is read beyond its end. */
TEST(counts_beyond_the_file)
{
    struct folder f;
    char path[128];
    struct writer *w = new_ring(&f, &plain, path);
    REQUIRE(w != NULL);
    put_counter(w, 1);
    writer_free(w);
    poke(path, offsetof(struct ring_head, n_logged), (uint64_t)RING_BLOCK * 1000003, 8);
    poke(path, offsetof(struct ring_head, n_written), (uint64_t)RING_BLOCK * 1000003 + 4, 8);
    uint64_t first, missing = 0;
    CHECK_EQ_UINT(check_counters(path, &first, &missing), 0);
    CHECK_EQ_UINT(missing, (uint64_t)RING_BLOCK * 1000003 + 4);
    folder_done(&f);
}

/* A signal handler that records while the thread is inside a record: refused, and counted. */
TEST(interrupted_record)
{
    struct folder f;
    char path[128];
    struct writer *w = new_ring(&f, &plain, path);
    REQUIRE(w != NULL);
    put_counter(w, 1);
    atomic_store(&w->busy, true);
    put_counter(w, 99);
    atomic_store(&w->busy, false);
    put_counter(w, 2);
    uint64_t first = 0, missing = 0;
    CHECK_EQ_UINT(check_counters(path, &first, &missing), 2);
    CHECK_EQ_UINT(w->head->n_lost, 1);
    writer_free(w);
    folder_done(&f);
}

TEST_MAIN
