/* enter_process.c: see enter_process.h. */
#include "attach/enter_process.h"

#include <assert.h>
#include <dirent.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attach/held_thread.h"
#include "base/clock.h"

enum {
    MOST_THREADS = 4096,
    PAGE = 4096,
    SEARCH_MS = 5000, /* for a thread at a safe point */
    LOAD_MS = 20000,  /* for the library to be loaded: the loader may be busy */
    WHY_BYTES = 300,
};

/* Beside the code, in the process: what the thread there needs, and what it reports. The offsets
 * are those of the code below. */
struct visit {
    uint64_t create, self, detach, open, symbol, error, unmap; /* functions */
    uint64_t page, n_bytes;
    uint64_t library, entry, run, python; /* texts */
    uint64_t thread;
    uint64_t why;    /* text of an error */
    int32_t created; /* 1 + what pthread_create returned */
    int32_t state;
    int32_t seen; /* by us: SEEN, or GIVEN_UP, and then nothing is started any more */
};
enum { LOADING = 1, ENTERED, FAILED };
enum { SEEN = 1, GIVEN_UP };

#if defined(__x86_64__)
/* First what the thread that is held calls: it starts a thread, and is done. Then that thread: it
 * loads the library, calls it, waits until the result was seen, or two seconds, and unmaps this
 * very code on its way out. */
__asm__(".pushsection .rodata\n"
        ".globl strata_visit_begin, strata_visit_end\n"
        ".hidden strata_visit_begin, strata_visit_end\n"
        "strata_visit_begin:\n"
        "  push %rbx\n"
        "  mov %rdi, %rbx\n"
        "  lea 104(%rbx), %rdi\n"
        "  xor %esi, %esi\n"
        "  lea 1f(%rip), %rdx\n"
        "  mov %rbx, %rcx\n"
        "  call *0(%rbx)\n"
        "  inc %eax\n"
        "  mov %eax, 120(%rbx)\n"
        "  pop %rbx\n"
        "  ret\n"
        "1: push %rbx\n"
        "  push %r12\n"
        "  sub $24, %rsp\n"
        "  mov %rdi, %rbx\n"
        "  call *8(%rbx)\n"
        "  mov %rax, %rdi\n"
        "  call *16(%rbx)\n"
        "  movl $1, 124(%rbx)\n"
        "  mov 72(%rbx), %rdi\n"
        "  mov $2, %esi\n"
        "  call *24(%rbx)\n"
        "  test %rax, %rax\n"
        "  jz 2f\n"
        "  cmpl $0, 128(%rbx)\n"
        "  jne 5f\n"
        "  mov %rax, %rdi\n"
        "  mov 80(%rbx), %rsi\n"
        "  call *32(%rbx)\n"
        "  test %rax, %rax\n"
        "  jz 2f\n"
        "  mov 88(%rbx), %rdi\n"
        "  mov 96(%rbx), %rsi\n"
        "  call *%rax\n"
        "  movl $2, 124(%rbx)\n"
        "  jmp 3f\n"
        "2: call *40(%rbx)\n"
        "  mov %rax, 112(%rbx)\n"
        "  movl $3, 124(%rbx)\n"
        "3: mov $200, %r12d\n"
        "4: cmpl $0, 128(%rbx)\n"
        "  jne 5f\n"
        "  movq $0, (%rsp)\n"
        "  movq $10000000, 8(%rsp)\n"
        "  mov %rsp, %rdi\n"
        "  xor %esi, %esi\n"
        "  mov $35, %eax\n"
        "  syscall\n"
        "  dec %r12d\n"
        "  jnz 4b\n"
        "5: mov 56(%rbx), %rdi\n"
        "  mov 64(%rbx), %rsi\n"
        "  mov 48(%rbx), %rax\n"
        "  add $24, %rsp\n"
        "  pop %r12\n"
        "  pop %rbx\n"
        "  jmp *%rax\n"
        "strata_visit_end:\n"
        ".popsection\n");
