/* held_thread.c: see held_thread.h.
 *
 * Below the thread's stack, from its end downwards:
 *
 *     128 bytes that functions use without saying so
 *     vector registers as XSAVE has them, aligned to 64 bytes, with the kernel's marks
 *     struct ucontext: registers and signal mask
 *     address of rt_sigreturn                              <- stack pointer of the call
 *     address of a system call, for short functions        <- ... or here */
#include "attach/held_thread.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/mem.h"

enum {
    STOP_MS = 1000,     /* until a thread has stopped; one that does not is in the kernel's hands */
    REVOKE_MS = 20,     /* until a call that waits is taken back */
    FINAL_MS = 5000,    /* until we no longer watch a call that ends by itself */
    MOST_STOPS = 10000, /* on the way through a call */
    RED_ZONE = 128,
    LEGACY_BYTES = 512,
    LEAST_BYTES = 576, /* with the head that says what follows */
    XSTATE_MOST = 16384,
    SOFTWARE_AT = 464, /* in the legacy part: the kernel's words */
    ROOM_BYTES = 32768 /* that a call may take */
};
#define XSTATE_MAGIC1 0x46505853u
#define XSTATE_MAGIC2 0x46505845u
/* The kernel's own numbers for interrupted system calls, which programs never see. */
enum { RESTART_FIRST = 512, RESTART_LAST = 516 };

struct software_bytes {
    uint32_t magic, extended_bytes;
    uint64_t features;
    uint32_t bytes, padding[7];
};

struct signal_context {
    uint64_t r8, r9, r10, r11, r12, r13, r14, r15, di, si, bp, bx, dx, ax, cx, sp, ip, flags;
    uint16_t cs, gs, fs, ss;
    uint64_t err, trapno, oldmask, cr2, fpstate, reserved[8];
};

struct user_context {
    uint64_t flags, link;
    struct {
        uint64_t sp;
        uint32_t flags, padding;
        uint64_t size;
    } stack;
    struct signal_context registers;
    uint64_t mask;
};

struct held_state {
    struct user_regs_struct before; /* as the thread is to go on */
    uint64_t mask;
    size_t n_xstate, n_all;
    uint8_t xstate[XSTATE_MOST + 64];
};

static long held_ptrace(int request, long tid, uintptr_t at, const void *data)
{
    return ptrace(request, (pid_t)tid, (void *)at, data); /* NOLINT(performance-no-int-to-ptr) */
}

/* The next stop; ERR_LIMIT when none comes in time. */
static int held_wait(struct held_thread *h, int ms, int *ret, struct err *e)
{
    uint64_t until = clock_mono_ns() + (uint64_t)ms * 1000000;
    for (;;) {
        int status;
        pid_t got = waitpid((pid_t)h->tid, &status, __WALL | WNOHANG);
        if (got == h->tid && WIFSTOPPED(status)) {
            *ret = status;
            return 0;
        }
        if (got == h->tid || (got < 0 && errno != EINTR))
            return FAIL(e, ERR_IO, "the thread has ended meanwhile");
        if (clock_mono_ns() > until) return FAIL(e, ERR_LIMIT, "the thread does not stop");
        usleep(20);
    }
}

/* Interrupted system calls by which programs notice a stop although no handler ran: waiting
 * without any effect so far, so they can be made again. */
static bool held_would_notice(uint64_t number)
{
    static const uint16_t list[] = {232, 281, 441, 65, 220, 208, 333}; /* epoll, semaphores, aio */
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (list[i] == number) return true;
    return false;
}

/* As the kernel does where no handler runs, but for sleeps, whose rest is known to it alone: these
 * begin again. */
static void held_make_again(struct user_regs_struct *r)
{
    int64_t number = (int64_t)r->orig_rax, result = (int64_t)r->rax;
    r->orig_rax = (unsigned long long)-1;
    if (number < 0) return;
    bool restarts = result <= -RESTART_FIRST && result >= -RESTART_LAST && result != -515;
    if (!restarts && !(result == -EINTR && held_would_notice((uint64_t)number))) return;
    r->rax = (unsigned long long)number;
    r->rip -= 2;
}

/* The part of the vector registers that is in use: the kernel takes no more than the process has
 * asked for (AMX). */
