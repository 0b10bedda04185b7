/* test_device_records.c: what a recording says of devices, written by the recorder and read back as
 * rows: whole, damaged at any byte, out of memory, by several processes and after fork. */
#include <pthread.h>

#include "base/mem.h"
#include "import/ring/defs_file.h"
#include "import/ring/rings.h"
#include "record/defs.h"
#include "record/names.h"
#include "record/recorder.h"
#include "recording.h"

static uint32_t define_work(enum def_work_kind kind, const char *name)
{
    struct {
        struct def_work work;
        char name[64];
    } d = {.work = {kind, 0, 1, 7, {2, 3, 4}, {128, 1, 1}, 32, 1024}};
    snprintf(d.name, sizeof d.name, "%s", name);
    return defs_id(DEF_WORK, str_from((const char *)&d, sizeof d.work + strlen(name)));
}

static struct ring_record value(uint64_t v, uint32_t extra)
{
    return ring_with_id((struct ring_record){.ticks = v, .kind = RING_VALUE}, extra);
}

static void put_work(uint32_t id, uint64_t start, uint64_t end, uint32_t correlation)
{
    struct ring_record slots[2] = {
        ring_with_id((struct ring_record){.ticks = start, .kind = RING_WORK}, id),
        value(end, correlation)};
    recorder_put_all(slots, 2);
}

static void put_call(const char *name, uint64_t start, uint64_t end, uint32_t correlation)
{
    struct ring_record slots[2] = {
        {.ticks = end, .kind = RING_CALL, .name = (uint16_t)names_id(str_c(name))},
        value(start, correlation)};
    recorder_put_all(slots, 2);
}

static void start(const char *dir)
{
    struct recorder_options o = {.where.dir = dir, .os_clock = true};
    CHECK_EQ_INT(recorder_start(&o, NULL), 0);
}

/* A node that was captured, its copy, and some that lead nowhere. */
static void define_nodes(void)
{
    uint32_t code = defs_id(DEF_CODE, str_c("model.py(10): forward"));
    uint32_t module = defs_id(DEF_MODULE, str_c("nn.Module: Linear_0"));
    struct def_frame outer = {.code = code, .line = 12}, inner = {.code = code, .module = module};
    inner.parent = defs_id(DEF_FRAME, str_from((const char *)&outer, sizeof outer));
    uint32_t stack = defs_id(DEF_FRAME, str_from((const char *)&inner, sizeof inner));
    struct def_node nodes[] = {
        {.node = (uint64_t)4 << 32 | 1, .stack = stack, .op = names_id(str_c("aten::addmm"))},
        {.node = (uint64_t)5 << 32 | 3, .from = (uint64_t)4 << 32 | 1},
        {.node = (uint64_t)5 << 32 | 4, .from = (uint64_t)5 << 32 | 4},
        {.node = (uint64_t)5 << 32 | 5, .from = (uint64_t)9 << 32},
        {.node = (uint64_t)5 << 32 | 6, .stack = UINT32_MAX, .op = 30000},
    };
    (void)defs_id(DEF_NODES, str_from((const char *)nodes, sizeof nodes));
    (void)defs_id(DEF_NODES, str_from((const char *)nodes, sizeof nodes[0] - 1));
}

static void record_some(const char *dir)
{
    start(dir);
    define_nodes();
    uint64_t t = clock_mono_ns();
    put_call("cuLaunchKernel", t, t + 4000, 11);
    put_work(define_work(DEF_WORK_KERNEL, "_Z3addPfS_i"), t + 6000, t + 9000, 11);
    uint32_t copy = define_work(DEF_WORK_COPY, "Memcpy DtoH (Device -> Pinned)");
    struct ring_record slots[6] = {
        ring_with_id((struct ring_record){.ticks = t + 9500, .kind = RING_WORK}, copy),
        value(t + 9900, 12),
        {.kind = RING_WORK_BYTES},
        value(4096, 0),
        {.kind = RING_WORK_NODE},
        value((uint64_t)5 << 32 | 3, 5)};
    put_call("cuMemcpyDtoHAsync", t + 4500, t + 5500, 12);
    recorder_put_all(slots, 6);
    put_work(define_work(DEF_WORK_SYNC, "Stream Sync"), t + 5600, t + 9950, 0);
    put_work(copy, 0, 0, 13); /* never got its times */
    recorder_put((struct ring_record){.kind = RING_DROPPED}, 5);
    (void)defs_id(DEF_NOTE, str_c("no GPU timeline: because"));
    (void)defs_id(DEF_NOTE, str_c("no GPU timeline: because"));
}

