/* native_stack.c: see native_stack.h. */
#include "backend/program/native_stack.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "backend/program/native_modules.h"
#include "base/mem.h"
#include "format/ring.h"
#include "record/defs.h"

enum {
    PLACES = 2048, /* a power of two */
    STACKS = 256,  /* a power of two */
    WORD = sizeof(uintptr_t),
};

struct known_place {
    uintptr_t ip;
    struct native_place place;
};

/* What one thread remembers. */
struct memo {
    uintptr_t stack_begin, stack_end;
    uint64_t epoch;
    struct known_place places[PLACES];
    struct known_stack {
        uint64_t key;
        uint32_t stack;
    } stacks[STACKS];
};

struct registers {
    uintptr_t of[NATIVE_REGISTERS];
};

static pthread_key_t at_thread_exit;
static bool wanted;
static __thread struct memo *memo __attribute__((tls_model("initial-exec")));
static __thread bool refused __attribute__((tls_model("initial-exec")));

static void native_stack_thread_exits(void *old)
{
    memo = NULL;
    refused = true;
    mem_free(old);
}

static void native_stack_prepare(void)
{
    const char *text = getenv("STRATA_NATIVE");
    wanted = !(text && strcmp(text, "off") == 0) &&
             pthread_key_create(&at_thread_exit, native_stack_thread_exits) == 0;
    if (wanted) pthread_atfork(NULL, NULL, native_modules_forget);
}

static bool native_stack_find_stack(struct memo *m)
{
    pthread_attr_t a;
    void *begin = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &a) != 0) return false;
    int rc = pthread_attr_getstack(&a, &begin, &size);
    pthread_attr_destroy(&a);
    m->stack_begin = (uintptr_t)begin;
    m->stack_end = (uintptr_t)begin + size;
    return rc == 0 && size;
}

static struct memo *own_memo(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (memo || refused) return memo;
    pthread_once(&once, native_stack_prepare);
    struct memo *m = wanted ? mem_zalloc(1, sizeof *m) : NULL;
    refused = !m || !native_stack_find_stack(m) || pthread_setspecific(at_thread_exit, m) != 0;
    if (refused) mem_free(m);
    else memo = m;
    return memo;
}

static uint64_t native_stack_mix(uint64_t x)
{
    x *= 0x9e3779b97f4a7c15u;
    return x ^ x >> 29;
}

static const struct native_place *native_stack_place_of(struct memo *m, uintptr_t ip)
{
    struct known_place *k = &m->places[native_stack_mix(ip) % PLACES];
    if (k->ip == ip) return &k->place;
    k->ip = native_modules_find(ip, &k->place) ? ip : 0;
    return &k->place;
}

/* A word of the thread's own stack, above what is in use by us. */
__attribute__((no_sanitize("address"))) static bool read_word(const struct memo *m, uintptr_t at,
                                                              uintptr_t sp, uintptr_t *ret)
{
    if (at < sp || at % WORD || at < m->stack_begin || at > m->stack_end - WORD) return false;
    *ret = *(const uintptr_t *)at;
    return true;
}

static bool step_by_rule(const struct memo *m, const struct native_rule *rule, struct registers *r)
{
    struct registers caller = *r;
    uintptr_t sp = r->of[NATIVE_SP], cfa = r->of[rule->base] + (uintptr_t)rule->offset;
    if (cfa <= sp || cfa > m->stack_end) return false;
    for (int i = 0; i < NATIVE_SAVED; i++)
        if (rule->saved[i] &&
            !read_word(m, cfa + (uintptr_t)((intptr_t)rule->saved[i] * WORD), sp, &caller.of[i]))
            return false;
    caller.of[NATIVE_SP] = cfa;
    *r = caller;
    return true;
}

