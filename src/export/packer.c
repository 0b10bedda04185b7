/* packer.c: one wave of blocks at a time, one slot of output a block. */
#include "export/packer.h"

#include "base/mem.h"
#include "base/pool.h"

int packer_init(struct packer *p, const struct packer_codec *codec, size_t block, int n_threads,
                struct err *e)
{
    *p = (struct packer){.codec = codec, .block = block, .slot = codec->bound(block)};
    p->n_workers = n_threads < PACKER_WORKERS ? n_threads : PACKER_WORKERS;
    p->packed = mem_alloc(PACKER_WAVE * p->slot);
    bool failed = !p->packed;
    for (int i = 0; i < p->n_workers && !failed; i++) {
        p->state[i] = codec->new ();
        failed = !p->state[i];
    }
    return failed ? err_nomem(e) : 0;
}

void packer_done(struct packer *p)
{
    for (int i = 0; i < p->n_workers; i++)
        if (p->state[i]) p->codec->free(p->state[i]);
    mem_free(p->packed);
    *p = (struct packer){0};
}

static void pack_block(void *ctx, int item, int worker)
{
    struct packer *p = ctx;
    size_t from = (size_t)item * p->block;
    size_t n = p->plain.n - from < p->block ? p->plain.n - from : p->block;
    p->n[item] = p->codec->pack(p->state[worker], str_from(p->plain.p + from, n),
                                p->packed + (size_t)item * p->slot, p->slot);
}

int packer_run(struct packer *p, struct str plain, struct err *e)
{
    size_t n = (plain.n + p->block - 1) / p->block;
    if (n > PACKER_WAVE) n = PACKER_WAVE;
    p->plain = plain;
    pool_run(p->n_workers, (int)n, pack_block, p);
    for (size_t i = 0; i < n; i++)
        if (!p->n[i]) return FAIL(e, ERR_NOMEM, "%s cannot compress the data", p->codec->name);
    return (int)n;
}
