/* test_syncs.c: waits, what they expose, and the places they come from. Times in microseconds. */
#include "analyze/waits/syncs.h"

#include "kit.h"

struct found {
    struct trace *t;
    struct arena mem;
    struct context cx;
    struct syncs s;
};

static struct found run(struct kit *k)
{
    struct found f = {.t = kit_end(k)};
    arena_init(&f.mem);
    context_init(&f.cx, f.t, &f.mem);
    if (f.t && CHECK_EQ_INT(context_need(&f.cx, &syncs_pass, NULL), 0)) f.s = *syncs_of(&f.cx);
    return f;
}

static void done(struct found *f)
{
    context_done(&f->cx);
    arena_done(&f->mem);
    trace_free(f->t);
}

static void upload(struct kit *k, double us, double copy_us, double return_us)
{
    kit_op(k, "aten::to", us, copy_us + return_us + 5 - us);
    kit_call(k, "cudaMemcpyAsync", us + 1, 5);
    k->bytes = 4;
    kit_work(k, KIND_MEMCPY, "Memcpy HtoD (Pageable -> Device)", copy_us, 1);
    k->bytes = 1000;
    kit_call(k, "cudaStreamSynchronize", us + 7, copy_us + return_us - us - 7);
}

/* Kernels from 100 to 10100 are queued when the value of the last one is read back at 200. */
TEST(a_drain_blocks_long_and_exposes_little)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 10; i++) kit_launch(&k, 10 + 10 * i, "gemm", 100 + 1000 * i, 1000);
    kit_item(&k, 200, 10102, 10); /* returns at 10112 */
    kit_launch(&k, 10502, "next", 10512, 1000);
    for (int i = 1; i < 10; i++) kit_launch(&k, 10502 + 10 * i, "next", 10512 + 1000 * i, 1000);
    struct found f = run(&k);
    REQUIRE(CHECK_EQ_UINT(f.s.n_sites, 1));
    const struct sync_site *s = &f.s.sites[0];
    const struct wait *w = &f.s.waits->all[0];
    CHECK_EQ_INT(s->kind, WAIT_READBACK);
    CHECK_EQ_INT(s->blocked_ns, kit_ns(10112 - 208));
    CHECK_EQ_INT(s->exposed_ns, kit_ns(10502 - 10102)); /* up to the launch, not its latency */
    CHECK_EQ_INT(s->bytes, 4);
    CHECK_EQ_UINT(s->n_drains, 1);
    CHECK_EQ_UINT(s->deepest, 9);
    CHECK_EQ_INT(w->waited_ns, kit_ns(10100 - 202));
    CHECK_EQ_BYTES(trace_name(f.t, s->place.op), "aten::item");
    done(&f);
}

/* Waits that expose the same are in the order of what they block. */
TEST(sites_are_in_order)
{
    static const char *const frames[] = {"a.py(1): f", "b.py(1): f", "c.py(1): f"};
    static const double us[] = {400, 100, 300};
    struct kit k = kit_begin();
    kit_launch(&k, 0, "gemm", 10, 100000);
    for (int i = 0; i < 3; i++) {
        kit_python(&k, frames[i], 1000 + i * 1000, 900);
        kit_call(&k, "cudaEventSynchronize", 1100 + i * 1000, us[i]);
    }
    struct found f = run(&k);
    REQUIRE(CHECK_EQ_UINT(f.s.n_sites, 3));
    CHECK_EQ_INT(f.s.sites[0].blocked_ns, kit_ns(400));
    CHECK_EQ_INT(f.s.sites[1].blocked_ns, kit_ns(300));
    CHECK_EQ_INT(f.s.sites[2].blocked_ns, kit_ns(100));
    for (int i = 0; i < 3; i++) CHECK_EQ_INT(f.s.sites[i].exposed_ns, 0);
    done(&f);
}

/* The same code: 6 us when nothing is queued, 2.3 s when the queue is full. */
TEST(one_site_cheap_and_draining)
{
    struct kit k = kit_begin();
    kit_python(&k, "diffusers/schedulers/unipc.py(962): update", 5, 5000000);
    upload(&k, 10, 17, 6);
    for (int i = 0; i < 23; i++) kit_launch(&k, 1000 + 10 * i, "gemm", 1010 + 1e5 * i, 1e5);
    upload(&k, 1300, 2301010, 10);
    kit_launch(&k, 2301030, "next", 2301040, 10);
    struct found f = run(&k);
    REQUIRE(CHECK_EQ_UINT(f.s.n_sites, 1));
    const struct sync_site *s = &f.s.sites[0];
    CHECK_EQ_INT(s->kind, WAIT_UPLOAD);
    CHECK_EQ_UINT(s->n_rows, 2);
    CHECK_EQ_INT(s->first_ns, f.s.waits->all[0].begin_ns);
    CHECK_EQ_INT(s->last_ns, f.s.waits->all[1].begin_ns);
    CHECK_EQ_UINT(s->n_drains, 1);
    CHECK_EQ_INT(s->floor_ns, kit_ns(6));
    CHECK_EQ_INT(f.s.waits->all[s->longest].blocked_ns, kit_ns(2301020 - 1307));
    CHECK_EQ_BYTES(s->place.source.function, "update");
    CHECK_EQ_UINT(f.s.waits->all[s->longest].depth, 22);
    done(&f);
}

