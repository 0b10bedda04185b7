/* plain.c: see plain.h. Where no thread can be had, whoever waits for text inflates it. */
#include "import/plain.h"

#include <pthread.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "import/inflate.h"

#define STEP       ((size_t)512 << 10) /* inflated at a time */
#define WINDOW     ((uint64_t)4 << 20) /* inflated ahead of what was released */
#define LARGE_PAGE ((size_t)2 << 20)   /* asked for and given back as a whole: fewer page faults */
#define COMMIT     (32 * LARGE_PAGE)   /* made accessible at a time */
#define SMALLEST   ((uint64_t)1 << 30) /* reservation worth trying */
#define LARGEST    ((uint64_t)1 << 44)

/* Deflate cannot do better than this; zstd can, but then the ratio limit ends it. */
enum { MOST_RATIO = 5100 };

struct plain {
    const struct file_map *file;
    const struct import_options *options;
    char *text;
    bool inflates;

    void *mapping; /* holds `text`, which begins at a large page */
    size_t mapped, reserved, committed;
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

static size_t page_up(uint64_t n)
{
    return (size_t)((n + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE);
}

/* Address space only; memory comes with commit. As much as the text could need, or what is left. */
static int reserve(struct plain *s, struct err *e)
{
    uint64_t most = s->file->n > LARGEST / MOST_RATIO ? LARGEST : s->file->n * MOST_RATIO;
    for (size_t want = page_up(most + STEP + FILE_PADDING);; want = page_up(want / 2)) {
        size_t room = want + LARGE_PAGE;
        void *p = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p != MAP_FAILED) {
            s->mapping = p;
            s->mapped = room;
            s->text = (char *)p + (page_up((uintptr_t)p) - (uintptr_t)p);
            s->reserved = want;
            return 0;
        }
        if (want <= SMALLEST) return FAIL(e, ERR_NOMEM, "no address space to unpack into");
    }
}

static int commit(struct plain *s, uint64_t upto, struct err *e)
{
    if (upto <= s->committed) return 0;
    if (upto > s->reserved) return FAIL(e, ERR_LIMIT, "more text than fits into memory");
    size_t more = page_up(upto) - s->committed;
    if (more < COMMIT) more = COMMIT;
    if (more > s->reserved - s->committed) more = s->reserved - s->committed;
    if (mprotect(s->text + s->committed, more, PROT_READ | PROT_WRITE) < 0)
        return FAIL(e, ERR_NOMEM, "out of memory");
    madvise(s->text + s->committed, more, MADV_HUGEPAGE);
    s->committed += more;
    return 0;
}

/* Inflates one more step; the lock is not held. */
static int produce(struct plain *s, struct err *e)
{
    TRY(commit(s, s->produced + STEP + FILE_PADDING, e));
    size_t n;
    TRY(inflater_step(&s->inflater, s->text + s->produced, STEP, &n, e));
    return (int)n;
}

/* Takes note of what a step brought; the lock is held. */
static void account(struct plain *s, int n, const struct err *e)
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
    return s->produced >= s->released + WINDOW && s->produced >= s->wanted + FILE_PADDING;
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
        pthread_mutex_unlock(&s->lock);
        int n = produce(s, &e);
        pthread_mutex_lock(&s->lock);
        account(s, n, &e);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static int open_inflating(struct plain *s, const struct codec *codec, struct err *e)
{
    s->inflates = true;
    TRY(reserve(s, e));
    TRY(inflater_init(&s->inflater, codec, str_from(s->file->p, s->file->n), e));
    s->has_thread = s->options->n_threads > 1 && !pthread_create(&s->thread, NULL, run_ahead, s);
    return 0;
}

int plain_open(struct plain **ret, const struct file_map *file, const struct import_options *o,
               struct err *e)
{
    struct plain *s = mem_zalloc(1, sizeof *s);
    if (!s) return FAIL(e, ERR_NOMEM, "out of memory");
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
        s->text = (char *)(uintptr_t)file->p;
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
    if (s->mapping) munmap(s->mapping, s->mapped);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    mem_free(s);
}

const char *plain_text(const struct plain *s)
{
    return s->text;
}

/* Readers may look FILE_PADDING bytes past the end, where nobody may be writing. */
static uint64_t ready(const struct plain *s)
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
    while (!s->all && ready(s) < want) {
        if (s->has_thread) pthread_cond_wait(&s->changed, &s->lock);
        else account(s, produce(s, &e), &e);
    }
    uint64_t n = ready(s);
    *ret_all = s->all;
    pthread_mutex_unlock(&s->lock);
    return n;
}

/* Progress in bytes of the file: of compressed text, as far as it was inflated. */
static void tell(struct plain *s, uint64_t offset)
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
    tell(s, offset);
    if (!s->inflates) return;
    uint64_t from = s->released, to = offset / LARGE_PAGE * LARGE_PAGE;
    if (to <= from) return;
    madvise(s->text + from, to - from, MADV_DONTNEED);
    pthread_mutex_lock(&s->lock);
    s->released = to;
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
