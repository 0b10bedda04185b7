/* nccl.c: a program with an NCCL that has a profiler interface of version N, and calls it as NCCL
 * does: nccl N. It loads the library that NCCL_PROFILER_PLUGIN names, makes a communicator,
 * launches kernels and describes each after its launch. Prints what the plug-in asked for and every
 * answer that is not a success. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int (*cuInit)(unsigned);
static int (*cuLaunchKernel)(const char *name, unsigned grid, unsigned stream);
static int (*cuStreamSynchronize)(unsigned stream);

/* Events by their bits. */
enum { GROUP = 1, COLL = 2, P2P = 4, PROXY_OP = 8, GROUP_API = 256, COLL_API = 512 };

struct coll_1 {
    const char *name;
    uint64_t commHash, seqNumber;
    uint8_t func;
    void const *sendBuff;
    void *recvBuff;
    size_t count;
    int root;
    uint8_t datatype;
    uint32_t op;
    size_t trafficBytes;
    uint8_t nMaxChannels, nWarps, algo, proto;
    int isCollnet, isNvls;
};
struct p2p_1 {
    const char *name;
    uint64_t commHash;
    uint8_t func;
    void *buff;
    uint8_t datatype;
    size_t count;
    int peer;
};
struct coll_2 {
    const char *name;
    uint64_t commHash, seqNumber;
    const char *func;
    void const *sendBuff;
    void *recvBuff;
    size_t count;
    int root;
    const char *datatype;
    size_t trafficBytes;
    uint8_t nMaxChannels, nWarps;
    const char *algo, *proto;
};
struct coll_3 {
    const char *name;
    uint64_t commHash, seqNumber;
    const char *func;
    void const *sendBuff;
    void *recvBuff;
    size_t count;
    int root;
    const char *datatype;
    uint8_t nMaxChannels, nWarps;
    const char *algo, *proto;
};
struct p2p_2 {
    const char *name;
    uint64_t commHash;
    const char *func;
    void *buff;
    const char *datatype;
    size_t count;
    int peer;
};
struct coll_4 {
    uint64_t seqNumber;
    const char *func;
    void const *sendBuff;
    void *recvBuff;
    size_t count;
    int root;
    const char *datatype;
    uint8_t nChannels, nWarps;
    const char *algo, *proto;
    void *parentGroup;
};
struct p2p_4 {
    const char *func;
    void *buff;
    const char *datatype;
    size_t count;
    int peer;
    uint8_t nChannels;
    void *parentGroup;
};

struct narrow { /* up to v4 */
    uint8_t type;
    void *parentObj;
    int rank;
    union {
        struct coll_1 coll_1;
        struct coll_2 coll_2;
        struct coll_3 coll_3;
        struct coll_4 coll_4;
        struct p2p_1 p2p_1;
        struct p2p_2 p2p_2;
        struct p2p_4 p2p_4;
    };
};
struct wide { /* from v5 on */
    uint64_t type;
    void *parentObj;
    int rank;
    union {
        struct coll_4 coll_4;
        struct p2p_4 p2p_4;
    };
};

struct profiler {
    const char *name;
    void *init;
    int (*startEvent)(void *context, void **handle, void *description);
    int (*stopEvent)(void *handle);
    int (*recordEventState)(void *handle, int state, void *args);
    int (*finalize)(void *context);
};

static int version;
static struct profiler *profiler;
static void *context;
static int mask;

static void check(const char *what, int rc)
{
    if (rc) printf("%s answers %d\n", what, rc);
}

static void log_line(int level, unsigned long flags, const char *file, int line, const char *fmt,
                     ...)
{
    (void)level, (void)flags, (void)file, (void)line;
    printf("logged: %s\n", fmt);
}

typedef int init_1(void **context, int *mask);
typedef int init_4(void **context, int *mask, const char *name, uint64_t hash, int nodes, int ranks,
                   int rank, void (*log)(int, unsigned long, const char *, int, const char *, ...));
typedef int init_5(void **context, uint64_t hash, int *mask, const char *name, int nodes, int ranks,
                   int rank, void (*log)(int, unsigned long, const char *, int, const char *, ...));

static int init(void)
{
    union {
        void *p;
        init_1 *v1;
        init_4 *v4;
        init_5 *v5;
    } f = {profiler->init};
    if (version < 4) return f.v1(&context, &mask);
    if (version == 4) return f.v4(&context, &mask, "tp", 0xabc, 1, 4, 1, log_line);
    return f.v5(&context, 0xabc, &mask, "tp", 1, 4, 1, log_line);
}

static void begin_and_end(void *description)
{
    void *handle = (void *)"what was there before";
    check("startEvent", profiler->startEvent(context, &handle, description));
    check("recordEventState", profiler->recordEventState(handle, 3, NULL));
    check("stopEvent", profiler->stopEvent(handle));
}