TEST(blocked_for_seconds_exposing_nothing)
{
    struct kit k = kit_begin();
    kit_label(&k, "decode", 0, 7e6);
    for (int i = 0; i < 66; i++) kit_launch(&k, 10 + 10 * i, "gemm", 100 + 1e5 * i, 1e5);
    kit_call(&k, "cudaStreamSynchronize", 1000, 6.6e6 - 800);
    struct found f = run(&k);
    REQUIRE(CHECK_EQ_UINT(f.s.n_sites, 1));
    CHECK_EQ_INT(f.s.sites[0].kind, WAIT_EXPLICIT);
    CHECK_EQ_INT(f.s.sites[0].blocked_ns, kit_ns(6.6e6 - 800));
    CHECK_EQ_INT(f.s.sites[0].exposed_ns, 0);
    done(&f);
}

/* Launches stand before a full queue: healthy, no wait. */
TEST(a_full_queue_is_no_sync)
{
    struct kit k = kit_begin();
    kit_launch(&k, 0, "gemm", 10, 10000);
    for (int i = 1; i < 5; i++) {
        k.call_us = 9000;
        kit_launch(&k, 10000 * i - 9500, "gemm", 10 + 10000 * i, 10000);
        kit_row(&k, KIND_OVERHEAD, "Command Buffer Full", 10000 * i - 9400, 8000, NULL);
    }
    struct found f = run(&k);
    CHECK_EQ_UINT(f.s.n_sites, 0);
    CHECK_EQ_UINT(f.s.waits->pressed, 4);
    CHECK_EQ_INT(f.s.waits->pressed_ns, kit_ns(4 * 8000));
    done(&f);
}

/* 26 us of work and a last synchronize of 1.78 ms, which is the profiler's. */
static struct kit short_run(void)
{
    struct kit k = kit_begin();
    kit_row(&k, KIND_WINDOW, "PyTorch Profiler (0)", 0, 2000, NULL);
    kit_label(&k, "matmul_add", 10, 100);
    kit_launch(&k, 20, "gemm", 30, 20);
    kit_launch(&k, 60, "add", 70, 6);
    return k;
}

TEST(the_profilers_last_synchronize_is_not_the_users)
{
    struct kit k = short_run();
    kit_call(&k, "cudaDeviceSynchronize", 200, 1780);
    struct found f = run(&k);
    CHECK_EQ_UINT(f.s.n_sites, 0);
    REQUIRE(CHECK_EQ_UINT(f.s.waits->n, 1));
    CHECK(f.s.waits->all[0].profiler);
    done(&f);
}

TEST(a_last_synchronize_of_the_users_is)
{
    struct kit k = short_run();
    kit_label(&k, "finish", 190, 1800);
    kit_call(&k, "cudaDeviceSynchronize", 200, 1780);
    struct found f = run(&k);
    REQUIRE(CHECK_EQ_UINT(f.s.n_sites, 1));
    CHECK_EQ_INT(f.s.sites[0].kind, WAIT_EXPLICIT);
    done(&f);
}

TEST(waits_inside_the_profilers_frames_are_its_own)
{
    struct kit k = short_run();
    kit_python(&k, "torch/profiler/profiler.py(879): stop", 190, 300);
    kit_call(&k, "cudaDeviceSynchronize", 200, 100);
    kit_python(&k, "run.py(1): f", 600, 200);
    kit_call(&k, "cudaDeviceSynchronize", 610, 100);
    struct found f = run(&k);
    CHECK_EQ_UINT(f.s.n_sites, 1);
    REQUIRE(CHECK_EQ_UINT(f.s.waits->n, 2));
    CHECK(f.s.waits->all[0].profiler && !f.s.waits->all[1].profiler);
    done(&f);
}

