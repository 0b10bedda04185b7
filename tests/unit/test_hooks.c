/* test_hooks.c: the code of offloading hooks around modules, told from operators and calls. */
#include "offload/trial.h"
#include "offload_kit.h"

/* A step of modules, each:
 *
 *     detach 2, 30, [load], to 1, 30, linear 40, 6, linear 18, 6, to 1, 6, add 18, 20, put away 1,
 * 20
 *
 * The second linear and the add are launched with warm caches; the `to` in front of the add is the
 * model's own. */
enum { STEPS = 4, MODULES = 3, BEFORE_US = 30, GAP_US = 6 };
enum { COLD_US = 40, WARM_US = 18 };

static const struct stream_spec spec = {.bytes_per_ns = 10, .pageable = true};

static void put_op(struct stream_run *r, const char *name, double dur_us, double gap_us)
{
    kit_op(&r->k, name, r->cpu_us, dur_us);
    r->cpu_us += dur_us + gap_us;
}

static void put_compute(struct stream_run *r, const char *name, double dur_us)
{
    double kernel = r->cpu_us + 8 > r->gpu_us + 1 ? r->cpu_us + 8 : r->gpu_us + 1;
    kit_launch(&r->k, r->cpu_us + 2, "kernel", kernel, 3);
    r->gpu_us = kernel + 3;
    put_op(r, name, dur_us, GAP_US);
}

static void put_module(struct stream_run *r)
{
    put_op(r, "aten::detach", 2, BEFORE_US);
    stream_copy(r, 2000000);
    put_op(r, "aten::to", 1, BEFORE_US);
    put_compute(r, "aten::linear", COLD_US);
    put_compute(r, "aten::linear", WARM_US);
    put_op(r, "aten::to", 1, GAP_US);
    put_compute(r, "aten::add", WARM_US);
    r->cpu_us += 20 - GAP_US;
    put_op(r, "aten::_has_compatible_shallow_copy_type", 1, 20);
}

static struct trace *hooked_trace(void)
{
    struct stream_run r = {.spec = &spec, .k = kit_begin(), .cpu_us = 100};
    for (int step = 0; step < STEPS; step++) {
        double begin = r.cpu_us;
        r.cpu_us += 10;
        for (int i = 0; i < MODULES; i++) put_module(&r);
        kit_call(&r.k, "cudaDeviceSynchronize", r.cpu_us, 20);
        r.cpu_us += 21;
        kit_label(&r.k, "transformer_forward", begin, r.cpu_us - begin);
        r.cpu_us += 5;
    }
    return kit_end(&r.k);
}

static double us(int64_t ns)
{
    return (double)ns / 1000;
}

/* Time of the hooks that go with `load`. */
static double gone_us(const struct hooks *h, uint32_t load)
{
    double sum = 0;
    for (uint32_t i = 0; i < h->n; i++)
        if (h->all[i].load == load && h->all[i].keep == 0)
            sum += us(h->all[i].end_ns - h->all[i].begin_ns);
    return sum;
}

static uint32_t n_paced(const struct hooks *h, uint32_t load)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < h->n; i++) n += h->all[i].load == load && h->all[i].keep > 0;
    return n;
}

TEST(code_around_a_load_goes_with_it)
{
    struct stream_lab l;
    REQUIRE(CHECK_EQ_INT(stream_lab_open(&l, hooked_trace(), false, NULL), 0));
    const struct hooks *h = &l.tr.hooks;
    REQUIRE(CHECK_EQ_UINT(l.s.n_loads, STEPS * MODULES));
    CHECK_NEAR(us(h->gap_ns), GAP_US, 0.01);
    /* the second module of a step. Before: half of what lies between the add and the load (20, 1,
     * 20, 2, 30), the other half puts the first module away; after: `to` and the wait for the
     * linear, of which the usual gap stays. And its own half of what follows. */
    double between = 20 + 1 + 20 + 2 + BEFORE_US;
    CHECK_NEAR(gone_us(h, 1), between / 2 + 1 + BEFORE_US - GAP_US + 1 + between / 2, 3);
    stream_lab_close(&l);
}

TEST(code_after_a_load_is_as_fast_as_elsewhere)
{
    struct stream_lab l;
    REQUIRE(CHECK_EQ_INT(stream_lab_open(&l, hooked_trace(), false, NULL), 0));
    const struct hooks *h = &l.tr.hooks;
    CHECK_EQ_UINT(n_paced(h, 1), 2); /* the first linear; the add, of which no warm one is seen */
    for (uint32_t i = 0; i < h->n; i++) {
        double dur = us(h->all[i].end_ns - h->all[i].begin_ns);
        if (h->all[i].load != 1 || h->all[i].keep == 0) continue;
        double usual = (double)WARM_US / COLD_US, least = 1 / HOOKS_COLD;
        CHECK_NEAR(h->all[i].keep, dur >= COLD_US && usual > least ? usual : least, 0.001);
    }
    stream_lab_close(&l);
}

TEST(nothing_of_it_is_left_when_everything_stays)
{
    static const bool stays[] = {true, true, true};
    struct stream_lab l;
    REQUIRE(CHECK_EQ_INT(stream_lab_open(&l, hooked_trace(), false, NULL), 0));
    l.tr.bytes_per_ns[HOST_PAGEABLE] = l.tr.bytes_per_ns[HOST_PINNED] = 10;
    struct scheme sc = {
        .host = HOST_PAGEABLE, .resident = stays, .preloaded = true, .weight_scale = 1};
    struct scheme_times t;
    REQUIRE(CHECK_EQ_INT(trial_run(&l.tr, &sc, &l.mem, &t, NULL), 0));
    /* three modules of linear, linear, to, add and their gaps; between the steps 20 us after the
     * last hook, the wait and what stands around it */
    double module =
        WARM_US + GAP_US + WARM_US + GAP_US + 1 + GAP_US + WARM_US / HOOKS_COLD + GAP_US;
    CHECK_NEAR(us(t.step_ns), MODULES * module - GAP_US + 20 + 21 + 5 + 10, 10);
    stream_lab_close(&l);
}

/* A cast by the model itself, between its own operators, is nobody's hook. */
TEST(the_models_own_casts_stay)
{
    struct stream_lab l;
    REQUIRE(CHECK_EQ_INT(stream_lab_open(&l, hooked_trace(), false, NULL), 0));
    const struct hooks *h = &l.tr.hooks;
    for (row_t r = 0; r < l.t->n_rows; r++) {
        if (!str_is(trace_name(l.t, r), "aten::add")) continue;
        for (uint32_t i = 0; i < h->n; i++)
            CHECK(h->all[i].keep > 0 || h->all[i].end_ns <= l.t->ts_ns[r] - 12000 ||
                  h->all[i].begin_ns >= l.t->ts_ns[r]);
    }
    stream_lab_close(&l);
}

static int find(void *ctx)
{
    struct stream_lab *l = ctx;
    struct arena mem;
    struct hooks h;
    arena_init(&mem);
    int rc = hooks_run(l->t, &l->cx, &l->s, &mem, &h);
    arena_done(&mem);
    return rc;
}

TEST(survives_every_failed_allocation)
{
    struct stream_lab l;
    REQUIRE(CHECK_EQ_INT(stream_lab_open(&l, hooked_trace(), false, NULL), 0));
    CHECK_EVERY_ALLOC(find, &l);
    stream_lab_close(&l);
}

TEST_MAIN
