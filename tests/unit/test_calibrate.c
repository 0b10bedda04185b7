/* test_calibrate.c: measuring with a driver of our own: nothing leaks, whatever it refuses. */
#include "offload/calibrate.h"
#include "test.h"

static struct {
    int calls, fail_at; /* the call that is refused; 0: none */
    int device, host, contexts;
    int copies[2]; /* small, large */
    int back;
} fake;

static int answer(void)
{
    return ++fake.calls == fake.fail_at ? 999 : 0;
}

static int fake_init(unsigned flags)
{
    (void)flags;
    return answer();
}

static int fake_device_get(int *device, int ordinal)
{
    *device = ordinal;
    return answer();
}

static int fake_name(char *name, int len, int device)
{
    snprintf(name, (size_t)len, "Fake GPU %d", device);
    return answer();
}

static int fake_retain(void **context, int device)
{
    (void)device;
    int rc = answer();
    *context = &fake;
    if (rc == 0) fake.contexts++;
    return rc;
}

static int fake_release(int device)
{
    (void)device;
    fake.contexts--;
    return 0;
}

static int fake_set(void *context)
{
    CHECK(context == &fake);
    return answer();
}

static int fake_alloc(driver_ptr *p, size_t n)
{
    (void)n;
    int rc = answer();
    if (rc == 0) *p = (driver_ptr)++fake.device;
    return rc;
}

static int fake_free(driver_ptr p)
{
    CHECK(p != 0);
    fake.device--;
    return 0;
}

static int fake_host_alloc(void **p, size_t n, unsigned flags)
{
    (void)flags;
    int rc = answer();
    if (rc == 0) *p = malloc(n);
    if (rc == 0) fake.host++;
    return rc;
}

static int fake_host_free(void *p)
{
    free(p);
    fake.host--;
    return 0;
}

static int fake_copy(driver_ptr to, const void *from, size_t n, void *stream)
{
    CHECK(to != 0 && from && !stream);
    fake.copies[n > 1000000]++;
    return answer();
}

static int fake_copy_back(void *to, driver_ptr from, size_t n, void *stream)
{
    CHECK(to && from != 0 && n > 1000000 && !stream);
    fake.back++;
    return answer();
}

static int fake_wait(void *stream)
{
    (void)stream;
    return answer();
}

static const struct driver driver = {
    .init = fake_init,
    .device_get = fake_device_get,
    .device_name = fake_name,
    .context_retain = fake_retain,
    .context_release = fake_release,
    .context_set = fake_set,
    .device_alloc = fake_alloc,
    .device_free = fake_free,
    .host_alloc = fake_host_alloc,
    .host_free = fake_host_free,
    .copy = fake_copy,
    .copy_back = fake_copy_back,
    .wait = fake_wait,
};

TEST(measures_both_kinds_of_memory)
{
    struct calibration c = {0};
    memset(&fake, 0, sizeof fake);
    REQUIRE(CHECK_EQ_INT(calibrate_run(&driver, 0, &c, NULL), 0));
    CHECK_EQ_STR(c.device, "Fake GPU 0");
    for (int h = 0; h < HOST_KINDS; h++) {
        CHECK(c.rate[h].bytes_per_ns > 0);
        CHECK(c.rate[h].low <= c.rate[h].bytes_per_ns && c.rate[h].bytes_per_ns <= c.rate[h].high);
        CHECK_EQ_INT(c.rate[h].from, FACT_MEASURED);
    }
    CHECK_EQ_INT(fake.copies[1], 2 * (2 + (int)c.rounds));
    CHECK_EQ_INT(fake.copies[0], 50);
    CHECK_EQ_INT(fake.back, 2 + (int)c.rounds);
    CHECK(c.back.bytes_per_ns > 0 && c.touch_bytes_per_ns > 0);
    CHECK_EQ_INT(fake.device, 0);
    CHECK_EQ_INT(fake.host, 0);
    CHECK_EQ_INT(fake.contexts, 0);
}

TEST(every_refusal_is_told_and_leaks_nothing)
{
    struct calibration c;
    memset(&fake, 0, sizeof fake);
    CHECK_EQ_INT(calibrate_run(&driver, 0, &c, NULL), 0);
    int calls = fake.calls;
    for (int i = 1; i <= calls; i++) {
        struct err e;
        err_init(&e);
        memset(&fake, 0, sizeof fake);
        fake.fail_at = i;
        CHECK_EQ_INT(calibrate_run(&driver, 0, &c, &e), ERR_UNSUPPORTED);
        CHECK(strstr(e.msg, "failed (999)") != NULL);
        CHECK_EQ_INT(fake.device, 0);
        CHECK_EQ_INT(fake.host, 0);
        CHECK_EQ_INT(fake.contexts, 0);
    }
}

TEST(no_driver)
{
    struct driver d;
    struct err e;
    err_init(&e);
    CHECK_EQ_INT(driver_open(&d, "/nowhere/libcuda.so.1", &e), ERR_UNSUPPORTED);
    CHECK(strstr(e.msg, "cannot load the CUDA driver") != NULL);
    err_init(&e);
    CHECK_EQ_INT(driver_open(&d, "libm.so.6", &e), ERR_UNSUPPORTED);
    CHECK_EQ_STR(e.msg, "the CUDA driver has no cuInit; it may be too old");
}

TEST_MAIN
