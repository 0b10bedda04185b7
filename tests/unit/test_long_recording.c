/* test_long_recording.c: recordings too long to read as a whole: the index beside the rings says
 * what is in them, a part found by it holds the rows that the whole holds there, and an index that
 * is missing, cut, damaged or of another ring changes nothing but the time it takes. */
#include "../long_run.h"

#include "analyze/compare/long_recording_sum.h"
#include "analyze/focus.h"
#include "import/ring/ring_set.h"
#include "import/ring/rings.h"
#include "recording.h"
#include "trace/cut.h"

enum { STEPS = 400 }; /* 224,000 records, 28 blocks */

static void record_steps(const char *dir)
{
    long_run_record(dir, STEPS);
}

static struct trace *open_with(const char *folder, const struct import_options *o)
{
    struct trace *t = NULL;
    struct err e;
    err_init(&e);
    if (rings_open(folder, o, &t, &e) < 0) CHECK_EQ_STR(e.msg, "");
    return t;
}

static const struct import_options in_part = {.most_records = 100000};

/* Rows of two traces are the same, but for how the clocks were read. */
static void check_same(const struct trace *a, const struct trace *b)
{
    if (!CHECK_EQ_UINT(a->n_rows, b->n_rows)) return;
    for (row_t r = 0; r < a->n_rows; r++) {
        struct str x = trace_name(a, r), y = trace_name(b, r);
        bool same = x.n == y.n && memcmp(x.p, y.p, x.n) == 0 && a->ts_ns[r] == b->ts_ns[r] &&
                    a->dur_ns[r] == b->dur_ns[r] && a->kind[r] == b->kind[r] &&
                    a->parent[r] == b->parent[r] && a->lane[r] == b->lane[r];
        if (!CHECK(same)) return;
    }
}

TEST(an_index_says_what_is_in_the_ring)
{
    struct folder f = folder_new();
    CHECK_EQ_INT(in_child(record_steps, f.path), 0);
    struct ring_set *s = NULL;
    REQUIRE(ring_set_open(f.path, &s, NULL) == 0);
    CHECK_EQ_UINT(s->n_rings, LONG_RINGS);
    for (size_t i = 0; i < s->n_rings; i++) {
        struct ring_blocks by_index, by_ring;
        REQUIRE(ring_blocks_open(&by_index, &s->rings[i], s->index[i]) == 0);
        REQUIRE(ring_blocks_open(&by_ring, &s->rings[i], NULL) == 0);
        CHECK_EQ_UINT(by_ring.n_read, by_ring.n);
        if (by_index.n > 2) CHECK_EQ_UINT(by_index.n_read, 2); /* the stage, and the one before */
        REQUIRE(by_index.n == by_ring.n);
        CHECK(memcmp(by_index.list, by_ring.list, by_ring.n * sizeof *by_ring.list) == 0);
        for (size_t k = 0; k < by_index.n; k++)
            CHECK(ring_blocks_agree(&by_index, &s->rings[i], k));
        ring_blocks_close(&by_index);
        ring_blocks_close(&by_ring);
    }
    ring_set_free(s);
    folder_done(&f);
}

TEST(a_part_holds_what_the_whole_holds_there)
{
    struct folder f = folder_new();
    CHECK_EQ_INT(in_child(record_steps, f.path), 0);
    struct trace *whole = open_with(f.path, NULL), *part = open_with(f.path, &in_part);
    REQUIRE(whole && part);
    CHECK_EQ_INT(count_rows(whole, "matmul"), STEPS * LONG_LAUNCHES);
    CHECK_EQ_UINT(whole->part.n_records, 0);
    CHECK(part->part.n_records > 200000);
    CHECK(part->n_rows > 10000 && part->n_rows < whole->n_rows / 3);
    /* by blocks, which also count records that no row shows, such as those of the end */
    int64_t by_blocks = part->part.whole_end_ns - part->part.whole_begin_ns;
    CHECK(by_blocks >= whole->end_ns - whole->begin_ns);
    CHECK(by_blocks < (whole->end_ns - whole->begin_ns) / 1000 * 1001);
    /* the middle of the work is in it */
    int64_t middle = whole->begin_ns + (whole->end_ns - whole->begin_ns) / 2;
    CHECK(part->begin_ns < middle && part->end_ns > middle);
    /* The stage `training` fills the part exactly, so its borders are those of the part. */
    row_t training = find_row(part, "training");
    REQUIRE(training != ROW_NONE);
    int64_t begin = part->ts_ns[training], end = trace_end_ns(part, training);
    struct import_span span = {begin, end};
    struct import_options exactly = {.span = &span};
    struct trace *again = open_with(f.path, &exactly);
    REQUIRE(again != NULL);
    check_same(part, again);
    trace_free(again);
    trace_free(part);
    trace_free(whole);
    folder_done(&f);
}