TEST(rows_are_what_was_recorded)
{
    struct folder f;
    struct trace *t = record_in_child(record_some, &f);
    REQUIRE(t != NULL);
    row_t kernel = find_row(t, "add(float*, float*, int)"), call = find_row(t, "cuLaunchKernel");
    REQUIRE(kernel != ROW_NONE && call != ROW_NONE);
    CHECK_EQ_INT(t->dur_ns[kernel], 3000);
    CHECK_EQ_INT(t->ts_ns[kernel] - t->ts_ns[call], 6000);
    CHECK_EQ_UINT(trace_launch_of(t, kernel), call);
    const struct gpu_info *g = trace_gpu(t, kernel);
    CHECK_EQ_INT(g->stream, 7);
    CHECK_EQ_UINT(g->grid[2], 4);
    CHECK_EQ_UINT(g->shared_bytes, 1024);
    CHECK_EQ_INT(g->bytes, -1);
    row_t copy = find_row(t, "Memcpy DtoH (Device -> Pinned)");
    REQUIRE(copy != ROW_NONE);
    if (t->flags[copy] & ROW_NO_TIME) copy++;
    CHECK_EQ_INT(trace_gpu(t, copy)->bytes, 4096);
    CHECK_EQ_INT(trace_gpu(t, copy)->graph_id, 5);
    CHECK_EQ_BYTES(trace_meta(t, TRACE_META_CAPTURED),
                   "{\"nodes\":[4,1,0,5,3,0],\"names\":[\"pmodel.py(12): forward\","
                   "\"mnn.Module: Linear_0\",\"oaten::addmm\"],\"origins\":[[0,1,2]]}");
    CHECK_EQ_INT(t->kind[find_row(t, "Stream Sync")], KIND_GPU_SYNC);
    CHECK_EQ_UINT(t->damage.count[DAMAGE_ZERO_TIME], 1);
    CHECK_EQ_UINT(t->damage.count[DAMAGE_LOST_RECORDS], 5);
    trace_free(t);
    folder_done(&f);
}

TEST(notes_are_told_once)
{
    struct folder f = folder_new();
    struct arena mem;
    struct ring_notes notes;
    CHECK_EQ_INT(in_child(record_some, f.path), 0);
    arena_init(&mem);
    CHECK_EQ_INT(rings_notes(f.path, &mem, &notes, NULL), 0);
    CHECK_EQ_UINT(notes.n, 1);
    CHECK_EQ_STR(notes.list[0], "no GPU timeline: because");
    arena_done(&mem);
    folder_done(&f);
}

static void *define_many(void *unused)
{
    for (int i = 0; i < 2000; i++) {
        char text[32];
        snprintf(text, sizeof text, "fact %d", i);
        uint32_t id = defs_id(DEF_FACT, str_c(text));
        CHECK(id != 0);
        CHECK_EQ_UINT(defs_find(DEF_FACT, str_c(text)), id);
        CHECK_EQ_UINT(defs_find(DEF_NOTE, str_c(text)), 0);
    }
    return unused;
}

static void define_on_threads(const char *dir)
{
    pthread_t threads[3];
    start(dir);
    CHECK_EQ_INT(recorder_open(NULL), 0);
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, define_many, NULL);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
}

/* The folder cannot be made: reported each time, with the reason. */
static void has_no_folder(const char *dir)
{
    char path[512];
    struct err e;
    snprintf(path, sizeof path, "%s/file", dir);
    FILE *f = fopen(path, "w");
    CHECK(f && fclose(f) == 0);
    snprintf(path, sizeof path, "%s/file/run", dir);
    start(path);
    for (int i = 0; i < 2; i++) {
        err_init(&e);
        CHECK(recorder_open(&e) < 0);
        CHECK(strstr(e.msg, "cannot create the folder") != NULL);
    }
}

TEST(a_recording_without_a_folder_fails)
{
    struct folder f = folder_new();
    CHECK_EQ_INT(in_child(has_no_folder, f.path), 0);
    folder_done(&f);
}

TEST(equal_definitions_from_several_threads_get_one_id)
{
    struct folder f = folder_new();
    struct defs_file d;
    char path[512];
    CHECK_EQ_INT(in_child(define_on_threads, f.path), 0);
    CHECK_EQ_INT(folder_count(&f, ".defs", path), 1);
    REQUIRE(defs_file_open(&d, path, NULL) == 0);
    CHECK_EQ_UINT(d.n, 2001);
    defs_file_close(&d);
    folder_done(&f);
}

/* The ids of the parent hold in the child, whose file has them too. */
static void fork_and_go_on(const char *dir)
{
    start(dir);
    uint32_t id = define_work(DEF_WORK_KERNEL, "before");
    uint64_t t = clock_mono_ns();
    put_work(id, t, t + 1000, 0);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        put_work(id, t + 2000, t + 3000, 0);
        put_work(define_work(DEF_WORK_KERNEL, "after"), t + 4000, t + 5000, 0);
        _exit(0);
    }
    int status;
    waitpid(pid, &status, 0);
    CHECK_EQ_INT(status, 0);
}

