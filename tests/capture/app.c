/* app.c: an ordinary CUDA program, which knows nothing of profilers: it loads CUPTI because torch
 * would, starts the driver, and does what its words say, one after the other:
 *
 *     steady=N  N kernels, ten million a minute
 *     launch=N  N kernels       graph=N  a graph of N nodes        copy  sync  devsync
 *     capture=N  N kernels into a graph          capturing=N  as beat, into a graph
 *     instantiate  that graph, for graph=N to launch
 *     threads=N  N threads that launch a thousand kernels each     sleep=MS
 *     beat=N  N times: some kernels that are waited for, a tenth of a second apart
 *     long=MS  a kernel that takes so long       busy=N  as beat, behind it, waiting for others
 *     profiler  profiled  subscribe  another profiler begins, ends, attaches (other.h)
 *     other  other_ended  somebody tells of it
 *     pause  resume  stop  start  of our own recording
 *     pausers=N  N threads that pause it, launch and resume it, ten times
 *     destroy  the context, and with it what CUPTI has not handed over
 *     kinds  prints how many kinds of record are on
 *     straddle  a call that is under way when a pause ends
 *     fork  a child that goes on with the words behind, the parent waits for it and ends
 *     forks=N  N children that end at once
 *     _exit  kill  abort  return */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "other.h"

static void *cupti;
static int (*cuInit)(unsigned);
static int (*cuLaunchKernel)(const char *name, unsigned grid, unsigned stream);
static int (*cuGraphInstantiate)(void);
static int (*cuGraphLaunch)(unsigned nodes, unsigned stream);
static int (*cuStreamBeginCapture_v2)(unsigned stream);
static int (*cuStreamEndCapture)(unsigned stream);
static int (*cuMemcpyDtoHAsync)(size_t bytes, unsigned stream);
static int (*cuMemcpyHtoD)(size_t bytes);
static int (*cuMemsetD8Async)(size_t bytes, unsigned stream);
static int (*cuMemAlloc)(size_t bytes);
static int (*cuStreamSynchronize)(unsigned stream);
static int (*cuCtxSynchronize)(void);
static int (*cuCtxDestroy)(void *context);

static void find(void *h, const char *name, void *function)
{
    void *p = dlsym(h, name);
    if (!p) {
        fprintf(stderr, "no %s\n", name);
        exit(9);
    }
    memcpy(function, &p, sizeof p);
}

static void load(void)
{
    const char *name = getenv("APP_CUPTI");
    if (name && *name && !(cupti = dlopen(name, RTLD_NOW))) fprintf(stderr, "%s\n", dlerror());
    void *h = dlopen("libcuda.so.1", RTLD_NOW);
    if (!h) {
        fprintf(stderr, "%s\n", dlerror());
        exit(9);
    }
    find(h, "cuInit", &cuInit);
    find(h, "cuLaunchKernel", &cuLaunchKernel);
    find(h, "cuGraphInstantiateWithFlags", &cuGraphInstantiate);
    find(h, "cuGraphLaunch", &cuGraphLaunch);
    find(h, "cuStreamBeginCapture_v2", &cuStreamBeginCapture_v2);
    find(h, "cuStreamEndCapture", &cuStreamEndCapture);
    find(h, "cuMemcpyDtoHAsync_v2", &cuMemcpyDtoHAsync);
    find(h, "cuMemcpyHtoD_v2", &cuMemcpyHtoD);
    find(h, "cuMemsetD8Async", &cuMemsetD8Async);
    find(h, "cuMemAlloc_v2", &cuMemAlloc);
    find(h, "cuStreamSynchronize", &cuStreamSynchronize);
    find(h, "cuCtxSynchronize", &cuCtxSynchronize);
    find(h, "cuCtxDestroy_v2", &cuCtxDestroy);
}

static void launch(long n, unsigned stream)
{
    static const char *const names[] = {"_Z4gemmPfS_S_", "_Z3addPfS_", "_Z7softmaxPf"};
    for (long i = 0; i < n; i++) cuLaunchKernel(names[i % 3], 1 + (unsigned)(i % 3), stream);
}

static void launch_steadily(long n)
{
    for (long i = 0; i < n; i += 100) {
        launch(100, 0);
        usleep(500);
    }
}

static void launch_and_wait(long n, unsigned waits_for)
{
    for (long i = 0; i < n; i++) {
        launch(3, 0);
        cuStreamSynchronize(waits_for);
        usleep(100000);
    }
}

static void *library(void)
{
    return dlopen(getenv("CUDA_INJECTION64_PATH"), RTLD_NOW);
}

static void pause_recording(int paused)
{
    void (*fn)(int);
    find(library(), "strata_inject_pause", &fn);
    fn(paused);
}

static void tell_of_other(int begins)
{
    void (*fn)(int);
    find(library(), "strata_inject_other", &fn);
    fn(begins);
}

static void stop_recording(void)
{
    void (*fn)(void);
    find(library(), "strata_inject_stop", &fn);
    fn();
}

static void start_recording(void)
{
    int (*fn)(const char *backend);
    find(library(), "strata_inject_start", &fn);
    printf("start: %s\n", fn("cuda") == 0 ? "yes" : "no");
}