/* Rows called `name` and their time together. */
static int64_t time_of(const struct trace *t, const char *name, int *ret_n)
{
    int64_t ns = 0;
    *ret_n = 0;
    for (row_t r = 0; r < t->n_rows; r++)
        if (str_is(trace_name(t, r), name)) {
            ns += t->dur_ns[r];
            (*ret_n)++;
        }
    return ns;
}

TEST(a_part_is_the_whole_cut)
{
    struct folder f = folder_new();
    CHECK_EQ_INT(in_child(record_steps, f.path), 0);
    struct trace *whole = open_with(f.path, NULL);
    REQUIRE(whole != NULL);
    int64_t length = whole->end_ns - whole->begin_ns;
    for (int i = 0; i < 8; i++) {
        struct import_span span = {whole->begin_ns + length * i / 8 + i * 31337,
                                   whole->begin_ns + length * (i + 1) / 8 - i * 7331};
        struct import_options o = {.span = &span};
        struct trace *part = open_with(f.path, &o), *cut = open_with(f.path, NULL);
        REQUIRE(part && cut);
        CHECK_EQ_INT(trace_cut(&cut, span.begin_ns, span.end_ns, NULL), 0);
        static const char *const names[] = {"matmul", "cuLaunchKernel", "cuStreamSynchronize",
                                            "train_step", "training"};
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            int n_part, n_cut;
            int64_t in_part_ns = time_of(part, names[k], &n_part);
            CHECK_EQ_INT(in_part_ns, time_of(cut, names[k], &n_cut));
            CHECK_EQ_INT(n_part, n_cut);
        }
        trace_free(part);
        trace_free(cut);
    }
    trace_free(whole);
    folder_done(&f);
}

static void damage(const char *path, int how)
{
    struct stat st;
    if (stat(path, &st) < 0) abort();
    int fd = open(path, O_RDWR);
    if (fd < 0) abort();
    unsigned char junk[400];
    memset(junk, 0xa5, sizeof junk);
    int rc = 0;
    if (how == 0) rc = unlink(path);
    if (how == 1) rc = ftruncate(fd, 0);
    if (how == 2) rc = ftruncate(fd, st.st_size / 2 + 13);
    if (how == 3) rc = pwrite(fd, junk, sizeof junk, st.st_size / 2) < 0;
    if (how == 4) rc = pwrite(fd, junk, 8, 0) < 0;
    if (how == 5) rc = pwrite(fd, junk, sizeof junk, (off_t)ring_index_offset(0)) < 0;
    if (rc) abort();
    close(fd);
}

TEST(a_damaged_index_changes_nothing)
{
    for (int how = 0; how < 6; how++) {
        struct folder f = folder_new();
        CHECK_EQ_INT(in_child(record_steps, f.path), 0);
        struct trace *good = open_with(f.path, &in_part);
        char path[512];
        CHECK_EQ_INT(folder_count(&f, ".index", path), LONG_RINGS);
        damage(path, how);
        struct trace *t = open_with(f.path, &in_part);
        REQUIRE(good && t);
        check_same(good, t);
        trace_free(good);
        trace_free(t);
        folder_done(&f);
    }
}

/* An index whose every entry is sound, of another ring. */
TEST(an_index_of_another_ring_is_found_out)
{
    struct folder f = folder_new(), other = folder_new();
    CHECK_EQ_INT(in_child(record_steps, f.path), 0);
    CHECK_EQ_INT(in_child(record_steps, other.path), 0);
    struct trace *good = open_with(f.path, &in_part);
    struct ring_set *a = NULL, *b = NULL;
    REQUIRE(ring_set_open(f.path, &a, NULL) == 0 && ring_set_open(other.path, &b, NULL) == 0);
    uint32_t pid = a->rings[0].pid;
    for (size_t i = 0; i < a->n_rings; i++) {
        CHECK_EQ_INT(rename(b->index[i], a->index[i]), 0);
        int fd = open(a->index[i], O_RDWR);
        CHECK(fd >= 0 && pwrite(fd, &pid, sizeof pid, offsetof(struct ring_index_head, pid)) == 4);
        close(fd);
    }
    ring_set_free(a);
    ring_set_free(b);
    struct trace *t = open_with(f.path, &in_part);
    REQUIRE(good && t);
    check_same(good, t);
    trace_free(good);
    trace_free(t);
    folder_done(&f);
    folder_done(&other);
}