static size_t held_in_use(const uint8_t *xstate, size_t n)
{
    uint64_t used;
    memcpy(&used, xstate + LEGACY_BYTES, sizeof used);
    size_t bytes = LEAST_BYTES;
    for (unsigned i = 2; i < 63; i++) {
        unsigned size, at, c, d;
        if (!(used >> i & 1) || !__get_cpuid_count(0xd, i, &size, &at, &c, &d)) continue;
        if (at + size > bytes) bytes = at + size;
    }
    return bytes <= n ? bytes : n;
}

static void held_mark_xstate(struct held_state *s)
{
    struct software_bytes w = {.magic = XSTATE_MAGIC1, .bytes = (uint32_t)s->n_xstate};
    uint32_t end = XSTATE_MAGIC2;
    memcpy(&w.features, s->xstate + LEGACY_BYTES, sizeof w.features);
    w.features |= 3;
    w.extended_bytes = w.bytes + sizeof end;
    memcpy(s->xstate + SOFTWARE_AT, &w, sizeof w);
    memcpy(s->xstate + s->n_xstate, &end, sizeof end);
}

static int held_look(struct held_thread *h, struct err *e)
{
    struct held_state *s = h->state;
    struct iovec v = {s->xstate, XSTATE_MOST};
    struct user_regs_struct *r = &s->before;
    if (held_ptrace(PTRACE_GETREGS, h->tid, 0, r) < 0 ||
        held_ptrace(PTRACE_GETSIGMASK, h->tid, sizeof s->mask, &s->mask) < 0 ||
        held_ptrace(PTRACE_GETREGSET, h->tid, NT_X86_XSTATE, &v) < 0 || v.iov_len < LEAST_BYTES)
        return FAIL(e, ERR_IO, "the registers of thread %ld cannot be read: %s", h->tid,
                    strerror(errno));
    if (r->cs != 0x33) return FAIL(e, ERR_UNSUPPORTED, "thread %ld runs 32-bit code", h->tid);
    h->at = (struct held_registers){r->rip, r->rsp, r->rbp, r->rbx,    r->r12,
                                    r->r13, r->r14, r->r15, r->fs_base};
    s->n_all = v.iov_len;
    s->n_xstate = held_in_use(s->xstate, v.iov_len);
    held_make_again(r);
    return 0;
}

static int held_refused(long tid, struct err *e)
{
    int why = errno;
    char scope = 0;
    FILE *f = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
    if (f && fread(&scope, 1, 1, f) != 1) scope = 0;
    if (f) fclose(f);
    if (why == EPERM && scope > '0')
        return FAIL(e, ERR_UNSUPPORTED,
                    "this system lets a process be entered %s (kernel.yama.ptrace_scope = %c): %s",
                    scope == '1'   ? "by the one that started it only"
                    : scope == '2' ? "by administrators only"
                                   : "by none",
                    scope,
                    scope == '3' ? "start it with strata run --level standby"
                                 : "an administrator can set it to 0, or run strata with "
                                   "CAP_SYS_PTRACE; else start it with strata run --level standby");
    if (why == EPERM)
        return FAIL(e, ERR_UNSUPPORTED,
                    "thread %ld must not be traced: it is traced already, has more rights than "
                    "strata, or the container forbids ptrace (docker run --cap-add SYS_PTRACE)",
                    tid);
    return FAIL(e, ERR_IO, "thread %ld cannot be traced: %s", tid, strerror(why));
}

int held_thread_stop(struct held_thread *h, const struct target *t, long tid, uintptr_t restorer,
                     struct err *e)
{
    int status = 0;
    *h = (struct held_thread){.target = t, .tid = tid, .restorer = restorer};
    struct held_state *s = h->state = mem_zalloc(1, sizeof *s);
    if (!s) return err_nomem(e);
    /* without PTRACE_O_EXITKILL: if we die the thread goes on */
    if (held_ptrace(PTRACE_SEIZE, tid, 0, (void *)(uintptr_t)PTRACE_O_TRACESYSGOOD) < 0) {
        mem_free(s);
        return held_refused(tid, e);
    }
    h->since_ns = clock_mono_ns();
    int rc = held_ptrace(PTRACE_INTERRUPT, tid, 0, NULL) < 0
                 ? FAIL(e, ERR_IO, "thread %ld cannot be stopped: %s", tid, strerror(errno))
                 : held_wait(h, STOP_MS, &status, e);
    if (rc == 0) rc = held_look(h, e);
    if (rc < 0) held_thread_release(h);
    return rc;
}

