/* pm_sampler.c: see pm_sampler.h. */
#include "dive/pm_sampler.h"

#include <math.h>

enum {
    INTERVAL_NS = 100000,
    SAMPLES_A_POLL = 4096,
    HARDWARE_BUFFER = 64 << 20,
    MOST_DECODES = 64, /* per poll: a GPU that never finishes must not block us */
};

#define PCT ".avg.pct_of_peak_sustained_elapsed"

static const struct {
    const char *metric, *key, *about;
    bool is_bytes;
} counters[PM_COUNTERS] = {
    [PM_GPU] = {"gr__cycles_active" PCT, "gpu_pct", "GPU busy", false},
    [PM_SM] = {"sm__cycles_active" PCT, "sm_pct", "SMs active", false},
    [PM_ISSUE] = {"sm__inst_executed_realtime" PCT, "issue_pct", "instructions", false},
    [PM_TENSOR] = {"sm__pipe_tensor_cycles_active" PCT, "tensor_pct", "tensor pipes", false},
    [PM_DRAM_READ] = {"dram__read_throughput" PCT, "dram_read_pct", "memory, reading", false},
    [PM_DRAM_WRITE] = {"dram__write_throughput" PCT, "dram_write_pct", "memory, writing", false},
    [PM_PCIE_READ] = {"pcie__read_bytes.sum", "pcie_read_bytes", "PCIe, to the GPU", true},
    [PM_PCIE_WRITE] = {"pcie__write_bytes.sum", "pcie_write_bytes", "PCIe, from the GPU", true},
};

const char *pm_counter_key(enum pm_counter c)
{
    return counters[c].key;
}

const char *pm_counter_about(enum pm_counter c)
{
    return counters[c].about;
}

/* ---- errors ---- */

static const char *pm_sampler_reason_of(int code)
{
    switch (code) {
    case 7: return "another tool already samples this GPU (nsys, dcgm)";
    case 15: return "CUPTI does not match this driver; set STRATA_CUPTI to another libcupti.so";
    case 26: return "the counters are in use by another profiler";
    case 33:
    case 40: return "virtual GPUs have no such counters";
    case 35:
        return "this user may not read the GPU's counters: run as root, or set "
               "NVreg_RestrictProfilingToAdminUsers=0 for the nvidia module";
    case 41: return "confidential computing hides the counters";
    case 43: return "not possible on a MIG slice";
    case 45: return "not possible under WSL";
    default: return "use strata dive -- COMMAND, which uses Nsight Compute instead";
    }
}

/* Turns CUPTI's result into ours. */
static int pm_sampler_check(int code, const char *what, struct err *e)
{
    if (code == 0) return 0;
    return FAIL(e, ERR_UNSUPPORTED, "cannot sample the GPU's counters: %s failed (%d): %s", what,
                code, pm_sampler_reason_of(code));
}

/* ---- setting up ---- */

static int open_device(struct pm_sampler *s, size_t device, struct err *e)
{
    struct pm_plain plain = {PM_SIZE(struct pm_plain, priv), NULL};
    struct pm_chip_name chip = {.size = PM_SIZE(struct pm_chip_name, name), .device = device};
    struct pm_availability av = {.size = PM_SIZE(struct pm_availability, image), .device = device};
    TRY(pm_sampler_check(s->api->cuda_init(0), "cuInit", e));
    TRY(pm_sampler_check(s->api->init(&plain), "initialize", e));
    TRY(pm_sampler_check(s->api->chip_name(&chip), "chip name", e));
    TRY(pm_sampler_check(s->api->availability(&av), "availability", e));
    av.image = s->availability = arena_zalloc(s->mem, av.image_size + 1, 1);
    if (!av.image) return err_nomem(e);
    if (chip.name) memccpy(s->chip, chip.name, 0, sizeof s->chip - 1);
    return pm_sampler_check(s->api->availability(&av), "availability", e);
}

static struct pm_object object(void *p)
{
    return (struct pm_object){PM_SIZE(struct pm_object, object), NULL, p};
}

static void close_host(struct pm_sampler *s)
{
    struct pm_object host = object(s->host);
    if (s->host) s->api->host_done(&host);
    s->host = NULL;
}

/* A fresh set of metrics. */
static int open_host(struct pm_sampler *s, struct err *e)
{
    struct pm_host_init host = {.size = PM_SIZE(struct pm_host_init, host),
                                .type = PM_HOST_TYPE,
                                .chip = s->chip,
                                .availability = s->availability};
    close_host(s);
    TRY(pm_sampler_check(s->api->host_init(&host), "host", e));
    s->host = host.host;
    return 0;
}