/* Ranges nested deeper than an index names, tasks, steps and an idle thread, over many blocks. */
static void record_deep(const char *dir)
{
    struct recorder_options o = {.where.dir = dir, .os_clock = true, .budget_bytes = 1 << 30};
    if (recorder_start(&o, NULL) < 0) abort();
    uint16_t name[24], mark = (uint16_t)names_id(str_c("mark"));
    for (int i = 0; i < 24; i++) {
        char text[16];
        snprintf(text, sizeof text, "deep%d", i);
        name[i] = (uint16_t)names_id(str_c(text));
    }
    uint64_t at = clock_mono_ns() + 1000000;
    recorder_put((struct ring_record){.ticks = at, .kind = RING_STEP}, 7);
    recorder_put((struct ring_record){.ticks = at, .kind = RING_TASK_BEGIN, .name = mark}, 5);
    for (int i = 0; i < 24; i++)
        recorder_put((struct ring_record){.ticks = at++, .kind = RING_BEGIN, .name = name[i]}, 0);
    for (int i = 0; i < 60000; i++)
        recorder_put((struct ring_record){.ticks = at += 1000, .kind = RING_INSTANT, .name = mark},
                     0);
    for (int i = 0; i < 24; i++)
        recorder_put((struct ring_record){.ticks = at++, .kind = RING_END}, 0);
    recorder_put((struct ring_record){.ticks = at, .kind = RING_TASK_END}, 5);
}

TEST(what_was_open_is_open_in_the_part)
{
    struct folder f = folder_new();
    CHECK_EQ_INT(in_child(record_deep, f.path), 0);
    struct trace *whole = open_with(f.path, NULL);
    REQUIRE(whole != NULL);
    int64_t begin = whole->begin_ns + 40000000, end = begin + 5000000;
    struct import_span span = {begin, end};
    struct import_options o = {.span = &span};
    struct trace *t = open_with(f.path, &o);
    REQUIRE(t != NULL);
    for (int i = 0; i < (int)RING_INDEX_OPEN - 1; i++) {
        char name[16];
        snprintf(name, sizeof name, "deep%d", i);
        row_t r = find_row(t, name);
        if (!CHECK(r != ROW_NONE)) continue;
        CHECK_EQ_INT(t->ts_ns[r], begin);
        CHECK_EQ_INT(trace_end_ns(t, r), end);
        CHECK(!(t->flags[r] & ROW_UNFINISHED));
    }
    row_t step = find_row(t, "ProfilerStep#7");
    CHECK(step != ROW_NONE && t->ts_ns[step] == begin);
    CHECK_EQ_INT(count_rows(t, "mark"), 5000 + 1); /* the task too */
    CHECK_EQ_UINT(t->damage.count[DAMAGE_UNMATCHED_END], 0);
    trace_free(t);
    /* past their end nothing is open, and no end is left over */
    span = (struct import_span){whole->end_ns - 20, whole->end_ns};
    t = open_with(f.path, &o);
    REQUIRE(t != NULL);
    CHECK_EQ_UINT(t->damage.count[DAMAGE_UNMATCHED_END], 0);
    trace_free(t);
    trace_free(whole);
    folder_done(&f);
}

/* A ring that may not grow keeps the newest, and its index with it. */
static void record_wrapped(const char *dir)
{
    struct recorder_options o = {.where.dir = dir, .os_clock = true, .budget_bytes = 8 << 20};
    if (recorder_start(&o, NULL) < 0) abort();
    uint16_t mark = (uint16_t)names_id(str_c("mark"));
    uint64_t at = clock_mono_ns() + 1000000;
    recorder_put((struct ring_record){.ticks = at, .kind = RING_BEGIN, .name = mark}, 0);
    for (int i = 0; i < 300000; i++)
        recorder_put((struct ring_record){.ticks = at += 1000, .kind = RING_INSTANT, .name = mark},
                     0);
}