/* .cpu(): the copy call itself waits, and a synchronize follows: one wait. */
TEST(a_copy_to_ordinary_memory_waits_itself)
{
    struct kit k = kit_begin();
    kit_launch(&k, 0, "gemm", 10, 500);
    kit_op(&k, "aten::copy_", 100, 600);
    kit_call(&k, "cudaMemcpyAsync", 110, 550);
    k.bytes = 1 << 20;
    kit_work(&k, KIND_MEMCPY, "Memcpy DtoH (Device -> Pageable)", 510, 100);
    kit_call(&k, "cudaStreamSynchronize", 661, 5);
    struct found f = run(&k);
    REQUIRE(CHECK_EQ_UINT(f.s.waits->n, 1));
    CHECK_EQ_BYTES(trace_str(f.t, f.s.sites[0].call), "cudaMemcpyAsync");
    CHECK_EQ_INT(f.s.waits->all[0].kind, WAIT_COPY);
    CHECK_EQ_INT(f.s.waits->all[0].blocked_ns, kit_ns(555));
    CHECK_EQ_INT(f.s.waits->all[0].waited_ns, kit_ns(400));
    done(&f);
}

/* The same calls, but the waiting happens in the synchronize. */
TEST(a_site_is_named_after_the_call_that_takes_long)
{
    struct kit k = kit_begin();
    kit_launch(&k, 0, "gemm", 10, 500);
    kit_op(&k, "aten::item", 100, 600);
    kit_call(&k, "cudaMemcpyAsync", 110, 10);
    k.bytes = 4;
    kit_work(&k, KIND_MEMCPY, "Memcpy DtoH (Device -> Pageable)", 510, 1);
    kit_call(&k, "cudaStreamSynchronize", 121, 400);
    struct found f = run(&k);
    REQUIRE(CHECK_EQ_UINT(f.s.n_sites, 1));
    CHECK_EQ_INT(f.s.sites[0].kind, WAIT_READBACK);
    CHECK_EQ_BYTES(trace_str(f.t, f.s.sites[0].call), "cudaStreamSynchronize");
    CHECK_EQ_INT(f.s.sites[0].blocked_ns, kit_ns(410));
    done(&f);
}

static enum wait_kind kind_of_upload(int64_t bytes, double us)
{
    struct kit k = kit_begin();
    kit_launch(&k, 0, "gemm", 20, 100);
    kit_call(&k, "hipMemcpyWithStream", 200, us + 20);
    k.bytes = bytes;
    kit_work(&k, KIND_MEMCPY, "Memcpy HtoD (Pageable -> Device)", 210, us);
    struct found f = run(&k);
    enum wait_kind kind = f.s.n_sites ? f.s.sites[0].kind : WAIT_KINDS;
    done(&f);
    return kind;
}

/* Some recorders do not say how large a copy is; one that takes long is not of a few bytes. */
TEST(copies_of_unknown_size_are_judged_by_their_time)
{
    CHECK_EQ_INT(kind_of_upload(-1, 1500000), WAIT_COPY);
    CHECK_EQ_INT(kind_of_upload(-1, 3), WAIT_UPLOAD);
    CHECK_EQ_INT(kind_of_upload(4, 1500000), WAIT_UPLOAD); /* what is known wins */
    CHECK_EQ_INT(kind_of_upload(160000000, 1500), WAIT_COPY);
}

TEST(copies_that_do_not_wait_are_not_listed)
{
    struct kit k = kit_begin();
    kit_call(&k, "cudaMemcpyAsync", 0, 5);
    kit_work(&k, KIND_MEMCPY, "Memcpy HtoD (Pinned -> Device)", 10, 100);
    kit_call(&k, "cudaMemcpyAsync", 20, 5);
    kit_work(&k, KIND_MEMCPY, "Memcpy DtoH (Device -> Pinned)", 110, 100);
    kit_call(&k, "cudaMemcpyAsync", 30, 5); /* small: staged at once */
    kit_work(&k, KIND_MEMCPY, "Memcpy HtoD (Pageable -> Device)", 210, 1);
    kit_call(&k, "cudaMemcpy", 40, 5); /* inside the device: returns at once */
    kit_work(&k, KIND_MEMCPY, "Memcpy DtoD (Device -> Device)", 220, 1);
    kit_call(&k, "cudaStreamWaitEvent", 50, 100);
    kit_call(&k, "cudaEventQuery", 160, 100);
    struct found f = run(&k);
    CHECK_EQ_UINT(f.s.waits->n, 0);
    done(&f);
}

TEST(calls_inside_a_wait_count_once)
{
    struct kit k = kit_begin();
    kit_launch(&k, 0, "gemm", 10, 500);
    kit_call(&k, "cudaStreamSynchronize", 100, 420);
    kit_call(&k, "cuStreamSynchronize", 105, 410);
    struct found f = run(&k);
    CHECK_EQ_UINT(f.s.waits->n, 1);
    done(&f);
}