/* An event of which the plug-in wants to know nothing. */
static void other(unsigned type)
{
    struct narrow n = {.type = (uint8_t)type, .rank = 1};
    struct wide w = {.type = type, .rank = 1};
    memset(&n.coll_1, 0xee, sizeof n.coll_1);
    memset(&w.coll_4, 0xee, sizeof w.coll_4);
    begin_and_end(version < 5 ? (void *)&n : (void *)&w);
}

static void collective(bool gathers, uint64_t seq, size_t count)
{
    struct coll_4 c = {seq,
                       gathers ? "AllGather" : "AllReduce",
                       NULL,
                       NULL,
                       count,
                       0,
                       gathers ? "ncclFloat16" : "ncclFloat32",
                       16,
                       17,
                       "RING",
                       gathers ? "SIMPLE" : "LL",
                       NULL};
    struct narrow n = {.type = COLL, .rank = 1};
    struct wide w = {.type = COLL, .rank = 1, .coll_4 = c};
    if (version == 1)
        n.coll_1 = (struct coll_1){
            NULL, 0xabc, seq, gathers ? 2 : 4, NULL, NULL, count, 0, gathers ? 6 : 7, 0, 99,
            16,   17,    1,   gathers ? 2 : 0, 0,    0};
    else if (version == 2)
        n.coll_2 = (struct coll_2){NULL, 0xabc,      seq, c.func, NULL, NULL,   count,
                                   0,    c.datatype, 99,  16,     17,   c.algo, c.proto};
    else if (version == 3)
        n.coll_3 = (struct coll_3){NULL, 0xabc,      seq, c.func, NULL,   NULL,   count,
                                   0,    c.datatype, 16,  17,     c.algo, c.proto};
    else n.coll_4 = c;
    begin_and_end(version < 5 ? (void *)&n : (void *)&w);
}

static void message(bool sends, int peer, size_t count)
{
    struct p2p_4 p = {sends ? "Send" : "Recv", NULL, "ncclFloat32", count, peer, 2, NULL};
    struct narrow n = {.type = P2P, .rank = 1};
    struct wide w = {.type = P2P, .rank = 1, .p2p_4 = p};
    if (version == 1) n.p2p_1 = (struct p2p_1){NULL, 0xabc, sends ? 6 : 7, NULL, 7, count, peer};
    else if (version < 4)
        n.p2p_2 = (struct p2p_2){NULL, 0xabc, p.func, NULL, p.datatype, count, peer};
    else n.p2p_4 = p;
    begin_and_end(version < 5 ? (void *)&n : (void *)&w);
}

static void communicate(void)
{
    for (uint64_t i = 0; i < 3; i++) {
        other(GROUP_API);
        other(COLL_API);
        cuLaunchKernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 16, 0);
        other(GROUP);
        collective(false, i, 1000);
        other(PROXY_OP);
        cuLaunchKernel("_Z3addPfS_", 1, 0);
    }
    cuLaunchKernel("ncclDevKernel_AllGather_RING_LL", 16, 0);
    collective(true, 0, 500);
    cuLaunchKernel("ncclDevKernel_SendRecv", 2, 0);
    message(true, 2, 300);
    message(false, 0, 300);
    cuStreamSynchronize(0);
}

static void *load(const char *name, bool must)
{
    void *h = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (h || !must) return h;
    fprintf(stderr, "%s\n", dlerror());
    exit(9);
}

static void find(void *h, const char *name, void *function)
{
    void *p = dlsym(h, name);
    memcpy(function, &p, sizeof p);
}

int main(int argc, char **argv)
{
    const char *cupti = getenv("APP_CUPTI"), *plugin = getenv("NCCL_PROFILER_PLUGIN");
    version = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1;
    if (cupti) load(cupti, false);
    void *cuda = load("libcuda.so.1", true);
    find(cuda, "cuInit", &cuInit);
    find(cuda, "cuLaunchKernel", &cuLaunchKernel);
    find(cuda, "cuStreamSynchronize", &cuStreamSynchronize);
    cuInit(0);
    void *h = load(plugin ? plugin : "libnccl-profiler.so", true);
    char symbol[32];
    snprintf(symbol, sizeof symbol, "ncclProfiler_v%d", version);
    find(h, symbol, &profiler);
    if (!profiler) {
        printf("no %s\n", symbol);
        return 0;
    }
    check("init", init());
    printf("%s wants %d, context %s\n", profiler->name, mask, context ? "yes" : "no");
    communicate();
    check("finalize", profiler->finalize(context));
    check("init", init()); /* another communicator, of which nothing comes */
    check("finalize", profiler->finalize(context));
    dlclose(h);
    printf("done\n");
    return 0;
}
