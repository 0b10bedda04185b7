/* test_simulate.c: the replay gives a trace back unchanged, and edits move the wall clock as far as
 * they should: not by what was blocked, but by what the device really waited for. */
#include "analyze/simulate/undistort.h"
#include "kit.h"

struct sim {
    struct trace *t;
    struct arena mem;
    struct calls calls;
    struct sim_model m;
};

static struct sim sim_begin(struct trace *t)
{
    struct sim s = {.t = t};
    arena_init(&s.mem);
    CHECK_EQ_INT(calls_init(&s.calls, t, &s.mem, NULL), 0);
    CHECK_EQ_INT(sim_model_run(t, &s.calls, &s.mem, &s.m, NULL), 0);
    return s;
}

static void sim_end(struct sim *s)
{
    arena_done(&s->mem);
    trace_free(s->t);
}

static int64_t wall_us(struct sim *s, struct sim_edit *edits, uint32_t n)
{
    struct sim_plan plan;
    int64_t wall = -1;
    CHECK_EQ_INT(sim_plan_build(&s->m, (struct sim_edits){edits, n, NULL}, &s->mem, &plan, NULL),
                 0);
    CHECK_EQ_INT(sim_wall(&s->m, &plan, &s->mem, &wall, NULL), 0);
    return wall / 1000;
}

/* Finds the n-th row with this name. */
static row_t row_named(const struct trace *t, const char *name, int n)
{
    for (row_t r = 0; r < t->n_rows; r++)
        if (str_is(trace_name(t, r), name) && n-- == 0) return r;
    return ROW_NONE;
}

/* A deep queue: ten launches in 100 us, 100 us of work each, then a sync that blocks for 900 us and
 * the next launch 60 us after it. Blocked 900 us, exposed 70. */
static struct trace *drain(void)
{
    struct kit k = kit_begin();
    kit_label(&k, "step", 0, 1200);
    for (int i = 0; i < 10; i++) kit_launch(&k, i * 10, "gemm", 20 + i * 100, 100);
    kit_call(&k, "cudaStreamSynchronize", 110, 915);
    kit_launch(&k, 1080, "gemm", 1090, 100);
    kit_call(&k, "cudaDeviceSynchronize", 1090, 105);
    return kit_end(&k);
}

TEST(unchanged_replay_is_exact)
{
    struct sim s = sim_begin(drain());
    CHECK_EQ_INT(s.m.end_ns - s.m.begin_ns, 1200000);
    CHECK_EQ_INT(wall_us(&s, NULL, 0), 1200);
    CHECK_EQ_UINT(s.m.n_works, 11);
    sim_end(&s);
}

/* Zero is a time like any other where the trace begins with it. */
TEST(work_at_time_zero_counts)
{
    struct kit k = kit_begin();
    kit_orphan(&k, "first", 0, 50);
    kit_launch(&k, 100, "gemm", 120, 80);
    struct trace *t = kit_end(&k);
    row_t first = row_named(t, "first", 0);
    REQUIRE(first != ROW_NONE);
    int64_t shift = t->ts_ns[first];
    for (row_t r = 0; r < t->n_rows; r++) t->ts_ns[r] -= shift;
    struct sim s = sim_begin(t);
    CHECK_EQ_UINT(s.m.n_works, 2);
    CHECK_EQ_INT(s.m.end_ns - s.m.begin_ns, 200000);
    sim_end(&s);
}

TEST(dropping_a_drain_gains_what_was_exposed_not_what_was_blocked)
{
    struct sim s = sim_begin(drain());
    row_t sync = row_named(s.t, "cudaStreamSynchronize", 0);
    struct sim_edit ed = {.kind = EDIT_DROP_SYNC, .rows = &sync, .n_rows = 1};
    int64_t after = wall_us(&s, &ed, 1);
    CHECK_EQ_UINT(ed.n_matched, 1);
    CHECK_NEAR((double)after, 1200 - 69, 3); /* the last kernel follows the tenth directly */
    sim_end(&s);
}

TEST(device_bound_work_hides_cpu_time)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 8; i++) {
        kit_label(&k, "bookkeeping", i * 50, 30);
        kit_launch(&k, i * 50 + 35, "gemm", 45 + i * 200, 199);
    }
    struct sim s = sim_begin(kit_end(&k));
    CHECK_EQ_INT(wall_us(&s, NULL, 0), 45 + 7 * 200 + 199);
    struct sim_edit ed = {.kind = EDIT_DROP_CPU, .pattern = "^bookkeeping$"};
    int64_t after = wall_us(&s, &ed, 1);
    CHECK_EQ_UINT(ed.n_matched, 8);
    CHECK_NEAR((double)after, 45 + 7 * 200 + 199 - 30,
               1); /* only the first one delays the device */
    sim_end(&s);
}

TEST(cpu_bound_work_gains_all_of_it)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 8; i++) {
        kit_label(&k, "bookkeeping", i * 100, 80);
        kit_launch(&k, i * 100 + 85, "small", i * 100 + 95, 3);
    }
    struct sim s = sim_begin(kit_end(&k));
    struct sim_edit ed = {.kind = EDIT_SCALE_CPU, .pattern = "bookkeeping", .factor = 0.5};
    CHECK_NEAR((double)wall_us(&s, &ed, 1), 798 - 8 * 40, 1);
    sim_end(&s);
}

TEST(kernels_scale_on_the_critical_path_only)
{
    struct sim s = sim_begin(drain());
    struct sim_edit half = {.kind = EDIT_SCALE_KERNEL, .pattern = "gemm", .factor = 0.5};
    CHECK_NEAR((double)wall_us(&s, &half, 1), 1200 - 11 * 50, 3);
    struct sim_edit other = {.kind = EDIT_SCALE_KERNEL, .pattern = "no such", .factor = 0.5};
    CHECK_EQ_INT(wall_us(&s, &other, 1), 1200);
    CHECK_EQ_UINT(other.n_matched, 0);
    sim_end(&s);
}