uint64_t held_thread_release(struct held_thread *h)
{
    uint64_t held = clock_mono_ns() - h->since_ns;
    int status;
    if (held_ptrace(PTRACE_DETACH, h->tid, 0, NULL) < 0 && errno == ESRCH &&
        held_ptrace(PTRACE_INTERRUPT, h->tid, 0, NULL) == 0 &&
        held_wait(h, STOP_MS, &status, NULL) ==
            0) /* it was running: only a stopped one is let go */
        held_ptrace(PTRACE_DETACH, h->tid, 0, NULL);
    mem_free(h->state);
    h->state = NULL;
    return held;
}

/* Writes the frame; where the stack pointer of the call is to be. 0 when there is no room. */
static uintptr_t held_write_frame(struct held_thread *h, enum held_kind kind)
{
    struct held_state *s = h->state;
    const struct user_regs_struct *r = &s->before;
    const struct target_map *stack = target_map_at(h->target, r->rsp);
    uintptr_t xstate = (r->rsp - RED_ZONE - s->n_xstate - 4) & ~(uintptr_t)63;
    uintptr_t context = (xstate - sizeof(struct user_context)) & ~(uintptr_t)15;
    struct user_context u = {
        .flags = 1 | 2 | 4, /* vector registers are there; the stack segment is restored */
        .stack.flags = 7,   /* means nothing, so that the kernel leaves the signal stack alone */
        .mask = s->mask,
        .registers = {r->r8,  r->r9,  r->r10, r->r11,    r->r12, r->r13, r->r14,
                      r->r15, r->rdi, r->rsi, r->rbp,    r->rbx, r->rdx, r->rax,
                      r->rcx, r->rsp, r->rip, r->eflags, 0x33,   0,      0,
                      0x2b,   0,      0,      0,         0,      xstate, {0}},
    };
    uint64_t back[2] = {h->asker, h->restorer};
    size_t skipped = kind == HELD_SHORT ? 0 : 1;
    uintptr_t sp = context - (2 - skipped) * sizeof *back;
    if (!stack || context < stack->begin + ROOM_BYTES) return 0;
    held_mark_xstate(s);
    bool written = target_write(h->target, xstate, s->xstate, s->n_xstate + 4) &&
                   target_write(h->target, context, &u, sizeof u) &&
                   target_write(h->target, sp, back + skipped, context - sp);
    return written ? sp : 0;
}

/* From here on the thread ends the call by itself. */
static int held_begin(struct held_thread *h, const struct held_call *c, struct err *e)
{
    struct held_state *s = h->state;
    struct user_regs_struct r = s->before;
    uint64_t all = ~(uint64_t)0;
    uintptr_t sp = held_write_frame(h, c->kind);
    if (!sp) return FAIL(e, ERR_LIMIT, "the stack of thread %ld has no room", h->tid);
    r.rip = c->function;
    r.rsp = sp;
    r.rdi = c->args[0], r.rsi = c->args[1], r.rdx = c->args[2];
    r.rcx = c->args[3], r.r8 = c->args[4], r.r9 = c->args[5];
    r.rax = 0;
    r.eflags &= ~(unsigned long long)0x400; /* the direction that functions expect */
    if (held_ptrace(PTRACE_SETREGS, h->tid, 0, &r) < 0)
        return FAIL(e, ERR_IO, "the registers of thread %ld cannot be set: %s", h->tid,
                    strerror(errno));
    /* second: the frame has the mask that is restored */
    (void)held_ptrace(PTRACE_SETSIGMASK, h->tid, sizeof all, &all);
    return 0;
}

static int held_registers_now(struct held_thread *h, struct user_regs_struct *r, struct err *e)
{
    if (held_ptrace(PTRACE_GETREGS, h->tid, 0, r) == 0) return 0;
    return FAIL(e, ERR_IO, "the registers of thread %ld cannot be read", h->tid);
}

