/* safe_point.c: see held_thread.h. */
#include "attach/held_thread.h"

#include <elf.h>
#include <string.h>

#include "backend/program/native_modules.h"
#include "base/mem.h"

enum {
    MOST_FRAMES = 16,
    ROOM_BYTES = 49152,    /* below the stack pointer, for a call */
    MOST_IMAGE = 64 << 20, /* of the C library */
    MOST_STACK = 1 << 20,  /* that is searched for a signal frame */
    MOST_SEGMENTS = 8,
    WORD = 8,
};

/* Functions that wait, for the program, with no lock of the C library's. */
static const char *const waits[] = {
    "poll",
    "ppoll",
    "select",
    "pselect",
    "epoll_wait",
    "epoll_pwait",
    "nanosleep",
    "clock_nanosleep",
    "usleep",
    "sleep",
    "read",
    "readv",
    "recv",
    "recvfrom",
    "recvmsg",
    "accept",
    "accept4",
    "wait4",
    "waitpid",
    "waitid",
    "sigwait",
    "sigwaitinfo",
    "sigtimedwait",
    "pause",
    "sigsuspend",
    "syscall",
    "ioctl",
    "sched_yield",
    "flock",
    "connect",
    "pthread_join",
    "pthread_timedjoin_np",
    "pthread_clockjoin_np",
    "pthread_cond_wait",
    "pthread_cond_timedwait",
    "pthread_cond_clockwait",
    "sem_wait",
    "sem_timedwait",
    "sem_clockwait",
    "pthread_barrier_wait",
    "io_getevents",
    "msgrcv",
    "semop",
    "send",
    "sendto",
    "sendmsg",
    "write",
    "writev",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
    "__poll",
    "__select",
    "__nanosleep",
};

static void safe_point_add_waits(struct safe_point *s, const struct target_module *m)
{
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        s->n_waits += target_functions(s->target, m, waits[i], s->waits + s->n_waits,
                                       SAFE_POINT_WAITS - s->n_waits);
}

static int safe_point_add_library(struct safe_point *s, const struct target_module *m,
                                  struct err *e)
{
    const struct target *t = s->target;
    if (s->n_family == SAFE_POINT_FAMILY || m->end - m->begin > MOST_IMAGE)
        return FAIL(e, ERR_LIMIT, "%s is too large", m->path);
    struct safe_point_library *l = &s->family[s->n_family++];
    l->module = m;
    l->image = mem_zalloc(1, m->end - m->begin);
    if (!l->image) return err_nomem(e);
    for (size_t i = 0; i < t->n_maps; i++) {
        const struct target_map *p = &t->maps[i];
        if (!p->readable || p->begin < m->begin || p->end > m->end) continue;
        if (!target_read(t, p->begin, l->image + (p->begin - m->begin), p->end - p->begin))
            return FAIL(e, ERR_IO, "process %ld cannot be looked into", t->pid);
    }
    safe_point_add_waits(s, m);
    return 0;
}

/* Where the library has these instructions; 0 when it has not. */
static uintptr_t safe_point_find_code(const struct safe_point *s, const uint8_t *code,
                                      size_t n_code)
{
    const struct safe_point_library *l = &s->family[0];
    size_t n = l->module->end - l->module->begin;
    for (const uint8_t *p = l->image; n >= n_code;) {
        const uint8_t *at = memchr(p, code[0], n - n_code + 1);
        if (!at) return 0;
        if (memcmp(at, code, n_code) == 0) {
            uintptr_t there = l->module->begin + (uintptr_t)(at - l->image);
            const struct target_map *m = target_map_at(s->target, there);
            if (m && m->executable) return there;
        }
        n -= (size_t)(at + 1 - p);
        p = at + 1;
    }
    return 0;
}

int safe_point_init(struct safe_point *s, const struct target *t, struct err *e)
{
    static const uint8_t restorer[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};
    static const uint8_t asker[] = {0x0f, 0x05, 0xc3};
    *s = (struct safe_point){.target = t};
    const struct target_module *c = target_module_named(t, "libc.so.6");
    const struct target_module *threads = target_module_named(t, "libpthread.so.0");
    if (!c) c = target_module_named(t, "libc-2."); /* as older ones call their files */
    if (!threads) threads = target_module_named(t, "libpthread-2.");
    s->loader = target_module_named(t, "ld-");
    if (!c || !s->loader)
        return FAIL(e, ERR_UNSUPPORTED,
                    "process %ld does not use the GNU C library, for which the library of strata "
                    "is made",
                    t->pid);
    TRY(safe_point_add_library(s, c, e));
    if (threads) TRY(safe_point_add_library(s, threads, e));
    s->restorer = safe_point_find_code(s, restorer, sizeof restorer);
    s->asker = safe_point_find_code(s, asker, sizeof asker);
    if (!s->restorer || !s->asker)
        return FAIL(e, ERR_UNSUPPORTED, "%s is not as it is known", c->path);
    (void)target_function(t, "malloc", &s->allocator);
    return 0;
}

void safe_point_done(struct safe_point *s)
{
    for (size_t i = 0; i < s->n_family; i++) mem_free(s->family[i].image);
}