/* A launch-bound stage: 20 launches 20 us apart, kernels of 2 us. */
TEST(capturing_a_launch_bound_stage_as_a_graph)
{
    struct kit k = kit_begin();
    kit_label(&k, "forward", 0, 400);
    for (int i = 0; i < 20; i++) kit_launch(&k, i * 20 + 5, "tiny", i * 20 + 15, 2);
    struct sim s = sim_begin(kit_end(&k));
    struct sim_edit ed = {.kind = EDIT_CUDA_GRAPH, .pattern = "^forward$"};
    int64_t after = wall_us(&s, &ed, 1);
    CHECK_EQ_UINT(ed.n_matched, 1);
    CHECK(!ed.crosses_sync);
    CHECK(after < 80);
    CHECK(after >= 40); /* the kernels themselves */
    sim_end(&s);
}

/* A stage of the CPU alone, in a trace that has no call at all. */
TEST(where_nothing_is_launched_nothing_is_captured)
{
    struct kit k = kit_begin();
    kit_label(&k, "forward", 0, 100);
    kit_op(&k, "aten::add", 10, 50);
    struct sim s = sim_begin(kit_end(&k));
    for (int whole = 0; whole < 2; whole++) {
        struct sim_edit ed = {.kind = EDIT_CUDA_GRAPH, .pattern = "^forward$", .whole = whole};
        CHECK(wall_us(&s, &ed, 1) <= 100);
        CHECK_EQ_UINT(ed.n_captured, 0);
    }
    sim_end(&s);
}

TEST(a_sync_forbids_capture)
{
    struct sim s = sim_begin(drain());
    struct sim_edit ed = {.kind = EDIT_CUDA_GRAPH, .pattern = "step"};
    wall_us(&s, &ed, 1);
    CHECK(ed.crosses_sync);
    sim_end(&s);
}

/* Steps of 1000 us of work that are launched at once; empty_cache() after each frees twice: the
 * first call waits for the device and takes 200 us of its own, the second 150. */
static struct trace *emptied(const char *sync)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 4; i++) {
        double at = i * 1500;
        for (int j = 0; j < 10; j++) kit_launch(&k, at + j * 10, "softmax", at + 20 + j * 100, 99);
        if (sync) kit_call(&k, sync, at + 110, 915);
        double from = sync ? 1026 : 110;
        kit_call(&k, "cudaFree", at + from, 1220 - from);
        kit_call(&k, "cudaFree", at + 1225, 150);
    }
    return kit_end(&k);
}

TEST(freeing_memory_waits_for_less_when_there_is_less_to_wait_for)
{
    struct sim s = sim_begin(emptied(NULL));
    int64_t before = wall_us(&s, NULL, 0);
    CHECK_NEAR((double)before, 3 * 1500 + 1375, 5);
    struct sim_edit ed = {.kind = EDIT_SCALE_KERNEL, .pattern = "softmax", .factor = 0.1};
    CHECK_NEAR((double)wall_us(&s, &ed, 1), (double)before - 4 * 890, 60);
    sim_end(&s);
}

/* The wait moves from the sync that goes to the free that stays. */
TEST(a_sync_before_memory_is_freed_gains_nothing)
{
    struct sim s = sim_begin(emptied("cudaDeviceSynchronize"));
    int64_t before = wall_us(&s, NULL, 0);
    row_t rows[4];
    for (int i = 0; i < 4; i++) rows[i] = row_named(s.t, "cudaDeviceSynchronize", i);
    struct sim_edit ed = {.kind = EDIT_DROP_SYNC, .rows = rows, .n_rows = 4};
    CHECK_NEAR((double)wall_us(&s, &ed, 1), (double)before, 30);
    sim_end(&s);
}

/* Four steps: two frees of 50 us, then an upload that begins 600 us after its launch, and is waited
 * for. Frees numbered `from` to 8 never happen. */
static int64_t kept_us(int from)
{
    struct kit k = kit_begin();
    struct sim_cut cuts[8];
    for (int i = 0; i < 4; i++) {
        double at = i * 1000;
        kit_launch(&k, at, "gemm", at + 8, 50);
        kit_call(&k, "cudaDeviceSynchronize", at + 10, 50);
        kit_call(&k, "cudaFree", at + 100, 50);
        kit_call(&k, "cudaFree", at + 150, 50);
        kit_call(&k, "cudaMemcpyAsync", at + 210, 10);
        kit_work(&k, KIND_MEMCPY, "Memcpy HtoD (Pageable -> Device)", at + 810, 20);
        kit_call(&k, "cudaStreamSynchronize", at + 220, 615);
    }
    struct sim s = sim_begin(kit_end(&k));
    for (int i = from; i < 8; i++) {
        int64_t at = s.m.begin_ns + kit_ns(i / 2 * 1000 + 100 + i % 2 * 50);
        cuts[i] = (struct sim_cut){0, at, at + kit_ns(50), 0};
    }
    struct sim_edit ed = {
        .kind = EDIT_DROP_SPANS, .spans = cuts + from, .n_spans = (uint32_t)(8 - from)};
    int64_t wall = wall_us(&s, &ed, from < 8);
    sim_end(&s);
    return wall;
}

TEST(what_is_launched_after_memory_is_kept_begins_at_once)
{
    CHECK_EQ_INT(kept_us(8), 3835);
    CHECK_NEAR((double)kept_us(0), 3835 - 4 * (100 + 570), 5); /* 30 us is the most that is usual */
    CHECK_NEAR((double)kept_us(7), 3835 - 50, 5); /* the other free of that step is still there */
    CHECK_NEAR((double)kept_us(6), 3835 - 100 - 570, 5);
}

