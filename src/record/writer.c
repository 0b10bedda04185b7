/* writer.c: making a ring, emptying its stage into the log, wrapping; see writer.h. */
#include "record/writer.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "record/guard.h"
#include "record/pages.h"

static_assert(RING_BLOCK % 2 == 0, "a stage never ends between a record and its value");

void writer_lose(struct writer *w)
{
    __atomic_fetch_add(&w->head->n_lost, 1, __ATOMIC_RELAXED);
}

static int write_block(struct writer *w, uint64_t slot)
{
    return spool_write(&w->file, RING_LOG_OFFSET + slot * sizeof *w->stage, w->stage,
                       RING_BLOCK_BYTES, NULL);
}

/* Beside the ring, called like it. */
static int writer_open_index(struct writer *w)
{
    char *path = w->index.path; /* not on the stack: a signal handler's may be small */
    size_t stem = strlen(w->file.path);
    if (stem < 5 || strcmp(w->file.path + stem - 5, ".ring") != 0) return ERR_USAGE;
    int n = snprintf(path, SPOOL_PATH, "%.*s.index", (int)stem - 5, w->file.path);
    if (n < 0 || n >= SPOOL_PATH) return ERR_LIMIT;
    TRY(spool_create(&w->index, path, NULL));
    struct ring_index_head h = {.version = RING_INDEX_VERSION,
                                .entry_bytes = sizeof(struct ring_summary),
                                .pid = w->head->pid};
    memcpy(h.magic, RING_INDEX_MAGIC, sizeof h.magic);
    return spool_write(&w->index, 0, &h, sizeof h, NULL);
}

/* After the block is in the log, at `slot`. Without an index readers take longer; that is all. */
static void index_stage(struct writer *w, uint64_t slot)
{
    struct ring_summary sum;
    uint64_t number = (w->n_written - RING_BLOCK) / RING_BLOCK;
    ring_summarize(&w->state, w->stage, RING_BLOCK, number, &sum);
    if (w->index_failed) return;
    int rc = w->index.path[0] ? 0 : writer_open_index(w);
    if (rc == 0)
        rc = spool_write(&w->index, ring_index_offset(slot / RING_BLOCK), &sum, sizeof sum, NULL);
    w->index_failed = rc < 0;
}

/* Whether the log may have another block; takes a step of the budget where its own room is used. */
static bool writer_may_grow(struct writer *w, uint64_t n_logged)
{
    enum { STEP = 16 * RING_BLOCK_BYTES };
    if (n_logged < w->limit_slots) return true;
    if (!w->budget_bytes) return false;
    uint64_t has = n_logged / RING_BLOCK * RING_BLOCK_BYTES;
    uint64_t left = atomic_load_explicit(w->budget_bytes, memory_order_relaxed);
    do {
        if (left < STEP || has >= left / 7) return false;
    } while (!atomic_compare_exchange_weak_explicit(w->budget_bytes, &left, left - STEP,
                                                    memory_order_relaxed, memory_order_relaxed));
    w->limit_slots += STEP / RING_BLOCK_BYTES * RING_BLOCK;
    return true;
}

/* Copies the stage to the log. When the log may not or cannot grow, the newest block takes the
 * place of the oldest; when even that fails the block is given up. Either way one is lost. */
static void log_stage(struct writer *w)
{
    struct guard g;
    guard_enter(&g, NULL);
    uint64_t n_logged = w->n_written - RING_BLOCK;
    uint64_t slots = __atomic_load_n(&w->head->log_slots, __ATOMIC_RELAXED);
    bool kept = !slots && writer_may_grow(w, n_logged) && write_block(w, n_logged) == 0;
    uint64_t slot = n_logged;
    if (!kept) {
        if (!slots) {
            slots = n_logged;
            __atomic_store_n(&w->head->log_slots, slots, __ATOMIC_RELEASE);
        }
        slot = slots ? n_logged % slots : 0;
        if (slots) (void)(write_block(w, slot) == 0);
        __atomic_fetch_add(&w->head->n_lost, RING_BLOCK, __ATOMIC_RELAXED);
    }
    if (kept || slots) index_stage(w, slot);
    __atomic_store_n(&w->head->n_logged, w->n_written, __ATOMIC_RELEASE);
    w->next = w->stage;
    w->check = ring_check(w->n_written);
    guard_leave(&g, NULL);
}

static void note_clocks(struct writer *w)
{
    struct clock_pair now = clock_pair(w->clock);
    writer_store(w, (struct ring_record){.kind = RING_CLOCK, .ticks = now.ticks});
    writer_store(w, (struct ring_record){.kind = RING_VALUE, .ticks = now.mono_ns});
    writer_publish(w);
    w->refresh_at = now.ticks + w->ticks_per_second;
}

/* Room for `n` slots in the stage; what is left of it is padded. */
static void writer_make_room(struct writer *w, int n)
{
    if (w->end - w->next >= n) return;
    while (w->next != w->end) writer_store(w, (struct ring_record){.kind = RING_PAD});
    writer_publish(w);
    log_stage(w);
}

void writer_refresh(struct writer *w)
{
    writer_make_room(w, 2);
    if (clock_ticks(w->clock) < w->refresh_at) return;
    note_clocks(w);
    writer_make_room(w, 2);
}

void writer_put_all(struct writer *w, const struct ring_record *slots, int n)
{
    if (atomic_load_explicit(&w->busy, memory_order_relaxed)) {
        writer_lose(w);
        return;
    }
    atomic_store_explicit(&w->busy, true, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (slots[0].ticks >= w->refresh_at) writer_refresh(w);
    writer_make_room(w, n);
    for (int i = 0; i < n; i++) writer_store(w, slots[i]);
    writer_publish(w);
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&w->busy, false, memory_order_relaxed);
}

static void writer_fill_head(struct ring_head *h)
{
    h->version = RING_VERSION;
    h->head_bytes = RING_HEAD_BYTES;
    h->block_records = RING_BLOCK;
    h->pid = (uint32_t)getpid();
    memcpy(h->magic, RING_MAGIC, sizeof h->magic); /* last: now it is one of ours */
}

static int open_ring(struct writer *w, const char *path, struct err *e)
{
    TRY(spool_create(&w->file, path, e));
    void *window;
    int rc = spool_map(&w->file, 0, RING_LOG_OFFSET, &window, e);
    if (rc < 0) {
        unlink(path);
        return rc;
    }
    if (pages_wipe_on_fork(w, sizeof *w)) pages_keep_from_child(window, RING_LOG_OFFSET);
    w->head = window;
    w->stage = w->next = (struct ring_record *)((char *)window + RING_HEAD_BYTES);
    w->end = w->stage + RING_BLOCK;
    writer_fill_head(w->head);
    return 0;
}

struct writer *writer_new(const char *path, const struct writer_options *o, struct err *e)
{
    struct writer *w = pages_take(sizeof *w);
    if (!w) {
        err_nomem(e);
        return NULL;
    }
    w->clock = o->clock;
    w->check = ring_check(0);
    w->ticks_per_second = (uint64_t)o->ticks_per_second;
    w->limit_slots = o->limit_bytes / RING_BLOCK_BYTES * RING_BLOCK;
    w->budget_bytes = o->budget_bytes;
    if (open_ring(w, path, e) == 0) return w;
    writer_free(w);
    return NULL;
}

void writer_free(struct writer *w)
{
    if (!w) return;
    spool_unmap(w->head, RING_LOG_OFFSET);
    spool_done(&w->file);
    spool_done(&w->index);
    pages_give(w, sizeof *w);
}
