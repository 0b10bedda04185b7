/* copy.c: the words vendors use for directions and memory. */
#include "analyze/names/copy.h"

/* The first word found in the name decides. */
static const struct {
    const char *word;
    enum copy_way way;
    enum copy_memory memory;
} ways[] = {
    /* Kineto and CUPTI: "Memcpy HtoD (Pageable -> Device)"; A is an array, P a peer. HIP has the
     * same, "Memcpy HtoD (Host -> Device)", and hipMemcpyHtoD. */
    {"HtoD", COPY_TO_DEVICE, MEMORY_UNKNOWN},
    {"DtoH", COPY_TO_HOST, MEMORY_UNKNOWN},
    {"DtoD", COPY_INSIDE, MEMORY_UNKNOWN},
    {"PtoP", COPY_INSIDE, MEMORY_UNKNOWN},
    {"HtoA", COPY_TO_DEVICE, MEMORY_UNKNOWN},
    {"AtoH", COPY_TO_HOST, MEMORY_UNKNOWN},
    {"AtoA", COPY_INSIDE, MEMORY_UNKNOWN},
    {"AtoD", COPY_INSIDE, MEMORY_UNKNOWN},
    {"DtoA", COPY_INSIDE, MEMORY_UNKNOWN},
    /* Level Zero: "zeCommandListAppendMemoryCopy(M2D)", in Kineto "Memcpy M2D (Memory -> Device)";
     * M is memory that the driver did not allocate, H memory that it did. XLA and TensorFlow:
     * "MemcpyH2D", and some write "H2D" alone. */
    {"H2D", COPY_TO_DEVICE, MEMORY_UNKNOWN},
    {"D2H", COPY_TO_HOST, MEMORY_UNKNOWN},
    {"D2D", COPY_INSIDE, MEMORY_UNKNOWN},
    {"P2P", COPY_INSIDE, MEMORY_UNKNOWN},
    {"M2D", COPY_TO_DEVICE, MEMORY_PAGEABLE},
    {"D2M", COPY_TO_HOST, MEMORY_PAGEABLE},
    /* roctracer: "CopyHostToDevice"; hipMemcpyHostToDevice, cudaMemcpyHostToDevice */
    {"HostToDevice", COPY_TO_DEVICE, MEMORY_UNKNOWN},
    {"DeviceToHost", COPY_TO_HOST, MEMORY_UNKNOWN},
    {"DeviceToDevice", COPY_INSIDE, MEMORY_UNKNOWN},
    {"PeerToPeer", COPY_INSIDE, MEMORY_UNKNOWN},
    /* rocprof: "MEMORY_COPY_HOST_TO_DEVICE"; Ascend: "ACL_MEMCPY_HOST_TO_DEVICE" */
    {"HOST_TO_DEVICE", COPY_TO_DEVICE, MEMORY_UNKNOWN},
    {"DEVICE_TO_HOST", COPY_TO_HOST, MEMORY_UNKNOWN},
    {"DEVICE_TO_DEVICE", COPY_INSIDE, MEMORY_UNKNOWN},
    /* Nsight Systems: "[CUDA memcpy Host-to-Device]" */
    {"Host-to-Device", COPY_TO_DEVICE, MEMORY_UNKNOWN},
    {"Device-to-Host", COPY_TO_HOST, MEMORY_UNKNOWN},
    {"Device-to-Device", COPY_INSIDE, MEMORY_UNKNOWN},
    {"Peer-to-Peer", COPY_INSIDE, MEMORY_UNKNOWN},
    /* msprof of Ascend */
    {"host to device", COPY_TO_DEVICE, MEMORY_UNKNOWN},
    {"device to host", COPY_TO_HOST, MEMORY_UNKNOWN},
    {"device to device", COPY_INSIDE, MEMORY_UNKNOWN},
};

/* XLA writes them small: "kind_src:pageable". */
static const struct {
    const char *word;
    enum copy_memory memory;
} memories[] = {
    {"Pageable", MEMORY_PAGEABLE},
    {"Pinned", MEMORY_PINNED},
    {"pageable", MEMORY_PAGEABLE},
    {"pinned", MEMORY_PINNED},
};

struct copy copy_parse(struct str name)
{
    struct copy c = {COPY_UNKNOWN, MEMORY_UNKNOWN};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (!str_has(name, ways[i].word)) continue;
        c = (struct copy){ways[i].way, ways[i].memory};
        break;
    }
    for (size_t i = 0; i < sizeof memories / sizeof *memories; i++)
        if (str_has(name, memories[i].word)) return (struct copy){c.way, memories[i].memory};
    return c;
}

struct copy copy_of(const struct trace *t, row_t r)
{
    if (r == ROW_NONE || t->kind[r] != KIND_MEMCPY) return (struct copy){COPY_UNKNOWN, 0};
    return copy_parse(trace_name(t, r));
}