/* One that comes back before the work is done has not waited for it. */
TEST(an_allocation_beside_the_device_is_cpu_time)
{
    struct kit k = kit_begin();
    for (int j = 0; j < 10; j++) kit_launch(&k, j * 10, "gemm", 20 + j * 100, 99);
    kit_call(&k, "cudaFree", 110, 300);
    kit_call(&k, "cudaMalloc", 420, 280);
    kit_call(&k, "cudaDeviceSynchronize", 1000, 25);
    struct sim s = sim_begin(kit_end(&k));
    struct sim_edit ed = {.kind = EDIT_SCALE_KERNEL, .pattern = "gemm", .factor = 0.01};
    CHECK(wall_us(&s, &ed, 1) >= 695);
    sim_end(&s);
}

/* .item(): op, copy and sync go together, and the time after it is gained too. */
TEST(dropping_a_readback_drops_the_op)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 4; i++) {
        double at = i * 300;
        kit_launch(&k, at, "gemm", at + 10, 100);
        kit_op(&k, "aten::item", at + 20, 130);
        kit_call(&k, "cudaMemcpyAsync", at + 25, 10);
        kit_work(&k, KIND_MEMCPY, "Memcpy DtoH (Device -> Pinned)", at + 111, 2);
        kit_call(&k, "cudaStreamSynchronize", at + 40, 80);
    }
    struct sim s = sim_begin(kit_end(&k));
    row_t rows[4];
    for (int i = 0; i < 4; i++) rows[i] = row_named(s.t, "cudaStreamSynchronize", i);
    struct sim_edit ed = {.kind = EDIT_DROP_SYNC, .rows = rows, .n_rows = 4};
    CHECK_EQ_INT(wall_us(&s, NULL, 0), 1050);
    CHECK_NEAR((double)wall_us(&s, &ed, 1), 3 * 170 + 110, 5);
    sim_end(&s);
}

/* Three rounds of a pageable upload of 8 MB, 1000 us in so many pieces, and a kernel of 100 us. */
static struct trace *pageable_uploads(int pieces)
{
    struct kit k = kit_begin();
    k.bytes = 8000000 / pieces;
    for (int i = 0; i < 3; i++) {
        kit_call(&k, "cudaMemcpyAsync", i * 1200, 1020);
        for (double n = 0, each = 1000.0 / pieces; n < pieces; n++)
            kit_work(&k, KIND_MEMCPY, "Memcpy HtoD (Pageable -> Device)", i * 1200 + 12 + n * each,
                     each);
        kit_launch(&k, i * 1200 + 1030, "gemm", i * 1200 + 1040, 100);
    }
    return kit_end(&k);
}

/* A pageable upload holds the CPU, which stages it piece by piece; pinned, it does not, and runs at
 * 50 bytes per ns. */
TEST(pinning_a_copy_frees_the_cpu)
{
    for (int pieces = 1; pieces <= 2; pieces++) {
        struct sim s = sim_begin(pageable_uploads(pieces));
        CHECK_EQ_INT(wall_us(&s, NULL, 0), 3540);
        struct sim_edit ed = {.kind = EDIT_PIN_COPIES, .factor = 50};
        CHECK_NEAR((double)wall_us(&s, &ed, 1), 3 * (160 + 100) + 15, 10);
        CHECK_EQ_UINT(ed.n_matched, 3 * (uint32_t)pieces);
        sim_end(&s);
    }
}

/* `.to()` of pageable memory: a copy of 1000 us, then a synchronize that waits for it. Pinned
 * memory makes the copy faster, and the program waits for it all the same; a copy that runs ahead
 * is not waited for. */
TEST(a_pinned_copy_is_still_waited_for)
{
    struct kit k = kit_begin();
    struct gpu_info g = {.external_id = ID_NONE,
                         .bytes = 8000000,
                         .graph_id = ID_NONE,
                         .graph_node = ID_NONE,
                         .stream = 7,
                         .occupancy_pct = -1,
                         .launch = ROW_NONE};
    kit_op(&k, "aten::to", 0, 1030);
    kit_call(&k, "cudaMemcpyAsync", 2, 8);
    g.correlation = k.correlation;
    kit_row(&k, KIND_MEMCPY, "Memcpy HtoD (Pageable -> Device)", 12, 1000, &g);
    kit_call(&k, "cudaStreamSynchronize", 12, 1008);
    kit_op(&k, "aten::view", 1040, 500);
    kit_launch(&k, 1550, "gemm", 1560, 100);
    struct sim s = sim_begin(kit_end(&k));
    CHECK_EQ_INT(wall_us(&s, NULL, 0), 1660);
    struct sim_edit pin = {.kind = EDIT_PIN_COPIES, .factor = 50};
    CHECK_NEAR((double)wall_us(&s, &pin, 1), 1660 - 840, 10);
    struct sim_edit ahead = {.kind = EDIT_OVERLAP_COPIES, .factor = 50};
    CHECK_NEAR((double)wall_us(&s, &ahead, 1), 1660 - 1008, 20);
    sim_end(&s);
}

/* Two rounds of: upload 100 us (the call returns at once), a kernel of 50 us, 100 us of CPU. */
static struct trace *uploads(void)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 2; i++) {
        double at = i * 300;
        kit_label(&k, "load", at, 20);
        kit_call(&k, "cudaMemcpyAsync", at + 5, 10);
        kit_work(&k, KIND_MEMCPY, "Memcpy HtoD (Pinned -> Device)", at + 15, 100);
        kit_launch(&k, at + 25, "gemm", at + 116, 50);
        kit_op(&k, "aten::view", at + 40, 100);
        kit_call(&k, "cudaStreamSynchronize", at + 145, 25);
    }
    return kit_end(&k);
}

TEST(a_span_is_dropped_with_its_calls)
{
    struct sim s = sim_begin(uploads());
    struct sim_cut span = {0, s.m.begin_ns + 300000, s.m.begin_ns + 320000, 0};
    struct sim_edit ed = {.kind = EDIT_DROP_SPANS, .spans = &span, .n_spans = 1};
    CHECK_EQ_INT(wall_us(&s, NULL, 0), 470);
    /* the second round is its CPU time alone: 125 us, and 4 for a sync with nothing to wait for */
    CHECK_NEAR((double)wall_us(&s, &ed, 1), 300 + 129, 1);
    sim_end(&s);
}