static int add_names(struct pm_sampler *s, const char **names, size_t n)
{
    struct pm_add_metrics add = {
        .size = PM_SIZE(struct pm_add_metrics, n), .host = s->host, .names = names, .n = n};
    return s->api->add_metrics(&add);
}

/* Counters that this GPU does not have are left out. Each is tried in a set of its own, and those
 * it has are added in one go: sets that grow one by one need a pass for each. */
static int add_counters(struct pm_sampler *s, struct err *e)
{
    for (int i = 0; i < PM_COUNTERS; i++) {
        const char *name = counters[i].metric;
        TRY(open_host(s, e));
        if (add_names(s, &name, 1) != 0) continue;
        s->names[s->n] = name;
        s->counter[s->n++] = (enum pm_counter)i;
    }
    if (!s->n) return FAIL(e, ERR_UNSUPPORTED, "CUPTI has no counters for chip %s", s->chip);
    TRY(open_host(s, e));
    return pm_sampler_check(add_names(s, s->names, s->n), "metrics", e);
}

static int make_config(struct pm_sampler *s, struct err *e)
{
    struct pm_config_size size = {.size = PM_SIZE(struct pm_config_size, image_size),
                                  .host = s->host};
    TRY(pm_sampler_check(s->api->config_size(&size), "config size", e));
    s->config_size = size.image_size;
    s->config = arena_zalloc(s->mem, s->config_size + 1, 1);
    if (!s->config) return err_nomem(e);
    struct pm_config config = {.size = PM_SIZE(struct pm_config, image),
                               .host = s->host,
                               .image_size = s->config_size,
                               .image = s->config};
    TRY(pm_sampler_check(s->api->config(&config), "config", e));
    struct pm_passes passes = {
        .size = PM_SIZE(struct pm_passes, n), .image_size = s->config_size, .image = s->config};
    TRY(pm_sampler_check(s->api->passes(&passes), "passes", e));
    if (passes.n != 1)
        return FAIL(e, ERR_UNSUPPORTED,
                    "chip %s needs %zu passes for these counters, but only one is possible",
                    s->chip, passes.n);
    return 0;
}

/* A fresh image takes the next samples. */
static int clear_data(struct pm_sampler *s, struct err *e)
{
    struct pm_data_init init = {.size = PM_SIZE(struct pm_data_init, data),
                                .sampler = s->sampler,
                                .data_size = s->data_size,
                                .data = s->data};
    return pm_sampler_check(s->api->data_init(&init), "data image", e);
}

static int make_data(struct pm_sampler *s, struct err *e)
{
    struct pm_data_size size = {.size = PM_SIZE(struct pm_data_size, data_size),
                                .sampler = s->sampler,
                                .names = s->names,
                                .n = s->n,
                                .most_samples = SAMPLES_A_POLL};
    TRY(pm_sampler_check(s->api->data_size(&size), "data size", e));
    s->data_size = size.data_size;
    s->data = arena_zalloc(s->mem, s->data_size + 1, 1);
    if (!s->data) return err_nomem(e);
    return clear_data(s, e);
}

static int pm_sampler_enable(struct pm_sampler *s, size_t device, struct err *e)
{
    struct pm_enable on = {.size = PM_SIZE(struct pm_enable, sampler), .device = device};
    TRY(pm_sampler_check(s->api->enable(&on), "enable", e));
    s->sampler = on.sampler;
    struct pm_set_config set = {.size = PM_SIZE(struct pm_set_config, append_mode),
                                .sampler = s->sampler,
                                .config_size = s->config_size,
                                .config = s->config,
                                .hardware_buffer = HARDWARE_BUFFER,
                                .interval = s->interval_ns,
                                .trigger = PM_TRIGGER_TIME,
                                .append_mode = PM_KEEP_LATEST};
    return pm_sampler_check(s->api->set_config(&set), "set config", e);
}

int pm_open(struct pm_sampler *s, const struct pm_api *api, size_t device, struct arena *mem,
            struct err *e)
{
    *s = (struct pm_sampler){.api = api, .mem = mem, .interval_ns = INTERVAL_NS};
    TRY(open_device(s, device, e));
    TRY(add_counters(s, e));
    TRY(make_config(s, e));
    TRY(pm_sampler_enable(s, device, e));
    return make_data(s, e);
}

void pm_close(struct pm_sampler *s)
{
    struct pm_object sampler = object(s->sampler);
    if (s->running) s->api->stop(&sampler);
    if (s->sampler) s->api->disable(&sampler);
    close_host(s);
    s->sampler = NULL;
    s->running = false;
}

