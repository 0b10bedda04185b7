/* pm_api.c: see pm_api.h. */
#include "dive/pm_api.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdlib.h>

static const struct {
    const char *name;
    size_t offset;
} symbols[] = {
    {"cuptiProfilerInitialize", offsetof(struct pm_api, init)},
    {"cuptiDeviceGetChipName", offsetof(struct pm_api, chip_name)},
    {"cuptiPmSamplingGetCounterAvailability", offsetof(struct pm_api, availability)},
    {"cuptiProfilerHostInitialize", offsetof(struct pm_api, host_init)},
    {"cuptiProfilerHostDeinitialize", offsetof(struct pm_api, host_done)},
    {"cuptiProfilerHostConfigAddMetrics", offsetof(struct pm_api, add_metrics)},
    {"cuptiProfilerHostGetConfigImageSize", offsetof(struct pm_api, config_size)},
    {"cuptiProfilerHostGetConfigImage", offsetof(struct pm_api, config)},
    {"cuptiProfilerHostGetNumOfPasses", offsetof(struct pm_api, passes)},
    {"cuptiPmSamplingEnable", offsetof(struct pm_api, enable)},
    {"cuptiPmSamplingDisable", offsetof(struct pm_api, disable)},
    {"cuptiPmSamplingSetConfig", offsetof(struct pm_api, set_config)},
    {"cuptiPmSamplingGetCounterDataSize", offsetof(struct pm_api, data_size)},
    {"cuptiPmSamplingCounterDataImageInitialize", offsetof(struct pm_api, data_init)},
    {"cuptiPmSamplingStart", offsetof(struct pm_api, start)},
    {"cuptiPmSamplingStop", offsetof(struct pm_api, stop)},
    {"cuptiPmSamplingDecodeData", offsetof(struct pm_api, decode)},
    {"cuptiPmSamplingGetCounterDataInfo", offsetof(struct pm_api, data_info)},
    {"cuptiPmSamplingCounterDataGetSampleInfo", offsetof(struct pm_api, sample_info)},
    {"cuptiProfilerHostEvaluateToGpuValues", offsetof(struct pm_api, evaluate)},
};

void pm_api_close(struct pm_api *a)
{
    if (a->cupti) dlclose(a->cupti);
    if (a->host_library) dlclose(a->host_library);
    if (a->cuda) dlclose(a->cuda);
    *a = (struct pm_api){0};
}

/* CUPTI loads its other half by name only, so that must be loaded already if its folder is not on
 * the loader's path. */
static void *open_cupti(struct pm_api *a, const char *path, struct arena *mem)
{
    const char *slash = strrchr(path, '/');
    const char *beside =
        slash ? arena_printf(mem, "%.*s/libnvperf_host.so", (int)(slash - path), path) : NULL;
    void *host = beside ? dlopen(beside, RTLD_NOW | RTLD_GLOBAL) : NULL;
    void *cupti = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (cupti) a->host_library = host;
    else if (host) dlclose(host);
    return cupti;
}

static void *find_cupti(struct pm_api *a, struct arena *mem)
{
    static const char *const places[] = {
        "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.1*",
        "/usr/local/cuda/lib64/libcupti.so.1*",
        "/usr/local/cuda-*/extras/CUPTI/lib64/libcupti.so.1*",
        "/usr/local/cuda-*/lib64/libcupti.so.1*",
    };
    static const char *const names[] = {"libcupti.so.13", "libcupti.so.12"};
    const char *given = getenv("STRATA_CUPTI");
    void *found = NULL;
    if (given && *given) return open_cupti(a, given, mem);
    for (size_t i = 0; !found && i < sizeof places / sizeof *places; i++) {
        glob_t g;
        if (glob(places[i], 0, NULL, &g) != 0) continue;
        for (size_t k = g.gl_pathc; k-- > 0 && !found;) found = open_cupti(a, g.gl_pathv[k], mem);
        globfree(&g);
    }
    for (size_t i = 0; !found && i < sizeof names / sizeof *names; i++)
        found = open_cupti(a, names[i], mem);
    return found;
}

static int pm_api_find_symbols(struct pm_api *a, struct err *e)
{
    void *found = dlsym(a->cuda, "cuInit");
    if (!found) return FAIL(e, ERR_UNSUPPORTED, "the CUDA driver has no cuInit");
    memcpy(&a->cuda_init, &found, sizeof found);
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        found = dlsym(a->cupti, symbols[i].name);
        if (!found)
            return FAIL(e, ERR_UNSUPPORTED,
                        "this CUPTI has no %s; counters of the whole GPU need CUDA 12.6 or later",
                        symbols[i].name);
        memcpy((char *)a + symbols[i].offset, &found, sizeof found);
    }
    return 0;
}

int pm_api_open(struct pm_api *a, struct arena *mem, struct err *e)
{
    *a = (struct pm_api){.cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL)};
    if (!a->cuda) return FAIL(e, ERR_UNSUPPORTED, "cannot load the CUDA driver (libcuda.so.1)");
    a->cupti = find_cupti(a, mem);
    int rc = a->cupti ? pm_api_find_symbols(a, e)
                      : FAIL(e, ERR_UNSUPPORTED,
                             "cannot find CUPTI: it comes with the CUDA toolkit and with "
                             "PyTorch; set STRATA_CUPTI to the path of libcupti.so");
    if (rc < 0) pm_api_close(a);
    return rc;
}