TEST(a_span_may_take_longer)
{
    struct sim s = sim_begin(uploads());
    struct sim_cut span = {0, s.m.begin_ns + 175000, s.m.begin_ns + 275000, 1.5};
    struct sim_edit ed = {.kind = EDIT_SCALE_SPANS, .spans = &span, .n_spans = 1};
    CHECK_EQ_INT(wall_us(&s, &ed, 1), 470 + 50);
    sim_end(&s);
}

TEST(a_copy_can_be_made_to_hold_its_call)
{
    struct sim s = sim_begin(uploads());
    struct sim_plan plan;
    int64_t wall = -1;
    CHECK_EQ_INT(sim_plan_build(&s.m, (struct sim_edits){0}, &s.mem, &plan, NULL), 0);
    uint32_t copy = sim_find_call(&s.m, row_named(s.t, "cudaMemcpyAsync", 0));
    REQUIRE(copy != SIM_NONE);
    plan.mode[copy] = SIM_BLOCK;
    CHECK_EQ_INT(sim_wall(&s.m, &plan, &s.mem, &wall, NULL), 0);
    /* the call ends at 115 instead of 15; of those 100 us the sync used to wait 25 */
    CHECK_NEAR((double)wall / 1000, 470 + 100 - 25, 4);
    sim_end(&s);
}

/* Pinned uploads on the compute stream: beside it they are hidden, down to what the bus needs. */
static struct trace *uploads_before_use(double copy_us, double compute_us)
{
    struct kit k = kit_begin();
    double gpu = 20;
    for (int i = 0; i < 8; i++) {
        kit_call(&k, "cudaMemcpyAsync", i * 20, 5);
        kit_work(&k, KIND_MEMCPY, "Memcpy HtoD (Pinned -> Device)", gpu, copy_us);
        kit_launch(&k, i * 20 + 8, "gemm", gpu + copy_us + 1, compute_us);
        gpu += copy_us + compute_us + 2;
    }
    return kit_end(&k);
}

TEST(copies_that_run_ahead_are_bound_by_the_bus)
{
    struct sim_edit ed = {.kind = EDIT_OVERLAP_COPIES};
    struct sim hidden = sim_begin(uploads_before_use(100, 300));
    CHECK_NEAR((double)wall_us(&hidden, &ed, 1), 100 + 8 * 301, 30);
    sim_end(&hidden);
    struct sim bound = sim_begin(uploads_before_use(300, 100));
    CHECK_NEAR((double)wall_us(&bound, &ed, 1), 8 * 300 + 101, 30);
    sim_end(&bound);
}

/* Every device has a bus of its own: two in step take no longer than one. */
TEST(copies_of_two_devices_run_ahead_side_by_side)
{
    struct kit k = kit_begin();
    double gpu = 20;
    for (int i = 0; i < 8; i++, gpu += 402)
        for (k.device = 0; k.device < 2; k.device++) {
            kit_call(&k, "cudaMemcpyAsync", i * 40 + k.device * 20, 5);
            kit_work(&k, KIND_MEMCPY, "Memcpy HtoD (Pinned -> Device)", gpu, 300);
            kit_launch(&k, i * 40 + k.device * 20 + 8, "gemm", gpu + 301, 100);
        }
    struct sim s = sim_begin(kit_end(&k));
    struct sim_edit ed = {.kind = EDIT_OVERLAP_COPIES};
    CHECK_NEAR((double)wall_us(&s, &ed, 1), 8 * 300 + 101, 60);
    sim_end(&s);
}

/* The main thread sits in backward() while another thread works for it. */
TEST(threads_that_wait_for_each_other)
{
    struct kit k = kit_begin();
    kit_op(&k, "forward", 0, 100);
    kit_op(&k, "after backward", 1250, 50);
    k.tid = 2;
    for (int i = 0; i < 10; i++) {
        kit_op(&k, "backward op", 150 + i * 100, 90);
        kit_launch(&k, 160 + i * 100, "small", 170 + i * 100, 5);
    }
    struct sim s = sim_begin(kit_end(&k));
    CHECK_EQ_INT(wall_us(&s, NULL, 0), 1300);
    CHECK_EQ_UINT(s.m.n_joins, 1);
    struct sim_edit ed = {.kind = EDIT_SCALE_CPU, .pattern = "backward op", .factor = 0.5};
    int64_t after = wall_us(&s, &ed, 1);
    CHECK(after < 950);
    CHECK(after > 700);
    sim_end(&s);
}

/* A server starts a thread for each request, and the next one when that is done; where one lives
 * on, others do not wait for it. */
TEST(threads_that_come_one_after_the_other)
{
    for (int lives = 0; lives < 2; lives++) {
        struct kit k = kit_begin();
        for (int i = 0; i < 4; i++) {
            k.tid = 2 + i;
            kit_launch(&k, i * 1000, "first", i * 1000 + 10, 5);
            kit_launch(&k, i * 1000 + 700, "second", i * 1000 + 710, 5);
            kit_call(&k, "cudaStreamSynchronize", i * 1000 + 800, 5);
        }
        k.tid = 9;
        if (lives) kit_op(&k, "main", 0, 4000);
        struct sim s = sim_begin(kit_end(&k));
        int64_t all = wall_us(&s, NULL, 0);
        struct sim_cut cut = {1, kit_ns(1100), kit_ns(1600), 0, false, 0};
        struct sim_edit ed = {.kind = EDIT_DROP_SPANS, .spans = &cut, .n_spans = 1};
        CHECK_NEAR((double)(all - wall_us(&s, &ed, 1)), lives ? 0 : 500, 5);
        sim_end(&s);
    }
}

