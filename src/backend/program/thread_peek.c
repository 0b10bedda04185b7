/* thread_peek.c: see watched.h. */
#include "backend/program/watched.h"

#include "backend/program/host_stall.h"
#include "backend/program/pystack.h"
#include "record/recorder.h"

enum {
    BUDGET_AT_1KHZ = 100,      /* reading takes at most 1 / BUDGET_AT_1KHZ of the time */
    LEFT_ALONE_NS = 100000000, /* in a call: one that takes longer may never end */
    STOOD_PER_SKIP = 4,
    MOST_SKIPS = 10,     /* looks at one that stands become rarer */
    AT_ONCE_NS = 500000, /* readings further apart were interrupted: they take some 50 us */
};

static struct {
    uint64_t late_ticks, left_alone_ticks, at_once_ticks;
    uint64_t period_ns;
    uint64_t read_at_ns; /* when the next one that runs may be read */
} plan;

/* What one reading of a thread gives, innermost first. */
struct reading {
    int n;
    uintptr_t outermost;
    struct pyframe frames[PYWALK_DEEPEST];
};

static uint64_t thread_peek_ns_of(clockid_t clock, bool *ret_there)
{
    struct timespec t;
    *ret_there = clock_gettime(clock, &t) == 0;
    return *ret_there ? (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec : 0;
}

static void thread_peek_read_frames(struct watched *p, struct reading *ret)
{
    ret->n = pywalk_any(pystack_api(), p->tstate, &p->walk_memo, ret->frames, PYWALK_DEEPEST);
    ret->outermost = p->walk_memo.outermost;
}

/* How many of the outermost frames of `b` are in `a` too. A function that has gone on to another
 * instruction is the last one that is: what it called before and calls now are different calls. */
static int thread_peek_agreed(const struct reading *a, const struct reading *b)
{
    int n = 0;
    while (n < a->n && n < b->n) {
        const struct pyframe *x = &a->frames[a->n - 1 - n], *y = &b->frames[b->n - 1 - n];
        if (x->code != y->code) break;
        n++;
        if (x->offset != y->offset) break;
    }
    return n;
}

/* All stacks of a thread end at the same frame for long. One that ends elsewhere was cut off where
 * the thread moved, unless the next one ends there too. */
static bool ends_right(struct watched *p, const struct reading *a, const struct reading *b)
{
    uintptr_t end = b->outermost, *of = p->outermost;
    if (!end || a->outermost != end) return !end && !a->outermost;
    if (end != of[0] && end == of[1]) of[0] = end;
    of[1] = end;
    return end == of[0];
}

/* Reads until two readings have come off, and says when it was between them; false when the thread
 * moves too fast. */
static bool read_twice(struct watched *p, struct reading two[2], uint64_t *ret_between)
{
    enum { TRIES = 8 };
    int n = 0;
    for (int i = 0; i < TRIES && n < 2; i++) {
        thread_peek_read_frames(p, &two[n]);
        if (two[n].n <= 0) continue;
        if (n++ == 0) *ret_between = clock_ticks(recorder_clock());
    }
    return n == 2;
}

/* The stack of a thread that is moving, 0 when nothing of it holds still. Our thread may be made to
 * wait at any point: what both readings agree on was there between them, however long that took;
 * what only the second has may have begun much later. */
static uint32_t moving_stack(struct watched *p, uint64_t *ret_ticks)
{
    static struct reading two[2]; /* the sampling thread's */
    bool read = read_twice(p, two, ret_ticks);
    const struct reading *second = &two[1];
    bool at_once = clock_ticks(recorder_clock()) - *ret_ticks < plan.at_once_ticks;
    int n = read && ends_right(p, &two[0], second) ? thread_peek_agreed(&two[0], second) : 0;
    if (!n) return 0;
    /* what that one is calling just now: short calls have their share too */
    if (n < second->n && at_once) n++;
    const struct pyframe *outer = second->frames + (second->n - n);
    return pytable_find(pystack_api(), &p->stack_memo, outer, n, false);
}

/* Of one that does not run until it was read; 0 if it runs. */
static uint32_t standing_stack(struct watched *p, uint64_t *ret_ticks)
{
    static struct reading only;
    bool there;
    *ret_ticks = clock_ticks(recorder_clock());
    thread_peek_read_frames(p, &only);
    if (!only.n || thread_peek_ns_of(p->cpu_clock, &there) != p->cpu_ns || !there) return 0;
    return pytable_find(pystack_api(), &p->stack_memo, only.frames, only.n, false);
}

static void thread_peek_record(const struct watched *p, uint32_t stack, uint64_t ticks)
{
    struct ring_record r = {.kind = RING_STACK_OF, .ticks = ticks};
    if (stack) recorder_put(ring_with_id(r, stack), (uint64_t)atomic_load(&p->tid));
}

/* It runs again: a thread that stood for long is seen there at the end as well. */
static void end_standing(struct watched *p)
{
    if (p->standing && p->standing_to != p->standing_from)
        thread_peek_record(p, p->standing, p->standing_to);
    p->standing = p->stood = p->skip = 0;
}

/* Within the budget, by what it has cost so far. Time of our thread, not of the clock: one that is
 * made to wait has cost nothing. */
static void read_moving(struct watched *p)
{
    bool there;
    uint64_t ticks = 0, now = clock_mono_ns(),
             cpu = thread_peek_ns_of(CLOCK_THREAD_CPUTIME_ID, &there);
    if (now < plan.read_at_ns) return;
    uint32_t stack = moving_stack(p, &ticks);
    thread_peek_record(p, stack, ticks);
    uint64_t parts = BUDGET_AT_1KHZ * plan.period_ns / 1000000;
    plan.read_at_ns = now + (thread_peek_ns_of(CLOCK_THREAD_CPUTIME_ID, &there) - cpu) * parts;
}

static void read_standing(struct watched *p)
{
    uint64_t ticks;
    p->standing = standing_stack(p, &ticks);
    p->standing_from = p->standing_to = ticks;
    thread_peek_record(p, p->standing, ticks);
}

/* It has read itself and will again, is about to, or is in a call. */
static bool looks_after_itself(const struct watched *p)
{
    uint64_t now = clock_ticks(recorder_clock());
    uint64_t due = atomic_load_explicit(&p->due, memory_order_relaxed);
    uint64_t in_call = atomic_load_explicit(&p->in_call, memory_order_relaxed);
    return (due && now < due + plan.late_ticks) ||
           (in_call && now - in_call < plan.left_alone_ticks);
}

/* At `ticks` it was where it was before: there is less and less reason to look. */
static void stand_on(struct watched *p, uint64_t ticks)
{
    p->standing_to = ticks;
    uint32_t rarer = ++p->stood / STOOD_PER_SKIP;
    p->skip = rarer < MOST_SKIPS ? rarer : MOST_SKIPS;
}

/* It does not run. One that waits for Python's lock wakes up every few milliseconds to ask for it:
 * found waiting again soon after, it has waited in between. */
static void thread_peek_gil(struct watched *p, uint64_t ticks, bool first)
{
    uint64_t since = p->gil_at, ns = plan.period_ns;
    if (!first && !since) return;
    p->gil_at = host_stall_waits_for_gil(atomic_load(&p->tid)) ? ticks : 0;
    if (!p->gil_at) return;
    if (since && ticks - since < plan.left_alone_ticks)
        ns = (uint64_t)((double)(ticks - since) / recorder_ticks_per_second() * 1e9);
    atomic_fetch_add_explicit(&p->gil_ns, ns, memory_order_relaxed);
}

/* Two readings of its CPU clock show whether it is running now. */
static void thread_peek_look(struct watched *p)
{
    bool there;
    uint64_t ticks = clock_ticks(recorder_clock()),
             before = thread_peek_ns_of(p->cpu_clock, &there);
    if (!there) return;
    bool ran = before != p->cpu_ns;
    p->cpu_ns = thread_peek_ns_of(p->cpu_clock, &there);
    bool runs = p->cpu_ns != before;
    if (ran || runs) end_standing(p);
    bool first = !p->standing;
    if (runs) p->gil_at = 0;
    else thread_peek_gil(p, ticks, first);
    if (runs) read_moving(p);
    else if (p->standing) stand_on(p, ticks);
    else read_standing(p);
}

void thread_peek_at(struct watched *p)
{
    if (looks_after_itself(p)) end_standing(p);
    else if (p->skip) p->skip--;
    else thread_peek_look(p);
}

void thread_peek_begin(uint64_t period_ns)
{
    double per_ns = recorder_ticks_per_second() / 1e9;
    plan.period_ns = period_ns;
    plan.late_ticks = (uint64_t)((double)period_ns * 0.5 * per_ns);
    plan.left_alone_ticks = (uint64_t)(LEFT_ALONE_NS * per_ns);
    plan.at_once_ticks = (uint64_t)(AT_ONCE_NS * per_ns);
    plan.read_at_ns = 0;
}

void thread_peek_end(struct watched *p)
{
    end_standing(p);
}
