/* strata_args.c: see export/args_out.h for the layout. Keeps the last block it opened, because rows
 * are mostly read in order. Every length and offset is checked when it is used. */
#include "import/strata/strata_private.h"

#include <pthread.h>
#include <string.h>
#include <zstd.h>

#include "base/mem.h"
#include "base/pool.h"
#include "format/strata_file.h"

#define NO_BLOCK UINT64_MAX

struct strata_args {
    struct args_source source;
    struct strata_args_file file;
    pthread_mutex_t lock;
    ZSTD_DCtx *zstd;
    char *plain;     /* STRATA_ARGS_BLOCK bytes: block `loaded` */
    uint64_t loaded; /* or NO_BLOCK */
};

static int strata_args_damaged(struct err *e, uint64_t block)
{
    return FAIL(e, ERR_FORMAT, "damaged: args block %llu", (unsigned long long)block);
}

/* Plain size of a block: full, but for the last. */
static uint64_t block_size(const struct strata_args_file *f, uint64_t block)
{
    uint64_t left = f->plain_bytes - block * STRATA_ARGS_BLOCK;
    return left < STRATA_ARGS_BLOCK ? left : STRATA_ARGS_BLOCK;
}

/* Unpacks a block into `plain`; false when it is not what it should be. */
static bool strata_args_unpack(const struct strata_args_file *f, uint64_t block, ZSTD_DCtx *zstd,
                               char *plain)
{
    if (block + 1 >= f->n_index) return false;
    uint64_t begin = f->index[block], end = f->index[block + 1];
    if (begin > end || end > f->n_blocks_bytes) return false;
    size_t got = ZSTD_decompressDCtx(zstd, plain, STRATA_ARGS_BLOCK, f->blocks + begin,
                                     (size_t)(end - begin));
    return !ZSTD_isError(got) && got == block_size(f, block);
}

static int strata_args_load(struct strata_args *a, uint64_t block, struct err *e)
{
    if (a->loaded == block) return 0;
    a->loaded = NO_BLOCK;
    if (!strata_args_unpack(&a->file, block, a->zstd, a->plain))
        return strata_args_damaged(e, block);
    a->loaded = block;
    return 0;
}

/* Hands out the plain bytes at `at`, as many as the block still has, at most `most`. */
static int strata_args_piece(struct strata_args *a, uint64_t at, uint64_t most, struct str *ret,
                             struct err *e)
{
    uint64_t block = at / STRATA_ARGS_BLOCK, skip = at % STRATA_ARGS_BLOCK;
    TRY(strata_args_load(a, block, e));
    uint64_t n = block_size(&a->file, block) - skip;
    *ret = str_from(a->plain + skip, (size_t)(n < most ? n : most));
    return 0;
}

static int strata_args_copy(struct strata_args *a, uint64_t at, uint64_t n, char *to, struct err *e)
{
    if (at > a->file.plain_bytes || n > a->file.plain_bytes - at)
        return FAIL(e, ERR_FORMAT, "damaged: args outside the file");
    while (n) {
        struct str s;
        TRY(strata_args_piece(a, at, n, &s, e));
        memcpy(to, s.p, s.n);
        to += s.n;
        at += s.n;
        n -= s.n;
    }
    return 0;
}

static int strata_args_read_record(struct strata_args *a, uint64_t src, struct buf *out,
                                   struct err *e)
{
    uint32_t n;
    TRY(strata_args_copy(a, src, sizeof n, (char *)&n, e));
    if (n > STRATA_ARGS_MOST || n > a->file.plain_bytes - src - sizeof n)
        return FAIL(e, ERR_FORMAT, "damaged: args outside the file");
    if (n == 0) {
        buf_adds(out, "{}");
        return 0;
    }
    char *room = buf_room(out, n);
    if (!room) return buf_status(out, e);
    TRY(strata_args_copy(a, src + sizeof n, n, room, e));
    out->n += n;
    return 0;
}

static int read_locked(struct args_source *self, uint64_t src, struct buf *out, struct err *e)
{
    struct strata_args *a = (struct strata_args *)self;
    pthread_mutex_lock(&a->lock);
    int rc = strata_args_read_record(a, src, out, e);
    pthread_mutex_unlock(&a->lock);
    return rc;
}

static void strata_args_free_args(struct args_source *self)
{
    struct strata_args *a = (struct strata_args *)self;
    ZSTD_freeDCtx(a->zstd);
    pthread_mutex_destroy(&a->lock);
    mem_free(a->plain);
    mem_free(a);
}

struct args_source *strata_args_new(const struct strata_args_file *f)
{
    struct strata_args *a = mem_zalloc(1, sizeof *a);
    if (!a) return NULL;
    a->source = (struct args_source){.read = read_locked, .free = strata_args_free_args};
    uint64_t most = f->n_index * (uint64_t)STRATA_ARGS_BLOCK;
    a->source.plain_bytes = f->plain_bytes < most ? f->plain_bytes : most;
    a->file = *f;
    a->loaded = NO_BLOCK;
    pthread_mutex_init(&a->lock, NULL);
    a->plain = mem_alloc(STRATA_ARGS_BLOCK);
    a->zstd = ZSTD_createDCtx();
    if (a->plain && a->zstd) return &a->source;
    strata_args_free_args(&a->source);
    return NULL;
}

enum { SHARES = 64 };

struct checking {
    const struct strata_args_file *file;
    uint64_t n_blocks;
    uint64_t bad[SHARES]; /* first damaged block of the share, or NO_BLOCK */
    bool out_of_memory[SHARES];
};

static void check_share(void *ctx, int item, int worker)
{
    struct checking *k = ctx;
    (void)worker;
    uint64_t end = k->n_blocks * ((uint64_t)item + 1) / SHARES;
    uint64_t block = k->n_blocks * (uint64_t)item / SHARES;
    k->bad[item] = NO_BLOCK;
    if (block == end) return;
    ZSTD_DCtx *zstd = ZSTD_createDCtx();
    char *plain = mem_alloc(STRATA_ARGS_BLOCK);
    k->out_of_memory[item] = !zstd || !plain;
    while (zstd && plain && block < end && strata_args_unpack(k->file, block, zstd, plain)) block++;
    if (zstd && plain && block < end) k->bad[item] = block;
    ZSTD_freeDCtx(zstd);
    mem_free(plain);
}

int strata_args_check(const struct strata_args_file *f, int n_threads, struct err *e)
{
    struct checking k = {.file = f};
    k.n_blocks = (f->plain_bytes + STRATA_ARGS_BLOCK - 1) / STRATA_ARGS_BLOCK;
    if (k.n_blocks && k.n_blocks >= f->n_index)
        return strata_args_damaged(e, f->n_index ? f->n_index - 1 : 0);
    pool_run(n_threads, SHARES, check_share, &k);
    for (int i = 0; i < SHARES; i++) {
        if (k.out_of_memory[i]) return err_nomem(e);
        if (k.bad[i] != NO_BLOCK) return strata_args_damaged(e, k.bad[i]);
    }
    return 0;
}