/* A thread that waits in silence for another, and goes on with a launch. */
TEST(a_thread_goes_on_with_a_launch_as_soon_as_the_other_is_done)
{
    struct kit k = kit_begin();
    kit_launch(&k, 0, "forward", 10, 5);
    kit_launch(&k, 1250, "update", 1260, 40);
    k.tid = 2;
    for (int i = 0; i < 10; i++) kit_op(&k, "backward op", 150 + i * 100, 90);
    struct sim s = sim_begin(kit_end(&k));
    CHECK_EQ_INT(wall_us(&s, NULL, 0), 1300);
    struct sim_edit ed = {.kind = EDIT_SCALE_CPU, .pattern = "backward op", .factor = 0.5};
    CHECK_NEAR((double)wall_us(&s, &ed, 1), 1300 - 10 * 45, 5);
    sim_end(&s);
}

/* One thread silent from 100 to 1250 us, another that does `n` small things one after the other
 * from 120 us on; `whole_us`, unless 0, is how long the operator around them takes. */
static uint32_t joins_beside(int n, double each_us, double whole_us)
{
    struct kit k = kit_begin();
    kit_op(&k, "before", 0, 100);
    kit_op(&k, "after", 1250, 50);
    k.tid = 2;
    if (whole_us > 0) kit_op(&k, "around", 120, whole_us);
    for (int i = 0; i < n; i++) kit_op(&k, "part", 120 + i * each_us, each_us);
    struct sim s = sim_begin(kit_end(&k));
    uint32_t found = s.m.n_joins;
    sim_end(&s);
    return found;
}

/* It waits for what ends at most 300 us before it goes on. */
TEST(a_silence_is_a_wait_for_what_ends_shortly_before)
{
    CHECK_EQ_UINT(joins_beside(8, 103.75, 0), 1);  /* until 950 us */
    CHECK_EQ_UINT(joins_beside(8, 103.625, 0), 0); /* until 949 us */
    CHECK_EQ_UINT(joins_beside(300, 2, 0), 0);     /* until 720 us */
    CHECK_EQ_UINT(joins_beside(300, 2, 1100), 1);  /* and what is around them until 1220 us */
}

/* Where our recorder knows when backward() begins and ends, it is a wait up to its end, whatever
 * the thread does afterwards. */
TEST(a_recorded_backward_is_a_wait)
{
    struct kit k = kit_begin();
    kit_launch(&k, 0, "fwd", 10, 5);
    kit_derived(&k, "backward", 50, 1000);
    kit_launch(&k, 1800, "step", 1810, 5);
    k.tid = 2;
    for (int i = 0; i < 9; i++) kit_launch(&k, 100 + i * 100, "bwd", 110 + i * 100, 5);
    struct sim s = sim_begin(kit_end(&k));
    CHECK_EQ_INT(wall_us(&s, NULL, 0), 1815);
    REQUIRE(s.m.n_joins == 1);
    CHECK_EQ_INT(s.m.joins[0].begin_ns, kit_ns(50));
    CHECK_EQ_INT(s.m.joins[0].end_ns, kit_ns(1050));
    sim_end(&s);
}

/* Steps of a training loop as seen without operators: the first thread prepares for 1000 us and
 * launches 4 times, then waits for autograd's thread, which launches more than it does. A thread
 * listed before them makes a single call. */
static struct trace *training(void)
{
    struct kit k = kit_begin();
    k.tid = 5;
    kit_launch(&k, 0, "warm", 5, 5);
    for (int s = 0; s < 5; s++) {
        double at = s * 2800;
        k.tid = 100; /* as the process: the first thread */
        kit_label(&k, "prepare", at, 1000);
        for (int i = 0; i < 4; i++)
            kit_launch(&k, at + 1000 + i * 100, "fwd", at + 1010 + i * 100, 5);
        k.tid = 200;
        for (int i = 0; i < 10; i++)
            kit_launch(&k, at + 1750 + i * 100, "bwd", at + 1760 + i * 100, 5);
    }
    k.tid = 100;
    kit_label(&k, "prepare", 14000, 100);
    return kit_end(&k);
}

TEST(autograd_is_woken_by_the_thread_that_calls_it_however_much_it_launches)
{
    struct sim s = sim_begin(training());
    CHECK_EQ_INT(wall_us(&s, NULL, 0), 14100);
    struct sim_edit ed = {.kind = EDIT_DROP_CPU, .pattern = "prepare"};
    CHECK_NEAR((double)wall_us(&s, &ed, 1), 14100 - 5 * 1000 - 100, 20);
    sim_end(&s);
}

TEST(backward_that_takes_less_lets_its_caller_go_on)
{
    struct sim s = sim_begin(training());
    struct sim_cut cuts[5];
    uint32_t autograd = s.m.calls[s.m.n_calls - 1].thread;
    for (int i = 0; i < 5; i++)
        cuts[i] = (struct sim_cut){.thread = autograd,
                                   .begin_ns = kit_ns(i * 2800 + 1760),
                                   .end_ns = kit_ns(i * 2800 + 2640),
                                   .keep = 0.5};
    struct sim_edit ed = {.kind = EDIT_SCALE_SPANS, .spans = cuts, .n_spans = 5};
    CHECK_NEAR((double)wall_us(&s, &ed, 1), 14100 - 5 * 440, 20);
    sim_end(&s);
}

/* A graph of Triton kernels replayed, between kernels launched through the driver: all of them hang
 * on their launches, and dropping the CPU work before a replay moves the whole graph. */
/* Two replays of a graph, the CPU far ahead, then a copy whose call comes back when all is done. */
static struct trace *replays_before_a_copy(double more_us)
{
    struct kit k = kit_begin();
    double busy = 100;
    for (int g = 0; g < 4; g++) {
        kit_op(&k, "prepare", 1000 * g, 900 + (g == 3 ? more_us : 0));
        kit_call(&k, "hipGraphLaunch", 1000 * g + 950 + (g == 3 ? more_us : 0), 30);
        for (int i = 0; i < 600; i++, busy += 10)
            kit_work(&k, KIND_KERNEL, "gemm", busy + 1000, 10);
    }
    kit_op(&k, "aten::to", 5000, busy + 1060 - 5000);
    kit_call(&k, "hipMemcpyWithStream", 5010, busy + 1050 - 5010);
    kit_work(&k, KIND_MEMCPY, "Memcpy DtoH (Device -> Pageable)", busy + 1001, 20);
    return kit_end(&k);
}

