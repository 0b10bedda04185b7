/* cupti_api.c: see cupti_api.h. */
#include "backend/cuda/cupti_api.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const sonames[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
enum { N_SONAMES = sizeof sonames / sizeof *sonames };

/* The mapped library whose path holds `part`. */
struct search {
    const char *part;
    char path[512];
};

static int look(struct dl_phdr_info *info, size_t size, void *ctx)
{
    struct search *s = ctx;
    if (!info->dlpi_name || !strstr(info->dlpi_name, s->part)) return 0;
    snprintf(s->path, sizeof s->path, "%s", info->dlpi_name);
    return 1;
}

static bool find_mapped(const char *part, struct search *ret)
{
    *ret = (struct search){.part = part};
    return dl_iterate_phdr(look, ret) == 1;
}

static void *open_mapped(void)
{
    struct search s;
    for (int i = 0; i < N_SONAMES; i++) {
        void *h = dlopen(sonames[i], RTLD_LAZY | RTLD_NOLOAD);
        if (h) return h;
    }
    return find_mapped("/libcupti.so", &s) ? dlopen(s.path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

static void *open_in(const char *folder, const char *below)
{
    char path[1200];
    for (int i = 0; i < N_SONAMES; i++) {
        snprintf(path, sizeof path, "%s/%s%s", folder, below, sonames[i]);
        void *h = access(path, R_OK) == 0 ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : NULL;
        if (h) return h;
    }
    return NULL;
}

/* Where wheels keep it, seen from the folder of a library that is mapped. */
static void *open_beside(const char *mapped)
{
    static const char *const below[] = {
        "",
        "../../nvidia/cu13/lib/",
        "../../nvidia/cuda_cupti/lib/",
        "../../cuda_cupti/lib/",
    };
    struct search s;
    if (!find_mapped(mapped, &s)) return NULL;
    char *slash = strrchr(s.path, '/');
    if (!slash) return NULL;
    *slash = 0;
    for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
        void *h = open_in(s.path, below[i]);
        if (h) return h;
    }
    return NULL;
}

/* Of a toolkit, and only where torch cannot come after us: it must find its own. */
static void *open_toolkit(void)
{
    static const char *const below[] = {"extras/CUPTI/lib64/", "lib64/", "lib/"};
    struct search s;
    if (dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState") && !find_mapped("/libtorch", &s))
        return NULL;
    const char *home = getenv("CUDA_HOME");
    for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
        void *h = home && *home ? open_in(home, below[i]) : NULL;
        if (!h) h = open_in("/usr/local/cuda", below[i]);
        if (h) return h;
    }
    for (int i = 0; i < N_SONAMES; i++) {
        void *h = dlopen(sonames[i], RTLD_LAZY | RTLD_LOCAL);
        if (h) return h;
    }
    return NULL;
}

static void *open_library(void)
{
    const char *named = getenv("STRATA_CUPTI");
    void *h = named && *named ? dlopen(named, RTLD_LAZY | RTLD_LOCAL) : NULL;
    if (!h) h = open_mapped();
    if (!h) h = open_beside("/libtorch_cpu.so");
    if (!h) h = open_beside("/libcudart.so");
    return h ? h : open_toolkit();
}

/* ISO C has no cast from an object pointer to a function's. */
#define FIND(name, args)                                          \
    do {                                                          \
        void *p_ = dlsym(h, "cupti" #name);                       \
        memcpy(&api->name, &p_, sizeof p_);                       \
        if (!p_ && !first_missing) first_missing = "cupti" #name; \
    } while (0);

static void note_path(struct cupti_api *api)
{
    Dl_info where;
    void *p;
    memcpy(&p, &api->GetVersion, sizeof p);
    if (dladdr(p, &where) && where.dli_fname)
        snprintf(api->path, sizeof api->path, "%s", where.dli_fname);
}

int cupti_api_load(struct cupti_api *api, struct err *e)
{
    *api = (struct cupti_api){0};
    void *h = open_library();
    if (!h)
        return FAIL(e, ERR_UNSUPPORTED,
                    "cannot find libcupti: pip install nvidia-cuda-cupti (CUDA 12: nvidia-cuda-"
                    "cupti-cu12), or set STRATA_CUPTI to its path");
    const char *first_missing = NULL;
    CUPTI_NEEDED(FIND)
    const char *needed = first_missing;
    CUPTI_OPTIONAL(FIND)
    if (needed) return FAIL(e, ERR_UNSUPPORTED, "this libcupti is too old: it has no %s", needed);
    note_path(api);
    if (api->GetVersion(&api->version) != CUPTI_OK)
        return FAIL(e, ERR_UNSUPPORTED, "libcupti does not report its version");
    return 0;
}

const char *cupti_api_reason(const struct cupti_api *api, uint32_t result)
{
    switch ((enum cupti_result)result) {
    case CUPTI_NOT_INITIALIZED: return "the driver is too old for this CUPTI; update the driver";
    case CUPTI_NO_PRIVILEGES:
    case CUPTI_VIRTUALIZED_NO_PRIVILEGES:
        return "not permitted; an administrator can allow it with "
               "NVreg_RestrictProfilingToAdminUsers=0";
    case CUPTI_VIRTUALIZED: return "not possible on this virtual GPU";
    case CUPTI_CONFIDENTIAL: return "not possible with confidential computing";
    case CUPTI_WSL: return "not possible in this version of WSL";
    case CUPTI_OTHER_SUBSCRIBER: return "another profiler is attached; run without it";
    case CUPTI_UNKNOWN: return "CUPTI reports an unknown error; check that a driver is installed";
    default: break;
    }
    const char *text = NULL;
    if (api->GetResultString && api->GetResultString(result, &text) == CUPTI_OK && text)
        return text;
    return "CUPTI refused";
}
