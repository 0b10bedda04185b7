/* cupti_api.h: CUPTI as a table of functions, from the library the process has already mapped. It
 * is never linked, and never loaded before torch has loaded its own: the first one mapped under a
 * name is the one everybody gets. */
#ifndef STRATA_BACKEND_CUPTI_API_H
#define STRATA_BACKEND_CUPTI_API_H

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

/* Fills `api`, or says what was looked for and how to get it. */
int cupti_api_load(struct cupti_api *api, struct err *e) MUST_USE;

/* The reason of a result in words, for people. */
const char *cupti_api_reason(const struct cupti_api *api, uint32_t result);

#endif
