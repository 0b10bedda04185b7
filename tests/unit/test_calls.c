/* test_calls.c: calls of several vendors by name. */
#include "test.h"

#include "analyze/names/calls.h"

static const struct {
    const char *name;
    enum call_kind kind;
} known[] = {
    {"cudaStreamSynchronize", CALL_SYNC_STREAM},
    {"cuStreamSynchronize_ptsz", CALL_SYNC_STREAM},
    {"hipStreamSynchronize", CALL_SYNC_STREAM},
    {"aclrtSynchronizeStream", CALL_SYNC_STREAM},
    {"zeCommandQueueSynchronize", CALL_SYNC_STREAM},
    {"urQueueFinish", CALL_SYNC_STREAM},
    {"cudaDeviceSynchronize", CALL_SYNC_DEVICE},
    {"cuCtxSynchronize_v2", CALL_SYNC_DEVICE},
    {"cudaThreadSynchronize", CALL_SYNC_DEVICE},
    {"cudaEventSynchronize", CALL_SYNC_EVENT},
    {"zeEventHostSynchronize", CALL_SYNC_EVENT},
    {"urEventWait", CALL_SYNC_EVENT},
    {"jax.Array.__float__", CALL_SYNC_LIBRARY},
    {"jax.block_until_ready", CALL_SYNC_LIBRARY},
    {"cudaStreamWaitEvent", CALL_EVENT_WAIT},
    {"urEnqueueEventsWait", CALL_EVENT_WAIT},
    {"cudaEventRecordWithFlags", CALL_EVENT_RECORD},
    {"cudaEventQuery", CALL_QUERY},
    {"cudaLaunchKernel", CALL_LAUNCH},
    {"cudaLaunchKernelExC_v11060", CALL_LAUNCH},
    {"cuLaunchKernelEx", CALL_LAUNCH},
    {"hipExtModuleLaunchKernel", CALL_LAUNCH},
    {"urEnqueueKernelLaunch", CALL_LAUNCH},
    {"zeCommandListAppendLaunchKernel", CALL_LAUNCH},
    {"cudaLaunchHostFunc", CALL_OTHER},
    {"cudaGraphLaunch", CALL_GRAPH_LAUNCH},
    {"hipGraphLaunch", CALL_GRAPH_LAUNCH},
    {"cudaGraphInstantiate", CALL_OTHER},
    {"cudaMemcpyAsync", CALL_COPY},
    {"cuMemcpyDtoHAsync_v2", CALL_COPY},
    {"hipMemcpyWithStream", CALL_COPY_SYNC},
    {"cudaMemcpy", CALL_COPY_SYNC},
    {"cudaMemcpyToSymbol", CALL_COPY_SYNC},
    {"cudaMemsetAsync", CALL_SET},
    {"cudaMalloc", CALL_ALLOC},
    {"cuMemCreate", CALL_ALLOC},
    {"cudaMallocAsync", CALL_OTHER},
    {"cudaMallocHost", CALL_HOST_ALLOC},
    {"cudaHostAlloc", CALL_HOST_ALLOC},
    {"cudaHostRegister", CALL_HOST_ALLOC},
    {"cudaFree", CALL_FREE},
    {"cudaFreeHost", CALL_HOST_ALLOC},
    {"cudaFreeAsync", CALL_OTHER},
    {"cuModuleLoadData", CALL_LOAD},
    {"cudaGetErrorString", CALL_OTHER},
    {"cudaStreamIsCapturing", CALL_OTHER},
    {"cudaOccupancyMaxActiveBlocksPerMultiprocessor", CALL_OTHER},
    {"", CALL_OTHER},
};

TEST(kinds_by_name)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!CHECK_EQ_INT(call_kind(str_c(known[i].name)), known[i].kind))
            printf("  for \"%s\"\n", known[i].name);
}

TEST(every_kind_has_a_name)
{
    for (int k = 0; k < CALL_KINDS; k++) CHECK(call_kind_name(k) != NULL);
}

TEST_MAIN