TEST(fork)
{
    struct folder f;
    struct trace *t = record_in_child(fork_and_go_on, &f);
    REQUIRE(t != NULL);
    CHECK_EQ_INT(folder_count(&f, ".defs", NULL), 2);
    CHECK_EQ_INT(count_rows(t, "before"), 2);
    CHECK_EQ_INT(count_rows(t, "after"), 1);
    /* two processes with device work: each has its own device */
    row_t a = find_row(t, "before"), b = find_row(t, "after");
    uint32_t first = t->lanes[t->lane[a]].process, second = t->lanes[t->lane[b]].process;
    CHECK(first != second || count_rows(t, "before") == 2);
    trace_free(t);
    folder_done(&f);
}

static void write_byte(const char *path, long at, unsigned char byte)
{
    FILE *file = fopen(path, "r+b");
    if (!file) abort();
    fseek(file, at, SEEK_SET);
    fwrite(&byte, 1, 1, file);
    fclose(file);
}

static void read_whatever(const struct folder *f)
{
    struct trace *t = NULL;
    if (import_open(f->path, NULL, &t, NULL) == 0) trace_free(t);
}

TEST(damage_at_any_byte_is_survived)
{
    static const char *const endings[] = {".defs", ".ring"};
    struct folder f = folder_new();
    CHECK_EQ_INT(in_child(record_some, f.path), 0);
    for (int k = 0; k < 2; k++) {
        char path[512];
        CHECK_EQ_INT(folder_count(&f, endings[k], path), 1);
        for (long at = RING_HEAD_BYTES; at < RING_HEAD_BYTES + 420; at += 3) {
            write_byte(path, at, 0xff);
            read_whatever(&f);
        }
    }
    folder_done(&f);
}

TEST(a_file_cut_anywhere_is_survived)
{
    struct folder f = folder_new();
    char path[512];
    CHECK_EQ_INT(in_child(record_some, f.path), 0);
    CHECK_EQ_INT(folder_count(&f, ".defs", path), 1);
    for (long n = RING_HEAD_BYTES + 500; n >= 0; n = n > RING_HEAD_BYTES ? n - 7 : n - 997) {
        CHECK_EQ_INT(truncate(path, n), 0);
        read_whatever(&f);
    }
    folder_done(&f);
}

static void put_memory(uint64_t ticks, uint64_t address, uint32_t kind, uint64_t bytes)
{
    struct ring_record slots[4] = {{.ticks = ticks, .kind = RING_MEMORY, .type = RING_MEMORY_ALLOC},
                                   value(address, kind),
                                   {.kind = RING_MEMORY_BYTES},
                                   value(bytes, 0)};
    recorder_put_all(slots, 4);
}

static void record_memory(const char *dir)
{
    enum { PAGEABLE = 1, DEVICE = 3 };
    start(dir);
    uint64_t t = clock_mono_ns();
    put_memory(t, 0x1000, DEVICE, (uint64_t)1 << 40);
    for (int i = 1; i < 4; i++) put_memory(t + 1, 0x2000, PAGEABLE, (uint64_t)1 << 40);
    put_memory(t + 2, 0x3000, DEVICE, 512);
}

/* The size of memory that is not shown belongs to nothing else. */
TEST(sizes_of_memory_are_their_own)
{
    struct folder f;
    struct trace *t = record_in_child(record_memory, &f);
    REQUIRE(t != NULL);
    int64_t bytes[4] = {0};
    uint32_t n = 0;
    for (row_t r = 0; r < t->n_rows && n < 4; r++)
        if (t->kind[r] == KIND_MEMORY) bytes[n++] = trace_mem(t, r)->bytes;
    CHECK_EQ_UINT(n, 2);
    CHECK_EQ_INT(bytes[0], (int64_t)1 << 40);
    CHECK_EQ_INT(bytes[1], 512);
    trace_free(t);
    folder_done(&f);
}

TEST(out_of_memory_anywhere)
{
    struct folder f = folder_new();
    CHECK_EQ_INT(in_child(record_some, f.path), 0);
    for (long k = 1; k < 5000; k++) {
        struct trace *t = NULL;
        struct err e;
        err_init(&e);
        mem_fail_at(k);
        int rc = import_open(f.path, NULL, &t, &e);
        bool reached = mem_count() >= k;
        mem_fail_at(0);
        if (rc == 0) trace_free(t);
        else CHECK_EQ_INT(rc, ERR_NOMEM);
        if (!reached) break;
    }
    folder_done(&f);
}

TEST_MAIN
