/* test_pm_sampler.c: sampling a GPU that is not there: functions in the place of CUPTI. */
#include "dive/pm_sampler.h"
#include "test.h"

/* What the next calls do, and what was asked for. */
static struct {
    int fail_enable; /* a CUptiResult */
    size_t n_passes;
    const char *unknown; /* a metric that this GPU does not have */
    size_t left;         /* samples the GPU still has */
    size_t in_image;
    uint64_t at;  /* number of the next sample */
    size_t first; /* number of the first one in the image */
    bool started, enabled, overflow;
    int metrics, sets; /* added to the host, in so many calls */
} gpu;

static int cuda_init(unsigned flags)
{
    return (int)flags;
}

static int init(struct pm_plain *p)
{
    return p->size == 16 ? 0 : 1;
}

static int chip_name(struct pm_chip_name *p)
{
    p->name = "GH100";
    return 0;
}

static int availability(struct pm_availability *p)
{
    p->image_size = 8;
    if (p->image) p->image[7] = 1;
    return 0;
}

static int host_init(struct pm_host_init *p)
{
    p->host = &gpu;
    gpu.metrics = gpu.sets = 0;
    return p->type == PM_HOST_TYPE && strcmp(p->chip, "GH100") == 0 ? 0 : 1;
}

static int host_done(struct pm_object *p)
{
    return p->object == &gpu ? 0 : 1;
}

static int add_metrics(struct pm_add_metrics *p)
{
    if (gpu.unknown && strcmp(p->names[0], gpu.unknown) == 0) return 1;
    gpu.metrics += (int)p->n;
    gpu.sets++;
    return 0;
}

static int config_size(struct pm_config_size *p)
{
    p->image_size = 4;
    return 0;
}

static int config(struct pm_config *p)
{
    p->image[3] = 9;
    return 0;
}

static int passes(struct pm_passes *p)
{
    p->n = gpu.n_passes * (size_t)gpu.sets; /* as CUPTI does */
    return 0;
}

static int enable(struct pm_enable *p)
{
    p->sampler = &gpu;
    gpu.enabled = gpu.fail_enable == 0;
    return gpu.fail_enable;
}

static int disable(struct pm_object *p)
{
    gpu.enabled = false;
    return p->object == &gpu ? 0 : 1;
}

static int set_config(struct pm_set_config *p)
{
    return p->config[3] == 9 && p->trigger == PM_TRIGGER_TIME ? 0 : 1;
}

static int data_size(struct pm_data_size *p)
{
    p->data_size = 16;
    return (int)p->n == gpu.metrics ? 0 : 1;
}

static int data_init(struct pm_data_init *p)
{
    gpu.in_image = 0;
    return p->data_size == 16 ? 0 : 1;
}

static int start(struct pm_object *p)
{
    gpu.started = true;
    return p->object == &gpu ? 0 : 1;
}

static int stop(struct pm_object *p)
{
    gpu.started = false;
    return p->object == &gpu ? 0 : 1;
}

static int decode(struct pm_decode *p)
{
    size_t n = gpu.left < 4096 ? gpu.left : 4096;
    gpu.first = gpu.at;
    gpu.at += n;
    gpu.left -= n;
    gpu.in_image = n;
    p->overflow = gpu.overflow;
    return 0;
}

static int data_info(struct pm_data_info *p)
{
    p->n_completed = gpu.in_image;
    return 0;
}

static int sample_info(struct pm_sample_info *p)
{
    p->begin_ns = 1000 + (gpu.first + p->index) * 100000;
    p->end_ns = p->begin_ns + 100000;
    return 0;
}

/* Half of the samples are idle; in the others tensor pipes work 80 % of the time, 90 in every
 * tenth. */
static int evaluate(struct pm_evaluate *p)
{
    size_t number = gpu.first + p->index;
    for (size_t i = 0; i < p->n; i++) {
        bool busy = number % 2 == 0;
        p->values[i] = busy ? 50 : 0;
        if (strstr(p->names[i], "tensor")) p->values[i] = busy ? (number % 20 ? 80 : 90) : 0;
        if (strstr(p->names[i], "pcie")) p->values[i] = 1000;
        if (strstr(p->names[i], "dram__write")) p->values[i] = NAN;
    }
    return 0;
}