extern const uint8_t strata_visit_begin[], strata_visit_end[];
static_assert(offsetof(struct visit, thread) == 104 && offsetof(struct visit, why) == 112 &&
                  offsetof(struct visit, created) == 120 && offsetof(struct visit, state) == 124 &&
                  offsetof(struct visit, seen) == 128 && offsetof(struct visit, library) == 72,
              "the code above has these offsets");
#else
static const uint8_t strata_visit_begin[1], *const strata_visit_end = strata_visit_begin;
#endif

struct entrance {
    struct arena arena;
    struct target target;
    struct safe_point safe;
    struct enter_cost *cost;
};

static int entrance_open(struct entrance *x, long pid, struct enter_cost *cost, struct err *e)
{
    *x = (struct entrance){.target.mem = -1, .cost = cost};
    *cost = (struct enter_cost){0};
    arena_init(&x->arena);
    TRY(target_check(pid, e));
    TRY(target_open(&x->target, pid, &x->arena, e));
    return safe_point_init(&x->safe, &x->target, e);
}

static void entrance_close(struct entrance *x)
{
    safe_point_done(&x->safe);
    target_close(&x->target);
    arena_done(&x->arena);
}

/* How good a thread is to be held: 0 for one that waits for something that goes on waiting, 1 for
 * one that runs, 2 for the main thread, negative for one that cannot be stopped. */
static int entrance_rank(long pid, long tid)
{
    char path[80], line[512], state = 0;
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/stat", pid, tid);
    FILE *f = fopen(path, "re");
    char *end = f && fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
    if (f) fclose(f);
    if (end && end[1]) state = end[2];
    if (state != 'S' && state != 'R') return -1;
    return (tid == pid ? 2 : 0) + (state == 'R');
}

static size_t entrance_threads(long pid, long *ret)
{
    char path[64];
    size_t n = 0;
    snprintf(path, sizeof path, "/proc/%ld/task", pid);
    for (int rank = 0; rank < 4; rank++) {
        DIR *d = opendir(path);
        for (struct dirent *entry; d && n < MOST_THREADS && (entry = readdir(d));) {
            long tid = strtol(entry->d_name, NULL, 10);
            if (tid > 0 && entrance_rank(pid, tid) == rank) ret[n++] = tid;
        }
        if (d) closedir(d);
    }
    return n;
}

static void entrance_let_go(struct entrance *x, struct held_thread *h, bool entered)
{
    uint64_t ns = held_thread_release(h);
    x->cost->n_stops++;
    if (ns > x->cost->longest_ns) x->cost->longest_ns = ns;
    if (!entered) return;
    x->cost->tid = h->tid;
    x->cost->held_ns = ns;
}

/* Holds a thread: any that has a stack, or one that is at a safe point. */
static int entrance_hold(struct entrance *x, bool safely, struct held_thread *h, struct err *e)
{
    static long threads[MOST_THREADS];
    const char *why = "it has no thread that can be stopped";
    uint64_t until = clock_mono_ns() + SEARCH_MS * 1000000ull;
    for (unsigned pause_us = 500; clock_mono_ns() < until;
         pause_us += pause_us < 50000 ? pause_us : 0) {
        size_t n = entrance_threads(x->target.pid, threads);
        if (!n && access("/proc/self", F_OK) == 0) TRY(target_check(x->target.pid, e));
        for (size_t i = 0; i < n; i++) {
            int rc = held_thread_stop(h, &x->target, threads[i], x->safe.restorer, e);
            if (rc == ERR_IO) { /* it has ended meanwhile */
                if (e) err_init(e);
                continue;
            }
            if (rc < 0) return rc;
            h->asker = x->safe.asker;
            why = safely                              ? safe_point_check(&x->safe, h)
                  : safe_point_has_stack(&x->safe, h) ? NULL
                                                      : "it uses a stack that is not its own";
            if (!why) return 0;
            entrance_let_go(x, h, false);
        }
        usleep(pause_us);
        TRY(target_refresh(&x->target, e));
        safe_point_done(&x->safe);
        TRY(safe_point_init(&x->safe, &x->target, e));
    }
    return FAIL(e, ERR_UNSUPPORTED,
                "process %ld was left alone: in %d seconds no thread of it came to a place where a "
                "function can be called (the last one: %s). Try again, or start it with strata run "
                "--level standby",
                x->target.pid, SEARCH_MS / 1000, why);
}

