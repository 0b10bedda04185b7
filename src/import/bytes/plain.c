/* plain.c: see plain.h. Where no thread can be started, the reader that waits for text inflates it.
 */
#include "import/bytes/plain.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/err.h"
#include "base/mem.h"
#include "import/bytes/inflate.h"

/* A large range of addresses that is written from start to end, of which only a window takes
 * memory: pages that are no longer needed at the back are moved to the front. Moving a page costs
 * next to nothing; having a new one cleared costs more than inflating text into it.
 *
 *     |.. empty ..|== may be reclaimed ==|== in use ==|.. reserved, no memory yet ..|
 *              reclaimed             released      committed
 */

struct region {
    char *p;
    size_t reserved, committed, reclaimed;
    void *mapping; /* holds p, which begins at a large page */
    size_t mapped;
};

#define LARGE_PAGE ((size_t)2 << 20)   /* moved as a whole, by one entry of the page table */
#define SMALLEST   ((uint64_t)1 << 30) /* reservation worth trying */

static size_t page_up(uint64_t n)
{
    return (size_t)((n + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE);
}

/* Reserves address space for up to `most` bytes, or what can be had. */
static int region_init(struct region *r, uint64_t most, struct err *e)
{
    *r = (struct region){0};
    for (size_t want = page_up(most);; want = page_up(want / 2)) {
        size_t room = want + LARGE_PAGE;
        void *p = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p != MAP_FAILED) {
            char *aligned = (char *)p + (page_up((uintptr_t)p) - (uintptr_t)p);
            *r = (struct region){.p = aligned, .reserved = want, .mapping = p, .mapped = room};
            return 0;
        }
        if (want <= SMALLEST)
            return FAIL(e, ERR_NOMEM, "not enough address space to decompress the file");
    }
}

static void region_done(struct region *r)
{
    if (r->mapping) munmap(r->mapping, r->mapped);
    *r = (struct region){0};
}

/* Moves the oldest page to the front; false when the system cannot. */
static bool move_page(struct region *r)
{
#ifdef MREMAP_DONTUNMAP
    int how = MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP;
    char *from = r->p + r->reclaimed, *to = r->p + r->committed;
    return mremap(from, LARGE_PAGE, LARGE_PAGE, how, to) == to;
#else
    return false;
#endif
}

static int new_page(struct region *r, struct err *e)
{
    char *p = r->p + r->committed;
    if (mprotect(p, LARGE_PAGE, PROT_READ | PROT_WRITE) < 0) return err_nomem(e);
    madvise(p, LARGE_PAGE, MADV_HUGEPAGE);
    return 0;
}

/* Makes the bytes up to `upto` writable. What lies before `released` may lose its memory: it can
 * still be examined, but reads as anything. The content of new pages is not defined either. */
static int region_commit(struct region *r, uint64_t upto, uint64_t released, struct err *e)
{
    if (upto > r->reserved)
        return FAIL(e, ERR_LIMIT, "the decompressed text does not fit into memory");
    while (r->committed < upto) {
        bool old = r->reclaimed + LARGE_PAGE <= released;
        if (!old || !move_page(r)) {
            if (old) madvise(r->p + r->reclaimed, LARGE_PAGE, MADV_DONTNEED);
            TRY(new_page(r, e));
        }
        if (old) r->reclaimed += LARGE_PAGE;
        r->committed += LARGE_PAGE;
    }
    return 0;
}

#define STEP    ((size_t)512 << 10) /* inflated at a time */
#define LARGEST ((uint64_t)1 << 44)

/* How far text is inflated ahead of what was released: little in small traces, of which the rows
 * are small too; enough in large ones to keep all of them busy. */
#define LEAST_AHEAD ((uint64_t)2 << 20)
#define MOST_AHEAD  ((uint64_t)16 << 20)

/* Deflate cannot do better than this; zstd can, but then the ratio limit ends it. */
enum { MOST_RATIO = 5100 };

struct plain {
    const struct file_map *file;
    const struct import_options *options;
    const char *text;

    bool inflates;
    struct region region;
    struct inflater inflater;
    pthread_t thread;
    bool has_thread;

    pthread_mutex_t lock; /* all below */
    pthread_cond_t changed;
    uint64_t produced, consumed, wanted, released;
    bool all, stop;
    struct err err;
    int rc;
};

/* Inflates one more step; the lock is not held. */
static int plain_produce(struct plain *s, uint64_t released, struct err *e)
{
    size_t n;
    TRY(region_commit(&s->region, s->produced + STEP + FILE_PADDING, released, e));
    TRY(inflater_step(&s->inflater, s->region.p + s->produced, STEP, &n, e));
    if (s->inflater.ended) memset(s->region.p + s->produced + n, 0, FILE_PADDING);
    return (int)n;
}