TEST(a_wrapped_ring_has_a_wrapped_index)
{
    struct folder f = folder_new();
    CHECK_EQ_INT(in_child(record_wrapped, f.path), 0);
    struct ring_set *s = NULL;
    REQUIRE(ring_set_open(f.path, &s, NULL) == 0);
    REQUIRE(s->n_rings == 1);
    CHECK(s->rings[0].first > 0);
    struct ring_blocks b;
    REQUIRE(ring_blocks_open(&b, &s->rings[0], s->index[0]) == 0);
    CHECK_EQ_UINT(b.n_read, 2);
    for (size_t k = 0; k < b.n; k++) CHECK(ring_blocks_agree(&b, &s->rings[0], k));
    CHECK_EQ_UINT(b.list[0].n_open, 1); /* begun before what is left */
    ring_blocks_close(&b);
    ring_set_free(s);
    folder_done(&f);
}

/* All parts of the recording, added up one by one. */
static void add_up(const char *path, enum whole_what what, struct arena *mem, struct whole *w)
{
    struct import_pieces p;
    REQUIRE(rings_pieces(path, 40000, mem, &p, NULL) == 0);
    CHECK(p.n >= 5 && p.n < 12);
    REQUIRE(whole_init(w, p.n, mem, NULL) == 0);
    w->what = what;
    for (uint32_t i = 0; i < p.n; i++) {
        struct import_options o = {.span = &p.list[i]};
        struct trace *t = open_with(path, &o);
        struct context cx;
        struct arena scratch;
        REQUIRE(t != NULL);
        arena_init(&scratch);
        context_init(&cx, t, &scratch);
        CHECK_EQ_INT(whole_add(w, &cx, p.list[i].begin_ns, p.list[i].end_ns, NULL), 0);
        context_done(&cx);
        arena_done(&scratch);
        trace_free(t);
    }
    whole_finish(w);
}

static void check_kernel(const struct whole *w)
{
    REQUIRE(w->n_kernels >= 1);
    CHECK_EQ_STR(w->kernels[0].name, "matmul");
    CHECK_EQ_UINT(w->kernels[0].calls, STEPS * LONG_LAUNCHES);
    CHECK_EQ_INT(w->kernels[0].total_ns, (int64_t)STEPS * LONG_LAUNCHES * LONG_KERNEL_NS);
}

TEST(pieces_are_all_of_it)
{
    static const enum whole_what whats[] = {WHOLE_REPORT, WHOLE_STEPS, WHOLE_KERNELS, WHOLE_TABLE};
    struct folder f = folder_new();
    CHECK_EQ_INT(in_child(record_steps, f.path), 0);
    for (size_t i = 0; i < sizeof whats / sizeof *whats; i++) {
        enum whole_what what = whats[i];
        struct arena mem;
        struct whole w;
        arena_init(&mem);
        add_up(f.path, what, &mem, &w);
        if (what == WHOLE_REPORT || what == WHOLE_STEPS) CHECK_EQ_UINT(w.n_steps, STEPS);
        if (what != WHOLE_STEPS) check_kernel(&w);
        CHECK((w.n_findings > 0) == (what == WHOLE_REPORT));
        if (what == WHOLE_KERNELS) CHECK_EQ_INT(w.kernels[0].min_ns, LONG_KERNEL_NS);
        if (what == WHOLE_KERNELS) CHECK_EQ_INT(w.kernels[0].max_ns, LONG_KERNEL_NS);
        if (what == WHOLE_TABLE) CHECK(w.n_kernels > 1 && w.kernels[1].self_cpu_ns > 0);
        whole_done(&w);
        arena_done(&mem);
    }
    folder_done(&f);
}

TEST(the_part_shown_is_whole_steps)
{
    struct folder f = folder_new();
    CHECK_EQ_INT(in_child(record_steps, f.path), 0);
    struct trace *t = open_with(f.path, &in_part);
    REQUIRE(t != NULL);
    CHECK_EQ_INT(focus_cut(&t, NULL), 0);
    CHECK(t->part.n_records > 0 && t->part.n_calls > 20);
    CHECK_EQ_INT(count_rows(t, "train_step"), (int)t->part.n_calls);
    CHECK_EQ_INT(count_rows(t, "matmul"), (int)t->part.n_calls * LONG_LAUNCHES);
    CHECK(t->part.whole_end_ns - t->part.whole_begin_ns > 3 * (t->end_ns - t->begin_ns));
    trace_free(t);
    folder_done(&f);
}

TEST_MAIN