bool safe_point_has_stack(const struct safe_point *s, const struct held_thread *h)
{
    const struct target_map *m = target_map_at(s->target, h->at.sp);
    if (!m || !m->writable || h->at.sp - m->begin < ROOM_BYTES) return false;
    bool first = h->tid == s->target->pid && strcmp(m->path, "[stack]") == 0;
    /* the C library keeps what belongs to a thread at the end of its stack */
    return first || (h->at.fs_base > h->at.sp && h->at.fs_base < m->end);
}

static const struct safe_point_library *safe_point_library_at(const struct safe_point *s,
                                                              uintptr_t ip)
{
    for (size_t i = 0; i < s->n_family; i++)
        if (ip >= s->family[i].module->begin && ip < s->family[i].module->end) return &s->family[i];
    return NULL;
}

static bool safe_point_in_handler(const struct safe_point *s, uintptr_t sp)
{
    static uint64_t words[MOST_STACK / WORD];
    const struct target_map *m = target_map_at(s->target, sp);
    size_t n = m->end - sp < MOST_STACK ? m->end - sp : MOST_STACK;
    n &= ~(size_t)(WORD - 1);
    if (!target_read(s->target, sp, words, n)) return true;
    for (size_t i = 0; i < n / WORD; i++)
        if (words[i] == s->restorer) return true;
    return false;
}

static size_t safe_point_segments(const struct safe_point_library *l,
                                  struct native_segment segments[MOST_SEGMENTS], uintptr_t *index)
{
    Elf64_Ehdr h;
    size_t n = 0;
    uintptr_t here = (uintptr_t)l->image, low = l->module->begin - l->module->bias;
    memcpy(&h, l->image, sizeof h);
    for (int i = 0; i < h.e_phnum && n < MOST_SEGMENTS; i++) {
        Elf64_Phdr p;
        memcpy(&p, l->image + h.e_phoff + (size_t)i * sizeof p, sizeof p);
        uintptr_t begin = here + p.p_vaddr - low;
        if (p.p_type == PT_LOAD) segments[n++] = (struct native_segment){begin, begin + p.p_filesz};
        else if (p.p_type == PT_GNU_EH_FRAME) *index = begin;
    }
    return n;
}

/* To the caller, by the tables of the library: in our copy of it, which lies elsewhere. */
static bool safe_point_step(const struct safe_point *s, const struct safe_point_library *l,
                            uintptr_t r[NATIVE_REGISTERS], bool innermost)
{
    struct native_segment segments[MOST_SEGMENTS];
    struct native_image image = {segments, 0, 0};
    struct native_rule rule;
    image.n_segments = safe_point_segments(l, segments, &image.index);
    uintptr_t ip = r[NATIVE_IP] - (innermost ? 0 : 1);
    if (!image.index ||
        !native_cfi_find(&image, (uintptr_t)l->image + (ip - l->module->begin), &rule))
        return false;
    uintptr_t cfa = r[rule.base] + (uintptr_t)rule.offset;
    if (cfa <= r[NATIVE_SP]) return false;
    for (int i = 0; i < NATIVE_SAVED; i++)
        if (rule.saved[i] &&
            !target_read(s->target, cfa + (uintptr_t)((intptr_t)rule.saved[i] * WORD), &r[i], WORD))
            return false;
    r[NATIVE_SP] = cfa;
    return true;
}

static bool safe_point_waits(const struct safe_point *s, uintptr_t ip)
{
    for (size_t i = 0; i < s->n_waits; i++)
        if (ip >= s->waits[i].begin && ip < s->waits[i].end) return true;
    return false;
}

static const char *safe_point_judge(const struct safe_point *s, uintptr_t ip)
{
    const struct target_module *m = target_module_at(s->target, ip);
    const struct target_map *p = target_map_at(s->target, ip);
    if (!p || (!m && p->path[0] == '[')) return "it is in the kernel's own code";
    if (m && m == s->loader) return "it is loading a library";
    if (m && m == s->allocator) return "it is allocating memory";
    return NULL;
}

const char *safe_point_check(const struct safe_point *s, const struct held_thread *h)
{
    uintptr_t r[NATIVE_REGISTERS] = {h->at.bx,  h->at.bp,  h->at.r12, h->at.r13,
                                     h->at.r14, h->at.r15, h->at.ip,  h->at.sp};
    uintptr_t last = 0;
    if (!safe_point_has_stack(s, h)) return "it uses a stack that is not its own";
    if (safe_point_in_handler(s, h->at.sp)) return "it may be in a signal handler";
    for (int i = 0; i < MOST_FRAMES; i++) {
        const struct safe_point_library *l = safe_point_library_at(s, r[NATIVE_IP]);
        if (!l) break;
        last = r[NATIVE_IP] - (i ? 1 : 0);
        if (!safe_point_step(s, l, r, i == 0)) return "it is somewhere in the C library";
    }
    if (safe_point_library_at(s, r[NATIVE_IP])) return "it is deep in the C library";
    if (last && !safe_point_waits(s, last)) return "it is in a function of the C library";
    return safe_point_judge(s, r[NATIVE_IP]);
}
