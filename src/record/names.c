/* names.c: see names.h. An open-addressed table of pointers that only ever fills up: readers
 * follow published pointers, writers hold the lock. */
#include "record/names.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/intern.h"
#include "record/guard.h"
#include "record/pages.h"
#include "record/spool.h"

#define SLOTS (2 * RING_NAMES_MAX)

struct name {
    uint64_t hash;
    uint32_t id, n;
    char text[];
};

static _Atomic(struct name *) slots[SLOTS];
static struct name *by_id[RING_NAMES_MAX]; /* [id], under the lock */
static uint32_t n_names = 1;               /* id 0 is "no name" */
static struct pages bytes;                 /* not of the heap: see guard.h */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The file the strings go to, while there is one. */
static struct {
    struct tail tail;
    struct proc_head *head;
} out;

static bool names_same(const struct name *e, uint64_t hash, struct str s)
{
    return e->hash == hash && e->n == s.n && memcmp(e->text, s.p, s.n) == 0;
}

/* The entry, or NULL and where it belongs. */
static struct name *names_find(uint64_t hash, struct str s, uint32_t *ret_slot)
{
    for (uint32_t i = (uint32_t)hash % SLOTS;; i = (i + 1) % SLOTS) {
        struct name *e = atomic_load_explicit(&slots[i], memory_order_acquire);
        if (e && !names_same(e, hash, s)) continue;
        *ret_slot = i;
        return e;
    }
}

/* The file's end moves last: what it covers is complete. */
static int write_name(const struct name *s, struct err *e)
{
    uint64_t end = __atomic_load_n(&out.head->strings_bytes, __ATOMIC_RELAXED);
    uint64_t at = RING_HEAD_BYTES + end;
    struct ring_string entry = {s->id, s->n};
    TRY(tail_write(&out.tail, &entry, sizeof entry, at, e));
    TRY(tail_write(&out.tail, s->text, s->n, at + sizeof entry, e));
    __atomic_store_n(&out.head->strings_bytes, end + ring_string_bytes(s->n), __ATOMIC_RELEASE);
    return 0;
}

static void note_unnamed(void)
{
    if (out.head) __atomic_fetch_add(&out.head->n_unnamed, 1, __ATOMIC_RELAXED);
}

static struct name *names_add(uint64_t hash, struct str s)
{
    if (n_names >= RING_NAMES_MAX) return NULL;
    struct name *e = pages_alloc(&bytes, sizeof *e + s.n);
    if (!e) return NULL;
    e->hash = hash;
    e->id = n_names;
    e->n = (uint32_t)s.n;
    memcpy(e->text, s.p, s.n);
    by_id[n_names++] = e;
    return e;
}

/* As much of it as a file takes, without half a character at the end. */
static struct str names_cut(struct str s)
{
    if (s.n <= RING_TEXT_MAX) return s;
    s.n = RING_TEXT_MAX;
    while (s.n > RING_TEXT_MAX - 4 && ((unsigned char)s.p[s.n] & 0xc0) == 0x80) s.n--;
    return s;
}

uint32_t names_id(struct str s)
{
    s = names_cut(s);
    if (s.n == 0) return 0;
    uint64_t hash = intern_hash(s);
    uint32_t slot;
    struct name *e = names_find(hash, s, &slot);
    if (e) return e->id;
    struct guard g;
    guard_enter(&g, &lock);
    e = names_find(hash, s, &slot);
    if (!e) {
        e = names_add(hash, s);
        if (!e || (out.head && write_name(e, NULL) < 0)) note_unnamed();
        if (e) atomic_store_explicit(&slots[slot], e, memory_order_release);
    }
    guard_leave(&g, &lock);
    return e ? e->id : 0;
}

struct str names_text(uint32_t id)
{
    struct str s = {"", 0};
    struct guard g;
    guard_enter(&g, &lock);
    if (id > 0 && id < n_names) s = str_from(by_id[id]->text, by_id[id]->n);
    guard_leave(&g, &lock);
    return s;
}

int names_attach(struct spool *file, struct proc_head *head, struct err *e)
{
    int rc = 0;
    struct guard g;
    guard_enter(&g, &lock);
    out.tail = (struct tail){.file = file};
    out.head = head;
    for (uint32_t id = 1; id < n_names && rc == 0; id++) rc = write_name(by_id[id], e);
    guard_leave(&g, &lock);
    return rc;
}

void names_detach(void)
{
    struct guard g;
    guard_enter(&g, &lock);
    tail_done(&out.tail);
    out.head = NULL;
    guard_leave(&g, &lock);
}

void names_lock(void)
{
    pthread_mutex_lock(&lock);
}

void names_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void names_unlock_in_child(void)
{
    pthread_mutex_init(&lock, NULL);
}