static int entrance_map(struct entrance *x, struct held_thread *h, size_t n, uintptr_t *ret,
                        struct err *e)
{
    struct target_function f = {0, 0};
    if (!target_functions(&x->target, x->safe.family[0].module, "mmap", &f, 1))
        return FAIL(e, ERR_UNSUPPORTED, "the C library of process %ld has no mmap", x->target.pid);
    struct held_call c = {
        f.begin,
        {0, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0},
        HELD_SYSCALL};
    uint64_t at = 0;
    TRY(held_thread_call(h, &c, &at, e));
    *ret = at;
    if ((int64_t)at > 0) return 0;
    return FAIL(e, ERR_UNSUPPORTED, "process %ld gets no memory: %s", x->target.pid,
                strerror((int)-(int64_t)at));
}

static bool entrance_find(const struct entrance *x, const char *name, uint64_t *ret)
{
    *ret = target_function(&x->target, name, NULL).begin;
    return *ret != 0;
}

static int entrance_pend(struct entrance *x, struct held_thread *h, const char *words,
                         const uint64_t functions[3], struct err *e)
{
    uint64_t ready = 0;
    uintptr_t page = 0;
    struct held_call check = {functions[2], {UINT64_MAX}, HELD_SHORT};
    TRY(held_thread_call(h, &check, &ready, e));
    if (!(uint32_t)ready)
        return FAIL(e, ERR_UNSUPPORTED,
                    "the Python of process %ld is just starting or ending: try again",
                    x->target.pid);
    size_t n = strlen(words) + 1;
    TRY(entrance_map(x, h, n, &page, e));
    if (!target_write(&x->target, page, words, n))
        return FAIL(e, ERR_IO, "process %ld cannot be written to", x->target.pid);
    struct held_call pend = {functions[0], {functions[1], page}, HELD_REVOCABLE};
    return held_thread_call(h, &pend, NULL, e);
}

int enter_process_python(const struct enter_request *r, bool *ret_python, struct enter_cost *ret,
                         struct err *e)
{
    struct entrance x;
    struct held_thread h;
    uint64_t functions[3];
    *ret_python = false;
    int rc = entrance_open(&x, r->pid, ret, e);
    bool python = rc == 0 && entrance_find(&x, "Py_AddPendingCall", &functions[0]) &&
                  entrance_find(&x, "PyRun_SimpleString", &functions[1]) &&
                  entrance_find(&x, "Py_IsInitialized", &functions[2]);
    if (python) rc = entrance_hold(&x, false, &h, e);
    if (python && rc == 0) {
        rc = entrance_pend(&x, &h, r->python, functions, e);
        entrance_let_go(&x, &h, rc == 0);
        *ret_python = rc == 0;
    }
    entrance_close(&x);
    return rc;
}

static int entrance_fill(struct entrance *x, const struct enter_request *r, uintptr_t page,
                         size_t n, struct err *e)
{
    struct visit v = {.page = page, .n_bytes = n};
    static const char entry[] = "strata_inject_enter";
    const char *texts[] = {r->library, entry, r->run, r->python};
    uint64_t *places[] = {&v.library, &v.entry, &v.run, &v.python};
    uintptr_t at = page + PAGE + sizeof v;
    if (!entrance_find(x, "pthread_create", &v.create) ||
        !entrance_find(x, "pthread_self", &v.self) ||
        !entrance_find(x, "pthread_detach", &v.detach) || !entrance_find(x, "dlopen", &v.open) ||
        !entrance_find(x, "dlsym", &v.symbol) || !entrance_find(x, "dlerror", &v.error) ||
        !entrance_find(x, "munmap", &v.unmap))
        return FAIL(e, ERR_UNSUPPORTED,
                    "the program of process %ld has no threads or loads no libraries, and its C "
                    "library is older than 2.34. Start it with strata run --level standby",
                    x->target.pid);
    for (int i = 0; i < 4; i++) {
        *places[i] = at;
        if (!target_write(&x->target, at, texts[i], strlen(texts[i]) + 1))
            return FAIL(e, ERR_IO, "process %ld cannot be written to", x->target.pid);
        at += strlen(texts[i]) + 1;
    }
    if (target_write(&x->target, page, strata_visit_begin,
                     (size_t)(strata_visit_end - strata_visit_begin)) &&
        target_write(&x->target, page + PAGE, &v, sizeof v))
        return 0;
    return FAIL(e, ERR_IO, "process %ld cannot be written to", x->target.pid);
}

