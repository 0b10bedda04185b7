/* json_blocks.c: cuts the event array into blocks, has them read side by side, and joins them.
 *
 *     text     |....block 0....|....block 1....|....block 2....|
 *     worker 0 [ev][ev][ev][ev][e]
 *     worker 1                   [v]?[ev][ev][ev][ev]
 *
 * A worker cannot know where the first event of its block begins; it guesses, from the look of the
 * text, and reads to the first event of the next block. Joining goes from left to right: where a
 * block was not begun exactly where the one before it ended, it is read again from there. So the
 * result is that of one reader from start to end, and guessing wrong costs time only. */
#include "import/json/json_private.h"

#include <pthread.h>

#include "base/mem.h"
#include "base/pool.h"

#define USUAL_BLOCK ((uint64_t)512 << 10)

enum { MOST_SLOTS = 80 };

/* A block between being read and being joined. */
struct slot {
    struct batch *part;
    uint64_t begin, end;
    enum block_end how;
    bool done;
};

struct blocks {
    struct plain *plain;
    const struct import_options *options;
    struct builder *builder;
    uint64_t first; /* offset of the first element */
    uint64_t block_bytes;

    pthread_mutex_t lock; /* all below */
    pthread_cond_t changed;
    uint64_t next_read, next_join; /* block numbers */
    struct slot slots[MOST_SLOTS]; /* block i is in slot i % n_slots */
    uint64_t n_slots;
    bool joining, stop;
    uint64_t at; /* everything before is joined; only touched while `joining` */
    int rc;
    struct err err;
};

static uint64_t block_begin(const struct blocks *b, uint64_t i)
{
    return b->first + i * b->block_bytes;
}

static void json_blocks_give_up(struct blocks *b, int rc)
{
    if (b->rc == 0) b->rc = rc;
    b->stop = true;
    pthread_cond_broadcast(&b->changed);
}

/* Where the first event at or after the block's begin seems to start. */
static uint64_t guess_begin(struct blocks *b, uint64_t i)
{
    if (i == 0) return b->first;
    bool all;
    uint64_t ready = plain_wait(b->plain, block_begin(b, i + 1), &all);
    const char *text = plain_text(b->plain);
    return (uint64_t)(event_find(text + block_begin(b, i), text + ready) - text);
}

static bool past_the_end(struct blocks *b, uint64_t i)
{
    bool all;
    uint64_t ready = plain_wait(b->plain, block_begin(b, i) + 1, &all);
    return i > 0 && all && ready <= block_begin(b, i);
}

static int read_slot(struct blocks *b, struct block_reader *r, uint64_t i, struct slot *s)
{
    if (!s->part) s->part = batch_new();
    else TRY(batch_reset(s->part));
    if (!s->part) return ERR_NOMEM;
    return block_read(r, s->part, s->begin, block_begin(b, i + 1), &s->end, &s->how);
}

/* Adds block `i` to the trace, reading it again where it was begun in the wrong place. */
static int join_block(struct blocks *b, struct block_reader *r, uint64_t i)
{
    struct slot *s = &b->slots[i % b->n_slots];
    if (b->at >= block_begin(b, i + 1)) return 0; /* one event covers it all */
    if (s->begin != b->at) {
        s->begin = b->at;
        TRY(read_slot(b, r, i, s));
    }
    TRY(builder_copy_part(b->builder, s->part, &b->err));
    b->at = s->end;
    plain_release(b->plain, b->at);
    return s->how == BLOCK_GOES_ON ? 0 : 1;
}

/* Joins blocks as long as the next one is there. Called and left with the lock held. */
static void join_ready(struct blocks *b, struct block_reader *r)
{
    while (!b->joining && !b->stop && b->slots[b->next_join % b->n_slots].done) {
        uint64_t i = b->next_join;
        b->joining = true;
        pthread_mutex_unlock(&b->lock);
        int rc = join_block(b, r, i);
        pthread_mutex_lock(&b->lock);
        b->joining = false;
        b->slots[i % b->n_slots].done = false;
        b->next_join++;
        if (rc != 0) json_blocks_give_up(b, rc < 0 ? rc : 0);
        pthread_cond_broadcast(&b->changed);
    }
}

/* The number of the next block to read, or -1 when there are no more. With the lock held. */
static int64_t json_blocks_take_block(struct blocks *b)
{
    while (!b->stop && b->next_read - b->next_join >= b->n_slots)
        pthread_cond_wait(&b->changed, &b->lock);
    return b->stop ? -1 : (int64_t)b->next_read++;
}

static void json_blocks_work(struct blocks *b, struct block_reader *r)
{
    int64_t i;
    pthread_mutex_lock(&b->lock);
    while ((i = json_blocks_take_block(b)) >= 0) {
        struct slot *s = &b->slots[(uint64_t)i % b->n_slots];
        pthread_mutex_unlock(&b->lock);
        if (past_the_end(b, (uint64_t)i)) return;
        s->begin = guess_begin(b, (uint64_t)i);
        int rc = read_slot(b, r, (uint64_t)i, s);
        pthread_mutex_lock(&b->lock);
        s->done = true;
        if (rc < 0) json_blocks_give_up(b, rc);
        join_ready(b, r);
    }
    pthread_mutex_unlock(&b->lock);
}

static void run_worker(void *ctx, int item, int worker)
{
    struct blocks *b = ctx;
    struct block_reader *r = mem_zalloc(1, sizeof *r);
    if (!r) {
        pthread_mutex_lock(&b->lock);
        json_blocks_give_up(b, ERR_NOMEM);
        pthread_mutex_unlock(&b->lock);
        return;
    }
    block_init(r, b->plain);
    json_blocks_work(b, r);
    block_done(r);
    mem_free(r);
}

int blocks_read(struct plain *plain, uint64_t from, const struct import_options *o,
                struct builder *builder, uint64_t *ret_end, struct err *e)
{
    struct blocks *b = mem_zalloc(1, sizeof *b);
    if (!b) return err_nomem(e);
    b->plain = plain;
    b->options = o;
    b->builder = builder;
    b->first = b->at = from;
    b->block_bytes = o->block_bytes ? o->block_bytes : USUAL_BLOCK;
    b->n_slots = (uint64_t)o->n_threads + 2;
    if (b->n_slots > MOST_SLOTS) b->n_slots = MOST_SLOTS;
    err_init(&b->err);
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->changed, NULL);
    pool_run(o->n_threads, o->n_threads, run_worker, b);
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->lock);
    for (uint64_t i = 0; i < b->n_slots; i++) batch_free(b->slots[i].part);
    int rc = b->rc;
    *ret_end = b->at;
    if (rc < 0 && b->err.code && e) *e = b->err;
    mem_free(b);
    return err_grow(e, rc);
}