TEST(allocations_that_take_long_are_waits)
{
    struct kit k = kit_begin();
    kit_launch(&k, 0, "gemm", 10, 500);
    kit_call(&k, "cudaFree", 100, 415);
    kit_call(&k, "cudaMalloc", 520, 5);
    struct found f = run(&k);
    REQUIRE(CHECK_EQ_UINT(f.s.waits->n, 1));
    CHECK_EQ_INT(f.s.waits->all[0].kind, WAIT_ALLOCATION);
    CHECK(f.s.waits->all[0].drains);
    done(&f);
}

/* Three reads in a row on an empty device: each pays for its own time, the idle time between them
 * is nobody's wait, and the sum never exceeds the idle time. */
TEST(idle_time_is_charged_once)
{
    struct kit k = kit_begin();
    kit_launch(&k, 0, "gemm", 10, 5000);
    kit_item(&k, 100, 5012, 8);
    for (int i = 0; i < 3; i++) kit_item(&k, 5100 + 100 * i, 5115 + 100 * i, 5);
    kit_launch(&k, 6000, "gemm", 6010, 100);
    struct found f = run(&k);
    REQUIRE(CHECK_EQ_UINT(f.s.n_sites, 1));
    int64_t late = 0;
    for (uint32_t i = 0; i < idle_of(&f.cx)->of[0].n_gaps; i++)
        late += idle_of(&f.cx)->of[0].gaps[i].late_ns - idle_of(&f.cx)->of[0].gaps[i].begin_ns;
    CHECK_EQ_INT(f.s.sites[0].exposed_ns, late); /* the drain lost far more than all of it */
    CHECK_EQ_INT(exposed_of(&f.cx)->ns[1], f.s.waits->all[1].cost_ns);
    CHECK_EQ_UINT(exposed_of(&f.cx)->payers[0][1], 0); /* the first one is the way of the copy */
    done(&f);
}

TEST(a_second_drain_forgets_the_first)
{
    struct kit k = kit_begin();
    kit_launch(&k, 0, "gemm", 10, 5000);
    kit_item(&k, 100, 5011, 9); /* returns at 5020 */
    kit_launch(&k, 5100, "gemm", 5110, 5000);
    kit_item(&k, 5200, 10111, 9);
    kit_launch(&k, 10300, "gemm", 10310, 100);
    struct found f = run(&k);
    REQUIRE(CHECK_EQ_UINT(f.s.waits->n, 2));
    CHECK_EQ_INT(exposed_of(&f.cx)->ns[0], kit_ns(5100 - 5011));
    CHECK_EQ_INT(exposed_of(&f.cx)->ns[1], kit_ns(10300 - 10111));
    done(&f);
}

TEST(work_of_other_streams_hides_a_wait)
{
    struct kit k = kit_begin();
    kit_launch(&k, 0, "gemm", 10, 500);
    k.stream = 13;
    kit_launch(&k, 20, "background", 30, 5000);
    k.stream = 7;
    kit_item(&k, 100, 512, 8);
    kit_launch(&k, 1000, "gemm", 1010, 100);
    struct found f = run(&k);
    REQUIRE(CHECK_EQ_UINT(f.s.n_sites, 1));
    CHECK_EQ_INT(f.s.sites[0].exposed_ns, 0);
    CHECK_EQ_INT(f.s.waits->all[0].waited_ns, kit_ns(510 - 102)); /* its own stream only */
    done(&f);
}

/* A wait of the main thread delays the first launch of autograd's thread. */
TEST(idle_time_passes_on_to_the_thread_that_handed_over)
{
    struct kit k = kit_begin();
    kit_launch(&k, 0, "forward", 10, 500);
    kit_call(&k, "cudaDeviceSynchronize", 100, 420);
    k.tid = 2;
    kit_op(&k, "autograd::engine::evaluate_function", 700, 100);
    kit_launch(&k, 720, "backward", 730, 500);
    struct found f = run(&k);
    REQUIRE(CHECK_EQ_UINT(f.s.n_sites, 1));
    CHECK_EQ_INT(f.s.sites[0].exposed_ns, kit_ns(720 - 510));
    done(&f);
}

/* Both threads wait in the same gap: what the one has paid for is not charged to the other again.
 */