/* The call waits for what was launched before, so work of the CPU before it is hidden; and a graph
 * of any size is one place in the queue. */
TEST(a_copy_waits_behind_what_was_launched_before)
{
    struct sim s = sim_begin(replays_before_a_copy(0));
    int64_t before = wall_us(&s, NULL, 0);
    struct sim_edit edit = {.kind = EDIT_SCALE_CPU, .pattern = "^prepare$", .factor = 2};
    CHECK_EQ_INT(before, 25160);
    CHECK(wall_us(&s, &edit, 1) < before + 1200); /* the first of four holds up the device */
    sim_end(&s);
}

/* Clocks of host and device differ: the wait comes back before its work ends. */
TEST(a_wait_on_another_clock_waits_all_the_same)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 5; i++) kit_launch(&k, 10 * i, "gemm", 100 + 1000 * i, 1000);
    kit_call(&k, "hipDeviceSynchronize", 60, 4940);
    kit_launch(&k, 5110, "gemm", 5120, 100);
    kit_op(&k, "aten::add", 5200, 300);
    struct sim s = sim_begin(kit_end(&k));
    struct sim_edit edit = {.kind = EDIT_SCALE_KERNEL, .pattern = "gemm", .factor = 0.5};
    CHECK_EQ_INT(wall_us(&s, NULL, 0), 5500);
    CHECK(wall_us(&s, &edit, 1) < 3100);
    sim_end(&s);
}

/* A library that waits on a thread of its own wakes the caller late: 120 us after 4 ms of work. */
TEST(a_long_wait_may_come_back_late)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 4; i++) kit_launch(&k, 10 * i, "gemm", 100 + 1000 * i, 1000);
    kit_call(&k, "jax.block_until_ready", 60, 4160);
    kit_launch(&k, 4230, "gemm", 4240, 100);
    struct sim s = sim_begin(kit_end(&k));
    struct sim_edit edit = {.kind = EDIT_SCALE_KERNEL, .pattern = "gemm", .factor = 0.5};
    CHECK_EQ_INT(wall_us(&s, NULL, 0), 4340);
    CHECK(wall_us(&s, &edit, 1) < 2400);
    sim_end(&s);
}

/* Work of the step before, which the recording does not show the launch of. */
TEST(a_wait_for_earlier_work_is_replayed)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 10; i++) kit_orphan(&k, "gemm", 20 + 1000 * i, 1000);
    kit_call(&k, "hipDeviceSynchronize", 500, 9525);
    kit_launch(&k, 10030, "gemm", 10040, 500);
    kit_call(&k, "hipDeviceSynchronize", 10040, 505);
    struct sim s = sim_begin(kit_end(&k));
    CHECK_EQ_INT(wall_us(&s, NULL, 0), (s.m.end_ns - s.m.begin_ns) / 1000);
    sim_end(&s);
}

TEST(driver_launches_and_graph_replays)
{
    struct kit k = kit_begin();
    for (int s = 0; s < 4; s++) {
        double at = s * 1000;
        kit_op(&k, "prepare", at, 400);
        kit_call(&k, "cuLaunchKernel", at + 410, 5);
        kit_work(&k, KIND_KERNEL, "triton_poi_fused_add_0", at + 420, 20);
        kit_call(&k, "cudaGraphLaunch", at + 420, 20);
        for (int i = 0; i < 10; i++)
            kit_work(&k, KIND_KERNEL, "triton_red_fused_sum_1", at + 450 + i * 21, 20);
        kit_call(&k, "cudaStreamSynchronize", at + 450, 300);
    }
    struct sim s = sim_begin(kit_end(&k));
    CHECK_EQ_INT(wall_us(&s, NULL, 0), 3750);
    uint32_t linked = 0;
    for (uint32_t w = 0; w < s.m.n_works; w++) linked += s.m.works[w].call != SIM_NONE;
    CHECK_EQ_UINT(linked, 44);
    struct sim_edit ed = {.kind = EDIT_DROP_CPU, .pattern = "prepare"};
    CHECK_EQ_INT(wall_us(&s, &ed, 1), 3750 - 4 * 400);
    sim_end(&s);
}

/* Frames recorded with_stack need not nest: torch closes some of them too late. Time they share is
 * dropped once. */
TEST(frames_that_do_not_nest_are_cut_once)
{
    struct kit k = kit_begin();
    kit_label(&k, "step", 0, 1000);
    kit_python(&k, "pipe.py(3): walk", 100, 300);
    kit_python(&k, "pipe.py(9): walk", 300, 300); /* ends after the frame it begins in */
    kit_launch(&k, 900, "gemm", 910, 50);
    struct sim s = sim_begin(kit_end(&k));
    CHECK_EQ_INT(wall_us(&s, NULL, 0), 1000);
    struct sim_edit ed = {.kind = EDIT_DROP_CPU, .pattern = "walk"};
    CHECK_EQ_INT(wall_us(&s, &ed, 1), 500);
    sim_end(&s);
}

TEST(bad_patterns_are_usage_errors)
{
    struct sim s = sim_begin(drain());
    struct err e;
    err_init(&e);
    struct sim_plan plan;
    struct sim_edit ed = {.kind = EDIT_DROP_CPU, .pattern = "(unclosed"};
    CHECK_EQ_INT(sim_plan_build(&s.m, (struct sim_edits){&ed, 1, NULL}, &s.mem, &plan, &e),
                 ERR_USAGE);
    CHECK(strstr(e.msg, "(unclosed") != NULL);
    sim_end(&s);
}

/* Twenty ops of 20 us; the one after a walk takes `first_us`. Returns what the whole takes without
 * the walk. */
