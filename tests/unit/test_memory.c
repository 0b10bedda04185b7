/* test_memory.c: levels at step ends, growth that is one, allocations by place. */
#include "analyze/memory/memory.h"

#include "kit.h"

struct found {
    struct trace *t;
    struct arena mem;
    struct context cx;
    struct stages s;
    struct memory m;
};

static struct found measure(struct kit *k)
{
    struct found f = {.t = kit_end(k)};
    arena_init(&f.mem);
    context_init(&f.cx, f.t, &f.mem);
    if (!f.t || !CHECK_EQ_INT(context_need(&f.cx, &memory_pass, NULL), 0)) return f;
    f.s = *stages_of(&f.cx);
    f.m = *memory_of(&f.cx);
    return f;
}

static void done(struct found *f)
{
    context_done(&f->cx);
    arena_done(&f->mem);
    trace_free(f->t);
}

/* Steps that end at these levels (MB). */
static struct found ending_at(const int *mb, int n)
{
    struct kit k = kit_begin();
    int64_t level = 100000000;
    for (int i = 0; i < n; i++) {
        kit_label(&k, "train_step", i * 1000, 900);
        kit_memory(&k, i * 1000 + 100, 50000000, level + 50000000, 400000000);
        int64_t next = mb[i] * 1000000ll;
        kit_memory(&k, i * 1000 + 800, next - level - 50000000, next, 400000000);
        level = next;
    }
    return measure(&k);
}

TEST(growth_that_is_one)
{
    struct found f = ending_at((const int[]){110, 120, 131, 140, 151}, 5);
    REQUIRE(CHECK_EQ_UINT(f.m.n_lines, 1));
    const struct memory_line *l = &f.m.lines[0];
    CHECK(l->growth.judged);
    CHECK(l->growth.grows);
    CHECK_EQ_UINT(l->growth.n_steps, 4); /* the first is left out */
    CHECK_EQ_INT(l->growth.per_step, 11000000);
    CHECK_EQ_INT(l->growth.total_bytes, 31000000);
    CHECK_EQ_INT(l->begin_bytes, 100000000);
    CHECK_EQ_INT(l->end_bytes, 151000000);
    CHECK_EQ_INT(l->peak_bytes, 190000000);
    CHECK_EQ_INT(l->reserved_bytes, 400000000);
    CHECK_EQ_INT(l->unused_bytes, 290000000);
    CHECK_EQ_INT(l->steps[1].end_bytes, 120000000);
    CHECK_EQ_INT(l->steps[1].peak_bytes, 160000000);
    CHECK_EQ_UINT(l->steps[1].allocations, 1);
    CHECK_EQ_STR(f.s.list[l->peak_stage].path, "train_step");
    done(&f);
}

TEST(growth_that_is_none)
{
    static const int flat[] = {150, 150, 150, 150}, saw[] = {110, 150, 110, 150, 110, 151};
    static const int once[] = {110, 200, 200, 200, 200}, down[] = {150, 140, 130, 120};
    struct found f = ending_at(flat, 4);
    CHECK(f.m.lines[0].growth.judged && !f.m.lines[0].growth.grows);
    done(&f);
    f = ending_at(saw, 6);
    CHECK(!f.m.lines[0].growth.grows);
    done(&f);
    f = ending_at(once, 5); /* a cache that fills in the first steps */
    CHECK(!f.m.lines[0].growth.grows);
    done(&f);
    f = ending_at(down, 4);
    CHECK(!f.m.lines[0].growth.grows);
    done(&f);
}

TEST(two_steps_prove_nothing)
{
    struct found f = ending_at((const int[]){110, 130}, 2);
    CHECK(!f.m.lines[0].growth.judged);
    CHECK(!f.m.lines[0].growth.grows);
    done(&f);
    f = ending_at((const int[]){110, 130, 150}, 3);
    CHECK(f.m.lines[0].growth.judged);
    CHECK(f.m.lines[0].growth.grows);
    done(&f);
}