TEST(two_threads_pay_for_a_gap_once)
{
    struct kit k = kit_begin();
    kit_launch(&k, 0, "forward", 10, 500);
    kit_call(&k, "cudaDeviceSynchronize", 100, 420);
    k.tid = 2;
    kit_call(&k, "cudaStreamSynchronize", 600, 100);
    kit_op(&k, "autograd::engine::evaluate_function", 705, 100);
    kit_launch(&k, 720, "backward", 730, 500);
    struct found f = run(&k);
    REQUIRE(CHECK_EQ_UINT(f.s.waits->n, 2));
    int64_t first = exposed_of(&f.cx)->ns[0], second = exposed_of(&f.cx)->ns[1];
    CHECK_EQ_INT(first, kit_ns(110));
    CHECK_EQ_INT(second, kit_ns(100));
    CHECK_EQ_INT(first + second, kit_ns(720 - 510));
    done(&f);
}

TEST(another_thread_is_not_charged_while_the_launching_one_works)
{
    struct kit k = kit_begin();
    kit_launch(&k, 0, "gemm", 10, 500);
    kit_call(&k, "cudaDeviceSynchronize", 100, 420);
    k.tid = 2;
    kit_python(&k, "run.py(1): slow", 0, 1000);
    kit_launch(&k, 720, "gemm", 730, 500);
    struct found f = run(&k);
    REQUIRE(CHECK_EQ_UINT(f.s.n_sites, 1));
    CHECK_EQ_INT(f.s.sites[0].exposed_ns, 0);
    done(&f);
}

/* Without stacks the labels name the place, whatever round they count. */
TEST(rounds_of_a_loop_are_one_site)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 3; i++) {
        char label[32];
        snprintf(label, sizeof label, "denoise_step_%d", i + 9);
        kit_label(&k, label, 1000 * i, 900);
        kit_launch(&k, 1000 * i + 10, "gemm", 1000 * i + 20, 100);
        kit_item(&k, 1000 * i + 30, 1000 * i + 125, 5);
    }
    kit_label(&k, "decode", 3000, 900);
    kit_item(&k, 3030, 3125, 5);
    struct found f = run(&k);
    REQUIRE(CHECK_EQ_UINT(f.s.n_sites, 2));
    const struct sync_site *loop = f.s.sites[0].n_rows == 3 ? &f.s.sites[0] : &f.s.sites[1];
    CHECK_EQ_UINT(loop->n_rows, 3);
    REQUIRE(CHECK_EQ_UINT(f.s.n_steps, 3));
    CHECK_NEAR(syncs_per_step(&f.s, loop), 1, 0);
    for (uint32_t i = 0; i < loop->n_rows; i++)
        CHECK_EQ_BYTES(trace_name(f.t, loop->rows[i]), "cudaStreamSynchronize");
    done(&f);
}

TEST(calls_lead_back_to_their_wait)
{
    struct kit k = kit_begin();
    kit_launch(&k, 0, "gemm", 10, 50);
    kit_item(&k, 30, 65, 5);
    k.tid = 2;
    kit_item(&k, 130, 165, 5);
    struct found f = run(&k);
    REQUIRE(CHECK_EQ_UINT(f.s.waits->n, 2));
    for (size_t i = 0; i < 2; i++) {
        CHECK_EQ_UINT(syncs_wait_of(&f.s, f.t, f.s.waits->all[i].call), i);
        CHECK_EQ_UINT(syncs_wait_of(&f.s, f.t, f.s.waits->all[i].copy_call), i);
    }
    CHECK(syncs_wait_of(&f.s, f.t, trace_launch_of(f.t, idle_of(&f.cx)->of[0].gaps[0].prev)) ==
          SIZE_MAX);
    CHECK(syncs_site(&f.s, 0) == NULL && syncs_site(&f.s, f.s.n_sites + 1) == NULL);
    CHECK(syncs_site(&f.s, 1) == &f.s.sites[0]);
    done(&f);
}

static int run_once(void *trace)
{
    struct arena mem;
    struct context cx;
    arena_init(&mem);
    context_init(&cx, trace, &mem);
    int rc = context_need(&cx, &syncs_pass, NULL);
    context_done(&cx);
    arena_done(&mem);
    return rc;
}

TEST(survives_running_out_of_memory)
{
    struct kit k = kit_begin();
    kit_python(&k, "run.py(1): f", 0, 10000);
    kit_launch(&k, 0, "gemm", 10, 500);
    kit_item(&k, 100, 512, 8);
    kit_launch(&k, 1000, "gemm", 1010, 100);
    struct trace *t = kit_end(&k);
    CHECK_EVERY_ALLOC(run_once, t);
    trace_free(t);
}

TEST(an_empty_trace_has_no_waits)
{
    struct kit k = kit_begin();
    struct found f = run(&k);
    CHECK_EQ_UINT(f.s.n_sites, 0);
    done(&f);
}

TEST_MAIN
