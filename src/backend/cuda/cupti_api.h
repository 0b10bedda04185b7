/* cupti_api.h: CUPTI as a table of functions, from the library the process has already mapped. It
 * is never linked, and never loaded before torch has loaded its own: the first one mapped under a
 * name is the one that all get. */
#ifndef STRATA_BACKEND_CUDA_CUPTI_API_H
#define STRATA_BACKEND_CUDA_CUPTI_API_H

#include "backend/cuda/cupti_abi.h"
#include "base/err.h"

/* Those every version from 12.0 on has, then those that may be missing. */
#define CUPTI_NEEDED(X)                                                                  \
    X(GetVersion, (uint32_t * version))                                                  \
    X(Subscribe, (void **subscriber, cupti_callback_fn fn, void *ours))                  \
    X(Unsubscribe, (void *subscriber))                                                   \
    X(EnableCallback, (uint32_t on, void *subscriber, uint32_t domain, uint32_t id))     \
    X(ActivityRegisterCallbacks, (cupti_request_fn request, cupti_complete_fn complete)) \
    X(ActivityRegisterTimestampCallback, (cupti_clock_fn clock))                         \
    X(ActivityEnable, (uint32_t kind))                                                   \
    X(ActivityDisable, (uint32_t kind))                                                  \
    X(ActivityFlushAll, (uint32_t flags))                                                \
    X(ActivityGetNextRecord, (uint8_t * buffer, size_t n_valid, void **record))          \
    X(ActivityGetNumDroppedRecords, (void *context, uint32_t stream, size_t *ret))       \
    X(ActivitySetAttribute, (uint32_t attribute, size_t * size, void *value))
#define CUPTI_OPTIONAL(X)                                                 \
    X(Subscribe_v2, (void **subscriber, cupti_callback_fn fn, void *ours, \
                     struct cupti_subscriber_params *params))             \
    X(SetThreadIdType, (uint32_t type))                                   \
    X(ActivityEnableAllSyncRecords, (uint8_t on))                         \
    X(GetGraphNodeId, (void *node, uint64_t *ret))                        \
    X(GetResultString, (uint32_t result, const char **ret))

struct cupti_api {
#define DECLARE(name, args) uint32_t(*name) args;
    CUPTI_NEEDED(DECLARE)
    CUPTI_OPTIONAL(DECLARE)
#undef DECLARE
    uint32_t version;
    char path[512]; /* of the library */
};

/* Fills `api`, or says what was searched for and how to get it. */
int cupti_api_load(struct cupti_api *api, struct err *e) MUST_USE;

/* The reason of a result in words, for people. */
const char *cupti_api_reason(const struct cupti_api *api, uint32_t result);

/* cupti_find.c: which libcupti is ours. The first one mapped under a name is the one that
 * all get, so it must be the one that torch would load, were it imported later. */

/* A handle of dlopen, or NULL. In this order: STRATA_CUPTI; one that is mapped; beside torch or the
 * CUDA runtime; the wheels of the Python that runs (site-packages/nvidia); where torch cannot come
 * after us, toolkits (CUDA_HOME, CUDA_PATH, /usr/local/cuda*) and the loader's own path. Never one
 * that is newer than the driver. */
void *cupti_find(void);

#endif
