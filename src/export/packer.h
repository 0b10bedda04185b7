/* packer.h: compresses a run of bytes in equal blocks on several threads.
 *
 * Blocks know nothing of each other, so the result does not depend on the number of threads. What
 * a packed block is (a zstd frame, a piece of a deflate stream) is up to the codec. */
#ifndef STRATA_EXPORT_PACKER_H
#define STRATA_EXPORT_PACKER_H

#include "base/err.h"
#include "base/str.h"

struct packer_codec {
    const char *name;
    void *(*new)(void); /* state of one thread; NULL when out of memory */
    void (*free)(void *state);
    size_t (*bound)(size_t n); /* most bytes that `n` plain ones can take */
    size_t (*pack)(void *state, struct str plain, char *to, size_t room); /* 0 on failure */
};

extern const struct packer_codec packer_zstd;      /* one frame with checksum a block */
extern const struct packer_codec packer_gzip;      /* deflate without an end, byte-aligned */
extern const struct packer_codec packer_gzip_zlib; /* the same where ISA-L is missing */
extern const struct packer_codec packer_small;     /* the same, smaller and slower */

enum { PACKER_WAVE = 64, PACKER_WORKERS = 64 };

struct packer {
    const struct packer_codec *codec;
    size_t block;          /* plain bytes of a block; the last may be shorter */
    size_t slot;           /* room for a packed one */
    char *packed;          /* PACKER_WAVE slots */
    size_t n[PACKER_WAVE]; /* packed bytes by slot */
    void *state[PACKER_WORKERS];
    int n_workers;
    struct str plain;
};

/* packer_done is due also after a failure. */
int packer_init(struct packer *p, const struct packer_codec *codec, size_t block, int n_threads,
                struct err *e) MUST_USE;
void packer_done(struct packer *p);

/* Packs at most PACKER_WAVE blocks of `plain`; returns how many, or an error code. */
int packer_run(struct packer *p, struct str plain, struct err *e) MUST_USE;

/* The i-th block of the last run. */
static inline struct str packer_get(const struct packer *p, int i)
{
    return str_from(p->packed + (size_t)i * p->slot, p->n[i]);
}

#endif