int pm_start(struct pm_sampler *s, struct err *e)
{
    struct pm_object o = object(s->sampler);
    TRY(pm_sampler_check(s->api->start(&o), "start", e));
    s->running = true;
    return 0;
}

/* ---- samples ---- */

static void pm_sampler_add_sample(struct pm_sampler *s, const double *values, double seconds)
{
    double gpu = 100; /* without that counter every sample counts */
    for (size_t i = 0; i < s->n; i++)
        if (s->counter[i] == PM_GPU) gpu = values[i];
    s->result.n_samples++;
    s->result.seconds += seconds;
    bool active = gpu > 0.5;
    s->result.n_active += active;
    if (active) s->result.active_seconds += seconds;
    for (size_t i = 0; i < s->n; i++) {
        enum pm_counter c = s->counter[i];
        if (!isfinite(values[i]) || values[i] < 0) continue;
        struct pm_stat *stat = &s->result.counters[c];
        stat->known = true;
        stat->sum += values[i];
        if (!active || counters[c].is_bytes) continue;
        s->sums[c] += values[i];
        if (values[i] > stat->most) stat->most = values[i];
        s->bins[c][values[i] < PM_BINS - 1 ? (int)values[i] : PM_BINS - 1]++;
    }
}

static int read_sample(struct pm_sampler *s, size_t index, struct err *e)
{
    double values[PM_MOST_METRICS] = {0};
    struct pm_sample_info info = {.size = PM_SIZE(struct pm_sample_info, end_ns),
                                  .sampler = s->sampler,
                                  .data = s->data,
                                  .data_size = s->data_size,
                                  .index = index};
    struct pm_evaluate eval = {.size = PM_SIZE(struct pm_evaluate, values),
                               .host = s->host,
                               .data = s->data,
                               .data_size = s->data_size,
                               .index = index,
                               .names = s->names,
                               .n = s->n,
                               .values = values};
    TRY(pm_sampler_check(s->api->sample_info(&info), "sample info", e));
    TRY(pm_sampler_check(s->api->evaluate(&eval), "evaluate", e));
    if (info.end_ns > info.begin_ns)
        pm_sampler_add_sample(s, values, (double)(info.end_ns - info.begin_ns) / 1e9);
    return 0;
}

/* One image full; *ret_more says whether there may be another. */
static int pm_sampler_fetch(struct pm_sampler *s, bool *ret_more, struct err *e)
{
    struct pm_decode decode = {.size = PM_SIZE(struct pm_decode, overflow),
                               .sampler = s->sampler,
                               .data = s->data,
                               .data_size = s->data_size};
    struct pm_data_info info = {.size = PM_SIZE(struct pm_data_info, n_completed),
                                .data = s->data,
                                .data_size = s->data_size};
    TRY(pm_sampler_check(s->api->decode(&decode), "decode", e));
    TRY(pm_sampler_check(s->api->data_info(&info), "data info", e));
    s->result.n_overflows += decode.overflow != 0;
    size_t n = info.n_completed < SAMPLES_A_POLL ? info.n_completed : SAMPLES_A_POLL;
    for (size_t i = 0; i < n; i++) TRY(read_sample(s, i, e));
    *ret_more = n == SAMPLES_A_POLL;
    return n ? clear_data(s, e) : 0;
}

int pm_poll(struct pm_sampler *s, struct err *e)
{
    bool more = true;
    for (int i = 0; more && i < MOST_DECODES; i++) TRY(pm_sampler_fetch(s, &more, e));
    return 0;
}

static double pm_sampler_percentile(const uint64_t *bins, double share)
{
    uint64_t all = 0, seen = 0;
    for (int i = 0; i < PM_BINS; i++) all += bins[i];
    for (int i = 0; i < PM_BINS; i++) {
        seen += bins[i];
        if (all && (double)seen >= share * (double)all) return i;
    }
    return 0;
}

int pm_stop(struct pm_sampler *s, struct pm_result *ret, struct err *e)
{
    struct pm_object o = object(s->sampler);
    TRY(pm_sampler_check(s->api->stop(&o), "stop", e));
    s->running = false;
    TRY(pm_poll(s, e));
    *ret = s->result;
    ret->interval_ns = (double)s->interval_ns;
    for (int i = 0; i < PM_COUNTERS; i++) {
        struct pm_stat *stat = &ret->counters[i];
        if (ret->n_active) stat->mean = s->sums[i] / (double)ret->n_active;
        stat->p95 = fmin(pm_sampler_percentile(s->bins[i], 0.95), stat->most);
    }
    return 0;
}
