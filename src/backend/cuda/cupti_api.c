/* cupti_api.c: see cupti_api.h. */
#include "backend/cuda/cupti_api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

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
    void *h = cupti_find();
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
