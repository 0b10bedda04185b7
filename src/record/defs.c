/* defs.c: see defs.h. The table is that of names.c with room for more: pointers that only ever
 * fill up, followed by readers without a lock. */
#include "record/defs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/intern.h"
#include "base/map.h"
#include "record/guard.h"
#include "record/pages.h"
#include "record/spool.h"

#define SLOTS      (2 * RING_DEFS_MAX)
#define MOST_BYTES ((uint64_t)256 << 20) /* of all definitions together */

struct def {
    uint64_t hash;
    uint32_t id, type, n;
    char bytes[];
};

static _Atomic(struct def *) slots[SLOTS];
static struct def *by_id[RING_DEFS_MAX]; /* under the lock */
static uint32_t n_defs = 1;              /* id 0 is "none" */
static uint64_t n_bytes;
static struct pages mem; /* not of the heap: see guard.h */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Where they go, while there is such a place. */
static struct {
    char path[SPOOL_PATH]; /* empty: nowhere */
    struct spool file;
    struct tail tail;
    struct defs_head *head; /* NULL until the file is made */
} out;

static bool defs_same(const struct def *d, const struct def *key, const char *bytes)
{
    return d->hash == key->hash && d->type == key->type && d->n == key->n &&
           memcmp(d->bytes, bytes, key->n) == 0;
}

/* The entry, or NULL and where it belongs. */
static struct def *defs_do_find(const struct def *key, const char *bytes, uint32_t *ret_slot)
{
    for (uint32_t i = (uint32_t)key->hash % SLOTS;; i = (i + 1) % SLOTS) {
        struct def *d = atomic_load_explicit(&slots[i], memory_order_acquire);
        if (d && !defs_same(d, key, bytes)) continue;
        *ret_slot = i;
        return d;
    }
}

static int make_file(struct err *e)
{
    void *head;
    TRY(spool_create(&out.file, out.path, e));
    int rc = spool_map(&out.file, 0, RING_HEAD_BYTES, &head, e);
    if (rc < 0) {
        unlink(out.path);
        spool_done(&out.file);
        return rc;
    }
    out.head = head;
    out.head->version = RING_VERSION;
    out.head->head_bytes = RING_HEAD_BYTES;
    out.head->pid = (uint32_t)getpid();
    memcpy(out.head->magic, DEFS_MAGIC, sizeof out.head->magic); /* last: now it is one of ours */
    out.tail = (struct tail){.file = &out.file};
    return 0;
}

/* The file's end moves last: what it covers is complete. */
static int write_def(const struct def *d, struct err *e)
{
    if (!out.head) TRY(make_file(e));
    uint64_t end = __atomic_load_n(&out.head->n_bytes, __ATOMIC_RELAXED);
    uint64_t at = RING_HEAD_BYTES + end;
    struct ring_def entry = {.id = d->id, .type = d->type, .n = d->n};
    TRY(tail_write(&out.tail, &entry, sizeof entry, at, e));
    TRY(tail_write(&out.tail, d->bytes, d->n, at + sizeof entry, e));
    __atomic_store_n(&out.head->n_bytes, end + ring_def_bytes(d->n), __ATOMIC_RELEASE);
    return 0;
}

static struct def *defs_add(const struct def *key, const char *bytes)
{
    if (n_defs >= RING_DEFS_MAX || n_bytes + key->n > MOST_BYTES) return NULL;
    struct def *d = pages_alloc(&mem, sizeof *d + key->n);
    if (!d) return NULL;
    *d = *key;
    d->id = n_defs;
    memcpy(d->bytes, bytes, key->n);
    if (out.path[0] && write_def(d, NULL) < 0) return NULL;
    by_id[n_defs++] = d;
    n_bytes += key->n;
    return d;
}

static bool defs_make_key(enum def_type type, struct str bytes, struct def *ret)
{
    if (bytes.n > RING_DEF_BYTES) return false;
    *ret = (struct def){
        .hash = map_mix(intern_hash(bytes) + type), .type = (uint32_t)type, .n = (uint32_t)bytes.n};
    return true;
}

uint32_t defs_find(enum def_type type, struct str bytes)
{
    struct def key;
    uint32_t slot;
    if (!defs_make_key(type, bytes, &key)) return 0;
    struct def *d = defs_do_find(&key, bytes.p, &slot);
    return d ? d->id : 0;
}

uint32_t defs_id(enum def_type type, struct str bytes)
{
    struct def key;
    uint32_t slot;
    if (!defs_make_key(type, bytes, &key)) return 0;
    struct def *d = defs_do_find(&key, bytes.p, &slot);
    if (d) return d->id;
    struct guard g;
    guard_enter(&g, &lock);
    d = defs_do_find(&key, bytes.p, &slot);
    if (!d) {
        d = defs_add(&key, bytes.p);
        if (d) atomic_store_explicit(&slots[slot], d, memory_order_release);
        else if (out.head) __atomic_fetch_add(&out.head->n_refused, 1, __ATOMIC_RELAXED);
    }
    guard_leave(&g, &lock);
    return d ? d->id : 0;
}

int defs_attach(const char *path, struct err *e)
{
    int rc = 0;
    struct guard g;
    guard_enter(&g, &lock);
    snprintf(out.path, sizeof out.path, "%s", path);
    for (uint32_t id = 1; rc == 0 && id < n_defs; id++) rc = write_def(by_id[id], e);
    guard_leave(&g, &lock);
    return rc;
}

void defs_detach(void)
{
    struct guard g;
    guard_enter(&g, &lock);
    tail_done(&out.tail);
    spool_unmap(out.head, RING_HEAD_BYTES);
    if (out.head) spool_done(&out.file);
    memset(&out, 0, sizeof out);
    guard_leave(&g, &lock);
}

void defs_lock(void)
{
    pthread_mutex_lock(&lock);
}

void defs_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void defs_unlock_in_child(void)
{
    pthread_mutex_init(&lock, NULL);
}