static const struct pm_api api = {
    .cuda_init = cuda_init,
    .init = init,
    .chip_name = chip_name,
    .availability = availability,
    .host_init = host_init,
    .host_done = host_done,
    .add_metrics = add_metrics,
    .config_size = config_size,
    .config = config,
    .passes = passes,
    .enable = enable,
    .disable = disable,
    .set_config = set_config,
    .data_size = data_size,
    .data_init = data_init,
    .start = start,
    .stop = stop,
    .decode = decode,
    .data_info = data_info,
    .sample_info = sample_info,
    .evaluate = evaluate,
};

TEST(samples_add_up)
{
    struct arena mem;
    struct err e;
    struct pm_sampler s;
    struct pm_result r;
    memset(&gpu, 0, sizeof gpu);
    gpu.n_passes = 1;
    arena_init(&mem);
    err_init(&e);
    REQUIRE(pm_open(&s, &api, 0, &mem, &e) == 0);
    REQUIRE(pm_start(&s, &e) == 0);
    gpu.left = 9000; /* three images full */
    REQUIRE(pm_poll(&s, &e) == 0);
    CHECK_EQ_UINT(gpu.left, 0);
    gpu.left = 1000; /* what is left at the end */
    REQUIRE(pm_stop(&s, &r, &e) == 0);
    pm_close(&s);
    CHECK(!gpu.started && !gpu.enabled);
    CHECK_EQ_UINT(r.n_samples, 10000);
    CHECK_EQ_UINT(r.n_active, 5000);
    CHECK_NEAR(r.seconds, 1.0, 1e-9);
    CHECK_NEAR(r.active_seconds, 0.5, 1e-9);
    CHECK_NEAR(r.counters[PM_TENSOR].mean, 81, 1e-9);
    CHECK_NEAR(r.counters[PM_TENSOR].p95, 90, 1e-9);
    CHECK_NEAR(r.counters[PM_TENSOR].most, 90, 0);
    CHECK_NEAR(r.counters[PM_PCIE_READ].sum, 1e7, 0);
    CHECK(!r.counters[PM_DRAM_WRITE].known);
    arena_done(&mem);
}

TEST(a_counter_this_gpu_lacks_is_left_out)
{
    struct arena mem;
    struct pm_sampler s;
    struct pm_result r;
    memset(&gpu, 0, sizeof gpu);
    gpu.n_passes = 1;
    gpu.unknown = "pcie__read_bytes.sum";
    gpu.overflow = true;
    arena_init(&mem);
    REQUIRE(pm_open(&s, &api, 0, &mem, NULL) == 0);
    CHECK_EQ_INT(gpu.metrics, PM_COUNTERS - 1);
    REQUIRE(pm_start(&s, NULL) == 0);
    gpu.left = 10;
    REQUIRE(pm_stop(&s, &r, NULL) == 0);
    CHECK(!r.counters[PM_PCIE_READ].known && r.counters[PM_PCIE_WRITE].known);
    CHECK_EQ_UINT(r.n_overflows, 1);
    pm_close(&s);
    arena_done(&mem);
}

TEST(no_permission_says_what_to_do)
{
    struct arena mem;
    struct err e;
    struct pm_sampler s;
    memset(&gpu, 0, sizeof gpu);
    gpu.n_passes = 1;
    gpu.fail_enable = 35;
    arena_init(&mem);
    err_init(&e);
    CHECK_EQ_INT(pm_open(&s, &api, 0, &mem, &e), ERR_UNSUPPORTED);
    CHECK(strstr(e.msg, "root") != NULL);
    pm_close(&s);
    gpu.fail_enable = 0;
    gpu.n_passes = 3;
    err_init(&e);
    CHECK_EQ_INT(pm_open(&s, &api, 0, &mem, &e), ERR_UNSUPPORTED);
    CHECK(strstr(e.msg, "3 passes") != NULL);
    pm_close(&s);
    arena_done(&mem);
}

TEST_MAIN