static void count_kinds(void)
{
    int (*fn)(void);
    find(cupti, "cuptiFakeKindsOn", &fn);
    printf("kinds: %d\n", fn());
}

static void *wait_long(void *unused)
{
    cuLaunchKernel("_Z4longv", 200000, 2);
    cuStreamSynchronize(2);
    return unused;
}

static void straddle(void)
{
    pthread_t thread;
    pause_recording(1);
    pthread_create(&thread, NULL, wait_long, NULL);
    usleep(50000);
    pause_recording(0);
    pthread_join(thread, NULL);
}

static void *launch_thousand(void *stream)
{
    launch(1000, (unsigned)(size_t)stream);
    cuStreamSynchronize((unsigned)(size_t)stream);
    return NULL;
}

static void *pause_and_resume(void *stream)
{
    for (int i = 0; i < 10; i++) {
        pause_recording(1);
        launch(10, (unsigned)(size_t)stream);
        pause_recording(0);
        launch(10, (unsigned)(size_t)stream);
    }
    return NULL;
}

static void run_threads(long n, void *(*run)(void *stream))
{
    pthread_t threads[16];
    if (n > 16) n = 16;
    for (long i = 0; i < n; i++) pthread_create(&threads[i], NULL, run, (void *)(size_t)(i + 1));
    for (long i = 0; i < n; i++) pthread_join(threads[i], NULL);
}

/* In the child nothing of CUDA works, and a program that forks knows that. */
static void go_on_in_child(void)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) return;
    int status = 0;
    waitpid(child, &status, 0);
    exit(WIFEXITED(status) ? WEXITSTATUS(status) : 8);
}

static void capture_graph(long n)
{
    cuStreamBeginCapture_v2(0);
    launch(n, 0);
    cuStreamEndCapture(0);
}

static void fork_often(long n)
{
    fflush(stdout);
    for (long i = 0; i < n; i++) {
        pid_t child = fork();
        if (child == 0) exit(0);
        int status = -1;
        waitpid(child, &status, 0);
        if (status != 0) exit(7);
        usleep(20000);
    }
}

static void capture_for_long(long n)
{
    cuStreamBeginCapture_v2(0);
    launch_and_wait(n, 1);
    cuStreamEndCapture(0);
}

static void obey(const char *word)
{
    const char *value = strchr(word, '=');
    long n = value ? strtol(value + 1, NULL, 10) : 0;
    size_t len = value ? (size_t)(value - word) : strlen(word);
#define IS(w) (len == strlen(w) && memcmp(word, w, len) == 0)
    if (IS("launch")) launch(n, 0);
    else if (IS("steady")) launch_steadily(n);
    else if (IS("beat")) launch_and_wait(n, 0);
    else if (IS("busy")) launch_and_wait(n, 1);
    else if (IS("long")) cuLaunchKernel("_Z4longv", (unsigned)n * 1000, 0);
    else if (IS("profiler")) other_begin(cupti);
    else if (IS("profiled")) other_end();
    else if (IS("subscribe")) other_subscribe(cupti);
    else if (IS("pause")) pause_recording(1);
    else if (IS("resume")) pause_recording(0);
    else if (IS("other")) tell_of_other(1);
    else if (IS("other_ended")) tell_of_other(0);
    else if (IS("stop")) stop_recording();
    else if (IS("start")) start_recording();
    else if (IS("straddle")) straddle();
    else if (IS("kinds")) count_kinds();
    else if (IS("device1")) launch(n, 1u << 16 | 1);
    else if (IS("graph")) cuGraphLaunch((unsigned)n, 0);
    else if (IS("capture")) capture_graph(n);
    else if (IS("instantiate")) cuGraphInstantiate();
    else if (IS("capturing")) capture_for_long(n);
    else if (IS("copy")) cuMemcpyDtoHAsync(8, 0), cuMemcpyHtoD(4096);
    else if (IS("set")) cuMemsetD8Async(256, 0);
    else if (IS("alloc")) cuMemAlloc(1 << 20);
    else if (IS("sync")) cuStreamSynchronize(0);
    else if (IS("devsync")) cuCtxSynchronize();
    else if (IS("destroy")) cuCtxDestroy(NULL);
    else if (IS("threads")) run_threads(n, launch_thousand);
    else if (IS("pausers")) run_threads(n, pause_and_resume);
    else if (IS("sleep")) usleep((useconds_t)n * 1000);
    else if (IS("fork")) go_on_in_child();
    else if (IS("forks")) fork_often(n);
    else if (IS("_exit")) _exit((int)n);
    else if (IS("kill")) kill(getpid(), SIGKILL);
    else if (IS("abort")) abort();
    else if (IS("return")) exit((int)n);
    else fprintf(stderr, "app: what is %s?\n", word);
#undef IS
}

int main(int argc, char **argv)
{
    load();
    int rc = cuInit(0);
    printf("cuInit %d\n", rc);
    for (int i = 1; rc == 0 && i < argc; i++) obey(argv[i]);
    printf("done\n");
    return 0;
}