static int64_t without_the_walk(double first_us)
{
    struct kit k = kit_begin();
    kit_python(&k, "walk", 0, 500);
    kit_op(&k, "aten::mm", 500, first_us);
    for (int i = 0; i < 20; i++) {
        kit_op(&k, "aten::mm", 500 + first_us + i * 20, 20);
        kit_launch(&k, 500 + first_us + i * 20 + 5, "gemm", 500 + first_us + i * 20 + 12, 3);
    }
    kit_label(&k, "all", 0, 500 + first_us + 400);
    struct sim s = sim_begin(kit_end(&k));
    struct sim_edit ed = {.kind = EDIT_DROP_CPU, .pattern = "walk"};
    int64_t after = wall_us(&s, &ed, 1);
    sim_end(&s);
    return after;
}

/* An op that finds cold caches is slower; one that takes twenty times as long had another reason.
 */
TEST(what_runs_after_a_walk_is_as_warm_as_usual_unless_it_did_something_else)
{
    CHECK_NEAR((double)without_the_walk(50), 20 + 400, 2);
    CHECK_NEAR((double)without_the_walk(400), 400 + 400, 2);
}

/* Recording cost on the CPU hides a sync: with it taken out the sync is what limits the loop. */
TEST(the_profiler_hides_what_is_critical)
{
    struct kit k = kit_begin();
    double at = 0;
    for (int step = 0; step < 10; step++) {
        double gpu = at + 10;
        for (int i = 0; i < 10; i++) {
            kit_op(&k, "aten::mm", at, 18);
            kit_launch(&k, at + 5, "gemm", gpu > at + 15 ? gpu : at + 15, 18);
            gpu = (gpu > at + 15 ? gpu : at + 15) + 19;
            at += 20;
        }
        double end = gpu + 5 > at + 10 ? gpu + 5 : at + 10;
        kit_call(&k, "cudaStreamSynchronize", at, end - at);
        at = end + 2;
    }
    struct sim s = sim_begin(kit_end(&k));
    struct undistort u;
    CHECK_EQ_INT(undistort_run(&s.m, 0, &s.mem, &u, NULL), 0);
    CHECK_EQ_INT(u.replayed_ns, u.traced_ns);
    CHECK(u.plain_ns < u.traced_ns);
    row_t rows[10];
    for (int i = 0; i < 10; i++) rows[i] = row_named(s.t, "cudaStreamSynchronize", i);
    struct sim_edit ed = {.kind = EDIT_DROP_SYNC, .rows = rows, .n_rows = 10};
    struct forecast f;
    CHECK_EQ_INT(forecast_run(&u, (struct sim_edits){.list = &ed, .n = 1}, &s.mem, &f, NULL), 0);
    CHECK(f.low_pct <= f.gain_pct && f.gain_pct <= f.high_pct);
    int64_t fitted = u.plain_ns + (u.traced_ns - u.plain_ns) / 2;
    struct undistort w;
    CHECK_EQ_INT(undistort_run(&s.m, fitted, &s.mem, &w, NULL), 0);
    CHECK_NEAR((double)w.plain_ns, (double)fitted, (double)fitted * 0.01);
    sim_end(&s);
}

/* Ten launches of a graph, 100 us each, and as many of a kernel: what recording adds to them, in
 * us.
 */
static double recorded_graphs_us(int nodes, double from_us)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 10; i++) {
        kit_launch(&k, i * 200, "gemm", i * 200 + 10, 5);
        kit_call(&k, "cudaGraphLaunch", i * 200 + 20, 100);
        for (int n = 0; n < nodes; n++)
            kit_work(&k, KIND_KERNEL, "node", i * 200 + from_us + n, 0.5);
    }
    struct sim s = sim_begin(kit_end(&k));
    struct undistort u;
    CHECK_EQ_INT(undistort_run(&s.m, 0, &s.mem, &u, NULL), 0);
    sim_end(&s);
    return (double)(u.replayed_ns - u.plain_ns) / 1e3;
}

/* A fifth of a launch call per node, which takes 5 us here; after the last one only the device
 * works.
 */
TEST(a_graph_recorded_by_node_costs_more_the_larger_it_is)
{
    CHECK_NEAR(recorded_graphs_us(41, 122) - recorded_graphs_us(1, 122), 9 * 40 * 1.0, 10);
    /* its first nodes end while the call goes on: they do not hold it up */
    CHECK_NEAR(recorded_graphs_us(41, 79) - recorded_graphs_us(1, 79), 9 * 40 * 1.0, 10);
}

/* Steps of one launch after 200 calls of a function, one every `every_us`. */
static struct trace *calling(double every_us)
{
    struct kit k = kit_begin();
    for (int step = 0; step < 4; step++) {
        double at = step * (200 * every_us + 100);
        for (int i = 0; i < 200; i++)
            kit_python(&k, "<built-in function len>", at + i * every_us, every_us / 3);
        kit_launch(&k, at + 200 * every_us, "gemm", at + 200 * every_us + 10, 20);
    }
    return kit_end(&k);
}

static double recorded_python_us(double every_us)
{
    struct sim s = sim_begin(calling(every_us));
    struct undistort u;
    CHECK_EQ_INT(undistort_run(&s.m, 0, &s.mem, &u, NULL), 0);
    sim_end(&s);
    return u.python_ns / 1e3;
}

/* Recording a function costs no more than the shortest calls take, nor more than it does usually:
 * a quarter of a launch call, which takes 5 us here. */
TEST(a_function_costs_what_the_shortest_calls_take)
{
    CHECK_NEAR(recorded_python_us(0.3), 0.3, 0.01);
    CHECK_NEAR(recorded_python_us(8), 1.25, 0.01);
}

/* A device that is never idle; the CPU waits for it at the end of each step. Without a profiler the
 * run took longer: that is not the CPU's doing, and its waits are worth no more for it. */