TEST(without_totals_levels_are_relative)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 3; i++) {
        kit_label(&k, "train_step", i * 1000, 900);
        kit_memory(&k, i * 1000 + 100, 5000, -1, -1);
        kit_memory(&k, i * 1000 + 200, -2000, -1, -1);
    }
    struct found f = measure(&k);
    const struct memory_line *l = &f.m.lines[0];
    CHECK(l->relative);
    CHECK_EQ_INT(l->steps[0].end_bytes, 3000);
    CHECK_EQ_INT(l->steps[2].end_bytes, 9000);
    CHECK_EQ_INT(l->peak_bytes, 11000);
    CHECK_EQ_INT(l->reserved_bytes, -1);
    CHECK(l->growth.grows);
    done(&f);
}

/* One allocator event at an address. */
static void at_address(struct kit *k, double us, uint64_t addr, int64_t bytes, int64_t level)
{
    struct mem_info m = {addr, bytes, level, level, 1, 0};
    kit_row(k, KIND_MEMORY, "[memory]", us, 0, &m);
}

TEST(allocations_by_operator_and_line)
{
    struct kit k = kit_begin();
    kit_python(&k, "pipe.py(10): __call__", 0, 5000);
    for (int i = 0; i < 3; i++) {
        double us = 100 + i * 1000;
        kit_label(&k, "decode_step", us, 900);
        kit_op(&k, "aten::cat", us + 10, 50);
        at_address(&k, us + 20, 0x1000 + (uint64_t)i, 700, 700 * (i + 1)); /* kept */
        kit_op(&k, "aten::add", us + 100, 50);
        at_address(&k, us + 110, 0x9000, 300, 700 * (i + 1) + 300);
        at_address(&k, us + 200, 0x9000, -300, 700 * (i + 1));
    }
    at_address(&k, 4500, 0x7777, 999999, 999999); /* outside the loop */
    struct found f = measure(&k);
    REQUIRE(CHECK_EQ_UINT(steps_of(&f.cx)->n_steps, 3));
    REQUIRE(CHECK_EQ_UINT(f.m.n_sites, 2));
    const struct alloc_site *cat = &f.m.sites[0], *add = &f.m.sites[1];
    CHECK_EQ_BYTES(trace_str(f.t, cat->op), "aten::cat");
    CHECK_EQ_UINT(cat->count, 3);
    CHECK_EQ_INT(cat->bytes, 2100);
    CHECK_EQ_INT(cat->largest_bytes, 700);
    CHECK_EQ_INT(cat->kept_bytes, 1400); /* the last step's may still be freed */
    CHECK_EQ_BYTES(cat->place.source.file, "pipe.py");
    CHECK_EQ_INT(cat->place.source.line, 10);
    CHECK_EQ_BYTES(trace_str(f.t, add->op), "aten::add");
    CHECK_EQ_INT(add->kept_bytes, 0);
    done(&f);
}

TEST(a_site_is_shown_where_it_allocates_most)
{
    static const int64_t bytes[] = {500, 900, 700, 600, 650};
    struct kit k = kit_begin();
    kit_python(&k, "pipe.py(10): __call__", 0, 9000);
    for (int i = 0; i < 5; i++) {
        double us = 100 + i * 1000;
        kit_label(&k, "decode_step", us, 900);
        kit_op(&k, "aten::cat", us + 10, 50);
        at_address(&k, us + 20, 0x1000 + (uint64_t)i, bytes[i], 3000);
    }
    struct found f = measure(&k);
    REQUIRE(CHECK_EQ_UINT(f.m.n_sites, 1));
    CHECK_EQ_UINT(f.m.sites[0].count, 5);
    CHECK_EQ_INT(f.m.sites[0].largest_bytes, 900);
    REQUIRE(f.m.sites[0].place.op != ROW_NONE);
    CHECK_EQ_INT(f.t->ts_ns[f.m.sites[0].place.op], kit_ns(1110));
    done(&f);
}

TEST(the_cpu_is_a_line_of_its_own)
{
    struct kit k = kit_begin();
    kit_memory(&k, 10, 100, 100, 200);
    k.device = -1;
    kit_memory(&k, 20, 5000, 5000, 0);
    struct found f = measure(&k);
    REQUIRE(CHECK_EQ_UINT(f.m.n_lines, 2));
    CHECK_EQ_INT(f.m.lines[0].device_type, 1);
    CHECK_EQ_INT(f.m.lines[0].peak_bytes, 100);
    CHECK_EQ_INT(f.m.lines[1].device_type, 0);
    CHECK_EQ_INT(f.m.lines[1].peak_bytes, 5000);
    done(&f);
}

