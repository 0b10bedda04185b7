/* buffers.c: see buffers.h. Buffers are never given back to the system: there are few, and the
 * library may hold any of them at exit. */
#include "backend/buffers.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#define MOST_BUFFERS 4096

enum state { UNUSED, MAKING, READY, LENT, FILLED };

static struct slot {
    struct buffer buffer;
    _Atomic enum state state;
} slots[MOST_BUFFERS];

static uint32_t most;                    /* buffers there may be */
static _Atomic uint32_t n_slots;         /* how many slots, from the first, have been used */
static _Atomic(struct buffer *) filled;  /* newest first */
static _Atomic uint32_t last_ready_hint; /* where one was made ready last */
static _Atomic uint32_t n_taken;         /* since they were last replenished */

void buffers_init(uint64_t most_bytes)
{
    uint64_t n = most_bytes / BUFFERS_BYTES;
    most = n > MOST_BUFFERS ? MOST_BUFFERS : n < BUFFERS_READY ? BUFFERS_READY : (uint32_t)n;
}

void buffers_forget(void)
{
    memset(slots, 0, atomic_exchange(&n_slots, 0) * sizeof *slots);
    atomic_store(&filled, NULL);
}

static bool buffers_change(struct slot *s, enum state from, enum state to)
{
    return atomic_compare_exchange_strong(&s->state, &from, to);
}

/* A new buffer in state `to`; NULL when there may be no more or out of memory. */
static struct slot *buffers_make(enum state to)
{
    uint32_t i = atomic_load(&n_slots);
    do {
        if (i >= most) return NULL;
    } while (!atomic_compare_exchange_weak(&n_slots, &i, i + 1));
    struct slot *s = &slots[i];
    atomic_store(&s->state, MAKING);
    void *p = mmap(NULL, BUFFERS_BYTES, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (p == MAP_FAILED) return NULL;
    s->buffer = (struct buffer){.bytes = p};
    atomic_store(&s->state, to);
    return s;
}

void *buffers_take(void)
{
    uint32_t n = atomic_load(&n_slots), from = atomic_load(&last_ready_hint);
    atomic_fetch_add_explicit(&n_taken, 1, memory_order_relaxed);
    for (uint32_t k = 0; k < n; k++) {
        struct slot *s = &slots[(from + k) % n];
        if (atomic_load_explicit(&s->state, memory_order_relaxed) == READY &&
            buffers_change(s, READY, LENT))
            return s->buffer.bytes;
    }
    struct slot *s = buffers_make(LENT);
    return s ? s->buffer.bytes : NULL;
}

/* Of a lent buffer: what another slot holds may just be in the making. */
static struct slot *slot_of(const void *bytes)
{
    uint32_t n = atomic_load(&n_slots);
    for (uint32_t i = 0; i < n; i++)
        if (atomic_load(&slots[i].state) == LENT && slots[i].buffer.bytes == bytes)
            return &slots[i];
    return NULL;
}

bool buffers_give_back(void *bytes, size_t n_valid)
{
    struct slot *s = bytes ? slot_of(bytes) : NULL;
    if (!s || !buffers_change(s, LENT, FILLED)) return false;
    s->buffer.n_valid = n_valid < BUFFERS_BYTES ? n_valid : BUFFERS_BYTES;
    s->buffer.next = atomic_load(&filled);
    while (!atomic_compare_exchange_weak(&filled, &s->buffer.next, &s->buffer)) {}
    return true;
}

struct buffer *buffers_filled(void)
{
    struct buffer *newest = atomic_exchange(&filled, NULL), *oldest = NULL;
    while (newest) {
        struct buffer *next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    return oldest;
}

void buffers_recycle(struct buffer *b)
{
    struct slot *s = (struct slot *)b;
    memset(b->bytes, 0, b->n_valid);
    b->n_valid = 0;
    b->last = b->seen = NULL;
    b->given_up = false;
    b->next = NULL;
    atomic_store(&last_ready_hint, (uint32_t)(s - slots));
    atomic_store(&s->state, READY);
}

void buffers_replenish(void)
{
    uint32_t ready = 0, n = atomic_load(&n_slots), want = atomic_exchange(&n_taken, 0);
    if (want < BUFFERS_READY) want = BUFFERS_READY;
    for (uint32_t i = 0; i < n; i++) ready += atomic_load(&slots[i].state) == READY;
    while (ready < want && buffers_make(READY)) ready++;
}

struct buffer *buffers_lent(uint32_t i)
{
    bool there = atomic_load(&slots[i].state) == LENT && !slots[i].buffer.given_up;
    return there ? &slots[i].buffer : NULL;
}

uint32_t buffers_count(void)
{
    return atomic_load(&n_slots);
}