TEST(a_run_that_is_slower_without_a_profiler_has_another_clock)
{
    struct kit k = kit_begin();
    double at = 0;
    for (int step = 0; step < 10; step++, at += 1000) {
        for (int i = 0; i < 9; i++) kit_launch(&k, at + i * 10, "gemm", at + 20 + i * 105, 100);
        kit_call(&k, "cudaStreamSynchronize", at + 100, 870);
    }
    struct sim s = sim_begin(kit_end(&k));
    row_t rows[10];
    for (int i = 0; i < 10; i++) rows[i] = row_named(s.t, "cudaStreamSynchronize", i);
    struct sim_edit ed = {.kind = EDIT_DROP_SYNC, .rows = rows, .n_rows = 10};
    struct undistort traced, slower;
    struct forecast f, g;
    CHECK_EQ_INT(undistort_run(&s.m, 0, &s.mem, &traced, NULL), 0);
    int64_t given = traced.traced_ns + traced.traced_ns / 10;
    CHECK_EQ_INT(undistort_run(&s.m, given, &s.mem, &slower, NULL), 0);
    CHECK_NEAR((double)slower.plain_ns, (double)given, 10);
    CHECK_NEAR(slower.cpu_scale, 1, 0);
    CHECK_EQ_INT(forecast_run(&traced, (struct sim_edits){.list = &ed, .n = 1}, &s.mem, &f, NULL),
                 0);
    CHECK_EQ_INT(forecast_run(&slower, (struct sim_edits){.list = &ed, .n = 1}, &s.mem, &g, NULL),
                 0);
    CHECK(f.gain_pct > 1);
    CHECK_NEAR(g.gain_pct, f.gain_pct, 0.01);
    CHECK_NEAR((double)g.before_ns, (double)given, 10);
    sim_end(&s);
}

/* A window that begins with a full queue: six kernels on stream 7 were launched before it, and what
 * is launched in it follows them. A wait for stream 9, meanwhile, is over at once, although a
 * kernel of stream 7 happens to end just then. */
static struct trace *deep_from_the_start(void)
{
    struct kit k = kit_begin();
    k.stream = 7;
    for (int i = 0; i < 6; i++) kit_orphan(&k, "queued", i * 100, 99);
    for (int i = 0; i < 4; i++) kit_launch(&k, 5 + i * 10, "gemm", 600 + i * 100, 99);
    k.stream = 9;
    kit_launch(&k, 50, "aside", 60, 38);
    kit_call(&k, "cudaStreamSynchronize", 65, 35);
    k.stream = 7;
    kit_launch(&k, 110, "gemm", 1000, 100);
    return kit_end(&k);
}

TEST(what_was_queued_before_the_window_comes_first)
{
    struct sim s = sim_begin(deep_from_the_start());
    CHECK_EQ_INT(s.m.end_ns - s.m.begin_ns, 1100000);
    CHECK_EQ_INT(wall_us(&s, NULL, 0), 1100);
    struct sim_edit ed = {.kind = EDIT_SCALE_KERNEL, .pattern = "^queued$", .factor = 0};
    CHECK_NEAR((double)wall_us(&s, &ed, 1), 1100 - 6 * 99, 12);
    sim_end(&s);
}

/* A long kernel of another stream, with a hundred short ones beside it, is what the next one waited
 * for: also then it is shorter when the long one is. */
TEST(a_long_kernel_beside_many_short_ones_is_waited_for)
{
    struct kit k = kit_begin();
    k.stream = 9;
    kit_launch(&k, 0, "all_reduce", 10, 2000);
    k.stream = 7;
    for (int i = 0; i < 100; i++) kit_launch(&k, 10 + i * 10, "small", 20 + i * 10, 9);
    kit_launch(&k, 1010, "after", 2015, 100);
    struct sim s = sim_begin(kit_end(&k));
    struct sim_edit ed = {.kind = EDIT_SCALE_KERNEL, .pattern = "^all_reduce$", .factor = 0.75};
    CHECK_NEAR((double)wall_us(&s, &ed, 1), 2115 - 500, 8);
    sim_end(&s);
}

/* What a kernel waited for was launched before it, not by a later call. */
TEST(a_kernel_does_not_wait_for_what_is_launched_later)
{
    struct kit k = kit_begin();
    k.stream = 7;
    for (int i = 0; i < 8; i++) kit_launch(&k, i * 10, "first", 10 + i * 40, 39);
    kit_launch(&k, 100, "second", 1012, 100); /* held up by something that is not recorded */
    k.stream = 9;
    kit_launch(&k, 500, "other", 510, 500);
    struct sim s = sim_begin(kit_end(&k));
    CHECK_EQ_INT(wall_us(&s, NULL, 0), 1112);
    struct sim_edit ed = {.kind = EDIT_SCALE_KERNEL, .pattern = "^other$", .factor = 0.1};
    CHECK_EQ_INT(wall_us(&s, &ed, 1), 1112);
    sim_end(&s);
}

static int everything(void *ctx)
{
    struct sim *s = ctx;
    struct arena mem;
    arena_init(&mem);
    struct calls calls;
    struct sim_model m;
    struct undistort u;
    struct forecast f;
    struct sim_edit ed[2] = {{.kind = EDIT_DROP_CPU, .pattern = "step"},
                             {.kind = EDIT_SCALE_KERNEL, .pattern = "g", .factor = 2}};
    int rc = calls_init(&calls, s->t, &mem, NULL);
    if (rc == 0) rc = sim_model_run(s->t, &calls, &mem, &m, NULL);
    if (rc == 0) rc = undistort_run(&m, 1000000, &mem, &u, NULL);
    if (rc == 0) rc = forecast_run(&u, (struct sim_edits){.list = ed, .n = 2}, &mem, &f, NULL);
    arena_done(&mem);
    return rc;
}

TEST(survives_every_failed_allocation)
{
    struct sim s = sim_begin(drain());
    CHECK_EVERY_ALLOC(everything, &s);
    sim_end(&s);
}

TEST(an_empty_trace_replays_to_nothing)
{
    struct kit k = kit_begin();
    struct sim s = sim_begin(kit_end(&k));
    CHECK_EQ_INT(wall_us(&s, NULL, 0), 0);
    sim_end(&s);
}

TEST_MAIN