/* Whether the system call that it waited in was cut off; else it has got what it waited for. */
static bool held_still_waits(const struct user_regs_struct *r)
{
    int64_t result = (int64_t)r->rax;
    return result == -EINTR || (result <= -RESTART_FIRST && result >= -RESTART_LAST);
}

/* Takes a call back that waits in the kernel; 0 and the next stop if it no longer does. In this
 * order: killed in between, the call goes on and returns by its frame. */
static int held_take_back(struct held_thread *h, int *status, struct err *e)
{
    struct held_state *s = h->state;
    struct iovec v = {s->xstate, s->n_all};
    struct user_regs_struct r;
    held_ptrace(PTRACE_INTERRUPT, h->tid, 0, NULL);
    TRY(held_wait(h, STOP_MS, status, e));
    TRY(held_registers_now(h, &r, e));
    if (!held_still_waits(&r)) return 0;
    held_ptrace(PTRACE_SETREGSET, h->tid, NT_X86_XSTATE, &v);
    held_ptrace(PTRACE_SETSIGMASK, h->tid, sizeof s->mask, &s->mask);
    held_ptrace(PTRACE_SETREGS, h->tid, 0, &s->before);
    return FAIL(e, ERR_LIMIT, "the call would have had to wait");
}

/* The next stop of a call. Outside of a system call it only lacks a core, and may hold a lock by
 * now: it is not taken back then. */
static int held_next(struct held_thread *h, const struct held_call *c, bool inside, int *status,
                     struct err *e)
{
    bool revocable = c->kind == HELD_REVOCABLE && inside;
    if (held_ptrace(PTRACE_SYSCALL, h->tid, 0, NULL) < 0)
        return FAIL(e, ERR_IO, "thread %ld has ended", h->tid);
    int rc = held_wait(h, revocable ? REVOKE_MS : FINAL_MS, status, e);
    if (rc != ERR_LIMIT || !revocable) return rc;
    if (e) err_init(e);
    return held_take_back(h, status, e);
}

/* From one system call to the next until the one that restores everything has returned. The number
 * of the first one is what a short function has returned: that is why nothing is stepped through,
 * which would end the process if we were killed. */
static int held_run(struct held_thread *h, const struct held_call *c, uint64_t *ret, struct err *e)
{
    struct user_regs_struct r;
    int status;
    uint64_t number = 0;
    bool inside = false, first = true;
    for (int i = 0; i < MOST_STOPS; i++) {
        TRY(held_next(h, c, inside, &status, e));
        if (WSTOPSIG(status) != (SIGTRAP | 0x80)) continue; /* signals are blocked: a group stop */
        TRY(held_registers_now(h, &r, e));
        inside = !inside;
        if (inside) number = r.orig_rax;
        if (first && c->kind == HELD_SHORT) *ret = number;
        first = false;
        if (inside) continue;
        if (number == 15) return 0;
        if (c->kind == HELD_SYSCALL) *ret = r.rax;
    }
    return FAIL(e, ERR_LIMIT, "a function took longer than it should");
}

int held_thread_call(struct held_thread *h, const struct held_call *c, uint64_t *ret, struct err *e)
{
    uint64_t result = 0;
    struct held_state *s = h->state;
    uint64_t back = s->before.rip;
    TRY(held_begin(h, c, e));
    TRY(held_run(h, c, &result, e));
    if (ret) *ret = result;
    TRY(held_look(h, e));
    if (h->at.ip == back) return 0;
    return FAIL(e, ERR_INTERNAL, "thread %ld did not come back to where it was", h->tid);
}

#else

int held_thread_stop(struct held_thread *h, const struct target *t, long tid, uintptr_t restorer,
                     struct err *e)
{
    *h = (struct held_thread){.target = t, .tid = tid, .restorer = restorer};
    return FAIL(e, ERR_UNSUPPORTED, "entering a process works on x86-64 only");
}

int held_thread_call(struct held_thread *h, const struct held_call *c, uint64_t *ret, struct err *e)
{
    (void)h, (void)c, (void)ret;
    return FAIL(e, ERR_UNSUPPORTED, "entering a process works on x86-64 only");
}

uint64_t held_thread_release(struct held_thread *h)
{
    (void)h;
    return 0;
}

#endif