/* With the thread held: a thread of ours is started. */
static int entrance_visit(struct entrance *x, struct held_thread *h, const struct enter_request *r,
                          uintptr_t *ret_visit, struct err *e)
{
    struct target_function protect = {0, 0};
    struct visit v;
    uintptr_t page = 0;
    uint64_t result = 0;
    size_t n = PAGE + sizeof v + strlen(r->library) + strlen(r->run) + strlen(r->python) + 64;
    n = (n + PAGE - 1) / PAGE * PAGE;
    TRY(entrance_map(x, h, n, &page, e));
    TRY(entrance_fill(x, r, page, n, e));
    if (!target_functions(&x->target, x->safe.family[0].module, "mprotect", &protect, 1))
        return FAIL(e, ERR_UNSUPPORTED, "the C library of process %ld has no mprotect", r->pid);
    struct held_call c = {protect.begin, {page, PAGE, PROT_READ | PROT_EXEC}, HELD_SYSCALL};
    TRY(held_thread_call(h, &c, &result, e));
    if (result)
        return FAIL(e, ERR_UNSUPPORTED,
                    "process %ld may not run code that was not in it before (a rule of the system, "
                    "for instance SELinux's execmem). Start it with strata run --level standby",
                    r->pid);
    struct held_call start = {page, {page + PAGE}, HELD_FINAL};
    *ret_visit = page + PAGE;
    TRY(held_thread_call(h, &start, NULL, e));
    if (!target_read(&x->target, page + PAGE, &v, sizeof v) || v.created != 1)
        return FAIL(e, ERR_IO, "process %ld can start no more threads", r->pid);
    return 0;
}

static int entrance_wait(struct entrance *x, uintptr_t at, struct err *e)
{
    uint64_t until = clock_mono_ns() + LOAD_MS * 1000000ull;
    struct visit v = {0};
    int32_t seen = SEEN;
    while (v.state < ENTERED && clock_mono_ns() < until) {
        if (!target_read(&x->target, at, &v, sizeof v)) break;
        usleep(1000);
    }
    char why[WHY_BYTES] = "";
    if (v.state == FAILED && v.why)
        for (size_t i = 0;
             i + 1 < sizeof why && target_read(&x->target, v.why + i, why + i, 1) && why[i]; i++)
            why[i + 1] = 0;
    if (v.state < ENTERED) seen = GIVEN_UP;
    (void)target_write(&x->target, at + offsetof(struct visit, seen), &seen, sizeof seen);
    if (v.state == ENTERED) return 0;
    if (v.state == FAILED)
        return FAIL(e, ERR_UNSUPPORTED, "process %ld does not load the library: %s", x->target.pid,
                    why);
    return FAIL(e, ERR_UNSUPPORTED,
                "process %ld is busy loading a library (another thread holds the loader's lock): "
                "try again later",
                x->target.pid);
}

int enter_process_native(const struct enter_request *r, struct enter_cost *ret, struct err *e)
{
    struct entrance x;
    struct held_thread h;
    uintptr_t visit = 0;
    int rc = entrance_open(&x, r->pid, ret, e);
    if (rc == 0) rc = entrance_hold(&x, true, &h, e);
    if (rc == 0) {
        rc = entrance_visit(&x, &h, r, &visit, e);
        entrance_let_go(&x, &h, rc == 0);
        if (rc == 0) rc = entrance_wait(&x, visit, e);
    }
    entrance_close(&x);
    return rc;
}
