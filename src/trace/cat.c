/* cat.c: category names, from torch 1.8 to today and across vendors, in one table. */
#include "trace/cat.h"

static const struct cat_row {
    const char *cat;
    enum row_kind kind;
    const char *device;
} cats[] = {
    {"cpu_op", KIND_OP, NULL},
    {"python_function", KIND_PYTHON, NULL},
    {"user_annotation", KIND_ANNOTATION, NULL},
    {CAT_DERIVED, KIND_ANNOTATION, NULL},
    {"cuda_runtime", KIND_RUNTIME, NULL},
    {"cuda_driver", KIND_DRIVER, NULL},
    {"library_call", KIND_RUNTIME, NULL}, /* ours: RING_LIBRARY_CALL */
    {"kernel", KIND_KERNEL, "cuda"},
    {"gpu_memcpy", KIND_MEMCPY, "cuda"},
    {"gpu_memset", KIND_MEMSET, "cuda"},
    {"gpu_user_annotation", KIND_GPU_ANNOTATION, "cuda"},
    {"cpu_instant_event", KIND_MEMORY, NULL},
    {"overhead", KIND_OVERHEAD, NULL},
    {"cuda_sync", KIND_GPU_SYNC, "cuda"},
    {"cuda_event", KIND_GPU_EVENT, "cuda"},
    {"cuda_profiler_range", KIND_GPU_ANNOTATION, "cuda"},
    {"Trace", KIND_WINDOW, NULL},
    /* 2021 files */
    {"Operator", KIND_OP, NULL},
    {"User", KIND_ANNOTATION, NULL},
    {"Runtime", KIND_RUNTIME, NULL},
    {"Kernel", KIND_KERNEL, "cuda"},
    {"Memcpy", KIND_MEMCPY, "cuda"},
    {"Memset", KIND_MEMSET, "cuda"},
    {"PythonFunction", KIND_PYTHON, NULL},
    /* ROCm uses the CUDA names; some builds write these */
    {"hip_runtime", KIND_RUNTIME, NULL},
    {"hip_driver", KIND_DRIVER, NULL},
    {"hip_sync", KIND_GPU_SYNC, "cuda"},
    /* AMD's rocprofv3 */
    {"kernel_dispatch", KIND_KERNEL, "cuda"},
    {"memory_copy", KIND_MEMCPY, "cuda"},
    {"hip_api", KIND_RUNTIME, NULL},
    {"hsa_api", KIND_DRIVER, NULL},
    {"marker_api", KIND_ANNOTATION, NULL},
    /* Intel */
    {"xpu_runtime", KIND_RUNTIME, NULL},
    {"xpu_driver", KIND_DRIVER, NULL},
    {"xpu_sync", KIND_GPU_SYNC, "xpu"},
    {"collective_comm", KIND_OTHER, "xpu"},
    {"xpu_scope_profiler", KIND_COUNTER, "xpu"},
    /* Meta MTIA */
    {"mtia_runtime", KIND_RUNTIME, NULL},
    {"mtia_ccp_events", KIND_KERNEL, "mtia"},
    {"mtia_workloadd", KIND_OTHER, "mtia"},
    {"mtia_insight", KIND_OTHER, "mtia"},
    {"mtia_counters", KIND_COUNTER, "mtia"},
    /* others */
    {"hpu_op", KIND_KERNEL, "hpu"},
    {"glow_runtime", KIND_RUNTIME, NULL},
    {"privateuse1_runtime", KIND_RUNTIME, NULL},
    {"privateuse1_driver", KIND_DRIVER, NULL},
    {"hardware_counters", KIND_COUNTER, NULL},
};

enum { N_CATS = sizeof cats / sizeof *cats };

static const struct cat_row *cat_find(struct str cat)
{
    for (int i = 0; i < N_CATS; i++)
        if (str_is(cat, cats[i].cat)) return &cats[i];
    return NULL;
}

enum row_kind cat_kind(struct str cat)
{
    const struct cat_row *c = cat_find(cat);
    return c ? c->kind : KIND_OTHER;
}

const char *cat_device_type(struct str cat)
{
    const struct cat_row *c = cat_find(cat);
    return c ? c->device : NULL;
}

const struct kind_info kind_infos[KIND_COUNT] = {
    [KIND_OTHER] = {"other", TABLE_NONE, false, true},
    [KIND_OP] = {"cpu_op", TABLE_OP, false, true},
    [KIND_ANNOTATION] = {"user_annotation", TABLE_OP, false, true},
    [KIND_PYTHON] = {"python_function", TABLE_PY, false, true},
    [KIND_RUNTIME] = {"cuda_runtime", TABLE_CALL, false, true},
    [KIND_DRIVER] = {"cuda_driver", TABLE_CALL, false, true},
    [KIND_KERNEL] = {"kernel", TABLE_GPU, true, false},
    [KIND_MEMCPY] = {"gpu_memcpy", TABLE_GPU, true, false},
    [KIND_MEMSET] = {"gpu_memset", TABLE_GPU, true, false},
    [KIND_GPU_ANNOTATION] = {"gpu_user_annotation", TABLE_GPU, true, false},
    [KIND_GPU_SYNC] = {"cuda_sync", TABLE_GPU, true, false},
    [KIND_GPU_EVENT] = {"cuda_event", TABLE_GPU, true, false},
    [KIND_OVERHEAD] = {"overhead", TABLE_NONE, false, false},
    [KIND_MEMORY] = {"memory", TABLE_MEM, false, false},
    [KIND_INSTANT] = {"instant", TABLE_NONE, false, false},
    [KIND_COUNTER] = {"counter", TABLE_NONE, false, false},
    [KIND_WINDOW] = {"window", TABLE_NONE, false, false},
    [KIND_ASYNC] = {"async", TABLE_ASYNC, false, false},
};