/* Takes note of what a step brought; the lock is held. */
static void plain_account(struct plain *s, int n, const struct err *e)
{
    if (n < 0) {
        s->rc = n;
        s->err = *e;
    } else {
        s->produced += (uint64_t)n;
        s->consumed = s->inflater.codec->consumed(s->inflater.state);
    }
    s->all = n < 0 || s->inflater.ended;
    pthread_cond_broadcast(&s->changed);
}

static bool far_enough(const struct plain *s)
{
    uint64_t ahead = s->produced / 32;
    if (ahead < LEAST_AHEAD) ahead = LEAST_AHEAD;
    if (ahead > MOST_AHEAD) ahead = MOST_AHEAD;
    return s->produced >= s->released + ahead && s->produced >= s->wanted + FILE_PADDING;
}

static void *run_ahead(void *arg)
{
    struct plain *s = arg;
    struct err e;
    err_init(&e);
    pthread_mutex_lock(&s->lock);
    while (!s->all && !s->stop) {
        if (far_enough(s)) {
            pthread_cond_wait(&s->changed, &s->lock);
            continue;
        }
        uint64_t released = s->released;
        pthread_mutex_unlock(&s->lock);
        int n = plain_produce(s, released, &e);
        pthread_mutex_lock(&s->lock);
        plain_account(s, n, &e);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static int open_inflating(struct plain *s, const struct codec *codec, struct err *e)
{
    uint64_t most = s->file->n > LARGEST / MOST_RATIO ? LARGEST : s->file->n * MOST_RATIO;
    s->inflates = true;
    TRY(region_init(&s->region, most + STEP + FILE_PADDING, e));
    s->text = s->region.p;
    TRY(inflater_init(&s->inflater, codec, str_from(s->file->p, s->file->n), e));
    s->has_thread = s->options->n_threads > 1 && !pthread_create(&s->thread, NULL, run_ahead, s);
    return 0;
}

int plain_open(struct plain **ret, const struct file_map *file, const struct import_options *o,
               struct err *e)
{
    struct plain *s = mem_zalloc(1, sizeof *s);
    if (!s) return err_nomem(e);
    s->file = file;
    s->options = o;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    err_init(&s->err);
    const struct codec *codec = codec_find(str_from(file->p, file->n));
    int rc = 0;
    if (codec) {
        rc = open_inflating(s, codec, e);
    } else {
        s->text = file->p;
        s->produced = file->n;
        s->all = true;
    }
    if (rc < 0) plain_close(s);
    else *ret = s;
    return rc;
}

void plain_close(struct plain *s)
{
    if (!s) return;
    if (s->has_thread) {
        pthread_mutex_lock(&s->lock);
        s->stop = true;
        pthread_cond_broadcast(&s->changed);
        pthread_mutex_unlock(&s->lock);
        pthread_join(s->thread, NULL);
    }
    inflater_done(&s->inflater);
    region_done(&s->region);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    mem_free(s);
}

const char *plain_text(const struct plain *s)
{
    return s->text;
}

/* Readers may look FILE_PADDING bytes past the end, where no thread may be writing. */
static uint64_t plain_ready(const struct plain *s)
{
    if (s->all) return s->produced;
    return s->produced < FILE_PADDING ? 0 : s->produced - FILE_PADDING;
}

uint64_t plain_wait(struct plain *s, uint64_t want, bool *ret_all)
{
    struct err e;
    err_init(&e);
    pthread_mutex_lock(&s->lock);
    if (want > s->wanted && !s->all) {
        s->wanted = want;
        pthread_cond_broadcast(&s->changed);
    }
    while (!s->all && plain_ready(s) < want) {
        if (s->has_thread) pthread_cond_wait(&s->changed, &s->lock);
        else plain_account(s, plain_produce(s, s->released, &e), &e);
    }
    uint64_t n = plain_ready(s);
    *ret_all = s->all;
    pthread_mutex_unlock(&s->lock);
    return n;
}

/* Progress in bytes of the file: of compressed text, as far as it was inflated. */
static void plain_tell(struct plain *s, uint64_t offset)
{
    struct import_progress *p = s->options->progress;
    if (!p) return;
    uint64_t done = offset;
    if (s->inflates) {
        pthread_mutex_lock(&s->lock);
        done = s->consumed;
        pthread_mutex_unlock(&s->lock);
    }
    p->tell(p, done, s->file->n);
}

void plain_release(struct plain *s, uint64_t offset)
{
    plain_tell(s, offset);
    if (!s->inflates) return;
    pthread_mutex_lock(&s->lock);
    if (offset > s->released) s->released = offset;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

int plain_result(struct plain *s, bool *ret_whole, struct err *e)
{
    pthread_mutex_lock(&s->lock);
    *ret_whole = !s->inflates || s->inflater.whole;
    int rc = s->rc;
    if (rc < 0 && e) *e = s->err;
    pthread_mutex_unlock(&s->lock);
    return rc;
}