/* Devices by number, whichever allocates first, and the CPU last. */
TEST(lines_are_in_order)
{
    static const int devices[] = {-1, 3, 0, 2, 1};
    struct kit k = kit_begin();
    for (int i = 0; i < 5; i++) {
        k.device = devices[i];
        kit_memory(&k, 10 * i, 100 + devices[i], 100 + devices[i], 200);
    }
    struct found f = measure(&k);
    REQUIRE(CHECK_EQ_UINT(f.m.n_lines, 5));
    for (int i = 0; i < 4; i++) CHECK_EQ_INT(f.m.lines[i].peak_bytes, 100 + i);
    CHECK_EQ_INT(f.m.lines[4].device_type, 0);
    done(&f);
}

TEST(calls_to_the_driver_in_the_loop)
{
    struct kit k = kit_begin();
    kit_call(&k, "cudaMalloc", 10, 20);
    for (int i = 0; i < 3; i++) {
        kit_label(&k, "train_step", 100 + i * 1000, 900);
        kit_call(&k, "cudaFree", 200 + i * 1000, 300);
    }
    struct found f = measure(&k);
    CHECK(!f.m.recorded);
    REQUIRE(CHECK_EQ_UINT(f.m.n_calls, 2));
    CHECK_EQ_BYTES(trace_str(f.t, f.m.calls[0].name), "cudaFree");
    CHECK_EQ_UINT(f.m.calls[0].in_steps, 3);
    CHECK_EQ_INT(f.m.calls[0].in_steps_ns, 900000);
    CHECK_EQ_UINT(f.m.calls[1].count, 1);
    CHECK_EQ_UINT(f.m.calls[1].in_steps, 0);
    done(&f);
}

/* Those that take longest first; in the order of their names in the trace where they take as long.
 */
TEST(calls_to_the_driver_are_in_order)
{
    static const char *const names[] = {"cudaMalloc", "cudaFree", "cudaHostAlloc", "cudaFreeHost"};
    static const double us[] = {30, 10, 30, 30};
    static const char *const want[] = {"cudaMalloc", "cudaHostAlloc", "cudaFreeHost", "cudaFree"};
    struct kit k = kit_begin();
    for (int i = 0; i < 4; i++) kit_call(&k, names[i], 100 + i * 100, us[i]);
    struct found f = measure(&k);
    REQUIRE(CHECK_EQ_UINT(f.m.n_calls, 4));
    for (int i = 0; i < 4; i++) CHECK_EQ_BYTES(trace_str(f.t, f.m.calls[i].name), want[i]);
    done(&f);
}

TEST(not_recorded)
{
    struct kit k = kit_begin();
    kit_launch(&k, 0, "gemm", 10, 10);
    struct found f = measure(&k);
    CHECK(!f.m.recorded);
    CHECK_EQ_UINT(f.m.n_lines, 0);
    CHECK_EQ_UINT(f.m.n_sites, 0);
    CHECK_EQ_UINT(f.m.n_calls, 0);
    done(&f);
}

static int run_memory(void *ctx)
{
    struct arena mem;
    struct context cx;
    arena_init(&mem);
    context_init(&cx, ctx, &mem);
    int rc = context_need(&cx, &memory_pass, NULL);
    context_done(&cx);
    arena_done(&mem);
    return rc;
}

TEST(out_of_memory_is_reported)
{
    struct kit k = kit_begin();
    for (int i = 0; i < 3; i++) {
        kit_label(&k, "train_step", i * 1000, 900);
        kit_op(&k, "aten::cat", i * 1000 + 10, 50);
        kit_memory(&k, i * 1000 + 20, 700, 700, 900);
    }
    struct trace *t = kit_end(&k);
    REQUIRE(t != NULL);
    CHECK_EVERY_ALLOC(run_memory, t);
    trace_free(t);
}

TEST_MAIN