/* Where there are no tables: code that was made at run time may still keep frame pointers. */
static bool step_by_pointer(const struct memo *m, struct registers *r)
{
    uintptr_t bp = r->of[NATIVE_BP], sp = r->of[NATIVE_SP], next, ip;
    if (!read_word(m, bp, sp, &next) || !read_word(m, bp + WORD, sp, &ip)) return false;
    r->of[NATIVE_BP] = next;
    r->of[NATIVE_IP] = ip;
    r->of[NATIVE_SP] = bp + 2 * WORD;
    return ip != 0;
}

/* Addresses of calls, innermost first, of functions of the program: without those of
 * the device's libraries, up to the interpreter. */
static int native_stack_walk(struct memo *m, struct registers r, uintptr_t *ret)
{
    int n = 0;
    for (int i = 0; i < NATIVE_DEEPEST + 32 && n < NATIVE_DEEPEST; i++) {
        uintptr_t call = r.of[NATIVE_IP] - 1; /* the caller's: it returns behind the call */
        const struct native_place *p = native_stack_place_of(m, call);
        if (p->kind == NATIVE_PYTHON) break;
        if (p->shown) ret[n++] = call;
        bool further = p->has_rule ? step_by_rule(m, &p->rule, &r) : step_by_pointer(m, &r);
        if (!further || !r.of[NATIVE_IP]) break;
    }
    return n;
}

static uint32_t define_frame(uint32_t parent, const struct native_place *p, uintptr_t call)
{
    struct def_address a = {.library = p->library, .address = call - p->base};
    struct def_frame f = {.parent = parent};
    if (!p->library) return parent;
    f.code = defs_id(DEF_ADDRESS, str_from((const char *)&a, sizeof a));
    uint32_t id = f.code ? defs_id(DEF_FRAME, str_from((const char *)&f, sizeof f)) : 0;
    return id ? id : parent;
}

static uint32_t define_stack(struct memo *m, uint32_t python, const uintptr_t *calls, int n)
{
    uint32_t stack = python;
    for (int i = n; i-- > 0;) {
        const struct native_place *p = native_stack_place_of(m, calls[i]);
        if (p->shown) stack = define_frame(stack, p, calls[i]);
    }
    return stack;
}

static void forget_old(struct memo *m)
{
    uint64_t now = native_modules_epoch();
    if (m->epoch == now) return;
    memset(m->places, 0, sizeof m->places);
    memset(m->stacks, 0, sizeof m->stacks);
    m->epoch = now;
}

__attribute__((noinline)) static void here(struct registers *r)
{
    *r = (struct registers){0};
    r->of[NATIVE_IP] = (uintptr_t)__builtin_return_address(0);
#if defined(__x86_64__)
    /* as they are in our caller, but for the stack and frame pointers: we have changed these */
    __asm__ volatile("movq %%rbx, %0\n\tmovq %%r12, %1\n\tmovq %%r13, %2\n\t"
                     "movq %%r14, %3\n\tmovq %%r15, %4"
                     : "=m"(r->of[NATIVE_BX]), "=m"(r->of[NATIVE_R12]), "=m"(r->of[NATIVE_R13]),
                       "=m"(r->of[NATIVE_R14]), "=m"(r->of[NATIVE_R15]));
#endif
    uintptr_t *frame = __builtin_frame_address(0);
    r->of[NATIVE_BP] = frame[0];
    r->of[NATIVE_SP] = (uintptr_t)(frame + 2);
}

__attribute__((noinline)) uint32_t native_stack_on(uint32_t python)
{
    struct memo *m = own_memo();
    struct registers r;
    uintptr_t calls[NATIVE_DEEPEST];
    if (!m) return python;
    here(&r);
    if (r.of[NATIVE_SP] < m->stack_begin || r.of[NATIVE_SP] >= m->stack_end) return python;
    forget_old(m);
    int n = native_stack_walk(m, r, calls);
    if (!n) return python;
    uint64_t key = python + 1;
    for (int i = 0; i < n; i++) key = native_stack_mix(key ^ calls[i]);
    struct known_stack *k = &m->stacks[key % STACKS];
    if (k->key != key) *k = (struct known_stack){key, define_stack(m, python, calls, n)};
    return k->stack;
}
